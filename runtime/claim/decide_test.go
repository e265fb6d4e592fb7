package claim

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDecide(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 10, 16, 12, 0, 0, 0, time.UTC)
	snap := func(r Record, age time.Duration) Snapshot {
		r.AttemptID, r.Rev = "a", 1

		return Snapshot{Record: r, Version: r.Version(), Written: now.Add(-age), Now: now}
	}
	running := Record{Status: StatusInProgress, Attempt: 2, Counted: 2, Lease: time.Minute, ExpireAt: now.Add(time.Hour)}
	with := func(r Record, change func(*Record)) Record {
		change(&r)

		return r
	}
	past := func(r *Record) { r.ExpireAt = now }
	p := Proposal{ID: "x", Lease: time.Minute}
	limited := Proposal{ID: "x", Lease: time.Minute, MaxAttempts: 2}
	once := Proposal{ID: "x", Lease: time.Minute, AtMostOnce: true}
	open := Proposal{ID: "x", Lease: time.Minute, LapseUnknown: true}
	keyed := Proposal{ID: "x", Lease: time.Minute, Fingerprint: "f"}
	first := decision{action: actTake, attempt: 1, counted: 1, fresh: true}
	over := decision{action: actTake, attempt: 3, counted: 3, takeover: true}
	again := decision{action: actTake, attempt: 3, counted: 3}

	tests := map[string]struct {
		snap Snapshot
		p    Proposal
		want decision
	}{
		"nothing there is claimed":             {Snapshot{Now: now}, p, first},
		"a live lease is in progress":          {snap(running, 59*time.Second), p, decision{outcome: OutcomeInProgress, retryAfter: time.Second}},
		"a lease is over to the instant":       {snap(running, time.Minute), p, over},
		"a lease just not over is not":         {snap(running, time.Minute-1), p, decision{outcome: OutcomeInProgress, retryAfter: 1}},
		"expiry does not beat a live lease":    {snap(with(running, past), 0), p, decision{outcome: OutcomeInProgress, retryAfter: time.Minute}},
		"an expired dead attempt is forgotten": {snap(with(running, past), time.Minute), once, first},
		"lease_expires of ours is not asked": {
			snap(with(running, func(r *Record) { r.LeaseExpires = now.Add(-time.Hour) }), 0), p,
			decision{outcome: OutcomeInProgress, retryAfter: time.Minute},
		},
		"the sample's lease goes by lease_expires": {
			snap(Record{Status: StatusInProgress, LeaseExpires: now.Add(time.Second)}, time.Hour), p,
			decision{outcome: OutcomeInProgress, retryAfter: time.Second},
		},
		"the sample's lease is over by lease_expires": {
			snap(Record{Status: StatusInProgress, LeaseExpires: now}, 0), p,
			decision{action: actTake, attempt: 2, counted: 2, takeover: true},
		},
		"without any lease ours is assumed": {
			snap(Record{Status: StatusInProgress}, 59*time.Second), p, decision{outcome: OutcomeInProgress, retryAfter: time.Second},
		},
		"an unknown status is in progress": {
			snap(with(running, func(r *Record) { r.Status = "paused" }), 0), p,
			decision{outcome: OutcomeInProgress, retryAfter: time.Minute},
		},
		"an unknown status lapses": {snap(with(running, func(r *Record) { r.Status = "paused" }), time.Minute), p, over},
		"released is claimed at once": {
			snap(with(running, func(r *Record) { r.Status = StatusReleased }), 0), p, again,
		},
		"completed is a duplicate": {
			snap(with(running, func(r *Record) { r.Status = StatusCompleted }), time.Hour), p, decision{outcome: OutcomeDuplicate},
		},
		"completed and expired is claimed": {
			snap(with(running, func(r *Record) { r.Status = StatusCompleted; r.ExpireAt = now }), 0), p, first,
		},
		"completed without an expiry stays": {
			snap(with(running, func(r *Record) { r.Status = StatusCompleted; r.ExpireAt = time.Time{} }), 0), p,
			decision{outcome: OutcomeDuplicate},
		},
		"failed stays failed": {
			snap(with(running, func(r *Record) { r.Status = StatusFailed }), time.Hour), p, decision{outcome: OutcomeFailed},
		},
		"unknown stays unknown": {
			snap(with(running, func(r *Record) { r.Status = StatusUnknown }), time.Hour), p, decision{outcome: OutcomeUnknown},
		},
		"a lapsed lease at most once is unknown": {
			snap(running, time.Minute), once, decision{action: actMark, status: StatusUnknown, outcome: OutcomeUnknown},
		},
		"a lapsed lease can be made unknown": {
			snap(running, time.Minute), open, decision{action: actMark, status: StatusUnknown, outcome: OutcomeUnknown},
		},
		"released is claimed where a lapse is unknown": {
			snap(with(running, func(r *Record) { r.Status = StatusReleased }), 0), open, again,
		},
		"released at most once is claimed": {
			snap(with(running, func(r *Record) { r.Status = StatusReleased }), 0), once, again,
		},
		"attempts used up by crashes fail the run": {
			snap(running, time.Minute), limited, decision{action: actMark, status: StatusFailed, outcome: OutcomeFailed},
		},
		"an attempt that does not count leaves one": {
			snap(with(running, func(r *Record) { r.Status = StatusReleased; r.Counted = 1 }), 0), limited,
			decision{action: actTake, attempt: 3, counted: 2},
		},
		"another fingerprint is refused": {
			snap(with(running, func(r *Record) { r.Fingerprint = "g" }), 0), keyed, decision{outcome: OutcomeMismatch},
		},
		"a fingerprint is not asked for where the request has none": {
			snap(with(running, func(r *Record) { r.Status, r.Fingerprint = StatusCompleted, "g" }), 0), p, decision{outcome: OutcomeDuplicate},
		},
		"another fingerprint after expiry is not": {
			snap(with(running, func(r *Record) { r.Status, r.Fingerprint, r.ExpireAt = StatusCompleted, "g", now }), 0), keyed, first,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := decide(&tt.snap, &tt.p); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestConclude(t *testing.T) {
	t.Parallel()

	errAny := errors.New("any")
	once := Proposal{AtMostOnce: true}
	limited := Proposal{MaxAttempts: 3}
	panicked := func(v any) ended { return ended{err: &PanicError{Value: v}, panicked: true} }

	tests := map[string]struct {
		e       ended
		p       Proposal
		status  Status
		counted int
	}{
		"success":                                {ended{}, Proposal{}, StatusCompleted, 3},
		"success at shutdown":                    {ended{cause: ErrShutdown}, Proposal{}, StatusCompleted, 3},
		"an error":                               {ended{err: errAny}, Proposal{}, StatusReleased, 3},
		"a panic":                                {panicked("x"), Proposal{}, StatusReleased, 3},
		"a permanent error":                      {ended{err: Permanent(errAny)}, Proposal{}, StatusFailed, 3},
		"a permanent error, wrapped":             {ended{err: fmt.Errorf("x: %w", Permanent(errAny))}, Proposal{}, StatusFailed, 3},
		"the last attempt":                       {ended{err: errAny}, limited, StatusFailed, 3},
		"the last attempt at shutdown":           {ended{err: errAny, cause: ErrShutdown}, limited, StatusReleased, 2},
		"at most once, an error":                 {ended{err: errAny}, once, StatusUnknown, 3},
		"at most once, a panic":                  {panicked("x"), once, StatusUnknown, 3},
		"at most once, a panic with nothingdone": {panicked(NothingDone(errAny)), once, StatusUnknown, 3},
		"at most once, shutdown":                 {ended{err: errAny, cause: ErrShutdown}, once, StatusUnknown, 3},
		"at most once, nothing done":             {ended{err: NothingDone(errAny)}, once, StatusReleased, 3},
		"at most once, nothing done at shutdown": {ended{err: NothingDone(errAny), cause: ErrShutdown}, once, StatusReleased, 2},
		"at most once, permanent":                {ended{err: Permanent(errAny)}, once, StatusFailed, 3},
		"an error where a lapse is unknown":      {ended{err: errAny}, Proposal{LapseUnknown: true}, StatusReleased, 3},
		"marked twice, permanent counts":         {ended{err: NothingDone(Permanent(errAny))}, once, StatusFailed, 3},
		"an open outcome":                        {ended{err: fmt.Errorf("x: %w", Unknown(errAny))}, Proposal{}, StatusUnknown, 3},
		"an open outcome beside another mark":    {ended{err: errors.Join(NothingDone(errAny), Unknown(errAny))}, Proposal{}, StatusUnknown, 3},
		"a permanent error beside another mark":  {ended{err: fmt.Errorf("%w: %w", RolledBack(errAny), Permanent(errAny))}, Proposal{}, StatusFailed, 3},
		"an open outcome at shutdown":            {ended{err: Unknown(errAny), cause: ErrShutdown}, Proposal{}, StatusUnknown, 3},
		"a panic with a permanent error":         {panicked(Permanent(errAny)), Proposal{}, StatusReleased, 3},
		"a panic with an open outcome":           {panicked(Unknown(errAny)), Proposal{}, StatusReleased, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if status, counted := conclude(tt.e, &Record{Counted: 3}, &tt.p); status != tt.status || counted != tt.counted {
				t.Errorf("got %s, %d counted; want %s, %d", status, counted, tt.status, tt.counted)
			}
		})
	}
}

func TestLastErrorFitsEveryStore(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"", "plain", "nul\x00inside", "bad\xff\xfe", strings.Repeat("é", 900), strings.Repeat("\xff", 3000)} {
		got := clip(text)
		if len(got) > MaxLastError || !utf8.ValidString(got) || strings.Contains(got, "\x00") {
			t.Errorf("clip(%q) = %q", text, got)
		}
	}

	if got := clip(strings.Repeat("é", 900)); len(got) != MaxLastError {
		t.Errorf("%d bytes kept, want %d", len(got), MaxLastError)
	}
}
