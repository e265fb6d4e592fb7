package scheduled

import (
	"strconv"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// TestWhatAPolicyLeavesOutFollowsFromTheRest: by the rules that the provider plans with.
func TestWhatAPolicyLeavesOutFollowsFromTheRest(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, test := range map[string]struct {
		policy                                        run.Policy
		deadline, timeout, lease, horizon, retentions time.Duration
		forced                                        run.ForcedPolicy
	}{
		"nothing given":          {run.Policy{}, 180 * s, 180 * s, 210 * s, 24 * time.Hour, 50*time.Hour + 420*s, run.ForcedSeparate},
		"a deadline":             {run.Policy{Deadline: 60 * s}, 60 * s, 60 * s, 90 * s, 24 * time.Hour, 50*time.Hour + 180*s, run.ForcedSeparate},
		"a timeout":              {run.Policy{Timeout: 60 * s}, 60 * s, 60 * s, 90 * s, 24 * time.Hour, 50*time.Hour + 180*s, run.ForcedSeparate},
		"a timeout that is more": {run.Policy{Deadline: 60 * s, Timeout: 300 * s}, 60 * s, 300 * s, 330 * s, 24 * time.Hour, 50*time.Hour + 660*s, run.ForcedSeparate},
		"a timeout that is less": {run.Policy{Deadline: 300 * s, Timeout: 60 * s}, 300 * s, 60 * s, 330 * s, 24 * time.Hour, 50*time.Hour + 660*s, run.ForcedSeparate},
		"a renewed lease":        {run.Policy{Timeout: time.Hour, Renew: true}, time.Hour, time.Hour, 60 * s, 24 * time.Hour, 52*time.Hour + 120*s, run.ForcedSeparate},
		"a horizon":              {run.Policy{Horizon: 20 * time.Hour}, 180 * s, 180 * s, 210 * s, 20 * time.Hour, 42*time.Hour + 420*s, run.ForcedSeparate},
		"the sample's format":    {run.Policy{Format: run.FormatSample}, 180 * s, 180 * s, 210 * s, 24 * time.Hour, 50*time.Hour + 420*s, run.ForcedSkipNext},
		"everything": {
			run.Policy{Deadline: 1 * s, Timeout: 2 * s, Lease: 3 * s, Horizon: 4 * s, Retention: 5 * s, Forced: run.ForcedReject},
			1 * s, 2 * s, 3 * s, 4 * s, 5 * s, run.ForcedReject,
		},
	} {
		got, err := limits{}.fill(test.policy)
		if err != nil {
			t.Fatal(err)
		}
		if got.Deadline != test.deadline || got.Timeout != test.timeout || got.Lease != test.lease || got.Horizon != test.horizon ||
			got.Retention != test.retentions || got.Forced != test.forced {
			t.Errorf("%s: got %+v", name, got.Policy)
		}
	}
}

// TestPoliciesAreRememberedUpToABound: each is read once, and callers cannot fill the memory with them.
func TestPoliciesAreRememberedUpToABound(t *testing.T) {
	t.Parallel()
	var c termsCache
	l := limits{caps: claim.Caps{SurvivesFailover: true}}
	first, err := c.read("v=1;deadline=1s", l)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.read("v=1;deadline=1s", l); err != nil || again != first {
		t.Errorf("it is read again: %v", err)
	}
	if _, err := c.read("v=2", l); err == nil {
		t.Error("an unknown version is read")
	}
	for i := range 2 * most {
		if _, err := c.read("v=1;max_attempts="+strconv.Itoa(i+1), l); err != nil {
			t.Fatal(err)
		}
		if len(c.known) > most {
			t.Fatalf("%d are remembered", len(c.known))
		}
	}
}
