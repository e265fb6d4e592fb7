package scheduled

import (
	"context"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// served is what became of a delivery.
type served struct {
	claim.Result

	run *run.Run
}

// claimAndWait claims the run. Under the policy wait, a delivery that meets a live lease is held until the outcome is known, the
// lease is over, or it is time to answer: D − margin after it arrived.
func (h *Handler) claimAndWait(d *delivery) served {
	s := h.claim(d, h.at(d.arrived))
	if !d.terms.Wait {
		return s
	}
	until := d.arrived.Add(d.terms.Deadline - claim.Margin(d.terms.Lease, d.terms.Deadline))
	for pause := firstLook; s.Outcome == claim.OutcomeInProgress; pause = min(2*pause, lastLook) {
		left := time.Until(until)
		if left <= 0 || !h.sleep(d, min(pause, max(s.RetryAfter, time.Millisecond), left)) {
			return s
		}
		s = h.claim(d, h.at(time.Now()))
	}
	return s
}

// How often a waiting delivery looks whether the outcome is known: soon at first, since most work is short.
const (
	firstLook = 100 * time.Millisecond
	lastLook  = 2 * time.Second
)

// sleep says whether the time has passed with the caller still there and the handler still open.
func (h *Handler) sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-h.closing:
	}
	return false
}

// at is a moment by the local clock: as it was read, unless the handler was given another clock.
func (h *Handler) at(read time.Time) time.Time {
	if h.cfg.Now == nil {
		return read
	}
	return h.cfg.Now()
}

// claim decides whether the run is forced, by the store's clock, and claims it under the name that follows. The local clock, as far
// as it is known to be wrong corrected, only decides which way to try first.
func (h *Handler) claim(d *delivery, now time.Time) served {
	at := d.run.ScheduleTime
	moved := d.clock != nil
	if moved {
		now = d.clock.Add(time.Since(d.arrived))
	} else {
		now = now.Add(h.claimer.Offset())
	}
	forced := claim.Forced(at, now)
	before := h.before.of(d.run.Job, now)
	if d.forced { // and waited since: its schedule time has come near, which does not make it the scheduled run
		return h.claimForced(d, before)
	}
	d.apart = d.terms.Forced != run.ForcedSkipNext || before.apart()

	if forced && d.apart && !moved {
		if err := d.name(true); err != nil {
			return d.unavailable(err)
		}
		stored, err := h.claimer.Now(d, d.run.ID)
		if err != nil {
			return d.unavailable(err)
		}
		if forced = claim.Forced(at, stored); !forced {
			if err := d.name(false); err != nil {
				return d.unavailable(err)
			}
		}
	}
	if forced && d.apart {
		return h.claimForced(d, before)
	}

	p := d.proposal()
	if err := h.before.add(&p, before, d.run.Identity, false); err != nil {
		return d.unavailable(err)
	}
	if !moved {
		p.Admit = d.admit
	}
	d.run.Forced = forced
	result := h.do(d, p)
	if result.Outcome == claim.OutcomeNotAdmitted {
		return h.claimForced(d, before)
	}
	return served{Result: result, run: &d.run}
}

// admit takes the store's word for whether the run is forced, and refuses one that has a name of its own.
func (d *delivery) admit(stored time.Time) bool {
	forced := claim.Forced(d.run.ScheduleTime, stored)
	d.run.Forced = forced && !d.apart
	return !forced || !d.apart
}

// claimForced takes the way of a run that the store's clock calls forced.
func (h *Handler) claimForced(d *delivery, before *naming) served {
	d.forced = true
	// Under skip_next it has the name, and the record, of the scheduled run; only its previous name is one of its own.
	separate := d.terms.Forced != run.ForcedSkipNext
	if err := d.name(separate); err != nil {
		return d.unavailable(err)
	}
	d.run.Forced = true
	if d.terms.Forced == run.ForcedReject {
		return served{Result: claim.Result{Outcome: claim.OutcomeRejected}, run: &d.run}
	}
	p := d.proposal()
	if separate {
		p.Horizon = d.terms.Horizon
	}
	if err := h.before.add(&p, before, d.run.Identity, true); err != nil {
		return d.unavailable(err)
	}
	if p.Previous != nil && before.apart() {
		p.Previous.Horizon = d.terms.Horizon
	}
	return served{Result: h.do(d, p), run: &d.run}
}

// do claims the run and does its work.
func (h *Handler) do(d *delivery, p claim.Proposal) claim.Result {
	d.previous = p.Previous
	d.run.PreviousID, d.run.PreviousTime, d.run.Attempt = "", time.Time{}, 0
	return h.claimer.Do(d, p, d.do)
}

func (d *delivery) unavailable(err error) served {
	return served{Result: claim.Result{Outcome: claim.OutcomeUnavailable, Err: err}, run: &d.run}
}

// name names the run, kept apart or not.
func (d *delivery) name(forced bool) error {
	d.run.Forced = forced
	identity := d.run.Identity
	if identity.Format != run.FormatSample {
		identity.RawTime = "" // it has been read already, and the name does not hold it
	}
	name, err := identity.Name()
	if err != nil {
		return err
	}
	d.run.Name, d.run.ID = name, run.ID(name)
	return nil
}

func (d *delivery) proposal() claim.Proposal {
	t, r := d.terms, &d.run
	return claim.Proposal{
		ID: r.ID, Run: r.Name, ScheduleTime: r.ScheduleTime, Arrived: d.arrived,
		Deadline: t.Deadline, Runtime: t.Timeout, Lease: t.Lease, Renew: t.Renew, Retention: t.Retention,
		MaxAttempts: t.MaxAttempts, AtMostOnce: t.AtMostOnce,
	}
}

// do is the work as the Claimer calls it: with the run, which is complete only now, and from the context.
func (d *delivery) do(ctx context.Context) error {
	r := &d.run
	if d.previous != nil && d.previous.ID != r.ID {
		r.PreviousID = d.previous.ID
	}
	if attempt, ok := claim.FromContext(ctx); ok {
		r.Attempt = attempt.Number()
	}
	r.PreviousTime = d.terms.previous(r.ScheduleTime)
	return d.work(run.NewContext(ctx, r), *r)
}
