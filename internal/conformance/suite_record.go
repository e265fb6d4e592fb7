package conformance

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// maxTestedResult keeps the round trip of a result short where a store takes a great one.
const maxTestedResult = 256 << 10

// kept is a record as every store keeps it: times in UTC to the microsecond, a lease rounded up to it, no result for an empty one.
func kept(r claim.Record) claim.Record {
	for _, t := range []*time.Time{&r.LeaseExpires, &r.ExpireAt, &r.ClaimedAt} {
		if t.IsZero() {
			*t = time.Time{}
		} else {
			*t = t.UTC().Truncate(time.Microsecond)
		}
	}

	if rest := r.Lease % time.Microsecond; rest > 0 {
		r.Lease += time.Microsecond - rest
	}

	if len(r.Result) == 0 {
		r.Result = nil
	}

	return r
}

// records are records that a store must give back as they were.
func (s *suite) records() map[string]claim.Record {
	at := time.Date(2026, 10, 16, 12, 0, 0, 123456000, time.UTC)
	full := claim.Record{
		Status: claim.StatusCompleted, AttemptID: newID()[:32], Attempt: 7, Counted: 5, Rev: 12, Lease: 210*time.Second + time.Millisecond,
		LeaseExpires: at, ExpireAt: at.AddDate(1, 0, 0), ClaimedAt: at.Add(-time.Hour), Holder: "host/1", Run: "projects/p/runs/x",
		LastError: "upstream said no", Fingerprint: "f1",
	}
	with := func(change func(*claim.Record)) claim.Record {
		r := full
		r.AttemptID = newID()[:32]
		change(&r)

		return r
	}

	all := map[string]claim.Record{
		"every field":   full,
		"next to none":  {Status: claim.StatusInProgress, AttemptID: newID()[:32], Rev: 1},
		"zero times":    with(func(r *claim.Record) { r.LeaseExpires, r.ExpireAt, r.ClaimedAt = time.Time{}, time.Time{}, time.Time{} }),
		"the epoch":     with(func(r *claim.Record) { r.Status, r.LeaseExpires = claim.StatusReleased, time.Unix(0, 0).UTC() }),
		"other zones":   with(func(r *claim.Record) { r.ExpireAt = r.ExpireAt.In(time.FixedZone("x", -7*3600)) }),
		"nanoseconds":   with(func(r *claim.Record) { r.ClaimedAt = r.ClaimedAt.Add(789) }),
		"a short lease": with(func(r *claim.Record) { r.Lease = 1500 * time.Microsecond }),
		"an odd lease":  with(func(r *claim.Record) { r.Lease = time.Second + 1 }),
		"great numbers": with(func(r *claim.Record) { r.Attempt, r.Counted, r.Rev = 1<<31-1, 1<<31-1, 1<<53-1 }),
		"unicode": with(func(r *claim.Record) {
			r.Holder, r.Run, r.LastError = "Müller/東京", "runs/é\u200f🚀", "quote ' \" ` \\ % $1 ? :x\n\ttab"
		}),
		"a long error":      with(func(r *claim.Record) { r.LastError = strings.Repeat("é", claim.MaxLastError/2) }),
		"a status to come":  with(func(r *claim.Record) { r.Status = "paused" }),
		"a failed record":   with(func(r *claim.Record) { r.Status, r.LeaseExpires = claim.StatusFailed, r.ExpireAt }),
		"an unknown record": with(func(r *claim.Record) { r.Status, r.LeaseExpires = claim.StatusUnknown, r.ExpireAt }),
		"an empty result":   with(func(r *claim.Record) { r.Result = []byte{} }),
	}

	if most := s.caps.MaxResult; most > 0 {
		all["bytes of a result"] = with(func(r *claim.Record) { r.Result = []byte{0, 1, 0xff, '\'', '"', '\\', '\n'}[:min(7, most)] })
		all["a great result"] = with(func(r *claim.Record) { r.Result = bytes.Repeat([]byte{0xa5}, min(most, maxTestedResult)) })
	}

	return all
}

func (s *suite) record() map[string]func(*testing.T) {
	cases := map[string]func(*testing.T){}

	for name, r := range s.records() {
		cases["inserted: "+name] = func(t *testing.T) {
			id := newID()
			wantSnapshot(t, "insert", s.inserted(t, id, r), r)
			wantSnapshot(t, "get", s.get(t, 1, id), r)

			there, _ := s.insert(t, 2, id, newAttempt())
			wantSnapshot(t, "a second insert", there, r)
		}
		cases["swapped: "+name] = func(t *testing.T) {
			id := newID()
			snap := s.inserted(t, id, s.records()["every field"])

			snap, ok := s.swap(t, 0, id, snap.Version, r)
			if !ok {
				t.Fatal("swap: false")
			}

			wantSnapshot(t, "swap", snap, r)
			wantSnapshot(t, "get", s.get(t, 1, id), r)

			// And back: nothing of the record before may stay.
			bare := claim.Record{Status: claim.StatusReleased, AttemptID: newID()[:32], Rev: 1}
			if _, ok := s.swap(t, 0, id, snap.Version, bare); !ok {
				t.Fatal("swap: false")
			}

			wantSnapshot(t, "a bare record over it", s.get(t, 1, id), bare)
		}
	}

	return cases
}
