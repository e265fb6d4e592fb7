package spannerclaim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/spanner"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

func TestBadURLsAreRefusedWithTheMend(t *testing.T) {
	t.Parallel()

	const (
		good = "spanner://projects/acme/instances/jobs/databases/claims"
		mend = "; write spanner://projects/PROJECT/instances/INSTANCE/databases/DATABASE, with ?table=NAME for a table other than scheduler_runs"
		full = "it does not name a database in full (instance ids have 2 to 64 lower-case letters, digits and hyphens, database ids 2 to 30, with underscores)"
	)

	for url, want := range map[string]string{
		"": "it is empty" + mend,
		"projects/acme/instances/jobs/databases/claims":                    "it has no scheme" + mend,
		"redis://:s3cr3t@db/0":                                             `the scheme is "redis", but this binary was built for the store spanner` + mend + ", or build the handler for the other store",
		"spanner:projects/acme":                                            full + mend,
		"spanner://acme/jobs/claims":                                       full + mend,
		"spanner:///projects/acme/instances/jobs/databases/claims":         full + mend,
		"spanner://projects/acme/instances/j/databases/claims":             full + mend,
		"spanner://projects/acme/instances/Jobs/databases/claims":          full + mend,
		"spanner://projects/{project}/instances/jobs/databases/claims":     full + mend,
		"spanner://projects/acme/instances/jobs/databases/c":               full + mend,
		"spanner://u:s3cr3t@projects/acme/instances/jobs/databases/claims": full + mend,
		good + "/tables/x":                                                 full + mend,
		good + "#x":                                                        "it has a fragment (#), which means nothing here" + mend,
		good + "?dialect=pg":                                               `the parameter "dialect" is not known (known: table)` + mend,
		good + "?table=a&table=b":                                          `the parameter "table" is given 2 times` + mend,
		good + "?table=a`b":                                                "table name \"a`b\" must be a letter or underscore, then at most 62 letters, digits and underscores" + mend,
	} {
		want = "spanner store URL: " + want
		if _, err := Open(t.Context(), url); err == nil || err.Error() != want {
			t.Errorf("Open(%q)\n got %v\nwant %s", url, err, want)
		}

		if _, err := DDL(url); err == nil || err.Error() != want {
			t.Errorf("DDL(%q)\n got %v\nwant %s", url, err, want)
		}

		if err := Init(t.Context(), url); err == nil || err.Error() != want {
			t.Errorf("Init(%q)\n got %v\nwant %s", url, err, want)
		}
	}
}

func TestURLsNameDatabaseAndTable(t *testing.T) {
	t.Parallel()

	for url, want := range map[string]location{
		"spanner://projects/acme/instances/jobs/databases/claims":                         {"projects/acme/instances/jobs/databases/claims", "scheduler_runs"},
		"spanner://projects/example.com:acme/instances/j1/databases/my_claims?table=Runs": {"projects/example.com:acme/instances/j1/databases/my_claims", "Runs"},
	} {
		if got, err := parse(url); err != nil || got != want {
			t.Errorf("parse(%q) = %+v, %v, want %+v", url, got, err, want)
		}
	}
}

func TestDDLHasEveryColumnAndDeletesExpiredRows(t *testing.T) {
	t.Parallel()

	got, err := DDL("spanner://projects/acme/instances/jobs/databases/claims?table=runs")
	if err != nil {
		t.Fatal(err)
	}

	for _, column := range columns() {
		if !strings.Contains(got, "\n  "+column+" ") {
			t.Errorf("no column %s in\n%s", column, got)
		}
	}

	for _, part := range []string{"CREATE TABLE IF NOT EXISTS `runs` (", "ROW DELETION POLICY (OLDER_THAN(expire_at, INTERVAL 0 DAY));"} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
}

func TestAnUpdateSetsEveryColumnByItsParameter(t *testing.T) {
	t.Parallel()

	statement := updateStatement("runs")

	params, ok := updateParams("id", "a/3", claim.Record{LeaseExpires: time.Unix(0, 0)})
	if !ok {
		t.Fatal("the version is not read")
	}

	for name := range params {
		if !strings.Contains(statement, "@"+name) {
			t.Errorf("parameter %s is not in %s", name, statement)
		}
	}

	if got, want := strings.Count(statement, "@"), len(params); got != want {
		t.Errorf("%d parameters in the statement, %d given", got, want)
	}

	if _, ok := updateParams("id", "", claim.Record{}); ok {
		t.Error("no version is taken for one")
	}
}

func TestAbortedAndSupplantedAreConflicts(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		code codes.Code
		text string
		want bool
	}{
		{codes.Aborted, "transaction aborted", true},
		{codes.NotFound, "Transaction not found: 7", true},
		{codes.NotFound, "Table not found: runs", false},
		{codes.FailedPrecondition, "Invalid transaction ID. Transaction ID must be >= 3", true},
		{codes.FailedPrecondition, "Cannot read or query using a transaction after it has been committed or rolledback.", true},
		{codes.FailedPrecondition, "Cannot commit a transaction after it has been rolled back.", true},
		{codes.FailedPrecondition, "row is in the way", false},
		{codes.Unavailable, "connection lost", false},
	} {
		err := classify(spanner.ToSpannerError(status.Error(c.code, c.text)))
		if got := errors.Is(err, claim.ErrConflict); got != c.want {
			t.Errorf("%v %q is a conflict: %v, want %v", c.code, c.text, got, c.want)
		}
	}

	if classify(nil) != nil {
		t.Error("no error became one")
	}
}

func TestCompleteTxOutsideAWorkIsAnError(t *testing.T) {
	t.Parallel()

	err := CompleteTx(t.Context(), func(context.Context, *spanner.ReadWriteTransaction) error { return nil })
	if !errors.Is(err, claim.ErrNoAttempt) {
		t.Errorf("got %v", err)
	}
}
