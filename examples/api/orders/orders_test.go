package orders_test

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/idempotent-jobs/terraform-provider-idempotent/examples/api/orders"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

func TestOneOrderForEachKey(t *testing.T) {
	t.Parallel()
	url := engines.Postgres(t)
	if err := postgresclaim.Init(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), orders.Tables); err != nil {
		t.Fatal(err)
	}
	store, err := postgresclaim.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	guard, err := idempotencykey.New(idempotencykey.Config{
		ClaimOptions: []claim.Option{claim.WithStoreTimeout(30 * time.Second)}, // a busy machine
		Store:        store, RequireKey: true, Lapse: idempotencykey.LapseInTransaction,
		Scope: func(r *http.Request) (string, error) { return r.Header.Get("X-Workspace"), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	handler := (&orders.API{}).Routes(guard.Handler)
	send := func(workspace, key string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/orders", strings.NewReader(`{"item": "book"}`))
		r.Header.Set("X-Workspace", workspace)
		r.Header.Set("Idempotency-Key", key)
		got := httptest.NewRecorder()
		if handler.ServeHTTP(got, r); got.Code != http.StatusCreated {
			t.Errorf("%s of %s: %d %s", key, workspace, got.Code, got.Body)
		}
		return got
	}
	first, again := send("acme", "order-1"), send("acme", "order-1")
	if first.Body.String() != again.Body.String() || again.Header().Get("Idempotency-Replay") != "true" {
		t.Errorf("a repeat was answered %s, the first request %s", again.Body, first.Body)
	}
	send("acme", "order-2")
	send("globex", "order-1")
	var stored int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM orders").Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if stored != 3 {
		t.Errorf("%d orders are stored, want 3", stored)
	}
}
