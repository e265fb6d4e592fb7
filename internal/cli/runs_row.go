package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// runRow is a record as operators see it. The result of a run is theirs who read it, so only its length is shown.
type runRow struct {
	ID           string     `json:"id"`
	Run          string     `json:"run,omitempty"`
	Status       string     `json:"status"`
	Stuck        bool       `json:"stuck"`
	Attempt      int        `json:"attempt"`
	Counted      int        `json:"counted"`
	AttemptID    string     `json:"attempt_id"`
	Holder       string     `json:"holder,omitempty"`
	ClaimedAt    *time.Time `json:"claimed_at,omitempty"`
	WrittenAt    *time.Time `json:"written_at,omitempty"`
	LeaseExpires *time.Time `json:"lease_expires,omitempty"`
	ExpireAt     *time.Time `json:"expire_at,omitempty"`
	LastError    string     `json:"last_error,omitempty"`
	Fingerprint  string     `json:"fingerprint,omitempty"`
	ResultBytes  int        `json:"result_bytes,omitempty"`
	Now          time.Time  `json:"now"`

	left time.Duration // of the lease; zero or less: over, or there is none
	live bool          // an attempt is in progress
}

func newRunRow(s claim.Snapshot) runRow {
	r := runRow{
		ID: s.ID, Run: s.Run, Status: string(s.Status), Attempt: s.Attempt, Counted: s.Counted, AttemptID: s.AttemptID, Holder: s.Holder,
		ClaimedAt: timeOrNone(s.ClaimedAt), WrittenAt: timeOrNone(s.Written), ExpireAt: timeOrNone(s.ExpireAt), LastError: s.LastError,
		Fingerprint: s.Fingerprint, ResultBytes: len(s.Result), Now: s.Now.UTC(),
	}
	r.live = s.Status != claim.StatusReleased && !s.Status.Done()
	if !r.live {
		return r
	}
	end := s.LeaseExpires
	if s.Lease > 0 { // by the store's clock alone, whatever the holder's said
		end = s.Written.Add(s.Lease)
	}
	r.LeaseExpires = timeOrNone(end)
	r.left = end.Sub(s.Now)
	r.Stuck = r.left <= 0
	return r
}

// timeOrNone leaves the zero time out.
func timeOrNone(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// rank is the order of the list: what somebody must look at comes first.
func (r runRow) rank() int {
	switch {
	case r.Stuck:
		return 0
	case r.Status == string(claim.StatusUnknown):
		return 1
	case r.Status == string(claim.StatusFailed):
		return 2
	case r.Status == string(claim.StatusReleased):
		return 3
	case r.live:
		return 4
	default:
		return 5
	}
}

func (r runRow) compare(other runRow) int {
	return cmp.Or(cmp.Compare(r.rank(), other.rank()), r.begun().Compare(other.begun()), cmp.Compare(r.Run, other.Run), cmp.Compare(r.ID, other.ID))
}

// begun is since when the run is what it is: of an attempt, when it claimed the run; else the latest write.
func (r runRow) begun() time.Time {
	at := r.WrittenAt
	if r.live && r.ClaimedAt != nil {
		at = r.ClaimedAt
	}
	if at == nil {
		return time.Time{}
	}
	return *at
}

func (r runRow) word() string {
	if r.Stuck {
		return "stuck"
	}
	return printable(r.Status)
}

func (r runRow) since() string {
	if r.begun().IsZero() {
		return "-"
	}
	return ago(r.Now.Sub(r.begun()))
}

func (r runRow) lease() string {
	switch {
	case !r.live || r.LeaseExpires == nil:
		return "-"
	case r.Stuck:
		return "over " + ago(-r.left)
	default:
		return coarse(r.left) + " left"
	}
}

func (r runRow) name() string {
	if r.Run == "" {
		return r.ID
	}
	return printable(r.Run)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return printable(s)
}

// printable keeps what other code wrote from steering the terminal.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, s)
}

func ago(d time.Duration) string { return coarse(d) + " ago" }

// coarse is a duration to the two greatest units that matter.
func coarse(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 2*day:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%dd", d/day)
	}
}
