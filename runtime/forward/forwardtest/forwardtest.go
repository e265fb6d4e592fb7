// Package forwardtest has what tests of forwarders need: a target in memory that remembers what was started.
package forwardtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// ErrReplyLost is what a start gets whose reply [Target.LoseReplies] lost.
var ErrReplyLost = errors.New("reply lost")

// Target is a forward.Target in memory. Its methods are safe for concurrent use; the zero value is ready.
type Target struct {
	mu      sync.Mutex
	started map[string][]string
	total   int
	losing  int
}

var _ forward.Target = (*Target)(nil)

// String implements forward.Target.
func (t *Target) String() string { return "memory" }

// Start implements forward.Target.
func (t *Target) Start(_ context.Context, r run.Run) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.started == nil {
		t.started = map[string][]string{}
	}
	t.total++
	name := fmt.Sprintf("executions/%d", t.total)
	t.started[r.ID] = append(t.started[r.ID], name)
	if t.losing > 0 {
		t.losing--
		return "", ErrReplyLost
	}
	return name, nil
}

// Find implements forward.Target.
func (t *Target) Find(_ context.Context, r run.Run, _ time.Time) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if names := t.started[r.ID]; len(names) > 0 {
		return names[0], nil
	}
	return "", nil
}

// LoseReplies lets the next n starts be done and their replies be lost, and no others.
func (t *Target) LoseReplies(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.losing = n
}

// Started returns how many executions were started in all.
func (t *Target) Started() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}
