package localcloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// missedRuns is how far behind real time the scheduler may be, after a suspended laptop say, and still fire every run that it missed.
const missedRuns = time.Minute

// longestNap bounds one wait for the next event, so that a jump of the wall clock is seen.
const longestNap = 10 * time.Second

var errClosed = errors.New("the local cloud is closed")

// scheduler holds the jobs and fires them.
type scheduler struct {
	cfg        Config
	issuer     *issuer
	faults     *faults
	random     *randomFaults
	deliveries *journal
	agenda     *agenda
	client     *http.Client

	// turn is held while events happen, so that they happen one after the other.
	turn sync.Mutex

	mu      sync.Mutex
	jobs    map[string]*job
	closed  bool
	flights flights
	lastRun int64

	// landed is notified whenever an attempt ends.
	landed broadcast
	work   sync.WaitGroup
	ctx    context.Context //nolint:containedctx // the life of deliveries, which no single call owns
	cancel context.CancelCauseFunc
}

func newScheduler(cfg Config, tokens *issuer) *scheduler {
	transport, _ := http.DefaultTransport.(*http.Transport)
	own := transport.Clone()
	// Targets are called directly, as in life; a proxy of this machine must not see them.
	own.Proxy = nil
	own.MaxIdleConns, own.MaxIdleConnsPerHost = 1024, 256

	ctx, cancel := context.WithCancelCause(context.Background())
	s := &scheduler{
		cfg:        cfg,
		issuer:     tokens,
		faults:     &faults{},
		random:     &randomFaults{},
		deliveries: newJournal(cfg.History),
		agenda:     newAgenda(),
		client:     &http.Client{Transport: own},
		jobs:       map[string]*job{},
		flights:    flights{},
		ctx:        ctx,
		cancel:     cancel,
	}

	s.work.Go(s.pump)

	return s
}

// pump makes events happen when they are due, until the scheduler closes.
func (s *scheduler) pump() {
	for s.ctx.Err() == nil {
		s.happen()

		nap := longestNap
		if at, found := s.agenda.earliest(); found && s.cfg.Clock.Running() {
			nap = min(nap, at.Sub(s.cfg.Clock.Now()))
		}

		timer := time.NewTimer(nap)
		select {
		case <-timer.C:
		case <-s.agenda.wake:
		case <-s.ctx.Done():
		}

		timer.Stop()
	}
}

// happen lets everything happen that is due.
func (s *scheduler) happen() {
	s.turn.Lock()
	defer s.turn.Unlock()

	for s.ctx.Err() == nil {
		e := s.agenda.due(s.cfg.Clock.Now())
		if e == nil {
			return
		}

		e.do()
	}
}

// arm puts the next run of a job on the agenda, counted from a time. The caller holds s.mu.
func (s *scheduler) arm(j *job, after time.Time) {
	s.disarm(j)

	if j.pb.GetState() != schedulerpb.Job_ENABLED || s.closed {
		return
	}

	at := j.timetable.next(after)
	if at.IsZero() {
		return
	}

	j.edit(func(pb *schedulerpb.Job) { pb.ScheduleTime = timestamppb.New(at) })

	name := j.pb.GetName()
	j.due = s.agenda.add(at, func() { s.fall(name, j, at) })
}

// disarm takes the next run of a job off the agenda. The caller holds s.mu.
func (s *scheduler) disarm(j *job) {
	s.agenda.remove(j.due)
	j.due = nil
}

// fall is what happens when the scheduled time of a job falls due. Retries of the run before end here; an attempt in flight delays
// the new run, since scheduled runs of a job do not overlap.
func (s *scheduler) fall(name string, j *job, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.jobs[name] != j || s.closed || j.pb.GetState() != schedulerpb.Job_ENABLED {
		return
	}

	after := at
	if earliest := s.cfg.Clock.Now().Add(-missedRuns); after.Before(earliest) {
		after = earliest
	}

	if countsFromEnd(j.timetable) {
		s.disarm(j)
	} else {
		s.arm(j, after)
	}

	if j.current != nil {
		s.abandon(j.current)

		if j.current.attempting {
			j.waiting = at

			return
		}
	}

	j.current = s.newExecution(j, promised(j.timetable, at))
	s.attempt(j.current)
}

// close ends firing: what is in flight may land within the grace and is cut then.
func (s *scheduler) close(grace time.Duration) {
	s.mu.Lock()
	s.closed = true

	for _, j := range s.jobs {
		s.disarm(j)
		s.abandon(j.current)
	}

	s.mu.Unlock()
	s.drain(grace)
	s.cancel(errClosed)
	s.work.Wait()
	s.landed.notify()
	s.deliveries.changes.notify()
	s.client.CloseIdleConnections()
}

// drain waits for attempts in flight, for as long as the grace.
func (s *scheduler) drain(grace time.Duration) {
	over := time.NewTimer(grace)
	defer over.Stop()

	for {
		landed := s.landed.changed()

		s.mu.Lock()
		flying := len(s.flights)
		s.mu.Unlock()

		if flying == 0 {
			return
		}

		select {
		case <-landed:
		case <-over.C:
			return
		}
	}
}

// find looks a job up by its full name or unique short id.
func (s *scheduler) find(name string) (*schedulerpb.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	j, err := s.lookup(name)
	if err != nil {
		return nil, err
	}

	return j.pb, nil
}

// lookup is find for those who hold s.mu.
func (s *scheduler) lookup(name string) (*job, error) {
	if j, found := s.jobs[name]; found {
		return j, nil
	}

	var match *job

	for full, j := range s.jobs {
		if name == "" || !matchesJob(name, full) {
			continue
		}

		if match != nil {
			return nil, fmt.Errorf("job %q is ambiguous: use the full name, %s or %s", name, match.pb.GetName(), full)
		}

		match = j
	}

	if match == nil {
		return nil, fmt.Errorf("job %q does not exist in the local cloud", name)
	}

	return match, nil
}

func (s *scheduler) drift(name string, change func(*schedulerpb.Job)) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	j, err := s.lookup(name)
	if err != nil {
		return err
	}

	full := j.pb.GetName()
	j.edit(change)
	j.edit(func(pb *schedulerpb.Job) { pb.Name = full })

	times, err := newTimetable(j.pb.GetSchedule(), j.pb.GetTimeZone())
	if err != nil {
		times = noTimetable{}
	}

	j.timetable = times
	s.arm(j, s.cfg.Clock.Now())

	return nil
}
