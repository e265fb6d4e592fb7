package jobs

import (
	"context"

	scheduler "cloud.google.com/go/scheduler/apiv1"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Delete removes a job. A job that is not there is success.
func (c *Client) Delete(ctx context.Context, name Name) error {
	c.regions.wrote(name)
	_, err := call(ctx, c, func(ctx context.Context, client *scheduler.CloudSchedulerClient) (struct{}, error) {
		return struct{}{}, client.DeleteJob(ctx, &schedulerpb.DeleteJobRequest{Name: name.String()})
	})
	if status.Code(err) == codes.NotFound {
		return nil
	}
	return err
}
