package jobs

import (
	"context"

	scheduler "cloud.google.com/go/scheduler/apiv1"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Pause stops a job's schedule. Pausing a paused job is success: the server wants an enabled one.
func (c *Client) Pause(ctx context.Context, name Name) (*schedulerpb.Job, error) {
	c.regions.wrote(name)
	job, err := call(ctx, c, func(ctx context.Context, client *scheduler.CloudSchedulerClient) (*schedulerpb.Job, error) {
		return client.PauseJob(ctx, &schedulerpb.PauseJobRequest{Name: name.String()})
	})
	return alreadyIn(ctx, c, name, schedulerpb.Job_PAUSED, job, err)
}

// Resume starts a paused job's schedule again. Resuming an enabled job is success.
func (c *Client) Resume(ctx context.Context, name Name) (*schedulerpb.Job, error) {
	c.regions.wrote(name)
	job, err := call(ctx, c, func(ctx context.Context, client *scheduler.CloudSchedulerClient) (*schedulerpb.Job, error) {
		return client.ResumeJob(ctx, &schedulerpb.ResumeJobRequest{Name: name.String()})
	})
	return alreadyIn(ctx, c, name, schedulerpb.Job_ENABLED, job, err)
}

// alreadyIn turns a refused precondition into success when the job is in the wanted state.
func alreadyIn(ctx context.Context, c *Client, name Name, want schedulerpb.Job_State, job *schedulerpb.Job, err error) (*schedulerpb.Job, error) {
	if status.Code(err) != codes.FailedPrecondition {
		return job, err
	}
	if found, getErr := c.Get(ctx, name); getErr == nil && found.GetState() == want {
		return found, nil
	}
	return job, err
}
