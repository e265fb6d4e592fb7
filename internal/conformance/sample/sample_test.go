package sample_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/sample"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

var errWork = errors.New("disk full")

func TestBothNameRunsAlike(t *testing.T) {
	t.Parallel()
	const want = "bdce749a727d0c6823969d2821b6f5bff953873a72f22452e9a046ea49625ff6"
	if got := sample.ID("nightly-report", "2026-10-16T12:00:00Z"); got != want {
		t.Errorf("id %s, want %s", got, want)
	}
	name, err := run.Identity{
		Job: "nightly-report", ScheduleTime: time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC), RawTime: "2026-10-16T12:00:00Z", Format: run.FormatSample,
	}.Name()
	if err != nil || run.ID(name) != want {
		t.Errorf("ours is %s (%q), %v", run.ID(name), name, err)
	}
}

// TestDeliveriesToBothExecuteARunOnce delivers each run to several handlers of both kinds at once, until each of them says that it is
// done.
func TestDeliveriesToBothExecuteARunOnce(t *testing.T) {
	t.Parallel()
	const runs, each = 8, 3
	s := share(t)
	var wins [2]int
	for i := range runs {
		var executed counter
		r := newRun()
		slow := func(ctx context.Context) error {
			pause(ctx, 20*time.Millisecond)
			return executed.work(ctx)
		}
		mine := s.ours(t, run.Policy{Lease: longLease}, slow)
		var (
			done sync.WaitGroup
			mu   sync.Mutex
		)
		for range each {
			done.Go(func() {
				if i%2 == 1 { // the sample's claim takes longer: it gets a start in half of the runs
					pause(t.Context(), 200*time.Millisecond)
				}
				for outcome, code := mine.deliver(r); ; outcome, code = mine.deliver(r) {
					switch outcome {
					case claim.OutcomeExecuted:
						mu.Lock()
						wins[0]++
						mu.Unlock()
						return
					case claim.OutcomeDuplicate:
						return
					case claim.OutcomeInProgress, "": // or the store gave up under contention
					default:
						t.Errorf("ours answers %d %s", code, outcome)
						return
					}
					pause(t.Context(), 10*time.Millisecond)
				}
			})
			done.Go(func() {
				for {
					outcome, err := s.theirs(longLease).Run(t.Context(), r.id(), slow)
					switch {
					case outcome == sample.Executed:
						mu.Lock()
						wins[1]++
						mu.Unlock()
						return
					case outcome == sample.Duplicate:
						return
					case err != nil && outcome != "", outcome == sample.Lost, t.Context().Err() != nil:
						t.Errorf("the sample answers %s, %v", outcome, err)
						return
					}
					pause(t.Context(), 10*time.Millisecond)
				}
			})
		}
		done.Wait()
		if n := executed.n.Load(); n != 1 {
			t.Errorf("run executed %d times", n)
		}
	}
	t.Logf("ours executed %d runs, the sample %d", wins[0], wins[1])
	if wins[0]+wins[1] != runs {
		t.Errorf("%d runs were answered as executed, want %d", wins[0]+wins[1], runs)
	}
}

func TestWhatOneCompletedIsADuplicateToTheOther(t *testing.T) {
	t.Parallel()
	s := share(t)
	var executed counter
	mine, theirs := s.ours(t, run.Policy{Lease: longLease}, executed.work), s.theirs(longLease)

	first := newRun()
	outcome, code := mine.deliver(first)
	wantOurs(t, "a new run", outcome, code, claim.OutcomeExecuted)
	got, err := theirs.Run(t.Context(), first.id(), executed.work)
	wantTheirs(t, "completed by ours", got, err, sample.Duplicate)

	second := newRun()
	got, err = theirs.Run(t.Context(), second.id(), executed.work)
	wantTheirs(t, "a new run", got, err, sample.Executed)
	outcome, code = mine.deliver(second)
	wantOurs(t, "completed by the sample", outcome, code, claim.OutcomeDuplicate)
	if n := executed.n.Load(); n != 2 {
		t.Errorf("%d executions of two runs", n)
	}
}

func TestALiveLeaseOfOneKeepsTheOtherOut(t *testing.T) {
	t.Parallel()
	s := share(t)
	theirs := s.theirs(longLease)
	var other counter
	rival := s.ours(t, run.Policy{Lease: longLease}, other.work)

	held := newRun()
	mine := s.ours(t, run.Policy{Lease: longLease}, func(ctx context.Context) error {
		got, err := theirs.Run(ctx, held.id(), other.work)
		wantTheirs(t, "while ours is at it", got, err, sample.InProgress)
		return nil
	})
	outcome, code := mine.deliver(held)
	wantOurs(t, "after that", outcome, code, claim.OutcomeExecuted)

	taken := newRun()
	got, err := theirs.Run(t.Context(), taken.id(), func(context.Context) error {
		outcome, code := rival.deliver(taken)
		wantOurs(t, "while the sample is at it", outcome, code, claim.OutcomeInProgress)
		return nil
	})
	wantTheirs(t, "after that", got, err, sample.Executed)
	if n := other.n.Load(); n != 0 {
		t.Errorf("%d executions beside the holder's", n)
	}
}

// TestALapsedLeaseOfOneIsTakenOverByTheOther: the one that was late can complete nothing any more.
func TestALapsedLeaseOfOneIsTakenOverByTheOther(t *testing.T) {
	t.Parallel()
	const short = 3 * time.Second
	s := share(t)
	var other counter

	late := newRun()
	mine := s.ours(t, run.Policy{Lease: short}, func(ctx context.Context) error {
		for {
			got, err := s.theirs(longLease).Run(context.WithoutCancel(ctx), late.id(), other.work)
			if got != sample.InProgress || err != nil {
				wantTheirs(t, "when the lease of ours is over", got, err, sample.Executed)
				return nil
			}
			pause(t.Context(), 20*time.Millisecond)
		}
	})
	outcome, code := mine.deliver(late)
	for outcome == "" { // on a busy machine the claim itself can take as long as the lease: nothing was run
		outcome, code = mine.deliver(late)
	}
	wantOurs(t, "ours, late", outcome, code, claim.OutcomeDuplicate)

	overdue := newRun()
	rival := s.ours(t, run.Policy{Lease: longLease}, other.work)
	got, err := s.theirs(short).Run(t.Context(), overdue.id(), func(context.Context) error {
		for {
			outcome, code := rival.deliver(overdue)
			if outcome != claim.OutcomeInProgress {
				wantOurs(t, "when the sample's lease is over", outcome, code, claim.OutcomeExecuted)
				return nil
			}
			pause(t.Context(), 20*time.Millisecond)
		}
	})
	wantTheirs(t, "the sample, late", got, err, sample.Lost)
	outcome, code = rival.deliver(overdue)
	wantOurs(t, "after all of it", outcome, code, claim.OutcomeDuplicate)
	if n := other.n.Load(); n != 2 {
		t.Errorf("%d executions by those that took over, want 2", n)
	}
}

// TestTheSampleNeverRerunsWhatIsHeldAsFailedOrUnknown, however many deliveries come at once.
func TestTheSampleNeverRerunsWhatIsHeldAsFailedOrUnknown(t *testing.T) {
	t.Parallel()
	s := share(t)
	for want, policy := range map[claim.Outcome]run.Policy{
		claim.OutcomeFailed:  {Lease: longLease, MaxAttempts: 1},
		claim.OutcomeUnknown: {Lease: longLease, AtMostOnce: true},
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			r := newRun()
			failing := s.ours(t, policy, func(context.Context) error { return errWork })
			outcome, code := failing.deliver(r)
			wantOurs(t, "the work failed", outcome, code, want)
			var executed counter
			s.contend(t, r, executed.work, func(by string, got string) error {
				if (by == "sample" && got != string(sample.InProgress)) || (by == "ours" && got != string(want)) {
					return fmt.Errorf("%s answers %s to a run that is %s", by, got, want)
				}
				return nil
			})
			if n := executed.n.Load(); n != 0 {
				t.Errorf("executed %d times", n)
			}
		})
	}
}

// TestWhatOneGaveBackIsExecutedOnce: a record that ours released, and one that the sample deleted.
func TestWhatOneGaveBackIsExecutedOnce(t *testing.T) {
	t.Parallel()
	s := share(t)
	for by, fail := range map[string]func(*testing.T, aRun){
		"released by ours": func(t *testing.T, r aRun) {
			outcome, code := s.ours(t, run.Policy{Lease: longLease}, func(context.Context) error { return errWork }).deliver(r)
			wantOurs(t, "the work failed", outcome, code, claim.OutcomeReleased)
		},
		"deleted by the sample": func(t *testing.T, r aRun) {
			got, err := s.theirs(longLease).Run(t.Context(), r.id(), func(context.Context) error { return errWork })
			if got != sample.Failed || !errors.Is(err, errWork) {
				t.Errorf("the sample answers %s, %v", got, err)
			}
		},
	} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			for range 3 {
				r := newRun()
				fail(t, r)
				var executed counter
				s.contend(t, r, executed.work, func(by string, got string) error {
					if got != string(claim.OutcomeExecuted) && got != string(claim.OutcomeDuplicate) && got != string(claim.OutcomeInProgress) {
						return fmt.Errorf("%s answers %q", by, got)
					}
					return nil
				})
				if n := executed.n.Load(); n != 1 {
					t.Errorf("executed %d times", n)
				}
			}
		})
	}
}

// contend delivers a run to three handlers of each kind at once.
func (s *shared) contend(t *testing.T, r aRun, work func(context.Context) error, judge func(by, got string) error) {
	t.Helper()
	var done sync.WaitGroup
	for range 3 {
		mine := s.ours(t, run.Policy{Lease: longLease}, work)
		done.Go(func() {
			outcome, _ := mine.deliver(r)
			if err := judge("ours", string(outcome)); err != nil {
				t.Error(err)
			}
		})
		done.Go(func() {
			outcome, err := s.theirs(longLease).Run(t.Context(), r.id(), work)
			if err = errors.Join(err, judge("sample", string(outcome))); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
