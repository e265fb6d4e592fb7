package conformance

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

var errWork = errors.New("upstream said no")

func nothing(context.Context) error { return nil }

func (s *suite) protocol() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"executed, then a duplicate":              s.executedOnce,
		"released, then executed":                 s.releasedThenExecuted,
		"failed for good":                         s.failedForGood,
		"a live lease is in progress":             s.liveLease,
		"a lapsed lease is taken over":            s.lapsedLease,
		"a renewed lease is not":                  s.renewedLease,
		"at most once, a lapsed lease is unknown": s.lapsedAtMostOnce,
		"an expired record is forgotten":          s.expiredIsForgotten,
		"whatever the client's clock says":        s.wrongClocks,
		"a claim that is not admitted":            s.notAdmitted,
		"a holder that was overtaken":             s.overtaken,
	}
}

func (s *suite) claimers(opts ...claim.Option) []*claim.Claimer {
	all := make([]*claim.Claimer, len(s.clients))
	for i, client := range s.clients {
		// On a busy machine an emulator may take its time; the store timeout is not what is tested here.
		all[i] = claim.New(client, append([]claim.Option{
			claim.WithStoreTimeout(30 * time.Second), claim.WithLogger(slog.New(slog.DiscardHandler)),
		}, opts...)...)
	}

	return all
}

func (s *suite) proposal(lease time.Duration) claim.Proposal {
	return claim.Proposal{ID: newID(), Run: "runs/" + newID(), Lease: lease, Retention: time.Hour}
}

// dead leaves the claim of an attempt that died, and returns when its lease is over.
func (s *suite) dead(t *testing.T, p claim.Proposal, lease time.Duration) {
	t.Helper()

	r := newAttempt()
	r.Lease = lease
	s.inserted(t, p.ID, r)
	s.lapse(t, p.ID)
}

// lapse waits until the lease of the record is over by the store's clock.
func (s *suite) lapse(t *testing.T, id string) {
	t.Helper()

	for snap := s.get(t, 0, id); snap.Now.Sub(snap.Written) < snap.Lease; snap = s.get(t, 0, id) {
		<-time.After(snap.Lease - snap.Now.Sub(snap.Written))
	}
}

func want(t *testing.T, res claim.Result, outcome claim.Outcome) {
	t.Helper()

	if res.Outcome != outcome {
		t.Fatalf("outcome %q, want %q; error: %v; record: %+v", res.Outcome, outcome, res.Err, res.Record)
	}
}

func mustNotRun(t *testing.T) func(context.Context) error {
	t.Helper()

	return func(context.Context) error {
		t.Error("the work ran")

		return nil
	}
}

func (s *suite) executedOnce(t *testing.T) {
	c, p := s.claimers(), s.proposal(time.Minute)

	want(t, c[0].Do(t.Context(), p, nothing), claim.OutcomeExecuted)

	for i := range c {
		want(t, c[i].Do(t.Context(), p, mustNotRun(t)), claim.OutcomeDuplicate)
	}
}

func (s *suite) releasedThenExecuted(t *testing.T) {
	c, p := s.claimers(), s.proposal(time.Minute)

	want(t, c[0].Do(t.Context(), p, func(context.Context) error { return errWork }), claim.OutcomeReleased)

	if r := s.get(t, 1, p.ID); !r.LeaseExpires.Equal(time.Unix(0, 0)) || r.LastError != errWork.Error() {
		t.Errorf("released: %+v", r)
	}

	res := c[1].Do(t.Context(), p, nothing)
	want(t, res, claim.OutcomeExecuted)

	if res.Attempt != 2 {
		t.Errorf("attempt %d, want 2", res.Attempt)
	}
}

func (s *suite) failedForGood(t *testing.T) {
	c, p := s.claimers(), s.proposal(time.Minute)

	want(t, c[0].Do(t.Context(), p, func(context.Context) error { return claim.Permanent(errWork) }), claim.OutcomeFailed)
	want(t, c[1].Do(t.Context(), p, mustNotRun(t)), claim.OutcomeFailed)

	if r := s.get(t, 1, p.ID); !r.LeaseExpires.Equal(r.ExpireAt) {
		t.Errorf("failed: %+v", r)
	}
}

func (s *suite) liveLease(t *testing.T) {
	c, p := s.claimers(), s.proposal(time.Minute)

	want(t, c[0].Do(t.Context(), p, func(ctx context.Context) error {
		res := c[1].Do(ctx, p, mustNotRun(t))
		want(t, res, claim.OutcomeInProgress)

		if res.RetryAfter <= 0 || res.RetryAfter > time.Minute {
			t.Errorf("retry after %v", res.RetryAfter)
		}

		return claim.Check(ctx)
	}), claim.OutcomeExecuted)
}

func (s *suite) lapsedLease(t *testing.T) {
	c, p := s.claimers(), s.proposal(time.Minute)
	s.dead(t, p, s.lease)

	res := c[1].Do(t.Context(), p, nothing)
	want(t, res, claim.OutcomeExecuted)

	if res.Attempt != 2 {
		t.Errorf("attempt %d, want 2", res.Attempt)
	}
}

func (s *suite) renewedLease(t *testing.T) {
	c, p := s.claimers(), s.proposal(10*s.lease)
	p.Renew = true

	want(t, c[0].Do(t.Context(), p, func(ctx context.Context) error {
		<-time.After(15 * s.lease)
		want(t, c[1].Do(ctx, p, mustNotRun(t)), claim.OutcomeInProgress)

		return claim.Check(ctx)
	}), claim.OutcomeExecuted)
}

func (s *suite) lapsedAtMostOnce(t *testing.T) {
	c, p := s.claimers(), s.proposal(time.Minute)
	p.AtMostOnce = true

	if !s.caps.SurvivesFailover {
		want(t, c[1].Do(t.Context(), p, mustNotRun(t)), claim.OutcomeUnavailable)

		return
	}

	s.dead(t, p, s.lease)

	want(t, c[1].Do(t.Context(), p, mustNotRun(t)), claim.OutcomeUnknown)
	want(t, c[2].Do(t.Context(), p, mustNotRun(t)), claim.OutcomeUnknown)

	if r := s.get(t, 1, p.ID); r.Status != claim.StatusUnknown || !r.LeaseExpires.Equal(r.ExpireAt) {
		t.Errorf("unknown: %+v", r)
	}
}

func (s *suite) expiredIsForgotten(t *testing.T) {
	c, p := s.claimers(), s.proposal(time.Minute)
	p.Horizon = s.lease // a forced run's record ends soon after its completion

	want(t, c[0].Do(t.Context(), p, nothing), claim.OutcomeExecuted)

	for snap := s.get(t, 0, p.ID); snap.Version != "" && snap.Now.Before(snap.ExpireAt); snap = s.get(t, 0, p.ID) {
		<-time.After(snap.ExpireAt.Sub(snap.Now))
	}

	res := c[1].Do(t.Context(), p, nothing)
	want(t, res, claim.OutcomeExecuted)

	if res.Attempt != 1 {
		t.Errorf("attempt %d, want 1: nothing of an expired record counts", res.Attempt)
	}
}

// wrongClocks: a client whose clock is off by ten minutes neither takes over too early, nor too late, nor writes times that others
// would misread.
func (s *suite) wrongClocks(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": 10 * time.Minute, "behind": -10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			wrong := s.claimers(claim.WithClock(func() time.Time { return time.Now().Add(off) }))[2]
			right := s.claimers()[1]
			p := s.proposal(time.Minute)

			want(t, right.Do(t.Context(), p, func(ctx context.Context) error {
				want(t, wrong.Do(ctx, p, mustNotRun(t)), claim.OutcomeInProgress)

				return errWork
			}), claim.OutcomeReleased)

			// By now it has learned the store's time.
			p = s.proposal(time.Minute)
			want(t, wrong.Do(t.Context(), p, func(ctx context.Context) error {
				r := s.get(t, 0, p.ID)
				if off := r.LeaseExpires.Sub(r.Written) - time.Minute; off.Abs() > 30*time.Second {
					t.Errorf("lease_expires is off by %v", off)
				}

				want(t, right.Do(ctx, p, mustNotRun(t)), claim.OutcomeInProgress)

				return nil
			}), claim.OutcomeExecuted)

			if r := s.get(t, 0, p.ID); (r.ExpireAt.Sub(r.LeaseExpires) - time.Hour).Abs() > time.Minute {
				t.Errorf("expire_at %v, lease end %v", r.ExpireAt, r.LeaseExpires)
			}

			p = s.proposal(time.Minute)
			s.dead(t, p, s.lease)
			want(t, wrong.Do(t.Context(), p, nothing), claim.OutcomeExecuted)
		})
	}
}

func (s *suite) notAdmitted(t *testing.T) {
	c, p := s.claimers(), s.proposal(time.Minute)

	var asked time.Time

	p.Admit = func(now time.Time) bool { asked = now; return false }
	want(t, c[0].Do(t.Context(), p, mustNotRun(t)), claim.OutcomeNotAdmitted)

	if r := s.get(t, 1, p.ID); r.Status != claim.StatusReleased || r.Counted != 0 || (r.Now.Sub(asked)).Abs() > time.Minute {
		t.Errorf("withdrawn: %+v; asked at %v", r, asked)
	}

	p.Admit = nil
	want(t, c[1].Do(t.Context(), p, nothing), claim.OutcomeExecuted)
}

func (s *suite) overtaken(t *testing.T) {
	c, p := s.claimers(), s.proposal(s.lease)

	want(t, c[0].Do(t.Context(), p, func(context.Context) error { // heeds nothing
		s.lapse(t, p.ID)
		want(t, c[1].Do(t.Context(), s.longer(p), nothing), claim.OutcomeExecuted)

		return nil
	}), claim.OutcomeDuplicate)

	if r := s.get(t, 0, p.ID); r.Attempt != 2 || r.Status != claim.StatusCompleted {
		t.Errorf("the record is that of attempt %d, %s", r.Attempt, r.Status)
	}
}

func (s *suite) longer(p claim.Proposal) claim.Proposal {
	p.Lease = time.Minute

	return p
}
