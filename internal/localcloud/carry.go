package localcloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

const (
	largestAnswer = 64 << 10 // bytes of its body that are kept
	// defaultAppEngineDeadline is that of automatic scaling.
	defaultAppEngineDeadline = 10 * time.Minute
)

var (
	errDeadline  = errors.New("the attempt deadline was exceeded")
	errLostReply = errors.New("the connection broke before the answer arrived")
	errReset     = errors.New("the connection was reset")
)

// attempt is one try to deliver a run.
type attempt struct {
	job    *schedulerpb.Job
	run    int64
	at     time.Time
	forced bool
	number int
	// tries counts on where number does not, after system errors of App Engine, so that chance does not repeat itself for ever.
	tries int
	trip  *trip
	fault Fault
}

// verdict is what the scheduler takes an attempt for.
type verdict struct {
	status int
	code   codes.Code
	err    error
}

func (v verdict) message() string {
	if v.err != nil {
		return v.err.Error()
	}

	return ""
}

// carry makes one attempt, with the fault that it meets, and says how it went.
func (s *scheduler) carry(ctx context.Context, try attempt) verdict {
	if try.fault.Kind != Duplicate {
		return s.deliver(ctx, try, 0)
	}

	copies := max(try.fault.Count, 2) - 1

	if try.fault.After > 0 {
		s.agenda.add(s.cfg.Clock.Now().Add(try.fault.After), func() { s.sendCopies(try, copies) })

		return s.deliver(ctx, try, 0)
	}

	results := make([]verdict, copies+1)

	var all sync.WaitGroup
	for i := range results {
		all.Go(func() { results[i] = s.deliver(ctx, try, i) })
	}

	all.Wait()

	for _, result := range results {
		if result.code == codes.OK {
			return result
		}
	}

	return results[0]
}

// sendCopies delivers late duplicates, whose answers nobody waits for.
func (s *scheduler) sendCopies(try attempt, copies int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.closed {
		return
	}

	for i := range copies {
		late := try
		late.trip = &trip{job: try.job.GetName()}
		s.flights.add(late.trip)
		s.work.Go(func() {
			s.deliver(s.ctx, late, i+1)
			s.copied(late.trip)
		})
	}
}

// deliver sends one request and records it.
func (s *scheduler) deliver(parent context.Context, try attempt, number int) verdict {
	now := s.cfg.Clock.Now()
	entry := Delivery{
		Job: try.job.GetName(), Run: try.run, ScheduleTime: try.at, Forced: try.forced, Number: try.number, Copy: number,
		Started: time.Now(), Clock: now, Fault: try.fault.Kind,
	}

	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)

	// The deadline counts by the cloud's clock when that is moved, and always in real time.
	f := &flight{scheduler: s, trip: try.trip, cancel: cancel}
	limit := deadline(try.job)
	moved := s.agenda.add(now.Add(limit), func() {
		f.resume()
		f.cut()
		cancel(errDeadline)
	})

	defer s.agenda.remove(moved)

	ctx, stop := context.WithTimeoutCause(ctx, limit, errDeadline)
	defer stop()

	req, err := s.request(ctx, try)
	if err == nil {
		entry.Method, entry.URL, entry.Header = req.Method, req.URL.String(), withoutToken(req.Header)
	}

	record := s.deliveries.begin(entry)

	var ans answer
	if err == nil {
		ans, err = f.exchange(ctx, req, try.fault)
	}

	result := judge(ctx, ans, err)
	s.deliveries.update(record, func(d *Delivery) {
		d.Ended = time.Now()
		d.Status, d.Answer, d.Body, d.Outcome = ans.status, ans.header, ans.body, ans.header.Get(run.HeaderOutcome)
		d.Error = result.message()
	})

	at := "none"
	if !entry.ScheduleTime.IsZero() {
		at = entry.ScheduleTime.UTC().Format(time.RFC3339)
	}

	s.cfg.Logger.LogAttrs(parent, slog.LevelInfo, "delivery",
		slog.String("job", entry.Job), slog.String("schedule_time", at), slog.Bool("forced", entry.Forced),
		slog.Int("attempt", entry.Number), slog.Int("copy", entry.Copy), slog.Int("status", ans.status),
		slog.String("outcome", ans.header.Get(run.HeaderOutcome)), slog.String("fault", string(entry.Fault)),
		slog.String("error", result.message()), slog.Duration("took", time.Since(entry.Started)))

	return result
}

func deadline(job *schedulerpb.Job) time.Duration {
	if d := job.GetAttemptDeadline().AsDuration(); d > 0 {
		return d
	}

	if job.GetAppEngineHttpTarget() != nil {
		return defaultAppEngineDeadline
	}

	return defaultHTTPDeadline
}

// answer is what the target said, whether or not the scheduler gets to hear it.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// flight is a delivery under way.
type flight struct {
	scheduler *scheduler
	trip      *trip
	cancel    context.CancelCauseFunc
	// held says that the delivery waits for the cloud's clock and does not count as in flight; guarded by the scheduler's mutex.
	held bool
}

// exchange sends the request through a path that has the fault.
func (f *flight) exchange(ctx context.Context, req *http.Request, fault Fault) (answer, error) {
	switch fault.Kind {
	case Status:
		return answer{status: cmp.Or(fault.Status, http.StatusServiceUnavailable), header: http.Header{}}, nil
	case Delay, SlowToken:
		if fault.Kind == SlowToken && req.Header[headerAuthorization] == nil {
			break
		}

		err := f.hold(ctx, fault.Delay)
		if err != nil {
			return answer{}, err
		}
	case Reset:
		return f.scheduler.send(breaking(ctx, f.cancel, req, fault.After))
	case LostReply:
		ans, err := f.scheduler.send(req)
		if err == nil {
			err = errLostReply
		}

		return ans, err
	case Duplicate, UpdateFailed:
	}

	return f.scheduler.send(req)
}

// hold waits by the cloud's clock. Meanwhile time may move on without the delivery: it counts as in flight again before whatever
// ends the wait has happened, so that no step of the clock can slip in between.
func (f *flight) hold(ctx context.Context, d time.Duration) error {
	s := f.scheduler
	over := make(chan struct{})

	s.mu.Lock()
	e := s.agenda.add(s.cfg.Clock.Now().Add(d), func() {
		f.resume()
		close(over)
	})
	f.held = true
	s.flights.remove(f.trip)
	s.mu.Unlock()
	s.landed.notify()

	defer s.agenda.remove(e)
	defer f.resume()

	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// resume makes a held delivery count as in flight again.
func (f *flight) resume() {
	f.scheduler.mu.Lock()
	defer f.scheduler.mu.Unlock()

	if f.held {
		f.held = false
		f.scheduler.flights.add(f.trip)
	}
}

// cut says that the delivery is about to end.
func (f *flight) cut() {
	f.scheduler.mu.Lock()
	defer f.scheduler.mu.Unlock()

	f.trip.cut = true
}

// copied ends the flight of a late duplicate.
func (s *scheduler) copied(t *trip) {
	s.mu.Lock()
	s.flights.remove(t)
	s.mu.Unlock()
	s.landed.notify()
}

func (s *scheduler) send(req *http.Request) (answer, error) {
	resp, err := s.client.Do(req)
	if err != nil {
		// The client's error begins with the URL, whose query may be secret.
		if failed, is := errors.AsType[*url.Error](err); is {
			err = failed.Err
		}

		return answer{}, fmt.Errorf("send: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing depends on it once the body is read

	ans := answer{status: resp.StatusCode, header: resp.Header}

	ans.body, err = io.ReadAll(io.LimitReader(resp.Body, largestAnswer))
	if err == nil {
		// The answer is whole only when its end was seen; a large rest is not worth keeping.
		_, err = io.Copy(io.Discard, resp.Body)
	}

	if err != nil {
		return ans, fmt.Errorf("read the answer: %w", err)
	}

	return ans, nil
}
