package jobs

import (
	"context"

	scheduler "cloud.google.com/go/scheduler/apiv1"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// Update changes the named fields of a job and no others. Without fields nothing is sent, since the server would read an empty
// mask as the whole job.
func (c *Client) Update(ctx context.Context, name Name, job *schedulerpb.Job, fields ...string) (*schedulerpb.Job, error) {
	if len(fields) == 0 {
		return c.Get(ctx, name)
	}
	c.regions.wrote(name)
	job.Name = name.String()
	return call(ctx, c, func(ctx context.Context, client *scheduler.CloudSchedulerClient) (*schedulerpb.Job, error) {
		return client.UpdateJob(ctx, &schedulerpb.UpdateJobRequest{Job: job, UpdateMask: &fieldmaskpb.FieldMask{Paths: fields}})
	})
}
