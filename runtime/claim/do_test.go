package claim_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
)

func TestARunIsExecutedOnceAndThenADuplicate(t *testing.T) {
	inBubble(t, func(b *bubble) {
		calls := 0
		b.store.After(func(context.Context, memclaim.Verb, string) error { calls++; return nil })

		res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
			a, ok := claim.FromContext(ctx)
			if !ok || a.Number() != 1 || a.RunID() != runID || len(a.ID()) != 32 || a.Store() != b.store {
				b.Errorf("attempt in the context: %v, %+v", ok, a)
			}

			return errors.Join(claim.Check(ctx), a.SetResult([]byte("made")))
		})
		b.want(res, claim.OutcomeExecuted)

		if calls != 2 || res.Attempt != 1 {
			b.Errorf("%d calls to the store for a fresh run, attempt %d; want 2 and 1", calls, res.Attempt)
		}

		res = b.claimer.Do(b.Context(), proposal(), b.mustNotRun)
		b.want(res, claim.OutcomeDuplicate)

		if string(res.Record.Result) != "made" || calls != 3 || res.Attempt != 0 {
			b.Errorf("duplicate: result %q, %d calls, attempt %d", res.Record.Result, calls, res.Attempt)
		}
	})
}

func TestTheRecordSaysWhatTheDesignSays(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.ScheduleTime = time.Now().Add(20 * time.Second)
		begin := time.Now().UTC()

		b.claimer.Do(b.Context(), p, func(context.Context) error {
			r := b.wantStatus(claim.StatusInProgress)
			if !r.LeaseExpires.Equal(begin.Add(lease)) || !r.ExpireAt.Equal(begin.Add(lease+24*time.Hour)) || r.Lease != lease ||
				!r.ClaimedAt.Equal(begin) || r.Rev != 1 || r.Attempt != 1 || r.Counted != 1 || r.Holder != "test" || r.Run != p.Run {
				b.Errorf("claimed: %+v", r)
			}

			time.Sleep(5 * time.Second)

			return errWork
		})

		r := b.wantStatus(claim.StatusReleased)
		if !r.LeaseExpires.Equal(time.Unix(0, 0)) || !r.ExpireAt.Equal(begin.Add(20*time.Second+24*time.Hour)) || r.Rev != 2 ||
			r.LastError != errWork.Error() || r.Counted != 1 {
			b.Errorf("released: %+v", r)
		}

		b.want(b.claimer.Do(b.Context(), p, func(context.Context) error {
			if r := b.wantStatus(claim.StatusInProgress); r.Rev != 3 || r.LastError != errWork.Error() {
				b.Errorf("claimed again: %+v", r)
			}

			return claim.Permanent(errWork)
		}), claim.OutcomeFailed)

		r = b.wantStatus(claim.StatusFailed)
		if !r.LeaseExpires.Equal(r.ExpireAt) || r.Attempt != 2 || r.Rev != 4 {
			b.Errorf("failed: %+v", r)
		}
	})
}

func TestALongErrorIsCutWhereItIsRecorded(t *testing.T) {
	inBubble(t, func(b *bubble) {
		long := errors.New(strings.Repeat("x", 2*claim.MaxLastError))
		c := b.another(claim.WithHolder("the\x00holder"))

		res := c.Do(b.Context(), proposal(), func(context.Context) error { return long })
		b.want(res, claim.OutcomeReleased)

		if r := b.record(); len(r.LastError) != claim.MaxLastError || r.Holder != "theholder" || !errors.Is(res.Err, long) {
			b.Errorf("%d bytes are recorded, held by %q; the delivery is told %v", len(r.LastError), r.Holder, res.Err)
		}
	})
}

func TestAHolderThatIsNotNamedIsItsProcess(t *testing.T) {
	inBubble(t, func(b *bubble) {
		claim.New(b.store).Do(b.Context(), proposal(), nothing)

		if holder := b.record().Holder; !strings.HasSuffix(holder, "/"+strconv.Itoa(os.Getpid())) {
			b.Errorf("held by %q", holder)
		}
	})
}

func TestWhileAnotherHoldsTheLease(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.die(proposal())
		time.Sleep(20 * time.Second)

		res := b.claimer.Do(b.Context(), proposal(), b.mustNotRun)
		b.want(res, claim.OutcomeInProgress)

		if res.RetryAfter != 40*time.Second {
			b.Errorf("retry after %v, want 40s", res.RetryAfter)
		}

		time.Sleep(40 * time.Second)

		res = b.claimer.Do(b.Context(), proposal(), nothing)
		b.want(res, claim.OutcomeExecuted)

		if res.Attempt != 2 || b.events.count(claim.EventTakeover) != 1 {
			b.Errorf("attempt %d, %d takeovers", res.Attempt, b.events.count(claim.EventTakeover))
		}
	})
}

func TestAnErrorOrPanicReleases(t *testing.T) {
	for name, work := range map[string]func(context.Context) error{
		"error":                               fails,
		"panic":                               func(context.Context) error { panic(errWork) },
		"panic with an error marked as final": func(context.Context) error { panic(claim.Permanent(errWork)) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				res := b.claimer.Do(b.Context(), proposal(), func(ctx context.Context) error {
					a, _ := claim.FromContext(ctx)
					if err := a.SetResult([]byte("of what failed")); err != nil {
						b.Error(err)
					}

					return work(ctx)
				})
				b.want(res, claim.OutcomeReleased)

				if !errors.Is(res.Err, errWork) {
					b.Errorf("error %v does not wrap the work's", res.Err)
				}

				if r := b.wantStatus(claim.StatusReleased); !strings.Contains(r.LastError, errWork.Error()) || r.Result != nil {
					b.Errorf("last error %q, result %q", r.LastError, r.Result)
				}

				b.want(b.claimer.Do(b.Context(), proposal(), nothing), claim.OutcomeExecuted)

				if res := b.claimer.Do(b.Context(), proposal(), b.mustNotRun); res.Err != nil {
					b.Errorf("a duplicate is told of %v, which was mended", res.Err)
				}
			})
		})
	}
}

func TestAWorkThatEndsItsGoroutineReleases(t *testing.T) {
	inBubble(t, func(b *bubble) {
		done := make(chan struct{})

		go func() {
			defer close(done)
			b.claimer.Do(b.Context(), proposal(), func(context.Context) error { runtime.Goexit(); return nil })
		}()
		<-done

		if r := b.wantStatus(claim.StatusReleased); r.Counted != 1 {
			b.Errorf("%d attempts count", r.Counted)
		}
	})
}

func TestMaxAttempts(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.MaxAttempts = 2

		b.want(b.claimer.Do(b.Context(), p, fails), claim.OutcomeReleased)
		b.want(b.claimer.Do(b.Context(), p, fails), claim.OutcomeFailed)

		res := b.claimer.Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeFailed)

		if res.Err == nil || res.Err.Error() != errWork.Error() {
			b.Errorf("a later delivery is told %v, want the last error", res.Err)
		}
	})
}

func TestMaxAttemptsCountsCrashes(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.MaxAttempts = 2

		b.die(p)
		time.Sleep(lease)
		b.die(p)
		time.Sleep(lease)
		res := b.claimer.Do(b.Context(), p, b.mustNotRun)
		b.want(res, claim.OutcomeFailed)

		r := b.wantStatus(claim.StatusFailed)
		if want := "attempt 2 ended without a word: its lease lapsed"; !r.LeaseExpires.Equal(r.ExpireAt) || r.LastError != want {
			b.Errorf("marked: %+v", r)
		}

		if res.Err == nil || res.Err.Error() != r.LastError {
			b.Errorf("the delivery is told %v, want the last error", res.Err)
		}
	})
}

// TestMaxAttemptsLowered: nobody died of it, the run keeps its own last word.
func TestMaxAttemptsLowered(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		b.want(b.claimer.Do(b.Context(), p, fails), claim.OutcomeReleased)

		p.MaxAttempts = 1
		b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), claim.OutcomeFailed)

		if r := b.wantStatus(claim.StatusFailed); r.LastError != errWork.Error() {
			b.Errorf("last error %q", r.LastError)
		}
	})
}

func TestAtMostOnce(t *testing.T) {
	p := proposal()
	p.AtMostOnce = true

	for name, tt := range map[string]struct {
		work    func(context.Context) error
		outcome claim.Outcome
	}{
		"success":      {nothing, claim.OutcomeExecuted},
		"error":        {fails, claim.OutcomeUnknown},
		"panic":        {func(context.Context) error { panic("x") }, claim.OutcomeUnknown},
		"nothing done": {func(context.Context) error { return claim.NothingDone(errWork) }, claim.OutcomeReleased},
		"permanent":    {func(context.Context) error { return claim.Permanent(errWork) }, claim.OutcomeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				b.want(b.claimer.Do(b.Context(), p, tt.work), tt.outcome)
			})
		})
	}

	t.Run("a lapsed lease is never rerun", func(t *testing.T) {
		inBubble(t, func(b *bubble) {
			b.die(p)
			time.Sleep(lease)

			for range 2 {
				res := b.claimer.Do(b.Context(), p, b.mustNotRun)
				b.want(res, claim.OutcomeUnknown)

				if res.Err == nil || res.Err.Error() != b.wantStatus(claim.StatusUnknown).LastError {
					b.Errorf("the delivery is told %v, want the last error", res.Err)
				}
			}
		})
	})
}

func TestACompletedRunExpires(t *testing.T) {
	inBubble(t, func(b *bubble) {
		b.want(b.claimer.Do(b.Context(), proposal(), nothing), claim.OutcomeExecuted)
		time.Sleep(24 * time.Hour)
		b.want(b.claimer.Do(b.Context(), proposal(), b.mustNotRun), claim.OutcomeDuplicate)
		time.Sleep(lease)

		res := b.claimer.Do(b.Context(), proposal(), nothing)
		b.want(res, claim.OutcomeExecuted)

		if res.Attempt != 1 {
			b.Errorf("attempt %d, want 1: nothing of an expired record counts", res.Attempt)
		}
	})
}

func TestAForcedRunExpiresAfterItsHorizon(t *testing.T) {
	for name, tt := range map[string]struct {
		err          error
		first, later claim.Outcome
	}{
		"done":   {nil, claim.OutcomeExecuted, claim.OutcomeDuplicate},
		"failed": {claim.Permanent(errWork), claim.OutcomeFailed, claim.OutcomeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := proposal()
				p.Horizon, p.ScheduleTime = time.Hour, time.Now().AddDate(0, 1, 0)

				b.want(b.claimer.Do(b.Context(), p, func(context.Context) error { return tt.err }), tt.first)
				time.Sleep(time.Hour - time.Second)
				b.want(b.claimer.Do(b.Context(), p, b.mustNotRun), tt.later)
				time.Sleep(time.Second)
				b.want(b.claimer.Do(b.Context(), p, nothing), claim.OutcomeExecuted)
			})
		})
	}
}

// TestTheTimesOfARecordAreTheStores, at each of its writes: others read them by that clock.
func TestTheTimesOfARecordAreTheStores(t *testing.T) {
	inBubble(t, func(b *bubble) {
		now := func() time.Time { return time.Now().Add(time.Hour) }
		b.store = memclaim.New(memclaim.WithClock(now))
		c := b.another()
		p := proposal()
		p.Renew = true

		if _, err := c.Now(b.Context(), runID); err != nil { // it has learned it by now
			b.Fatal(err)
		}

		want := func(what string, claimed, leaseEnd, kept time.Time) {
			b.Helper()

			r := b.record()
			if !r.ClaimedAt.Equal(claimed) || !r.LeaseExpires.Equal(leaseEnd) || !r.ExpireAt.Equal(kept.Add(p.Retention)) {
				b.Errorf("%s: %+v", what, r.Record)
			}
		}

		for what, work := range map[string]func(context.Context) error{
			"completed":      nothing,
			"in the effects": func(ctx context.Context) error { return memclaim.CompleteTx(ctx, nothing) },
		} {
			b.store.Delete(runID)

			claimed := now()
			b.want(c.Do(b.Context(), p, func(context.Context) error {
				want("claimed", claimed, now().Add(lease), now().Add(lease))
				time.Sleep(lease / 3)
				time.Sleep(time.Second)
				want("renewed", claimed, now().Add(lease-time.Second), now().Add(lease-time.Second))

				return errWork
			}), claim.OutcomeReleased)
			want("released", claimed, time.Unix(0, 0), now())

			claimed = now()
			b.want(c.Do(b.Context(), p, work), claim.OutcomeExecuted)
			want(what, claimed, now().Add(lease), now().Add(lease))
		}
	})
}

// TestAForcedRunsRecordIsNotKeptToItsScheduleTime: that may be a month ahead, its retries are over long before.
func TestAForcedRunsRecordIsNotKeptToItsScheduleTime(t *testing.T) {
	inBubble(t, func(b *bubble) {
		p := proposal()
		p.Horizon, p.ScheduleTime = time.Hour, time.Now().AddDate(0, 1, 0)

		b.want(b.claimer.Do(b.Context(), p, func(context.Context) error {
			if r := b.record(); !r.ExpireAt.Equal(time.Now().Add(lease + time.Hour)) {
				b.Errorf("claimed: %+v", r)
			}

			return errWork
		}), claim.OutcomeReleased)

		if r := b.record(); !r.ExpireAt.Equal(time.Now().Add(time.Hour)) {
			b.Errorf("released: %+v", r)
		}

		time.Sleep(time.Hour)
		b.want(b.claimer.Do(b.Context(), p, func(context.Context) error {
			if r := b.record(); r.Attempt != 1 || r.LastError != "" {
				b.Errorf("claimed after its expiry: %+v", r)
			}

			return nil
		}), claim.OutcomeExecuted)
	})
}

func TestAdmitIsAskedWithTheStoresTime(t *testing.T) {
	inBubble(t, func(b *bubble) {
		local := b.another(claim.WithClock(func() time.Time { return time.Now().Add(-10 * time.Minute) }))
		p := proposal()

		var asked []time.Time

		p.Admit = func(now time.Time) bool { asked = append(asked, now); return false }
		b.want(local.Do(b.Context(), p, b.mustNotRun), claim.OutcomeNotAdmitted)

		if r := b.wantStatus(claim.StatusReleased); r.Counted != 0 || r.LastError != "" {
			b.Errorf("withdrawn: %+v", r)
		}

		b.want(local.Do(b.Context(), p, b.mustNotRun), claim.OutcomeNotAdmitted)

		if len(asked) != 2 || !asked[0].Equal(time.Now()) {
			b.Errorf("asked %v", asked)
		}

		if local.Offset() != 10*time.Minute {
			b.Errorf("offset %v, want 10m", local.Offset())
		}

		p.Admit = func(time.Time) bool { return true }
		res := local.Do(b.Context(), p, nothing)
		b.want(res, claim.OutcomeExecuted)

		if r := b.record(); r.Counted != 1 || !r.ClaimedAt.Equal(time.Now()) {
			b.Errorf("claimed later by a clock that was corrected: %+v, now %v", r, time.Now().UTC())
		}
	})
}

func TestNowIsTheStoresWhetherOrNotThereIsARecord(t *testing.T) {
	inBubble(t, func(b *bubble) {
		ahead := memclaim.New(memclaim.WithClock(func() time.Time { return time.Now().Add(time.Hour) }))
		c := claim.New(ahead)

		for range 2 {
			if now, err := c.Now(b.Context(), runID); err != nil || !now.Equal(time.Now().Add(time.Hour)) {
				b.Errorf("now %v, %v", now, err)
			}

			ahead.Put(runID, claim.Record{Status: claim.StatusReleased})
		}

		if now, err := claim.New(timeless{b.store}).Now(b.Context(), runID); !errors.Is(err, claim.ErrNotFound) {
			b.Errorf("a store that does not tell its time: %v, %v; every run would be a forced one", now, err)
		}
	})
}

// timeless is a store that does not say when there was no record.
type timeless struct{ claim.Store }

func (s timeless) Get(ctx context.Context, id string) (claim.Snapshot, error) {
	_, err := s.Store.Get(ctx, id)

	return claim.Snapshot{}, err
}

func TestWhatCannotBeHonouredIsRefused(t *testing.T) {
	const negative = "policy cannot be honoured: retention, horizon, deadline, runtime and max_attempts must not be negative"

	gone, cancel := context.WithCancel(context.Background())
	cancel()

	for name, tt := range map[string]struct {
		ctx    context.Context //nolint:containedctx // a table's column
		change func(*claim.Proposal)
		want   string
	}{
		"no id":       {t.Context(), func(p *claim.Proposal) { p.ID = "" }, "policy cannot be honoured: proposal has no run id"},
		"no lease":    {t.Context(), func(p *claim.Proposal) { p.Lease = 0 }, "policy cannot be honoured: lease is 0s, it must be positive"},
		"retention":   {t.Context(), func(p *claim.Proposal) { p.Retention = -1 }, negative},
		"horizon":     {t.Context(), func(p *claim.Proposal) { p.Horizon = -1 }, negative},
		"deadline":    {t.Context(), func(p *claim.Proposal) { p.Deadline = -1 }, negative},
		"runtime":     {t.Context(), func(p *claim.Proposal) { p.Runtime = -1 }, negative},
		"attempts":    {t.Context(), func(p *claim.Proposal) { p.MaxAttempts = -1 }, negative},
		"no old id":   {t.Context(), func(p *claim.Proposal) { p.Previous = &claim.Previous{} }, "policy cannot be honoured: previous has no run id"},
		"the same id": {t.Context(), func(p *claim.Proposal) { p.Previous = &claim.Previous{ID: p.ID} }, "policy cannot be honoured: the previous name of run " + runID + " is its own"},
		"caller gone": {gone, func(*claim.Proposal) {}, "before the claim: context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				p := proposal()
				tt.change(&p)

				res := b.claimer.Do(tt.ctx, p, b.mustNotRun)
				b.want(res, claim.OutcomeUnavailable)

				if res.Err.Error() != tt.want {
					b.Errorf("error %q, want %q", res.Err, tt.want)
				}
			})
		})
	}
}

func TestOneOfManyDeliveriesWins(t *testing.T) {
	inBubble(t, func(b *bubble) {
		results := make(chan claim.Outcome, 50)

		for range cap(results) {
			go func() {
				results <- b.another().Do(b.Context(), proposal(), func(context.Context) error {
					time.Sleep(time.Second)

					return nil
				}).Outcome
			}()
		}

		synctest.Wait()
		time.Sleep(2 * time.Second)

		count := map[claim.Outcome]int{}
		for range cap(results) {
			count[<-results]++
		}

		if count[claim.OutcomeExecuted] != 1 || count[claim.OutcomeInProgress] != 49 {
			b.Errorf("outcomes %v", count)
		}
	})
}
