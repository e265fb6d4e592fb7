package process

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Delivery is one request for a run.
type Delivery struct {
	// Time is the schedule time.
	Time time.Time
	// Policy is what the provider would inject.
	Policy run.Policy
	// Task is what the work is to do.
	Task Task
	// Clock, when not zero, is the moved clock of a local cloud: what decides whether the run is forced.
	Clock time.Time
}

// Answer is what a delivery got.
type Answer struct {
	Code    int
	Outcome claim.Outcome
	Body    string
}

// Name is the name of the run, forced or scheduled.
func Name(at time.Time, forced bool) string {
	name, err := run.Identity{Project: Project, Region: Region, Job: Job, ScheduleTime: at, Forced: forced}.Name()
	if err != nil {
		panic(err) // the parts are constants
	}
	return name
}

// Deliver sends a delivery to the process. An error: it has got no answer, and may have been taken in all the same.
func (p *Process) Deliver(ctx context.Context, client *http.Client, d Delivery) (Answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+"/?"+d.Task.Query(), http.NoBody)
	if err != nil {
		return Answer{}, fmt.Errorf("deliver: %w", err)
	}
	r.Header.Set(run.HeaderScheduler, "true")
	r.Header.Set(run.HeaderJobName, Job)
	r.Header.Set(run.HeaderScheduleTime, run.FormatTime(d.Time))
	r.Header.Set(run.HeaderProject, Project)
	r.Header.Set(run.HeaderRegion, Region)
	r.Header.Set(run.HeaderPolicy, d.Policy.Encode())
	if !d.Clock.IsZero() {
		r.Header.Set(run.HeaderClock, d.Clock.UTC().Format(time.RFC3339Nano))
	}
	reply, err := client.Do(r)
	if err != nil {
		return Answer{}, fmt.Errorf("deliver: %w", err)
	}
	defer func() { _ = reply.Body.Close() }() // what was read stands
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("deliver: %w", err)
	}
	return Answer{Code: reply.StatusCode, Outcome: claim.Outcome(reply.Header.Get(run.HeaderOutcome)), Body: string(body)}, nil
}
