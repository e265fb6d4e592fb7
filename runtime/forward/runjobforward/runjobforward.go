// Package runjobforward starts executions of Cloud Run jobs, one for each run of a job of Cloud Scheduler.
//
// An execution gets the run id in the environment variable IDEMPOTENT_RUN_ID, by which it is found again, and the schedule time in
// IDEMPOTENT_SCHEDULE_TIME. The forwarder's service account needs run.jobs.runWithOverrides, as in roles/run.jobsExecutorWithOverrides,
// to start and roles/run.viewer to look up.
package runjobforward

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	run "cloud.google.com/go/run/apiv2"
	"cloud.google.com/go/run/apiv2/runpb"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/internal/googleapi"
	runs "github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Client starts jobs and looks their executions up.
type Client struct {
	jobs       *run.JobsClient
	executions *run.ExecutionsClient
}

// Open connects to the API. Endpoint is another server than Google's, such as http://127.0.0.1:8085 for one on this machine, which
// gets no credentials; empty: Google's.
func Open(ctx context.Context, endpoint string, opts ...option.ClientOption) (*Client, error) {
	own, err := googleapi.Options(endpoint)
	if err != nil {
		return nil, err
	}
	own = append(own, opts...)
	jobs, err := run.NewJobsClient(ctx, own...)
	if err != nil {
		return nil, fmt.Errorf("open the client of Cloud Run jobs: %w", err)
	}
	executions, err := run.NewExecutionsClient(ctx, own...)
	if err != nil {
		return nil, fmt.Errorf("open the client of Cloud Run executions: %w", errors.Join(err, jobs.Close()))
	}
	return New(jobs, executions), nil
}

// New returns a Client over clients of the API, which [Client.Close] closes.
func New(jobs *run.JobsClient, executions *run.ExecutionsClient) *Client {
	return &Client{jobs: jobs, executions: executions}
}

// Close closes the connections.
func (c *Client) Close() error {
	if err := errors.Join(c.jobs.Close(), c.executions.Close()); err != nil {
		return fmt.Errorf("close the clients of Cloud Run: %w", err)
	}
	return nil
}

// Job is what the runs of a job of Cloud Scheduler start, and what its executions override.
type Job struct {
	// Name is projects/PROJECT/locations/REGION/jobs/NAME.
	Name string
	// Container is the container that the overrides are for. Empty: the only one.
	Container string
	// Args replaces the container's arguments. Empty: the job's own.
	Args []string
	// Env is added to the container's environment; the variables of the run are taken.
	Env map[string]string
	// Tasks is the number of tasks. Zero: the job's own.
	Tasks int
	// Timeout bounds a task. Zero: the job's own.
	Timeout time.Duration
}

const pageSize = 100

// Job returns the target for a Cloud Run job. Nothing is called.
func (c *Client) Job(j Job) (forward.Target, error) {
	if _, _, err := forward.CheckName("jobs", j.Name); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	if err := forward.CheckTasks(j.Tasks); err != nil {
		return nil, fmt.Errorf("tasks: %w", err)
	}
	if err := forward.CheckTaskTimeout(j.Timeout); err != nil {
		return nil, fmt.Errorf("timeout: %w", err)
	}
	for name := range j.Env {
		if err := forward.CheckVariable(name); err != nil {
			return nil, fmt.Errorf("env: %w", err)
		}
	}
	return &target{client: c, job: j}, nil
}

type target struct {
	client *Client
	job    Job
}

func (t *target) String() string { return t.job.Name }

// Start implements forward.Target.
func (t *target) Start(ctx context.Context, r runs.Run) (string, error) {
	operation, err := t.client.jobs.RunJob(ctx, &runpb.RunJobRequest{Name: t.job.Name, Overrides: t.overrides(r)})
	if err != nil {
		return "", googleapi.StartError(err)
	}
	started, err := operation.Metadata()
	if err != nil {
		return "", fmt.Errorf("read what was started: %w", err)
	}
	return started.GetName(), nil
}

func (t *target) overrides(r runs.Run) *runpb.RunJobRequest_Overrides {
	env := []*runpb.EnvVar{variable(forward.EnvRunID, r.ID), variable(forward.EnvScheduleTime, runs.FormatTime(r.ScheduleTime))}
	for key, value := range t.job.Env {
		env = append(env, variable(key, value))
	}
	overrides := &runpb.RunJobRequest_Overrides{
		ContainerOverrides: []*runpb.RunJobRequest_Overrides_ContainerOverride{{Name: t.job.Container, Args: t.job.Args, Env: env}},
		TaskCount:          int32(t.job.Tasks),
	}
	if t.job.Timeout > 0 {
		overrides.Timeout = durationpb.New(t.job.Timeout)
	}
	return overrides
}

func variable(name, value string) *runpb.EnvVar {
	return &runpb.EnvVar{Name: name, Values: &runpb.EnvVar_Value{Value: value}}
}

// Find implements forward.Target. The API filters by nothing: all executions since are compared.
func (t *target) Find(ctx context.Context, r runs.Run, since time.Time) (string, error) {
	found := t.client.executions.ListExecutions(ctx, &runpb.ListExecutionsRequest{Parent: t.job.Name, PageSize: pageSize, ShowDeleted: true})
	for range googleapi.MaxPages * pageSize {
		e, err := found.Next()
		switch {
		case errors.Is(err, iterator.Done):
			return "", nil
		case err != nil:
			return "", fmt.Errorf("list executions: %w", err)
		case carries(e, r):
			return e.GetName(), nil
		case e.GetCreateTime() != nil && e.GetCreateTime().AsTime().Before(since): // the newest come first
			return "", nil
		}
	}
	return "", googleapi.ErrTooMany("executions")
}

// carries reports whether an execution has the run's id in its environment.
func carries(e *runpb.Execution, r runs.Run) bool {
	return slices.ContainsFunc(e.GetTemplate().GetContainers(), func(c *runpb.Container) bool {
		return slices.ContainsFunc(c.GetEnv(), func(v *runpb.EnvVar) bool {
			return v.GetName() == forward.EnvRunID && v.GetValue() == r.ID
		})
	})
}
