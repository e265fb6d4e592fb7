package driver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

func TestAnURLWithoutATableGetsThatOfInboxes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"sqlite:///var/lib/app.db":                     "sqlite:///var/lib/app.db?table=webhook_inbox",
		"sqlite:app.db?":                               "sqlite:app.db?table=webhook_inbox",
		"postgres://u@h:5432/d?sslmode=require":        "postgres://u@h:5432/d?sslmode=require&table=webhook_inbox",
		"postgres://u@h:5432/d?table=events&x=y":       "postgres://u@h:5432/d?table=events&x=y",
		"postgres://u@h:5432/d?table=":                 "postgres://u@h:5432/d?table=",
		"sqlite:app.db?table=%zz":                      "sqlite:app.db?table=%zz", // the claim package says what is wrong
		"spanner://projects/p/instances/i/databases/d": "spanner://projects/p/instances/i/databases/d?table=webhook_inbox",
	} {
		got, table, err := driver.Table(raw)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", raw, got, err, want)
		}
		if strings.HasSuffix(want, "?table=webhook_inbox") && table != webhook.DefaultTable {
			t.Errorf("%s: table %q", raw, table)
		}
	}
	if _, table, err := driver.Table("sqlite:a.db?table=events"); err != nil || table != "events" {
		t.Errorf("table %q, %v", table, err)
	}
	if _, _, err := driver.Table("sqlite:a.db?table=" + strings.Repeat("x", 51)); err == nil {
		t.Error("a table name that leaves no room is accepted")
	}
}

func TestWhatNoStoreCanKeepIsRefused(t *testing.T) {
	t.Parallel()
	if err := driver.CheckPayload(webhook.NewEntry("s", "i", "", make([]byte, 3)), 2); !errors.Is(err, claim.ErrTooLarge) {
		t.Error(err)
	}
	if err := driver.CheckPayload(webhook.NewEntry("s", "i", "", make([]byte, 2)), 2); err != nil {
		t.Error(err)
	}
	now := time.Now()
	for name, err := range map[string]error{
		"no time": driver.CheckState("e", time.Time{}, "i"), "no entity": driver.CheckState("", now, "i"), "no id": driver.CheckState("e", now, ""),
		"a part of nothing": driver.CheckPart("", "i"), "a part without an id": driver.CheckPart("e", ""),
		"the year 10000": driver.CheckState("e", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "i"),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := errors.Join(driver.CheckState("e", now, "i"), driver.CheckPart("e", "i")); err != nil {
		t.Error(err)
	}
}
