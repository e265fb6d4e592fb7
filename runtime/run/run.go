package run

import (
	"context"
	"time"
)

// Run is one run as its work sees it.
type Run struct {
	Identity

	// Name is the run's name. A forced run that is taken for the scheduled one, under skip_next, has the name of that one.
	Name string
	// ID is the lower-case hex SHA-256 of Name: 64 characters, the same for every delivery and attempt of this run.
	ID string
	// PreviousID is the ID that the run had before its format, scope or forced policy changed, as long as that counts: systems that
	// were given the run's ID as a token may know it by this one. Empty: it always had the same.
	PreviousID string
	// PreviousTime is the last time before ScheduleTime that the schedule fires. Zero: unknown, as when the delivery brought no
	// schedule.
	PreviousTime time.Time
	// Attempt counts the attempts of this run from 1. Zero: the work runs unguarded.
	Attempt int
}

type contextKey struct{}

// NewContext returns a context that carries the run, which must not change from then on. Nil: no run.
func NewContext(ctx context.Context, r *Run) context.Context {
	return context.WithValue(ctx, contextKey{}, r)
}

// FromContext returns the run that the context carries, and whether it carries one.
func FromContext(ctx context.Context) (Run, bool) {
	r, _ := ctx.Value(contextKey{}).(*Run)
	if r == nil {
		return Run{}, false
	}
	return *r, true
}
