package soak_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/process"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/soak"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// The soak is set by the environment: make soak has no other way in.
const (
	envDuration = "IDEMPOTENT_SOAK_DURATION" // default 20s
	envSeed     = "IDEMPOTENT_SOAK_SEED"     // default random
	envStore    = "IDEMPOTENT_SOAK_STORE"    // sqlite (default) or postgres
)

func duration(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv(envDuration)
	if text == "" {
		return 20 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		t.Fatalf("environment variable %s is %q: set it to a duration such as 2m", envDuration, text)
	}
	return d
}

func seed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv(envSeed)
	if text == "" {
		return rand.Uint64()
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("environment variable %s is %q: set it to a whole number", envSeed, text)
	}
	return n
}

func store(t *testing.T) *process.Subject {
	t.Helper()
	switch name := os.Getenv(envStore); name {
	case "", "sqlite":
		return process.SQLite(t)
	case "postgres":
		return process.Postgres(t)
	default:
		t.Fatalf("environment variable %s is %q: set it to sqlite or postgres", envStore, name)
		return nil
	}
}

func TestNothingIsLostOrDoneTwice(t *testing.T) {
	cfg := soak.Default(seed(t), duration(t))
	t.Logf("seed %d", cfg.Seed)
	counts, err := soak.Run(t.Context(), store(t), cfg)
	t.Log(counts)
	if err != nil {
		t.Errorf("seed %d: %v", cfg.Seed, err)
	}
}

// TestABrokenStoreIsNoticed soaks a store that does not compare versions: attempts that lost their claims complete all the same.
func TestABrokenStoreIsNoticed(t *testing.T) {
	cfg := soak.Default(seed(t), 20*time.Second)
	cfg.Unfenced = true
	counts, err := soak.Run(t.Context(), store(t), cfg)
	if err == nil || !strings.Contains(err.Error(), "was completed by") {
		t.Errorf("seed %d: a store without fencing passed: %v\n%s", cfg.Seed, err, counts)
	}
}

// TestASoakInWhichNothingHappensFails: what did not occur often enough is named.
func TestASoakInWhichNothingHappensFails(t *testing.T) {
	cfg := soak.Default(seed(t), time.Millisecond)
	cfg.Least, cfg.LoseReplies = 1, 0
	cfg.Patience = time.Second
	_, err := soak.Run(t.Context(), store(t), cfg)
	if err == nil || !strings.Contains(err.Error(), "0 lost replies") {
		t.Errorf("got %v", err)
	}
}
