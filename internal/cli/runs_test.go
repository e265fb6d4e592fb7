package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/cli"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// command runs the command line and returns what it printed.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	root := cli.New("0.3.1")
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(t, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// claims is a SQLite store with a run in each state, and the URL of it.
func claims(t *testing.T) (*sqliteclaim.Store, string) {
	t.Helper()
	url := "sqlite://" + filepath.ToSlash(filepath.Join(t.TempDir(), "claims.db"))
	store, err := sqliteclaim.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store, url
}

// put writes a record of that name.
func put(t *testing.T, store claim.Store, name string, r claim.Record) claim.Snapshot {
	t.Helper()
	r.Run = name
	if r.AttemptID == "" {
		r.AttemptID = "attempt-of-" + name
	}
	r.Rev, r.Attempt = 1, max(r.Attempt, 1)
	if r.ExpireAt.IsZero() {
		r.ExpireAt = time.Now().Add(time.Hour)
	}
	found, ok, err := store.Insert(t.Context(), run.ID(name), r)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return found
}

func TestRunsAreListedStuckFirst(t *testing.T) {
	t.Parallel()
	store, url := claims(t)
	now := time.Now().UTC()
	live := claim.Record{Status: claim.StatusInProgress, Lease: time.Hour, LeaseExpires: now.Add(time.Hour), Holder: "host/7"}
	live.ClaimedAt = now.Add(-90 * time.Second)
	put(t, store, "live-young", live)
	live.ClaimedAt = now.Add(-3 * time.Hour)
	put(t, store, "live-old", live)
	put(t, store, "done", claim.Record{Status: claim.StatusCompleted})
	put(t, store, "released", claim.Record{Status: claim.StatusReleased})
	put(t, store, "failed", claim.Record{Status: claim.StatusFailed, LastError: "no such table"})
	put(t, store, "unknown", claim.Record{Status: claim.StatusUnknown})
	put(t, store, "stuck", claim.Record{Status: claim.StatusInProgress, Lease: time.Microsecond, ClaimedAt: now.Add(-50 * time.Hour), Holder: "gone\x1b[2J"})

	want := []string{"stuck", "unknown", "failed", "released", "live-old", "live-young"}
	listed := func(args ...string) (names []string) {
		var rows []struct {
			Run   string `json:"run"`
			Stuck bool   `json:"stuck"`
		}
		if err := json.Unmarshal([]byte(must(t, append([]string{"runs", "list", "--json", "--store", url}, args...)...)), &rows); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			names = append(names, r.Run)
			if r.Stuck != (r.Run == "stuck") {
				t.Errorf("run %s: stuck is %v", r.Run, r.Stuck)
			}
		}
		return names
	}
	// The lease of the stuck one is a microsecond, and SQLite's clock counts milliseconds.
	for !strings.Contains(must(t, "runs", "list", "--store", url), "stuck") {
		time.Sleep(time.Millisecond)
	}
	if got := listed(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("listed %v, want %v", got, want)
	}
	if got := listed("--all"); len(got) != 7 || got[6] != "done" {
		t.Errorf("--all lists %v", got)
	}
	if got := listed("--status", "failed,completed"); strings.Join(got, " ") != "failed done" {
		t.Errorf("--status failed,completed lists %v", got)
	}

	lines := strings.Split(must(t, "runs", "list", "--store", url), "\n")
	if got := strings.Fields(lines[1]); got[0] != "stuck" || strings.Join(got[1:3], " ") != "2d ago" || strings.Contains(lines[1], "\x1b") {
		t.Errorf("the first row is %q", lines[1])
	}
	if row := lines[5]; !strings.Contains(row, "in_progress") || !strings.Contains(row, "3h00m ago") || !strings.Contains(row, "59m") || !strings.Contains(row, "host/7") {
		t.Errorf("the row of the old live run is %q", row)
	}
}

func TestARunIsShownByNameAndById(t *testing.T) {
	t.Parallel()
	store, url := claims(t)
	put(t, store, "nightly", claim.Record{Status: claim.StatusFailed, Attempt: 3, Counted: 2, LastError: "disk full", Result: []byte("secret result")})
	byName := must(t, "runs", "show", "nightly", "--store", url)
	for _, want := range []string{"failed", "3, 2 of them counted", "disk full", run.ID("nightly"), "13 bytes"} {
		if !strings.Contains(byName, want) {
			t.Errorf("runs show lacks %q:\n%s", want, byName)
		}
	}
	if strings.Contains(byName, "secret result") {
		t.Error("the result is shown")
	}
	if byID := must(t, "runs", "show", run.ID("nightly"), "--store", url, "--json"); !strings.Contains(byID, `"last_error": "disk full"`) {
		t.Errorf("by id: %s", byID)
	}
	if _, err := command(t, "runs", "show", "weekly", "--store", url); err == nil || !strings.Contains(err.Error(), `no record of run "weekly"`) {
		t.Errorf("a run that is not there: %v", err)
	}
}

func TestAReleaseNeverHitsANewerAttempt(t *testing.T) {
	t.Parallel()
	store, url := claims(t)
	old := put(t, store, "nightly", claim.Record{Status: claim.StatusFailed, AttemptID: "old"})
	newer := claim.Record{Status: claim.StatusInProgress, AttemptID: "new", Attempt: 2, Rev: 2, Run: "nightly", Lease: time.Hour}
	if _, ok, err := store.Swap(t.Context(), run.ID("nightly"), old.Version, newer); err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, verb := range []string{"release", "complete"} {
		_, err := command(t, "runs", verb, "nightly", "--attempt", "old", "--force", "--store", url)
		if err == nil || !strings.Contains(err.Error(), "nothing was changed: the run's attempt is new by now (attempt 2, in_progress), not old") {
			t.Errorf("%s of an attempt that was replaced: %v", verb, err)
		}
		_, err = command(t, "runs", verb, "nightly", "--attempt", "new", "--store", url)
		if err == nil || !strings.Contains(err.Error(), "may be at work right now: wait, or add --force") {
			t.Errorf("%s of a live attempt: %v", verb, err)
		}
	}
	if found, err := store.Get(t.Context(), run.ID("nightly")); err != nil || found.Version != "new/2" {
		t.Errorf("the record is %+v, %v", found, err)
	}
	if _, err := command(t, "runs", "release", "nightly", "--store", url); err == nil || !strings.Contains(err.Error(), "--attempt is missing") {
		t.Errorf("without --attempt: %v", err)
	}
}

// TestAReleasedRunRunsAgain also under the max_attempts that it had used up, and its old attempt can record nothing any more.
func TestAReleasedRunRunsAgain(t *testing.T) {
	t.Parallel()
	store, url := claims(t)
	proposal := claim.Proposal{ID: run.ID("nightly"), Run: "nightly", Lease: time.Hour, Retention: time.Hour, MaxAttempts: 1}
	claimer := claim.New(store)
	failed := claimer.Do(t.Context(), proposal, func(context.Context) error { return errors.New("disk full") })
	if failed.Outcome != claim.OutcomeFailed {
		t.Fatalf("got %s", failed.Outcome)
	}
	out := must(t, "runs", "release", "nightly", "--attempt", failed.AttemptID, "--store", url)
	if !strings.Contains(out, "released: the next delivery of nightly does the work again") {
		t.Errorf("printed %q", out)
	}
	if out := must(t, "runs", "release", "nightly", "--attempt", failed.AttemptID, "--store", url); !strings.Contains(out, "released already") {
		t.Errorf("released twice: %q", out)
	}
	if got := claimer.Do(t.Context(), proposal, func(context.Context) error { return nil }); got.Outcome != claim.OutcomeExecuted || got.Attempt != 2 {
		t.Errorf("the next delivery: %s, attempt %d", got.Outcome, got.Attempt)
	}
}

func TestARunTakenFromItsAttemptIsLostToIt(t *testing.T) {
	t.Parallel()
	store, url := claims(t)
	proposal := claim.Proposal{ID: run.ID("nightly"), Run: "nightly", Lease: time.Hour, Retention: time.Hour}
	got := claim.New(store).Do(t.Context(), proposal, func(ctx context.Context) error {
		attempt, _ := claim.FromContext(ctx)
		out, err := command(t, "runs", "release", "nightly", "--attempt", attempt.ID(), "--force", "--store", url, "--json")
		if err == nil && !strings.Contains(out, `"status": "released"`) {
			err = errors.New(out)
		}
		return err
	})
	if got.Outcome != claim.OutcomeLost {
		t.Errorf("the attempt got %s (%v), want lost", got.Outcome, got.Err)
	}
}

func TestACompletedRunIsADuplicateFromThenOn(t *testing.T) {
	t.Parallel()
	store, url := claims(t)
	put(t, store, "nightly", claim.Record{Status: claim.StatusUnknown, AttemptID: "a"})
	must(t, "runs", "complete", "nightly", "--attempt", "a", "--store", url)
	proposal := claim.Proposal{ID: run.ID("nightly"), Run: "nightly", Lease: time.Hour, Retention: time.Hour}
	if got := claim.New(store).Do(t.Context(), proposal, func(context.Context) error { return nil }); got.Outcome != claim.OutcomeDuplicate {
		t.Errorf("the next delivery got %s", got.Outcome)
	}
}

func TestPurgeDeletesWhatExpired(t *testing.T) {
	t.Parallel()
	store, url := claims(t)
	put(t, store, "old", claim.Record{Status: claim.StatusCompleted, ExpireAt: time.Now().Add(-time.Hour)})
	put(t, store, "young", claim.Record{Status: claim.StatusCompleted})
	if out := must(t, "runs", "purge", "--store", url); out != "1 expired records deleted\n" {
		t.Errorf("printed %q", out)
	}
	if out := must(t, "runs", "purge", "--store", url); out != "0 expired records deleted\n" {
		t.Errorf("the second time: %q", out)
	}
}

func TestStoreURLsAreRefusedWithoutBeingRepeated(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-word"
	for _, url := range []string{
		secret, "mysql://app:" + secret + "@db/app", "postgres://app:" + secret + "@127.0.0.1:1/app?connect_timeout=1",
		"postgres://app:" + secret + "@127.0.0.1:x/app", "redis://:" + secret + "@127.0.0.1:1/0", "sqlite://" + secret + "@host/x",
		"firestore://p/" + secret + "?x=" + secret + "#", "spanner://" + secret + "@x",
	} {
		for _, args := range [][]string{{"list"}, {"init"}, {"init", "--print"}, {"purge"}, {"show", "x"}, {"release", "x", "--attempt", "y"}} {
			if len(args) == 2 && args[1] == "--print" && strings.Contains(url, "127.0.0.1:1/") {
				continue // good URLs, of servers that are not there
			}
			out, err := command(t, append(append([]string{"runs"}, args...), "--store", url)...)
			if err == nil || strings.Contains(out, secret) || strings.Contains(err.Error(), secret) {
				t.Errorf("runs %v --store %s: %v\n%s", args, url, err, out)
			}
		}
	}
}

// TestTheStoreComesFromTheEnvironment is not parallel: it sets a variable of the process.
func TestTheStoreComesFromTheEnvironment(t *testing.T) {
	t.Setenv(run.EnvStore, "")
	if _, err := command(t, "runs", "list"); err == nil || !strings.Contains(err.Error(), "--store is missing") || !strings.Contains(err.Error(), run.EnvStore) {
		t.Errorf("without a store: %v", err)
	}
	path := filepath.Join(t.TempDir(), "claims.db")
	t.Setenv(run.EnvStore, "sqlite://"+filepath.ToSlash(path))
	if out := must(t, "runs", "init", "--print"); !strings.Contains(out, "CREATE TABLE IF NOT EXISTS") {
		t.Errorf("printed %q", out)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("--print made the file: %v", err)
	}
	if out := must(t, "runs", "init"); out != "the store is ready\n" {
		t.Errorf("printed %q", out)
	}
	if out := must(t, "runs", "list"); out != "no such runs\n" {
		t.Errorf("printed %q", out)
	}
}

func TestARunOfAnAPIIsNamedByTenantAndKey(t *testing.T) {
	t.Parallel()
	store, url := claims(t)
	name := run.KeyName("acme", "order-1")
	put(t, store, name, claim.Record{Status: claim.StatusUnknown, AttemptID: "a1"})
	if out := must(t, "runs", "show", "order-1", "--tenant", "acme", "--store", url); !strings.Contains(out, run.ID(name)) {
		t.Errorf("printed %q", out)
	}
	if _, err := command(t, "runs", "show", "order-1", "--tenant", "", "--store", url); err == nil {
		t.Error("the key of another tenant was found")
	}
	must(t, "runs", "release", "order-1", "--tenant", "acme", "--attempt", "a1", "--store", url)
	if found, err := store.Get(t.Context(), run.ID(name)); err != nil || found.Status != claim.StatusReleased {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestAFileThatIsNotThereIsNoEmptyStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "claims.db")
	for _, args := range [][]string{{"runs", "list"}, {"runs", "show", "x"}, {"runs", "purge"}, {"webhooks", "dead"}} {
		_, err := command(t, append(args, "--store", "sqlite://"+filepath.ToSlash(path)+"?table=own")...)
		if err == nil || !strings.Contains(err.Error(), "--store: there is no file "+path) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file was made: %v", err)
	}
}
