package engines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/redisclaim"
)

func TestMiniredisStandsInForRedisAndSaysSo(t *testing.T) {
	list := filepath.Join(t.TempDir(), "skipped")
	t.Setenv(envSkipped, list)

	server, err := standInForRedis()()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()

	store, err := redisclaim.Open(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}

	record := claim.Record{Status: claim.StatusInProgress, AttemptID: "a", Rev: 1, Lease: time.Minute}
	if _, won, err := store.Insert(t.Context(), "id", record); !won || err != nil {
		t.Errorf("the first claim: won %v (%v)", won, err)
	}

	if found, won, err := store.Insert(t.Context(), "id", record); won || err != nil || found.AttemptID != "a" {
		t.Errorf("the second claim: won %v over %+v (%v)", won, found, err)
	}

	if err := store.Close(); err != nil {
		t.Error(err)
	}

	said, err := os.ReadFile(list)
	if err != nil || !strings.Contains(string(said), "miniredis stands in") {
		t.Errorf("the list of skips says %q (%v)", said, err)
	}
}
