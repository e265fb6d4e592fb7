package localcloud

import (
	"fmt"
	"net/http"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// execution is one run of a job with all its attempts. It is guarded by the scheduler's mutex.
type execution struct {
	id int64
	// owner is the job as it was stored then: a job that was deleted and created again is another one.
	owner *job
	// at is the schedule time that every attempt carries; zero: a forced run of a job that has no next one.
	at     time.Time
	forced bool
	// alone is set for runs that neither wait for others nor end because of them: forced ones and those that Fire starts.
	alone      bool
	first      time.Time // start of the first attempt
	attempts   int       // that count
	tries      int       // attempts and those that do not count
	attempting bool
	trip       *trip // of the attempt in flight
	retry      *event
	over       bool // no further attempt is made
}

func (s *scheduler) newExecution(owner *job, at time.Time) *execution {
	s.lastRun++

	return &execution{id: s.lastRun, owner: owner, at: at}
}

// abandon ends a run after the attempt that is in flight, if any. The caller holds s.mu.
func (s *scheduler) abandon(x *execution) {
	if x == nil || x.alone {
		return
	}

	x.over = true
	s.agenda.remove(x.retry)
	x.retry = nil
}

// force starts a run at once, as RunJob does. It carries the next schedule time, even of a paused job, and overlaps with anything.
func (s *scheduler) force(name string) (*schedulerpb.Job, error) {
	_, err := parseJobName(name)
	if err != nil {
		return nil, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	j, found := s.jobs[name]

	switch {
	case !found:
		return nil, errNoJob()
	case s.closed:
		return nil, status.Error(codes.Unavailable, errClosed.Error())
	}

	x := s.newExecution(j, promised(j.timetable, j.timetable.next(s.cfg.Clock.Now())))
	x.forced, x.alone = true, true
	s.attempt(x)

	return j.pb, nil
}

// fire starts a scheduled run of a schedule time now, whatever the clock says.
func (s *scheduler) fire(name string, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	j, err := s.lookup(name)

	switch {
	case err != nil:
		return fmt.Errorf("fire: %w", err)
	case s.closed:
		return fmt.Errorf("fire %s: %w", j.pb.GetName(), errClosed)
	case j.pb.GetState() != schedulerpb.Job_ENABLED:
		return fmt.Errorf("fire %s: the job is %s and does not run on schedule: resume it", j.pb.GetName(), j.pb.GetState())
	}

	x := s.newExecution(j, at.UTC())
	x.alone = true
	s.attempt(x)

	return nil
}

// attempt starts the next attempt of a run. The caller holds s.mu.
func (s *scheduler) attempt(x *execution) {
	j, now := x.owner, s.cfg.Clock.Now()
	if x.attempts == 0 {
		x.first = now
	}

	x.attempts++
	x.tries++
	x.attempting, x.retry, x.trip = true, nil, &trip{job: j.pb.GetName()}
	s.flights.add(x.trip)

	j.edit(func(pb *schedulerpb.Job) { pb.LastAttemptTime = timestamppb.New(now) })

	try := attempt{job: j.pb, run: x.id, at: x.at, forced: x.forced, number: x.attempts, tries: x.tries, trip: x.trip}

	fault, asked := s.faults.take(j.pb.GetName(), deliveryFaults()...)
	if !asked {
		fault = s.random.draw(try)
	}

	try.fault = fault

	s.work.Go(func() {
		result := s.carry(s.ctx, try)

		s.mu.Lock()
		s.land(x, result)
		s.mu.Unlock()
		s.landed.notify()
	})
}

// land decides what follows an attempt. The caller holds s.mu.
func (s *scheduler) land(x *execution, result verdict) {
	s.flights.remove(x.trip)
	x.attempting = false

	j := x.owner
	if s.gone(x) {
		return
	}

	j.edit(func(pb *schedulerpb.Job) {
		pb.Status = &statuspb.Status{Code: int32(result.code), Message: result.message()}
	})

	if result.code != codes.OK && !x.over {
		now := s.cfg.Clock.Now()

		wait, again := s.nextAttempt(j.pb, x, result, now)
		if again {
			x.retry = s.agenda.add(now.Add(wait), func() { s.retry(x) })

			return
		}
	}

	x.over = true

	if j.current != x {
		return
	}

	j.current = nil

	if !j.waiting.IsZero() && j.pb.GetState() == schedulerpb.Job_ENABLED {
		j.current = s.newExecution(j, promised(j.timetable, j.waiting))
		s.attempt(j.current)
	} else if countsFromEnd(j.timetable) {
		s.arm(j, s.cfg.Clock.Now())
	}

	j.waiting = time.Time{}
}

// gone says that nothing follows for a run because its job was deleted or the cloud closed. The caller holds s.mu.
func (s *scheduler) gone(x *execution) bool {
	return s.closed || s.jobs[x.owner.pb.GetName()] != x.owner
}

// nextAttempt is the wait before the next attempt of a failed run, if there is to be one. To App Engine 503 is a fault of the system
// and not of the application: it is retried for ever and does not count.
func (s *scheduler) nextAttempt(pb *schedulerpb.Job, x *execution, result verdict, now time.Time) (time.Duration, bool) {
	if pb.GetAppEngineHttpTarget() != nil && result.status == http.StatusServiceUnavailable {
		x.attempts--

		return backoff(pb.GetRetryConfig(), 0), true
	}

	return nextRetry(pb.GetRetryConfig(), x.attempts-1, now.Sub(x.first))
}

// retry is what happens when the wait before an attempt is over.
func (s *scheduler) retry(x *execution) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.gone(x) || x.over {
		return
	}

	s.attempt(x)
}
