package postgresinbox_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/postgresinbox"
)

func TestTheStatementsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	ddl, err := postgresinbox.DDL("postgres://user@host:5432/app?sslmode=require&table=events")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`CREATE TABLE IF NOT EXISTS "events" (`, `ALTER TABLE "events"`, `"events_due" ON "events" (lease_expires)`, `"events_entities"`, `"events_parts"`,
	} {
		if !strings.Contains(ddl, want) {
			t.Errorf("no %s in\n%s", want, ddl)
		}
	}
	if ddl, err := postgresinbox.DDL("postgres://user@host:5432/app"); err != nil || !strings.Contains(ddl, `"webhook_inbox"`) {
		t.Errorf("without a table: %v\n%s", err, ddl)
	}
}

func TestWhatCannotBeAnInboxIsRefused(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"sqlite:a.db":                                               "scheme",
		"postgres://u:hunter2@h/d?table=bad-one":                    "table name",
		"postgres://u:hunter2@h/d?table=":                           "table name",
		"postgres://u:hunter2@h:port/d":                             "URL",
		"postgres://u:hunter2@h/d?sslmode=really":                   "sslmode",
		"postgres://u:hunter2@h/d?table=" + strings.Repeat("x", 51): "50 are the most",
	} {
		if _, err := postgresinbox.DDL(url); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("DDL of %s: %v, want %q", url, err, want)
		}
		if _, err := postgresinbox.Open(t.Context(), url); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open of %s: %v", url, err)
		}
		if err := postgresinbox.Init(t.Context(), url); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Init of %s: %v", url, err)
		}
	}
	for _, table := range []string{"bad-one", strings.Repeat("x", 51)} {
		if _, err := postgresinbox.New(nil, table); err == nil {
			t.Errorf("table %s is accepted", table)
		}
	}
}

func TestTheMendOfAURLNamesTheTableOfInboxes(t *testing.T) {
	t.Parallel()
	const want = `postgres store URL: it has no scheme; write postgres://USER@HOST:5432/DATABASE?table=webhook_inbox and give the password as PGPASSWORD`
	_, ddl := postgresinbox.DDL("db")
	_, open := postgresinbox.Open(t.Context(), "db")
	for name, err := range map[string]error{"DDL": ddl, "Open": open, "Init": postgresinbox.Init(t.Context(), "db")} {
		if err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%s: %v\nwant %s", name, err, want)
		}
	}
}

func TestGuardsWantTheWorkOfAnEvent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, later := postgresinbox.Later(ctx, nil, "e", time.Now(), "i")
	_, laterSQL := postgresinbox.LaterSQL(ctx, nil, "e", time.Now(), "i")
	_, once := postgresinbox.Once(ctx, nil, "e", "i")
	_, onceSQL := postgresinbox.OnceSQL(ctx, nil, "e", "i")
	for name, err := range map[string]error{"Later": later, "LaterSQL": laterSQL, "Once": once, "OnceSQL": onceSQL} {
		if !errors.Is(err, claim.ErrNoAttempt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
