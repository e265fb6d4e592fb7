package forward

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Fault is what becomes of one call that starts something.
type Fault int

// The faults. Late is how long after its deadline a call is applied at most, List how much later it is listed at most.
const (
	None      Fault = iota // applied and answered
	Delayed                // applied and answered after some seconds
	LostReply              // applied, the reply is an error
	Hang                   // applied, no reply until the caller gives up
	Dropped                // not applied, the reply is an error
	Refused                // not applied, the reply says so
	LateReply              // the reply is an error at once, applied later
	Late                   // no reply until the caller gives up, applied after that
)

const (
	maxDelay = 10 * time.Second
	maxLate  = 20 * time.Second
	maxList  = 5 * time.Second
	maxLook  = 200 * time.Millisecond
)

// Started is one execution of whatever was started.
type Started struct {
	Parent, Name, Token string
	Created             time.Time
	listed              time.Time
	// Body is what the call asked for.
	Body any
}

// World is the state of the servers. Its methods are safe for concurrent use.
type World struct {
	// Choose picks the fault of the next start. Nil: None.
	Choose func(rng *rand.Rand) Fault
	// FailLists is the share of look-ups that fail.
	FailLists float64
	// NoFilter lets Workflows refuse filters.
	NoFilter bool

	mu      sync.Mutex
	rng     *rand.Rand
	started []Started
	calls   map[Fault]int
	lists   int
	late    sync.WaitGroup
}

// NewWorld returns a world whose faults follow from the seed.
func NewWorld(seed uint64) *World {
	return &World{rng: rand.New(rand.NewPCG(seed, seed)), calls: map[Fault]int{}}
}

// Of returns what was started with a token.
func (w *World) Of(token string) []Started {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.started), func(s Started) bool { return s.Token != token })
}

// Calls returns how many calls met which fault, and how many look-ups were made.
func (w *World) Calls() (map[Fault]int, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls, w.lists
}

// Wait returns when no call is left that will still be applied.
func (w *World) Wait() { w.late.Wait() }

// upTo is a random duration.
func (w *World) upTo(limit time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.rng.Int64N(int64(limit)))
}

func (w *World) choose() Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := None
	if w.Choose != nil {
		f = w.Choose(w.rng)
	}
	w.calls[f]++
	return f
}

var errLost = status.Error(codes.Unavailable, "the reply was lost")

// start starts something under its fault; name makes the name of the nth thing started.
func (w *World) start(ctx context.Context, parent, token string, body any, name func(n int) string) (Started, error) {
	apply := func() Started { return w.apply(parent, token, body, name) }
	switch w.choose() {
	case Delayed:
		if !pause(ctx, w.upTo(maxDelay)) {
			return Started{}, ctx.Err()
		}
	case LostReply:
		apply()
		return Started{}, errLost
	case Hang:
		apply()
		<-ctx.Done()
		return Started{}, ctx.Err()
	case Dropped:
		return Started{}, errLost
	case Refused:
		return Started{}, status.Error(codes.PermissionDenied, "not now")
	case LateReply:
		w.applyLater(ctx, apply)
		return Started{}, errLost
	case Late:
		<-ctx.Done()
		w.applyLater(ctx, apply)
		return Started{}, ctx.Err()
	case None:
	}
	return apply(), nil
}

// applyLater applies a call at some time up to maxLate after its caller's deadline.
func (w *World) applyLater(ctx context.Context, apply func() Started) {
	deadline, _ := ctx.Deadline()
	wait := w.upTo(max(time.Until(deadline), 0) + maxLate)
	w.late.Go(func() {
		time.Sleep(wait)
		apply()
	})
}

func (w *World) apply(parent, token string, body any, name func(n int) string) Started {
	lag := w.upTo(maxList)
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	s := Started{Parent: parent, Name: name(len(w.started)), Token: token, Created: now, listed: now.Add(lag), Body: body}
	w.started = append(w.started, s)
	return s
}

// list returns what can be seen below a parent, the newest first.
func (w *World) list(ctx context.Context, parent string) ([]Started, error) {
	if !pause(ctx, w.upTo(maxLook)) {
		return nil, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lists++
	if w.rng.Float64() < w.FailLists {
		return nil, status.Error(codes.Unavailable, "try again")
	}
	var seen []Started
	for _, s := range slices.Backward(w.started) { // kept in the order in which they were created
		if s.Parent == parent && !time.Now().Before(s.listed) {
			seen = append(seen, s)
		}
	}
	return seen, nil
}

// page cuts one page out of what a list shows; the token is the place to go on at.
func page(all []Started, size int32, token string) ([]Started, string) {
	from := 0
	if token != "" {
		_, _ = fmt.Sscan(token, &from) // our own token
	}
	all = all[min(from, len(all)):]
	if n := int(size); n > 0 && len(all) > n {
		return all[:n], strconv.Itoa(from + n)
	}
	return all, ""
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
