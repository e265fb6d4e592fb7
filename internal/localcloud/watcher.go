package localcloud

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

const (
	watchEvery   = 250 * time.Millisecond
	watchTimeout = 2 * time.Second
	// watchedRuns bounds how many runs are looked at in one round; the others follow in the next.
	watchedRuns = 100
	// rememberedRuns bounds what is kept of runs that are over.
	rememberedRuns = 2000
)

// recordView is a claim record as it is shown.
type recordView struct {
	Status       claim.Status `json:"status"`
	Attempt      int          `json:"attempt"`
	Counted      int          `json:"counted"`
	AttemptID    string       `json:"attemptId"`
	Holder       string       `json:"holder,omitempty"`
	ClaimedAt    time.Time    `json:"claimedAt,omitzero"`
	Written      time.Time    `json:"written,omitzero"`
	LeaseExpires time.Time    `json:"leaseExpires,omitzero"`
	ExpireAt     time.Time    `json:"expireAt,omitzero"`
	LastError    string       `json:"lastError,omitempty"`
	Now          time.Time    `json:"now"`
}

func newRecordView(s claim.Snapshot) recordView {
	out := recordView{
		Status: s.Status, Attempt: s.Attempt, Counted: s.Counted, AttemptID: s.AttemptID, Holder: s.Holder, ClaimedAt: s.ClaimedAt.UTC(),
		Written: s.Written.UTC(), LeaseExpires: s.LeaseExpires.UTC(), ExpireAt: s.ExpireAt.UTC(), LastError: s.LastError, Now: s.Now.UTC(),
	}

	// By the store's clock alone, whatever the holder's said.
	if s.Status == claim.StatusInProgress && s.Lease > 0 && !s.Written.IsZero() {
		out.LeaseExpires = s.Written.Add(s.Lease).UTC()
	}

	return out
}

// claimsView is what was seen of the record of one run: one entry an attempt, the latest last.
type claimsView struct {
	Name   string       `json:"name"`
	Claims []recordView `json:"claims"`

	revision int64
}

// watcher looks at the records of runs that are under way, so that their leases can be shown.
type watcher struct {
	store   claim.Store
	changes broadcast

	mu       sync.Mutex
	active   map[string]naming
	order    []string // of active, oldest first
	seen     map[string]*claimsView
	seenOrd  []string
	revision int64
	problem  string
}

func newWatcher(store claim.Store) *watcher {
	return &watcher{store: store, active: map[string]naming{}, seen: map[string]*claimsView{}}
}

// run watches until ctx ends. Each delivery that begins or ends has the record of its run looked at until that rests.
func (w *watcher) run(ctx context.Context, deliveries *journal) {
	var revision int64

	for ctx.Err() == nil {
		changed := deliveries.changes.changed()

		var latest []Delivery

		latest, revision = deliveries.since(revision, rememberedRuns)
		w.take(latest)

		var again <-chan time.Time
		if w.look(ctx) {
			again = time.After(watchEvery)
		}

		select {
		case <-changed:
			// Deliveries come in bursts, and one look is enough for many.
			_ = sleep(ctx, watchEvery/5)
		case <-again:
		case <-ctx.Done():
		}
	}
}

func (w *watcher) take(deliveries []Delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()

	for _, d := range deliveries {
		named := nameRun(d)
		if named.name == "" {
			continue
		}

		if _, found := w.active[named.name]; !found {
			w.active[named.name] = named
			w.order = append(w.order, named.name)
		}
	}
}

// look reads the records of active runs and says whether any must be looked at again.
func (w *watcher) look(ctx context.Context) bool {
	w.mu.Lock()
	names := slices.Clone(w.order[:min(len(w.order), watchedRuns)])
	w.mu.Unlock()

	for _, name := range names {
		w.mu.Lock()
		named := w.active[name]
		w.mu.Unlock()

		reading, cancel := context.WithTimeout(ctx, watchTimeout)
		snapshot, err := w.store.Get(reading, named.id)

		cancel()

		if err != nil && !errors.Is(err, claim.ErrNotFound) {
			w.fail(err)

			return ctx.Err() == nil && sleep(ctx, watchTimeout) == nil
		}

		w.note(name, snapshot, err == nil)
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	return len(w.order) > 0
}

// fail remembers that the store cannot be read. What its error says may hold its address, so only that is told.
func (w *watcher) fail(error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.problem = "the store cannot be read"
}

// note keeps what was seen of a run. A record in progress is looked at again, behind the others.
func (w *watcher) note(name string, snapshot claim.Snapshot, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.problem = ""
	w.order = slices.DeleteFunc(w.order, func(n string) bool { return n == name })

	if found && snapshot.Status == claim.StatusInProgress && snapshot.Now.Sub(snapshot.Written) < snapshot.Lease+time.Minute {
		w.order = append(w.order, name)
	} else {
		delete(w.active, name)
	}

	if !found {
		return
	}

	view := w.remembered(name)
	next := newRecordView(snapshot)

	i := slices.IndexFunc(view.Claims, func(r recordView) bool { return r.AttemptID == next.AttemptID })

	switch {
	case i < 0:
		view.Claims = append(slices.Clone(view.Claims), next)
	case view.Claims[i].Status == next.Status && view.Claims[i].Written.Equal(next.Written):
		return
	default:
		view.Claims = slices.Clone(view.Claims)
		view.Claims[i] = next
	}

	w.revision++
	view.revision = w.revision
	w.changes.notify()
}

// remembered is what is kept of a run. The caller holds w.mu.
func (w *watcher) remembered(name string) *claimsView {
	if view, found := w.seen[name]; found {
		return view
	}

	if len(w.seenOrd) >= rememberedRuns {
		delete(w.seen, w.seenOrd[0])
		w.seenOrd = slices.Delete(w.seenOrd, 0, 1)
	}

	view := &claimsView{Name: name}
	w.seen[name] = view
	w.seenOrd = append(w.seenOrd, name)

	return view
}

// since returns what changed after a revision, and the revision that it shows.
func (w *watcher) since(revision int64) ([]claimsView, int64, string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	var out []claimsView

	for _, name := range w.seenOrd {
		if view := w.seen[name]; view.revision > revision {
			out = append(out, *view)
		}
	}

	return out, w.revision, w.problem
}

// record reads the record of a run now, or says why it cannot.
func (w *watcher) record(ctx context.Context, named naming) (*recordView, string) {
	switch {
	case w.store == nil:
		return nil, "No store is known. Start dev with --store and the URL that the handler uses to see the record."
	case named.id == "":
		return nil, "The delivery does not say which run it is for."
	}

	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()

	snapshot, err := w.store.Get(ctx, named.id)
	if errors.Is(err, claim.ErrNotFound) {
		return nil, "The store has no record of this run."
	}

	if err != nil {
		return nil, "The store cannot be read."
	}

	view := newRecordView(snapshot)

	return &view, ""
}
