package jobs

import (
	"context"

	scheduler "cloud.google.com/go/scheduler/apiv1"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
)

// Create makes a job. When a reply was lost, and the name is then taken by exactly the job that was sent, that job is the one
// created.
func (c *Client) Create(ctx context.Context, name Name, job *schedulerpb.Job) (*schedulerpb.Job, error) {
	c.regions.wrote(name)
	ambiguous := false
	created, err := call(ctx, c, func(ctx context.Context, client *scheduler.CloudSchedulerClient) (*schedulerpb.Job, error) {
		created, err := client.CreateJob(ctx, &schedulerpb.CreateJobRequest{Parent: name.Parent(), Job: job})
		ambiguous = ambiguous || err != nil && google.Ambiguous(err)
		return created, err
	})
	if err == nil || !ambiguous || status.Code(err) != codes.AlreadyExists && !google.Ambiguous(err) {
		return created, err
	}
	// The time for the creation may be up; that must not keep what was created from being seen.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	defer cancel()
	if found, getErr := c.Get(ctx, name); getErr == nil && sameDefinition(found, job) {
		return found, nil
	}
	return created, err
}

// sameDefinition says whether a job found on the server is the one that was sent, as far as the server repeats what it is sent.
func sameDefinition(found, sent *schedulerpb.Job) bool {
	return found.GetDescription() == sent.GetDescription() && found.GetSchedule() == sent.GetSchedule() &&
		found.GetTimeZone() == sent.GetTimeZone() &&
		found.GetHttpTarget().GetUri() == sent.GetHttpTarget().GetUri() &&
		found.GetAppEngineHttpTarget().GetRelativeUri() == sent.GetAppEngineHttpTarget().GetRelativeUri() &&
		sameRequest(found.GetHttpTarget(), sent.GetHttpTarget()) &&
		sameRequest(found.GetAppEngineHttpTarget(), sent.GetAppEngineHttpTarget())
}

// request is what both kinds of target have in common; a target of the other kind is empty.
type request interface {
	GetBody() []byte
	GetHeaders() map[string]string
}

func sameRequest(found, sent request) bool {
	return string(found.GetBody()) == string(sent.GetBody()) && containsHeaders(found.GetHeaders(), sent.GetHeaders())
}

func containsHeaders(found, sent map[string]string) bool {
	for key, value := range sent {
		if found[key] != value {
			return false
		}
	}
	return true
}
