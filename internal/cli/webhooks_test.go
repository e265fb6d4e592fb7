package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/emulators"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/firestoreinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/postgresinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/spannerinbox"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/sqliteinbox"
)

// TestWebhooksOfEveryStore takes one event through all commands. Its subtests are not parallel: emulators are named by the environment.
func TestWebhooksOfEveryStore(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		url := "sqlite://" + filepath.ToSlash(filepath.Join(t.TempDir(), "inbox.db"))
		testWebhooks(t, url, func(ctx context.Context) (webhook.Inbox, error) { return sqliteinbox.Open(ctx, url) })
	})
	t.Run("postgres", func(t *testing.T) {
		url := engines.OwnPostgres(t).URL()
		testWebhooks(t, url, func(ctx context.Context) (webhook.Inbox, error) { return postgresinbox.Open(ctx, url) })
	})
	t.Run("firestore", func(t *testing.T) {
		t.Setenv("FIRESTORE_EMULATOR_HOST", engines.OwnFirestore(t).Addr())
		const url = "firestore://acme-prod"
		testWebhooks(t, url, func(ctx context.Context) (webhook.Inbox, error) { return firestoreinbox.Open(ctx, url) })
	})
	t.Run("spanner", func(t *testing.T) {
		addr := engines.OwnSpanner(t).Addr()
		t.Setenv("SPANNER_EMULATOR_HOST", addr)
		url := "spanner://" + emulators.SpannerDatabase(t, addr, emulators.Instance())
		testWebhooks(t, url, func(ctx context.Context) (webhook.Inbox, error) { return spannerinbox.Open(ctx, url) })
	})
}

// diesOnce drains the inbox with a work that gives the event up.
func diesOnce(t *testing.T, inbox webhook.Inbox, why error) {
	t.Helper()
	worker, err := webhook.NewWorker(webhook.WorkerConfig{
		Inbox: inbox, Logger: slog.New(slog.DiscardHandler), Concurrency: 1,
		Work: func(context.Context, webhook.Event) error { return claim.Permanent(why) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if drained, err := worker.Drain(t.Context()); err != nil || drained.Dead != 1 {
		t.Fatalf("%+v, %v", drained, err)
	}
}

func testWebhooks(t *testing.T, url string, open func(context.Context) (webhook.Inbox, error)) {
	t.Helper()
	if out := must(t, "webhooks", "init", "--print", "--store", url); out == "" {
		t.Error("nothing is printed")
	}
	must(t, "webhooks", "init", "--store", url)
	must(t, "webhooks", "init", "--store", url) // what is there is left as it is
	inbox, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = inbox.Close() }()
	event := webhook.NewEntry("acme", "msg_1", "application/json", []byte(`{"secret":"s3cret"}`))
	if _, err := inbox.Accept(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	if out := must(t, "webhooks", "dead", "--store", url); out != "no dead webhooks\n" {
		t.Errorf("listed:\n%s", out)
	}
	diesOnce(t, inbox, errors.New("no such contact"))

	var dead []struct {
		ID, Source, Status string
		WebhookID          string `json:"webhook_id"`
		AttemptID          string `json:"attempt_id"`
		LastError          string `json:"last_error"`
	}
	if err := json.Unmarshal([]byte(must(t, "webhooks", "dead", "--json", "--store", url)), &dead); err != nil {
		t.Fatal(err)
	}
	if len(dead) != 1 || dead[0].ID != event.ID || dead[0].Source != "acme" || dead[0].WebhookID != "msg_1" || dead[0].Status != "failed" ||
		dead[0].LastError != "no such contact" {
		t.Fatalf("dead: %+v", dead)
	}
	table := must(t, "webhooks", "dead", "--store", url)
	shown := must(t, "webhooks", "show", event.ID, "--store", url)
	for _, out := range []string{table, shown} {
		if !strings.Contains(out, "msg_1") || !strings.Contains(out, "no such contact") || strings.Contains(out, "s3cret") {
			t.Errorf("printed:\n%s", out)
		}
	}
	if out := must(t, "webhooks", "show", event.ID, "--payload", "--store", url); out != `{"secret":"s3cret"}` {
		t.Errorf("the payload is printed as %q", out)
	}
	if out := must(t, "webhooks", "show", event.ID, "--payload", "--json", "--store", url); !strings.Contains(out, `"payload": "{\"secret\"`) {
		t.Errorf("printed:\n%s", out)
	}

	if _, err := command(t, "webhooks", "requeue", event.ID, "--attempt", "another", "--store", url); !errors.Is(err, claim.ErrLost) {
		t.Errorf("requeued by another attempt: %v", err)
	}
	must(t, "webhooks", "requeue", event.ID, "--attempt", dead[0].AttemptID, "--store", url)
	diesOnce(t, inbox, errors.New("still none"))
}

func TestEventsOfWebhooksAreNotReleasedAsRuns(t *testing.T) {
	t.Parallel()
	url := "sqlite://" + filepath.ToSlash(filepath.Join(t.TempDir(), "inbox.db"))
	inbox, err := sqliteinbox.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = inbox.Close() }()
	event := webhook.NewEntry("acme", "msg_1", "", nil)
	if _, err := inbox.Accept(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	diesOnce(t, inbox, errors.New("no such contact"))
	before, err := inbox.Get(t.Context(), event.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"release", "complete"} {
		_, err := command(t, "runs", verb, event.ID, "--attempt", before.AttemptID, "--store", url+"?table="+webhook.DefaultTable)
		if err == nil || !strings.Contains(err.Error(), "see webhooks requeue") {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if after, err := inbox.Get(t.Context(), event.ID); err != nil || after.Version != before.Version {
		t.Errorf("the row was changed: %+v, %v", after, err)
	}
}

func TestWebhooksSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	folder := "sqlite://" + filepath.ToSlash(t.TempDir())
	url := folder + "/inbox.db"
	must(t, "webhooks", "init", "--store", url)
	id := webhook.NewEntry("acme", "msg_1", "", nil).ID
	for want, args := range map[string][]string{
		"redis keeps no webhooks":        {"dead", "--store", "redis://localhost"},
		"--store is missing":             {"init", "--store", ""},
		"--attempt is missing":           {"requeue", id, "--store", url},
		"the inbox has no event":         {"requeue", id, "--attempt", "x", "--store", url},
		`the inbox has no event "msg_1"`: {"show", "msg_1", "--store", url},
		"EVENT is missing: give the id":  {"show", "--store", url},
		"--store: there is no file":      {"dead", "--store", folder + "/another.db"},
		"must begin with the scheme":     {"dead", "--store", "mysql://x"},
	} {
		if _, err := command(t, append([]string{"webhooks"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("webhooks %s: %v, want %q", strings.Join(args, " "), err, want)
		}
	}
}

func TestAWebhookIsNamedByItsSenderToo(t *testing.T) {
	t.Parallel()
	url := "sqlite://" + filepath.ToSlash(filepath.Join(t.TempDir(), "inbox.db"))
	inbox, err := sqliteinbox.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inbox.Close() })
	entry := webhook.NewEntry("acme", "msg_1", "application/json", []byte(`{"type": "a"}`))
	if _, err := inbox.Accept(t.Context(), entry); err != nil {
		t.Fatal(err)
	}
	if out := must(t, "webhooks", "show", "msg_1", "--source", "acme", "--payload", "--store", url); out != `{"type": "a"}` {
		t.Errorf("printed %q", out)
	}
	if _, err := command(t, "webhooks", "show", "msg_1", "--source", "globex", "--store", url); err == nil {
		t.Error("an event of another source was found")
	}
	diesOnce(t, inbox, errors.New("no such invoice"))
	dead := must(t, "webhooks", "dead", "--json", "--store", url)
	var rows []struct {
		AttemptID string `json:"attempt_id"`
	}
	if err := json.Unmarshal([]byte(dead), &rows); err != nil || len(rows) != 1 {
		t.Fatalf("%v: %s", err, dead)
	}
	out := must(t, "webhooks", "requeue", "msg_1", "--source", "acme", "--attempt", rows[0].AttemptID, "--store", url)
	if !strings.Contains(out, entry.ID) {
		t.Errorf("printed %q", out)
	}
}
