package driver

import (
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func TestAVersionSplitsIntoWhatItWasMadeOf(t *testing.T) {
	t.Parallel()

	made := claim.Record{AttemptID: "a/b", Rev: 42}.Version()
	if id, rev, ok := SplitVersion(made); id != "a/b" || rev != 42 || !ok {
		t.Errorf("SplitVersion(%q) = %q, %d, %v", made, id, rev, ok)
	}

	for _, foreign := range []claim.Version{"", "abc", "abc/", "abc/x", "2026-10-16T12:00:00Z"} {
		if _, _, ok := SplitVersion(foreign); ok {
			t.Errorf("SplitVersion(%q) is ok", foreign)
		}
	}
}

func TestALeaseIsRoundedUpAndTimesDown(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 10, 16, 14, 0, 0, 1999, time.FixedZone("", 7200))
	got := Normal(claim.Record{Lease: time.Second + 1, ExpireAt: at, Result: []byte{}})

	if want := time.Second + time.Microsecond; got.Lease != want {
		t.Errorf("lease %v, want %v", got.Lease, want)
	}

	if want := time.Date(2026, 10, 16, 12, 0, 0, 1000, time.UTC); got.ExpireAt != want {
		t.Errorf("expire_at %v, want %v", got.ExpireAt, want)
	}

	if !got.ClaimedAt.IsZero() || got.Result != nil {
		t.Errorf("a zero time became %v, an empty result %v", got.ClaimedAt, got.Result)
	}
}

func TestTableNamesKeepToTheirAlphabet(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"scheduler_runs", "A", "_x9"} {
		if err := CheckTable(name); err != nil {
			t.Error(err)
		}
	}

	for _, name := range []string{"", "9x", "a-b", "a.b", `a"b`, "a b", "ä", "a\n", "a123456789012345678901234567890123456789012345678901234567890123"} {
		if CheckTable(name) == nil {
			t.Errorf("table name %q is accepted", name)
		}
	}
}
