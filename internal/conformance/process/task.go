package process

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// Task is what a delivery makes the work do. The zero value returns at once.
type Task struct {
	// For is how long the work takes.
	For time.Duration
	// Heedless work goes on when its context ends.
	Heedless bool
	// Tx writes one effect in the transaction that completes the run.
	Tx bool
	// Fail makes the work return an error: after the transaction, if there is one.
	Fail bool
}

// Query is the task as it stands in a delivery.
func (t Task) Query() string {
	q := url.Values{}
	for name, set := range map[string]bool{"heedless": t.Heedless, "tx": t.Tx, "fail": t.Fail} {
		if set {
			q.Set(name, "true")
		}
	}
	if t.For > 0 {
		q.Set("for", t.For.String())
	}
	return q.Encode()
}

func readTask(query string) (Task, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return Task{}, fmt.Errorf("query of a delivery: %w", err)
	}
	t := Task{Heedless: q.Has("heedless"), Tx: q.Has("tx"), Fail: q.Has("fail")}
	if q.Has("for") {
		if t.For, err = time.ParseDuration(q.Get("for")); err != nil {
			return Task{}, fmt.Errorf("query of a delivery: %w", err)
		}
	}
	return t, nil
}

var errTask = errors.New("the task was to fail")

// work does what the delivery's query says and tells when it begins and when its context ends.
func (c *child) work(ctx context.Context, r run.Run) error {
	delivery, ok := scheduled.Request(ctx)
	if !ok {
		return errors.New("work without a delivery")
	}
	task, err := readTask(delivery.RawQuery)
	if err != nil {
		return claim.Permanent(err)
	}
	attempt, ok := claim.FromContext(ctx)
	if !ok {
		return errors.New("work without an attempt")
	}
	told := Event{Run: r.Name, Attempt: r.Attempt, AttemptID: attempt.ID()}
	c.tell(told.of(EventBegan, ""))
	var once sync.Once
	ended := func() {
		if cause := claim.Check(ctx); cause != nil && !errors.Is(cause, claim.ErrReturned) {
			once.Do(func() { c.tell(told.of(EventEnded, cause.Error())) })
		}
	}
	stop := context.AfterFunc(ctx, ended)
	defer stop()

	err = task.take(ctx)
	ended() // after a process was stopped the work's timer can be quicker than that of its context
	if err != nil {
		return err
	}
	if task.Tx {
		if err := c.world.complete(ctx, r.Name, attempt.ID()); err != nil {
			return err
		}
	}
	if task.Fail {
		return errTask
	}
	return nil
}

func (t Task) take(ctx context.Context) error {
	timer := time.NewTimer(t.For)
	defer timer.Stop()
	if t.Heedless {
		<-timer.C
		return nil
	}
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e Event) of(kind EventKind, text string) Event {
	e.Kind, e.Text = kind, text
	return e
}
