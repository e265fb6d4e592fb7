package jobs

import (
	"context"

	scheduler "cloud.google.com/go/scheduler/apiv1"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
)

// Get reads a job.
func (c *Client) Get(ctx context.Context, name Name) (*schedulerpb.Job, error) {
	return call(ctx, c, func(ctx context.Context, client *scheduler.CloudSchedulerClient) (*schedulerpb.Job, error) {
		return client.GetJob(ctx, &schedulerpb.GetJobRequest{Name: name.String()})
	})
}
