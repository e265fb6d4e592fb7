package spannerinbox

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/spanner"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

const databaseName = "projects/acme/instances/jobs/databases/events"

func TestURLsNameDatabaseAndTable(t *testing.T) {
	t.Parallel()

	for url, want := range map[string]location{
		"spanner://" + databaseName:                  {databaseName, "webhook_inbox", "spanner://" + databaseName + "?table=webhook_inbox"},
		"spanner://" + databaseName + "?table=hooks": {databaseName, "hooks", "spanner://" + databaseName + "?table=hooks"},
	} {
		if got, err := parse(url); err != nil || got != want {
			t.Errorf("parse(%q) = %+v, %v, want %+v", url, got, err, want)
		}
	}
}

func TestBadURLsAreRefusedWithTheMend(t *testing.T) {
	t.Parallel()

	for url, want := range map[string]string{
		"":                                     "it has no scheme",
		"redis://:s3cr3t@db/0":                 `the scheme is "redis", but this binary was built for the store spanner`,
		"spanner://acme":                       "it does not name a database in full (instance ids have 2 to 64 lower-case letters, digits and hyphens, database ids 2 to 30, with underscores)",
		"spanner://" + databaseName + "?dia=p": `the parameter "dia" is not known (known: table)`,
		"spanner://" + databaseName + "?table=" + strings.Repeat("x", 51): "table name of 51 bytes",
	} {
		if !strings.HasPrefix(want, "table name") { // which says itself what to write
			want += "; write spanner://projects/PROJECT/instances/INSTANCE/databases/DATABASE, with ?table=NAME for a table other than webhook_inbox"
		}

		ddl := func() error { _, err := DDL(url); return err }
		open := func() error { _, err := Open(t.Context(), url); return err }

		for name, err := range map[string]error{"DDL": ddl(), "Open": open(), "Init": Init(t.Context(), url)} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%s(%q): %v", name, url, err)
			}
		}
	}
}

// The table is one of claims, with the event beside the claim.
func TestDDLHasTheColumnsOfAClaimAndThoseOfTheEvent(t *testing.T) {
	t.Parallel()

	got, err := DDL("spanner://" + databaseName + "?table=hooks")
	if err != nil {
		t.Fatal(err)
	}

	claims, err := spannerclaim.DDL("spanner://" + databaseName + "?table=hooks")
	if err != nil {
		t.Fatal(err)
	}

	head, tail, _ := strings.Cut(claims, "\n) PRIMARY KEY")
	for _, part := range []string{
		head + ",\n", "\n) PRIMARY KEY" + tail,
		"CREATE NULL_FILTERED INDEX IF NOT EXISTS `hooks_due` ON `hooks` (shard, due_at);\n",
		"CREATE TABLE IF NOT EXISTS `hooks_entities` (", "CREATE TABLE IF NOT EXISTS `hooks_parts` (",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}

	for _, column := range append(eventColumns(), "due_at", "shard") {
		if !strings.Contains(got, "\n  "+column+" ") {
			t.Errorf("no column %s in\n%s", column, got)
		}
	}
}

func TestAnInsertNamesItsParameters(t *testing.T) {
	t.Parallel()

	e := webhook.NewEntry("acme", "msg_1", "", nil)
	statement := insertion("hooks", e, e.Record())

	for name := range maps.Keys(statement.Params) {
		if !strings.Contains(statement.SQL, "@"+name) {
			t.Errorf("parameter %s is not in %s", name, statement.SQL)
		}
	}

	if got, want := strings.Count(statement.SQL, "@"), len(statement.Params); got != want {
		t.Errorf("%d parameters in the statement, %d given", got, want)
	}

	if payload, ok := statement.Params["payload"].([]byte); !ok || payload == nil {
		t.Errorf("a body of no bytes is kept as %#v", statement.Params["payload"])
	}
}

func TestAbortedAndSupplantedAreConflicts(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		code codes.Code
		text string
		want bool
	}{
		{codes.Aborted, "aborted", true},
		{codes.NotFound, "Transaction not found: 7", true},
		{codes.FailedPrecondition, "Invalid transaction ID. Transaction ID must be >= 3", true},
		{codes.NotFound, "Table not found: hooks", false},
		{codes.FailedPrecondition, "row is in the way", false},
		{codes.Unavailable, "transaction lost", false},
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

func TestTheGuardsBelongIntoAWork(t *testing.T) {
	t.Parallel()

	later, err := Later(t.Context(), nil, "contact/1", time.Now(), "1")
	if later || !errors.Is(err, claim.ErrNoAttempt) {
		t.Errorf("Later: %v, %v", later, err)
	}

	once, err := Once(t.Context(), nil, "order/1", "1")
	if once || !errors.Is(err, claim.ErrNoAttempt) {
		t.Errorf("Once: %v, %v", once, err)
	}
}

func TestATableOutsideTheAlphabetIsRefused(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"a`b", strings.Repeat("x", 51)} {
		if _, err := New(&spanner.Client{}, name); err == nil || !strings.HasPrefix(err.Error(), "spannerinbox: ") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
