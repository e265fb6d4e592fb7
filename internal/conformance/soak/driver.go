package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/process"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// driver begins runs and delivers them, each several times and in no order.
type driver struct {
	fleet  *fleet
	open   int
	client *http.Client
	epoch  time.Time // the schedule time of the first run; the others follow, second by second

	mu       sync.Mutex
	random   *rand.Rand
	closing  bool     // no new runs
	current  []*entry // not done yet
	all      []*entry
	counts   Counts
	executed map[string][]string // by run: the attempts that say they executed it
	problems []error
}

// told takes in what the processes say.
func (d *driver) told(e process.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e.Kind {
	case process.EventLostReply:
		d.counts.LostReplies++
	case process.EventKind(claim.EventTakeover):
		d.counts.Takeovers++
	case process.EventKind(claim.EventReleased):
		d.counts.Released++
	case process.EventKind(claim.EventLost):
		d.counts.Lost++
	case process.EventKind(claim.EventExecuted):
		d.executed[e.Run] = append(d.executed[e.Run], e.AttemptID)
	}
}

// work delivers until there is nothing to deliver any more.
func (d *driver) work(ctx context.Context) {
	for ctx.Err() == nil {
		e, cut, target, ok := d.next()
		if !ok {
			return
		}
		d.deliver(ctx, e, cut, d.fleet.pick(target))
	}
}

// next draws the next delivery: of a new run, of one that is under way, or of one that is done. cut, when positive, is when the caller
// hangs up.
func (d *driver) next() (e *entry, cut time.Duration, target int, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	target = d.random.IntN(1 << 16)
	if d.random.IntN(8) == 0 {
		cut = time.Duration(1 + d.random.IntN(int(60*time.Millisecond)))
	}
	switch n := d.random.IntN(10); {
	case n == 0 && len(d.all) > len(d.current):
		return d.all[d.random.IntN(len(d.all))], cut, target, true
	case !d.closing && len(d.current) < d.open:
		d.begin()
	case len(d.current) == 0:
		return nil, 0, 0, false
	}
	return d.current[d.random.IntN(len(d.current))], cut, target, true
}

// begin adds runs: a scheduled one; a forced one, which lies ahead of the store's clock; or, by a moved clock, the forced and the
// scheduled run of one time, whose deliveries mix.
func (d *driver) begin() {
	at := d.epoch.Add(time.Duration(len(d.all)) * time.Second)
	scheduled, forced := d.draw(at, false), d.draw(at, true)
	switch d.random.IntN(12) {
	case 0:
		ahead := at.Add(2 * runUp)
		forced.delivery.Time, forced.name = ahead, process.Name(ahead, true)
		d.enlist(forced)
	case 1:
		forced.delivery.Clock, scheduled.delivery.Clock = at.Add(-time.Hour), at
		d.enlist(forced)
		d.enlist(scheduled)
	default:
		d.enlist(scheduled)
	}
}

// runUp is how long before the soak its first run was due: longer than it lasts, at a run a second.
const runUp = 7 * 24 * time.Hour

func (d *driver) enlist(e *entry) {
	d.all, d.current = append(d.all, e), append(d.current, e)
	d.counts.Runs++
	if e.forced {
		d.counts.Forced++
	}
	if e.tx {
		d.counts.Transactional++
	}
	if e.delivery.Policy.Renew {
		d.counts.Renewed++
	}
}

// draw is a run with some work to do.
func (d *driver) draw(at time.Time, forced bool) *entry {
	task := process.Task{Tx: d.random.IntN(2) == 0, Heedless: d.random.IntN(3) == 0}
	renew := d.random.IntN(8) == 0
	task.For = time.Duration(d.random.IntN(60)) * time.Millisecond
	if renew {
		task.For += lease
	}
	// Work that fails after its transaction has committed is done all the same.
	task.Fail = task.Tx && d.random.IntN(10) == 0
	return &entry{
		name: process.Name(at, forced), forced: forced, tx: task.Tx,
		delivery: process.Delivery{Time: at, Policy: policy(renew), Task: task},
	}
}

func (d *driver) deliver(ctx context.Context, e *entry, cut time.Duration, to *process.Process) {
	d.mu.Lock()
	if e.began.IsZero() {
		e.began = time.Now()
	}
	e.tries++
	d.counts.Deliveries++
	wasDone := e.done
	d.mu.Unlock()

	limit := answerWithin
	if cut > 0 {
		limit = cut
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := to.Deliver(ctx, d.client, e.delivery)

	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err != nil:
		d.counts.HangUps++ // by the caller, or the process died
	case wasDone && answer.Outcome == claim.OutcomeDuplicate:
		d.counts.Duplicates++
	case wasDone && answer.Code == http.StatusInternalServerError && answer.Outcome == "": // the store could not be asked
	case wasDone:
		d.problemf("a delivery of %s, which was done, got %d %s: %s", e.name, answer.Code, answer.Outcome, answer.Body)
	case answer.Code == http.StatusOK:
		d.finished(e)
	case answer.Code != http.StatusConflict && answer.Code != http.StatusInternalServerError:
		d.problemf("a delivery of %s got %d %s: %s", e.name, answer.Code, answer.Outcome, answer.Body)
	}
	if age := time.Since(e.began); !e.done && age > undoneFor && len(d.problems) == 0 {
		d.problemf("%s is not done %v after its first delivery, %d deliveries later", e.name, age.Round(time.Millisecond), e.tries)
	}
}

// answerWithin is how long a caller waits: longer than a process is stopped.
const answerWithin = 5 * time.Second

func (d *driver) finished(e *entry) {
	if e.done {
		return
	}
	e.done = true
	d.counts.Slowest = max(d.counts.Slowest, time.Since(e.began))
	if i := slices.Index(d.current, e); i >= 0 {
		d.current = slices.Delete(d.current, i, i+1)
	}
}

// problemf notes what must not be. The caller holds the lock.
func (d *driver) problemf(format string, args ...any) {
	d.problems = append(d.problems, fmt.Errorf(format, args...))
}

// troubled reports whether there is a problem.
func (d *driver) troubled() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.problems) > 0
}

func (d *driver) soFar() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

// stop begins no more runs.
func (d *driver) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closing = true
}
