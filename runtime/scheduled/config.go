package scheduled

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/serving"
)

// SupportsGenerated1 says that this library serves generated code of version 1, which refers to it.
const SupportsGenerated1 = true

// Work does the work of one run. Its context ends, with a cause, when the attempt must stop: see claim.Check. An error releases the
// run for another attempt, unless it is marked by claim.Permanent.
type Work func(ctx context.Context, r run.Run) error

// DefaultMaxBody is the most that a request body may hold: what a job may hold in all.
const DefaultMaxBody = 1 << 20

// DefaultShutdownGrace fits into the ten seconds that Cloud Run leaves between SIGTERM and SIGKILL.
const DefaultShutdownGrace = serving.DefaultGrace

// Config is what a [Handler] needs to know.
type Config struct {
	// Jobs is the work by short job id. Deliveries for other jobs go to Work.
	Jobs map[string]Work
	// Work is the work of all jobs that Jobs does not name. Nil: those are answered 404.
	Work Work
	// Store holds the claim records. The handler does not close it.
	Store claim.Store
	// Caller finds out who is calling.
	Caller caller.Checker
	// Project and Region are assumed where a delivery names none. Empty: such a delivery is answered 400.
	Project, Region string
	// Previous says how runs were named before a change. Until then each run is claimed under that name first and its own second, and
	// what one of the names says holds for both. Entries that are over are ignored. Empty: runs always had their names.
	Previous []run.Previous
	// PreviousStore held the claim records of those names. The handler does not close it. Nil: Store did.
	PreviousStore claim.Store
	// NeedsPreviousStore refuses a nil PreviousStore: FromEnv sets it when the environment names one.
	NeedsPreviousStore bool
	// Policy is used for deliveries that bring none, and for callers that are not verified. Zero fields: see the fields of
	// run.Policy; a deadline of 180 s, a retry horizon of one day, and what follows from them.
	Policy run.Policy
	// RequestTimeout is the longest that the platform lets a request live. A policy that needs longer is answered 500. Zero: no
	// limit is known.
	RequestTimeout time.Duration
	// RunWithoutScheduleTime does the work of deliveries that carry no schedule time, unguarded: each one again. False: they are
	// answered 400.
	RunWithoutScheduleTime bool
	// MaxBody is the most that a request body may hold, in bytes. Zero: DefaultMaxBody.
	MaxBody int64
	// LocalCloud believes the moved clock of a local cloud on this machine when it tells forced runs from scheduled ones.
	LocalCloud bool
	// ShutdownGrace is how long Serve lets running work end. Zero: DefaultShutdownGrace.
	ShutdownGrace time.Duration
	// Logger gets one line a delivery. Nil: slog.Default().
	Logger *slog.Logger
	// Now tells the local time. Nil: time.Now.
	Now func() time.Time
	// ClaimOptions go to the Claimer, after those for Logger and Now.
	ClaimOptions []claim.Option
}

func (c *Config) fillIn() error {
	var problems []error
	if c.Store == nil {
		problems = append(problems, errors.New("store is missing: open one and set Config.Store"))
	}
	if c.Caller == nil {
		problems = append(problems, errors.New("caller is missing: set Config.Caller to one of package caller's checkers"))
	}
	if len(c.Jobs) == 0 && c.Work == nil {
		problems = append(problems, errors.New("work is missing: set Config.Jobs or Config.Work"))
	}
	for job, work := range c.Jobs {
		if err := run.CheckJob(job); err != nil {
			problems = append(problems, fmt.Errorf("jobs: %w", err))
		}
		if work == nil {
			problems = append(problems, fmt.Errorf("jobs: job %q has no work", job))
		}
	}
	if err := run.CheckProject(c.Project); c.Project != "" && err != nil {
		problems = append(problems, err)
	}
	if err := run.CheckRegion(c.Region); c.Region != "" && err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, c.checkPrevious()...)
	if c.RequestTimeout < 0 || c.ShutdownGrace < 0 || c.MaxBody < 0 {
		problems = append(problems, errors.New("request timeout, shutdown grace and largest body must not be negative"))
	}
	if c.MaxBody == 0 {
		c.MaxBody = DefaultMaxBody
	}
	if c.ShutdownGrace == 0 {
		c.ShutdownGrace = DefaultShutdownGrace
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return errors.Join(problems...)
}
