package sqliteclaim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func TestBadURLsAreRefusedWithTheMend(t *testing.T) {
	t.Parallel()

	const mend = "write sqlite:///absolute/path.db or sqlite:relative/path.db, with ?table=NAME for a table other than scheduler_runs"

	for url, want := range map[string]string{
		"":                            "sqlite store URL: it is empty; " + mend,
		"claims.db":                   "sqlite store URL: it has no scheme; " + mend,
		"/var/claims.db":              "sqlite store URL: it has no scheme; " + mend,
		"postgres://u:secret@h/db":    `sqlite store URL: the scheme is "postgres", but this binary was built for the store sqlite; ` + mend + ", or build the handler for the other store",
		"sqlite://claims.db":          "sqlite store URL: after sqlite:// it names a host; a file has none, so an absolute path takes three slashes; " + mend,
		"sqlite://u:secret@/x.db":     "sqlite store URL: after sqlite:// it names a host; a file has none, so an absolute path takes three slashes; " + mend,
		"sqlite:":                     "sqlite store URL: it names no file; " + mend,
		"sqlite:///":                  "sqlite store URL: it names no file; " + mend,
		"sqlite:data/":                "sqlite store URL: it names no file; " + mend,
		"sqlite::memory:":             "sqlite store URL: it asks for a database in memory, which no other process could see; " + mend,
		"sqlite:a%00b":                "sqlite store URL: its path holds a zero byte; " + mend,
		"sqlite:a%zz":                 "sqlite store URL: its path has a bad percent-escape; " + mend,
		"sqlite:///a%zz":              "sqlite store URL: it cannot be read as a URL (special characters in a user name or password must be percent-encoded); " + mend,
		"sqlite:x.db?a=%zz":           "sqlite store URL: its query cannot be read; " + mend,
		"sqlite:x.db#f":               "sqlite store URL: it has a fragment (#), which means nothing here; " + mend,
		"sqlite:x.db?mode=ro":         `sqlite store URL: the parameter "mode" is not known (known: table); ` + mend,
		"sqlite:x.db?table=a&table=b": `sqlite store URL: the parameter "table" is given 2 times; ` + mend,
		"sqlite:x.db?table=":          `sqlite store URL: table name "" must be a letter or underscore, then at most 62 letters, digits and underscores; ` + mend,
		"sqlite:x.db?table=a;b":       "sqlite store URL: its query cannot be read; " + mend,
		"sqlite:x.db?table=a%22b":     `sqlite store URL: table name "a\"b" must be a letter or underscore, then at most 62 letters, digits and underscores; ` + mend,
	} {
		_, err := Open(t.Context(), url)
		if err == nil || err.Error() != want {
			t.Errorf("Open(%q)\n got %v\nwant %s", url, err, want)
		}

		if _, err := DDL(url); err == nil || err.Error() != want {
			t.Errorf("DDL(%q)\n got %v\nwant %s", url, err, want)
		}

		if path, err := Path(url); path != "" || err == nil || err.Error() != want {
			t.Errorf("Path(%q)\n got %q, %v\nwant %s", url, path, err, want)
		}
	}
}

func TestURLsNameFileAndTable(t *testing.T) {
	t.Parallel()

	for url, want := range map[string]location{
		"sqlite:///var/lib/claims.db":      {"/var/lib/claims.db", "scheduler_runs"},
		"sqlite:claims.db":                 {"claims.db", "scheduler_runs"},
		"sqlite:data/claims.db?table=runs": {"data/claims.db", "runs"},
		"SQLite:/a%20b.db":                 {"/a b.db", "scheduler_runs"},
		"sqlite:///C:/data/claims.db":      {"C:/data/claims.db", "scheduler_runs"},
	} {
		if got, err := parse(url); err != nil || got != want {
			t.Errorf("parse(%q) = %+v, %v, want %+v", url, got, err, want)
		}

		if got, err := Path(url); err != nil || got != want.path {
			t.Errorf("Path(%q) = %q, %v, want %q", url, got, err, want.path)
		}
	}
}

func TestAFileNameMayHoldWhatURLsEscape(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "50% a?b.db")
	s := open(t, "sqlite://"+strings.NewReplacer("%", "%25", " ", "%20", "?", "%3F").Replace(path))

	if _, _, err := s.Insert(t.Context(), "id", claim.Record{Status: claim.StatusInProgress}); err != nil {
		t.Fatal(err)
	}

	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "missing", "claims.db")

	_, err := Open(t.Context(), "sqlite://"+path)
	if err == nil || !strings.HasPrefix(err.Error(), "open sqlite database "+path+": ") {
		t.Errorf("got %v", err)
	}
}

func TestATableOfAnotherShapeIsRefused(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "claims.db")

	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := db.ExecContext(t.Context(), "CREATE TABLE runs (id TEXT PRIMARY KEY, expire_at TEXT)"); err != nil {
		t.Fatal(err)
	}

	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	_, err = Open(t.Context(), "sqlite://"+path+"?table=runs")
	if err == nil || !strings.Contains(err.Error(), "table runs is not a table of claims: ") {
		t.Errorf("got %v", err)
	}
}

func TestOneOfManyOpenersAndInsertersWins(t *testing.T) {
	t.Parallel()

	const n = 8

	url := "sqlite://" + filepath.Join(t.TempDir(), "claims.db")

	var (
		all  sync.WaitGroup
		wins atomic.Int32
	)

	for i := range n {
		all.Go(func() {
			s, err := Open(t.Context(), url)
			if err != nil {
				t.Error(err)

				return
			}

			found, won, err := s.Insert(t.Context(), "id", claim.Record{AttemptID: strconv.Itoa(i), Rev: 1})
			if err != nil || found.Version == "" {
				t.Errorf("insert: %+v, %v", found, err)
			}

			if won {
				wins.Add(1)
			}

			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}

	all.Wait()

	if got := wins.Load(); got != 1 {
		t.Errorf("%d inserts won, want 1", got)
	}
}

func TestABusyDatabaseIsAConflictAndSucceedsAfterwards(t *testing.T) {
	t.Parallel()

	s := open(t, "sqlite://"+filepath.Join(t.TempDir(), "claims.db"))

	tx, err := s.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}

	if _, _, err := s.Insert(t.Context(), "id", claim.Record{}); !errors.Is(err, claim.ErrConflict) {
		t.Errorf("while another writes: %v, want ErrConflict", err)
	}

	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}

	if _, won, err := s.Insert(t.Context(), "id", claim.Record{}); err != nil || !won {
		t.Errorf("afterwards: %v, %v", won, err)
	}
}

func TestPurgeDeletesInBatchesWhatIsExpiredAndHoldsNoLease(t *testing.T) {
	t.Parallel()

	s := open(t, "sqlite://"+filepath.Join(t.TempDir(), "claims.db"))
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)

	put := func(id string, r claim.Record) {
		t.Helper()

		if _, won, err := s.Insert(t.Context(), id, r); err != nil || !won {
			t.Fatal(won, err)
		}
	}

	tx, err := s.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}

	for i := range purgeBatch + 1 {
		r := claim.Record{Status: claim.StatusCompleted, ExpireAt: past}
		if _, err := tx.ExecContext(t.Context(), s.sql.insert, bind(fmt.Sprint("old", i), r)...); err != nil {
			t.Fatal(err)
		}
	}

	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}

	put("lapsed", claim.Record{Status: claim.StatusInProgress, Lease: time.Microsecond, ExpireAt: past})
	put("sample's, lapsed", claim.Record{Status: "running", LeaseExpires: past, ExpireAt: past})
	put("live", claim.Record{Status: claim.StatusInProgress, Lease: time.Hour, LeaseExpires: past, ExpireAt: past})
	put("sample's, live", claim.Record{Status: "running", LeaseExpires: future, ExpireAt: past})
	put("not expired", claim.Record{Status: claim.StatusCompleted, ExpireAt: future})
	put("kept for ever", claim.Record{Status: claim.StatusCompleted})

	waitUntil(t, func() bool { // the lapsed lease is over only once the clock has moved on
		_, err := s.Purge(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		_, err = s.Get(t.Context(), "lapsed")

		return errors.Is(err, claim.ErrNotFound)
	})

	left := 0
	for _, err := range s.List(t.Context(), claim.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}

		left++
	}

	if left != 4 {
		t.Errorf("%d records are left, want 4", left)
	}

	for _, id := range []string{"live", "sample's, live", "not expired", "kept for ever"} {
		if _, err := s.Get(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestCompleteTxOutsideAWorkIsAnError(t *testing.T) {
	t.Parallel()

	err := CompleteTx(context.Background(), func(*sql.Tx) error { return nil })
	if !errors.Is(err, claim.ErrNoAttempt) {
		t.Errorf("got %v", err)
	}
}

func open(t *testing.T, url string) *Store {
	t.Helper()

	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})

	return s
}

func waitUntil(t *testing.T, done func() bool) {
	t.Helper()

	deadline := time.Now().Add(10 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}

		time.Sleep(time.Millisecond)
	}
}
