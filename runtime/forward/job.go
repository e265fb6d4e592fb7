package forward

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// OnUnknown says what becomes of a run when it cannot be found out whether its execution was started.
type OnUnknown string

const (
	// Hold records the run as unknown, for an operator to complete or release. It is the default.
	Hold OnUnknown = "hold"
	// Rerun starts it again, which may start a second execution.
	Rerun OnUnknown = "rerun"
)

// Settle is how long after the deadline of a call a look-up must begin for finding nothing to mean that nothing was started: servers
// may apply a call after its caller gave up, and list what it started some seconds later.
const Settle = 30 * time.Second

// DefaultCallTimeout is how long a call may take where nothing else is set.
const DefaultCallTimeout = 20 * time.Second

// Job says what the runs of one job start.
type Job struct {
	// Target is what is started.
	Target Target
	// OnUnknown decides where look-ups cannot. Empty: Hold.
	OnUnknown OnUnknown
	// CallTimeout bounds one call to the target. Zero: DefaultCallTimeout. An attempt that has less time cuts it, so that a lost
	// reply can still be looked up.
	CallTimeout time.Duration
	// Logger is told what was started and what was lost. Nil: slog.Default().
	Logger *slog.Logger
}

// Jobs returns the work of each job, by its short id, for scheduled.Config. The error names every job that cannot be served.
func Jobs(jobs map[string]Job) (map[string]scheduled.Work, error) {
	works := make(map[string]scheduled.Work, len(jobs))
	var problems []error
	for name, job := range jobs {
		work, err := Work(job)
		if err != nil {
			problems = append(problems, fmt.Errorf("forward job %q: %w", name, err))
			continue
		}
		works[name] = work
	}
	slices.SortFunc(problems, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return works, errors.Join(problems...)
}

// Work returns the work of one job.
func Work(job Job) (scheduled.Work, error) {
	switch {
	case job.Target == nil:
		return nil, errors.New("target is missing: say what its runs start")
	case job.CallTimeout < 0:
		return nil, fmt.Errorf("call timeout is %v, it must not be negative", job.CallTimeout)
	case job.OnUnknown != "" && job.OnUnknown != Hold && job.OnUnknown != Rerun:
		return nil, fmt.Errorf("on_unknown is %q, it must be %s or %s", job.OnUnknown, Hold, Rerun)
	}
	f := &forwarder{
		target: job.Target, rerun: job.OnUnknown == Rerun, timeout: cmp.Or(job.CallTimeout, DefaultCallTimeout), logger: job.Logger,
	}
	return f.do, nil
}
