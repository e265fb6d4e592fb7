package postgresclaim

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func TestBadURLsAreRefusedWithTheMend(t *testing.T) {
	t.Parallel()

	const (
		mend  = "; write postgres://USER@HOST:5432/DATABASE?table=scheduler_runs and give the password as PGPASSWORD"
		table = " must be a letter or underscore, then at most 62 letters, digits and underscores"
	)

	for url, want := range map[string]string{
		"":                                                "it is empty" + mend,
		"host=db user=me password=s3cr3t":                 "it has no scheme" + mend,
		"firestore://acme/(default)":                      `the scheme is "firestore", but this binary was built for the store postgres` + mend + ", or build the handler for the other store",
		"mysql://me:s3cr3t@db/x":                          `the scheme is "mysql", but this binary was built for the store postgres` + mend + ", or build the handler for the other store",
		"postgres:db":                                     "after the scheme come two slashes" + mend,
		"postgres://me:s3cr3t/x@db/x":                     "it cannot be read as a URL (special characters in a user name or password must be percent-encoded)" + mend,
		"postgres://me:s3cr3t@db:port/x":                  "it cannot be read as a URL (special characters in a user name or password must be percent-encoded)" + mend,
		"postgres://me:s3cr3t%zz@db/x":                    "it cannot be read as a URL (special characters in a user name or password must be percent-encoded)" + mend,
		"postgres://me:s3cr3t@db/x?a=%zz":                 "its query cannot be read" + mend,
		"postgres://me:s3cr3t@db/x#y":                     "it has a fragment (#), which means nothing here" + mend,
		"postgres://db/x?table=a-b":                       `table name "a-b"` + table + mend,
		"postgres://db/x?table=public.runs":               `table name "public.runs"` + table + mend,
		"postgres://db/x?table=a&table=b":                 `the parameter "table" is given 2 times` + mend,
		"postgres://me:s3cr3t@db/x?sslmode=no":            "the driver cannot read it: failed to configure TLS (sslmode is invalid)" + mend,
		"postgres://db/x?pool_max_conns=s3cr3t":           `the driver cannot read it: cannot parse pool_max_conns (strconv.ParseInt: parsing "s3cr3t": invalid syntax)` + mend,
		"postgres://me:s3cr3t@db/x?pool_max_conns=s3cr3t": "the driver cannot read it" + mend,
	} {
		want = "postgres store URL: " + want
		if _, err := Open(t.Context(), url); err == nil || err.Error() != want {
			t.Errorf("Open(%q)\n got %v\nwant %s", url, err, want)
		}

		if _, err := DDL(url); err == nil || err.Error() != want {
			t.Errorf("DDL(%q)\n got %v\nwant %s", url, err, want)
		}
	}
}

func TestURLsNameTableAndPassTheRestOn(t *testing.T) {
	t.Parallel()

	for url, want := range map[string]string{
		"postgres://me@db:5433/jobs?sslmode=disable":                              "scheduler_runs",
		"postgresql://me@db:5433/jobs?table=Runs_2&sslmode=disable&search_path=x": "Runs_2",
	} {
		config, table, err := parse(url)
		if err != nil || table != want {
			t.Errorf("parse(%q) = %q, %v, want %q", url, table, err, want)

			continue
		}

		if c := config.ConnConfig; c.Host != "db" || c.Port != 5433 || c.Database != "jobs" || c.RuntimeParams["table"] != "" {
			t.Errorf("parse(%q) connects to %s:%d/%s with %v", url, c.Host, c.Port, c.Database, c.RuntimeParams)
		}
	}
}

func TestDDLNamesTheTableAndEveryColumn(t *testing.T) {
	t.Parallel()

	got, err := DDL("postgres://db/x?table=runs")
	if err != nil {
		t.Fatal(err)
	}

	if !strings.HasPrefix(got, `CREATE TABLE IF NOT EXISTS "runs" (`) {
		t.Errorf("got %s", got)
	}

	for column := range strings.SplitSeq("id, written_at, "+columns, ", ") {
		if !strings.Contains(got, "\n  "+column+" ") {
			t.Errorf("no column %s in\n%s", column, got)
		}
	}
}

func TestErrorsThatARetryMendsAreConflicts(t *testing.T) {
	t.Parallel()

	for code, want := range map[string]bool{"40001": true, "40P01": true, "55P03": true, "23505": false, "57P01": false} {
		err := classify(&pgconn.PgError{Code: code})
		if got := errors.Is(err, claim.ErrConflict); got != want {
			t.Errorf("%s is a conflict: %v, want %v", code, got, want)
		}
	}

	if classify(nil) != nil {
		t.Error("no error became one")
	}
}

func TestOnlyTheServersOwnErrorSaysThatACommitDidNotHappen(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"deferred constraint": {&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "23505"}, true},
		"aborted before":      {pgx.ErrTxCommitRollback, true},
		"shutdown":            {&pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, false},
		"connection lost":     {errors.New("unexpected EOF"), false},
		"deadline":            {context.DeadlineExceeded, false},
	} {
		if got := refused(c.err); got != c.want {
			t.Errorf("%s: surely not committed: %v, want %v", name, got, c.want)
		}
	}
}

func TestCompleteTxOutsideAWorkIsAnError(t *testing.T) {
	t.Parallel()

	if err := CompleteTx(t.Context(), func(pgx.Tx) error { return nil }); !errors.Is(err, claim.ErrNoAttempt) {
		t.Errorf("got %v", err)
	}

	if err := CompleteSQLTx(t.Context(), func(*sql.Tx) error { return nil }); !errors.Is(err, claim.ErrNoAttempt) {
		t.Errorf("got %v", err)
	}
}
