// Package workflowsforward starts executions of Workflows, one for each run of a job.
//
// An execution gets the run in its argument, as the field run (see [Argument]), and the first 63 characters of the run id in the
// label idempotent_run, by which it is found again. The forwarder's service account needs roles/workflows.invoker to start and
// roles/workflows.viewer to look up.
package workflowsforward

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	executions "cloud.google.com/go/workflows/executions/apiv1"
	"cloud.google.com/go/workflows/executions/apiv1/executionspb"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/internal/googleapi"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Client starts workflows and looks them up.
type Client struct{ api *executions.Client }

// Open connects to the API. Endpoint is another server than Google's, such as http://127.0.0.1:8085 for one on this machine, which
// gets no credentials; empty: Google's.
func Open(ctx context.Context, endpoint string, opts ...option.ClientOption) (*Client, error) {
	own, err := googleapi.Options(endpoint)
	if err != nil {
		return nil, err
	}
	api, err := executions.NewClient(ctx, append(own, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("open the client of Workflows: %w", err)
	}
	return New(api), nil
}

// New returns a Client over a client of the API, which [Client.Close] closes.
func New(api *executions.Client) *Client { return &Client{api: api} }

// Close closes the connection.
func (c *Client) Close() error {
	if err := c.api.Close(); err != nil {
		return fmt.Errorf("close the client of Workflows: %w", err)
	}
	return nil
}

// Workflow is what the runs of a job start.
type Workflow struct {
	// Name is projects/PROJECT/locations/REGION/workflows/NAME.
	Name string
	// Argument is a JSON object for the execution, at most 31 KB; its field run is taken, see [Argument]. Empty: {}.
	Argument string
}

// Argument is the field run of an execution's argument: ${args.run.id} is the idempotency key for what the workflow calls.
type Argument struct {
	// ID is the run id, Name the run's name.
	ID   string `json:"id"`
	Name string `json:"name"`
	Job  string `json:"job"`
	// ScheduleTime and PreviousTime are in RFC 3339; PreviousTime is left out when it is not known.
	ScheduleTime string `json:"schedule_time"`
	PreviousTime string `json:"previous_time,omitempty"`
	Forced       bool   `json:"forced"`
}

// pageSize is the most that the API lists with arguments at a time.
const pageSize = 100

// Workflow returns the target for a workflow. Nothing is called.
func (c *Client) Workflow(w Workflow) (forward.Target, error) {
	if _, _, err := forward.CheckName("workflows", w.Name); err != nil {
		return nil, fmt.Errorf("workflow: %w", err)
	}
	argument, err := forward.CheckArgument(w.Argument)
	if err != nil {
		return nil, fmt.Errorf("argument: %w", err)
	}
	return &target{api: c.api, name: w.Name, argument: argument}, nil
}

type target struct {
	api      *executions.Client
	name     string
	argument map[string]json.RawMessage
}

func (t *target) String() string { return t.name }

// Start implements forward.Target.
func (t *target) Start(ctx context.Context, r run.Run) (string, error) {
	argument, err := t.argumentFor(r)
	if err != nil {
		return "", forward.Refused(err)
	}
	started, err := t.api.CreateExecution(ctx, &executionspb.CreateExecutionRequest{
		Parent:    t.name,
		Execution: &executionspb.Execution{Argument: argument, Labels: map[string]string{forward.LabelRunID: label(r)}},
	})
	if err != nil {
		return "", googleapi.StartError(err)
	}
	return started.GetName(), nil
}

func (t *target) argumentFor(r run.Run) (string, error) {
	own := Argument{ID: r.ID, Name: r.Name, Job: r.Job, ScheduleTime: run.FormatTime(r.ScheduleTime), Forced: r.Forced}
	if !r.PreviousTime.IsZero() {
		own.PreviousTime = run.FormatTime(r.PreviousTime)
	}
	all := make(map[string]any, len(t.argument)+1)
	for key, value := range t.argument {
		all[key] = value
	}
	all["run"] = own
	text, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("write the argument: %w", err)
	}
	return string(text), nil
}

// label is the run id as far as a label takes it.
func label(r run.Run) string { return r.ID[:min(len(r.ID), 63)] }

// Find implements forward.Target: by the label, or, where the server does not filter by it, by comparing all since.
func (t *target) Find(ctx context.Context, r run.Run, since time.Time) (string, error) {
	name, err := t.list(ctx, r, since, fmt.Sprintf("labels.%s=%q", forward.LabelRunID, label(r)))
	if status.Code(err) == codes.InvalidArgument {
		return t.list(ctx, r, since, "")
	}
	return name, err
}

// list reads executions, the newest first, until those before since.
func (t *target) list(ctx context.Context, r run.Run, since time.Time, filter string) (string, error) {
	found := t.api.ListExecutions(ctx, &executionspb.ListExecutionsRequest{
		Parent: t.name, PageSize: pageSize, View: executionspb.ExecutionView_FULL, Filter: filter,
	})
	for range googleapi.MaxPages * pageSize {
		e, err := found.Next()
		switch {
		case errors.Is(err, iterator.Done):
			return "", nil
		case err != nil:
			return "", fmt.Errorf("list executions: %w", err)
		case e.GetLabels()[forward.LabelRunID] == label(r):
			return e.GetName(), nil
		case filter == "" && e.GetStartTime() != nil && e.GetStartTime().AsTime().Before(since):
			return "", nil
		}
	}
	return "", googleapi.ErrTooMany("executions")
}
