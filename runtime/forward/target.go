package forward

import (
	"context"
	"errors"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Target is one thing that can be started. Its methods are safe for concurrent use.
type Target interface {
	// Start starts it once more, with r.ID as the token, and returns the name of the started resource. An error leaves open whether
	// it was started, unless it is marked by [Refused].
	Start(ctx context.Context, r run.Run) (string, error)
	// Find returns the name of what Start started for that run at since or later. Empty: nothing is to be seen. An error says that
	// this look could not tell.
	Find(ctx context.Context, r run.Run, since time.Time) (string, error)
	// String names the target, for logs.
	String() string
}

// The names under which targets carry the run id.
const (
	// LabelRunID is the label of executions that holds the first 63 characters of the run id, the most that a label takes.
	LabelRunID = "idempotent_run"
	// EnvRunID is the environment variable of started jobs that holds the run id.
	EnvRunID = "IDEMPOTENT_RUN_ID"
	// EnvScheduleTime is the environment variable of started jobs that holds the schedule time in RFC 3339.
	EnvScheduleTime = "IDEMPOTENT_SCHEDULE_TIME"
	// SubstitutionRunID is the substitution of started builds that holds the run id.
	SubstitutionRunID = "_IDEMPOTENT_RUN_ID"
)

// EnvEndpoint is the environment variable that names another server than Google's, for generated forwarders.
const EnvEndpoint = "IDEMPOTENT_FORWARD_ENDPOINT"

// ErrRefused is matched by the errors that [Refused] marks.
var ErrRefused = errors.New("nothing was started")

type refused struct{ err error }

func (e *refused) Error() string        { return e.err.Error() }
func (e *refused) Unwrap() error        { return e.err }
func (e *refused) Is(target error) bool { return target == ErrRefused }

// Refused marks an error of [Target.Start] after which surely nothing was started. Nil stays nil.
func Refused(err error) error {
	if err == nil {
		return nil
	}
	return &refused{err}
}
