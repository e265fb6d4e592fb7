package spelling_test

import (
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/spelling"
)

func TestSpellingsOfOneValueAreTheSame(t *testing.T) {
	t.Parallel()
	for _, tested := range []struct {
		kind spelling.Kind
		a, b string
		want bool
	}{
		{spelling.Duration, "180s", "3m", true},
		{spelling.Duration, "1.5s", "1500ms", true},
		{spelling.Duration, "180s", "181s", false},
		{spelling.Duration, "180", "180s", false},
		{spelling.Duration, "soon", "soon", true},
		{spelling.Zone, "UTC", "Etc/UTC", true},
		{spelling.Zone, "utc", "UTC", true},
		{spelling.Zone, "Europe/Berlin", "Europe/Vienna", false},
		{spelling.Address, "https://Example.com", "https://example.com/", true},
		{spelling.Address, "https://example.com/?a=1", "https://example.com?a=1", true},
		{spelling.Address, "https://example.com/run", "https://example.com/run/", false},
		{spelling.Address, "https://example.com/", "http://example.com/", false},
		{spelling.Address, "/a", "/a/", false},
		{spelling.Base64, "aGVsbG8=", "aGVs\nbG8=", true},
		{spelling.Base64, "aGVsbG8=", "aGVsbG9v", false},
		{spelling.Base64, "!", "?", false},
		{spelling.Kind(0), "a", "b", false},
	} {
		if got := tested.kind.Same(tested.a, tested.b); got != tested.want {
			t.Errorf("kind %d: %q and %q the same: %t", tested.kind, tested.a, tested.b, got)
		}
		if got := tested.kind.Same(tested.b, tested.a); got != tested.want {
			t.Errorf("kind %d: %q and %q the same: %t", tested.kind, tested.b, tested.a, got)
		}
	}
}
