package localcloud

import (
	"context"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// schedulerAPI serves google.cloud.scheduler.v1.CloudScheduler.
type schedulerAPI struct {
	schedulerpb.UnimplementedCloudSchedulerServer

	scheduler *scheduler
}

func (a *schedulerAPI) ListJobs(_ context.Context, req *schedulerpb.ListJobsRequest) (*schedulerpb.ListJobsResponse, error) {
	return a.scheduler.list(req)
}

func (a *schedulerAPI) GetJob(_ context.Context, req *schedulerpb.GetJobRequest) (*schedulerpb.Job, error) {
	return a.scheduler.get(req.GetName())
}

func (a *schedulerAPI) CreateJob(ctx context.Context, req *schedulerpb.CreateJobRequest) (*schedulerpb.Job, error) {
	return a.scheduler.create(ctx, req.GetParent(), req.GetJob())
}

func (a *schedulerAPI) UpdateJob(ctx context.Context, req *schedulerpb.UpdateJobRequest) (*schedulerpb.Job, error) {
	return a.scheduler.update(ctx, req)
}

func (a *schedulerAPI) DeleteJob(ctx context.Context, req *schedulerpb.DeleteJobRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, a.scheduler.remove(ctx, req.GetName())
}

func (a *schedulerAPI) PauseJob(ctx context.Context, req *schedulerpb.PauseJobRequest) (*schedulerpb.Job, error) {
	return a.scheduler.pause(ctx, req.GetName())
}

func (a *schedulerAPI) ResumeJob(ctx context.Context, req *schedulerpb.ResumeJobRequest) (*schedulerpb.Job, error) {
	return a.scheduler.resume(ctx, req.GetName())
}

func (a *schedulerAPI) RunJob(_ context.Context, req *schedulerpb.RunJobRequest) (*schedulerpb.Job, error) {
	return a.scheduler.force(req.GetName())
}
