package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

const (
	executed  = string(claim.OutcomeExecuted)
	duplicate = string(claim.OutcomeDuplicate)

	// forcedAhead is how long before the schedule time a run must be forced for its first delivery to count as forced, with some
	// time to get there.
	forcedAhead = claim.ForcedSlack + 3*time.Second
)

// play delivers the runs of all scenarios and gathers what became of them.
func (s *stage) play(ctx context.Context) (Evidence, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*patience, errors.New("the scenarios took too long"))
	defer cancel()

	seen := Evidence{}

	var err error

	if seen.WrongAudience, err = s.wrongAudience(ctx); err != nil {
		return seen, err
	}

	for _, step := range []func(context.Context) error{s.loseReply, s.deliverFiveTimes, s.kill(&seen), s.force, s.takeOver} {
		if err := step(ctx); err != nil {
			return seen, err
		}
	}

	return s.gather(ctx, seen)
}

// loseReply is (a): the work is done, its reply is lost, the retry is told so.
func (s *stage) loseReply(ctx context.Context) error {
	s.sayf("(a) the reply of a successful delivery is lost")

	if err := s.fireWith(ctx, LostReply, localcloud.Fault{Kind: localcloud.LostReply}); err != nil {
		return err
	}

	return s.await(ctx, LostReply, func(all []localcloud.Delivery) bool {
		return slices.ContainsFunc(all, func(d localcloud.Delivery) bool { return d.Fault == "" && d.Outcome == duplicate })
	})
}

// deliverFiveTimes is (b): one run is delivered five times at once.
func (s *stage) deliverFiveTimes(ctx context.Context) error {
	s.sayf("(b) one run is delivered %d times at once", duplicateCount)

	if err := s.fireWith(ctx, Duplicates, localcloud.Fault{Kind: localcloud.Duplicate, Count: duplicateCount}); err != nil {
		return err
	}

	return s.await(ctx, Duplicates, func(all []localcloud.Delivery) bool {
		return len(all) >= duplicateCount && !slices.ContainsFunc(all, localcloud.Delivery.InFlight) &&
			slices.ContainsFunc(all, func(d localcloud.Delivery) bool { return d.Outcome == executed })
	})
}

// kill is the first half of (c): the process is killed in the middle of the work and started again at once.
func (s *stage) kill(seen *Evidence) func(context.Context) error {
	return func(ctx context.Context) error {
		s.sayf("(c) the handler is killed in the middle of the work; a retry takes over when the lease ends")

		at := scheduleTime()
		if err := s.cloud.Fire(ctx, jobName(Killed), at); err != nil {
			return err
		}

		name, err := runName(Killed, at, false)
		if err != nil {
			return err
		}

		if err := waitForFile(ctx, filepath.Join(s.marks, run.ID(name))); err != nil {
			return err
		}

		if seen.KilledPID, err = s.handler.kill(); err != nil {
			return err
		}

		return s.handler.start(ctx)
	}
}

// takeOver is the second half of (c).
func (s *stage) takeOver(ctx context.Context) error {
	return s.await(ctx, Killed, func(all []localcloud.Delivery) bool {
		return slices.ContainsFunc(all, func(d localcloud.Delivery) bool { return d.Outcome == executed })
	})
}

// force is (d): a run is forced well before the scheduled one of the same schedule time, and both are done.
func (s *stage) force(ctx context.Context) error {
	if left := untilNextMinute(); left < forcedAhead {
		s.sayf("(d) waits %s for the next minute", left.Round(time.Second))

		if err := sleep(ctx, left); err != nil {
			return err
		}
	}

	s.sayf("(d) a run is forced before the scheduled one of the same time")

	// The job was applied paused, so that no run came before its handler was there.
	if err := s.tf.apply(ctx, "forced_paused=false"); err != nil {
		return err
	}

	if err := s.post(ctx, s.cloud.URL()+"/v1/"+jobName(Forced)+":run"); err != nil {
		return err
	}

	return s.await(ctx, Forced, func(all []localcloud.Delivery) bool {
		done := func(forced bool) bool {
			return slices.ContainsFunc(all, func(d localcloud.Delivery) bool { return d.Forced == forced && d.Outcome == executed })
		}

		return done(true) && done(false)
	})
}

// wrongAudience sends what the scheduler sends, with a token that is signed and valid, but for another audience.
func (s *stage) wrongAudience(ctx context.Context) (int, error) {
	token, err := s.cloud.Token(account, "https://elsewhere.example.com")
	if err != nil {
		return 0, err
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:"+s.handler.port+"/", http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("make a request: %w", err)
	}

	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set(run.HeaderScheduler, "true")
	req.Header.Set(run.HeaderJobName, string(LostReply))
	req.Header.Set(run.HeaderScheduleTime, run.FormatTime(scheduleTime()))

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("call the handler: %w", err)
	}

	return resp.StatusCode, resp.Body.Close()
}

func (s *stage) fireWith(ctx context.Context, scenario Scenario, fault localcloud.Fault) error {
	fault.Job = jobName(scenario)
	if err := s.cloud.Inject(fault); err != nil {
		return err
	}

	return s.cloud.Fire(ctx, fault.Job, scheduleTime())
}

// await returns when the condition holds of the scenario's deliveries.
func (s *stage) await(ctx context.Context, scenario Scenario, condition func([]localcloud.Delivery) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s did not come to its end within %s", scenario, patience))
	defer cancel()

	return s.cloud.Wait(ctx, func([]localcloud.Delivery) bool { return condition(s.cloud.Deliveries(jobName(scenario))) })
}

func (s *stage) post(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}

	req.Header.Set("Content-Type", "application/json")

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("call %s: %w", url, err)
	}

	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return fmt.Errorf("read the answer of %s: %w", url, err)
	}

	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s: %s", url, resp.Status, body)
	}

	return nil
}

// scheduleTime is the start of this minute: a schedule time that has come.
func scheduleTime() time.Time { return time.Now().UTC().Truncate(time.Minute) }

func untilNextMinute() time.Duration {
	return time.Until(scheduleTime().Add(time.Minute))
}

func runName(scenario Scenario, at time.Time, forced bool) (string, error) {
	return run.Identity{Project: project, Region: region, Job: string(scenario), ScheduleTime: at, Forced: forced}.Name()
}

func waitForFile(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the work did not begin"))
	defer cancel()

	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}

		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
