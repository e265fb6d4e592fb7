package received_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

const (
	keys        = 12
	keyClients  = 4 // of each key
	tenants     = 2 // that use the same keys
	operations  = keys * tenants
	tenantField = "X-Workspace"
)

// ledger is where an API has its keys and its effects: for each key the ids of its effects.
type ledger struct {
	env     []string
	effects func(t *testing.T) map[string][]string
}

func TestAnAPIThatIsHammeredDoesEachOperationOnce(t *testing.T) {
	t.Parallel()
	for store, open := range map[string]func(*testing.T) ledger{"sqlite": sqliteLedger, "postgres": postgresLedger, "firestore": firestoreLedger} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			l := open(t)
			program := build(t, generator.Spec{
				Name: "orders", Kind: "api", Store: store, API: &generator.API{TenantHeader: tenantField, Lapse: "in_transaction"},
				// A claim whose reply the store lost is taken over soon.
				Policy: run.Policy{Timeout: 5 * time.Second, Lease: 15 * time.Second},
			}, "api-"+store)
			api := newService(t, program, l.env...)
			api.start()
			answers := hammer(t, api.url)
			api.stop()
			effects := l.effects(t)
			for operation, got := range answers {
				ids := effects[operation]
				if len(ids) != 1 {
					t.Errorf("operation %s has %d effects", operation, len(ids))
					continue
				}
				for _, body := range got {
					if body != fmt.Sprintf("%q\n", ids[0]) {
						t.Errorf("operation %s: a client was answered %s, the effect is %s", operation, body, ids[0])
					}
				}
			}
			if len(effects) != operations {
				t.Errorf("%d operations have effects, want %d", len(effects), operations)
			}
		})
	}
}

// hammer sends each operation from several clients at once and returns what they were answered, by operation.
func hammer(t *testing.T, url string) map[string][]string {
	t.Helper()
	var mu sync.Mutex
	answers, attempts := map[string][]string{}, 0
	var clients sync.WaitGroup
	for n := range operations * keyClients {
		clients.Go(func() {
			tenant, key := fmt.Sprintf("tenant-%d", n%tenants), fmt.Sprintf("key-%d", n/tenants%keys)
			transport := &idempotencykey.Transport{
				Base: &lossy{}, Attempts: 300, MinBackoff: 5 * time.Millisecond, MaxBackoff: 100 * time.Millisecond,
			}
			body, tries, err := order(transport, url, tenant, key)
			if err != nil {
				t.Errorf("%s of %s: %v", key, tenant, err)
			}
			mu.Lock()
			defer mu.Unlock()
			answers[tenant+"/"+key] = append(answers[tenant+"/"+key], body)
			attempts += tries
		})
	}
	clients.Wait()
	if attempts <= operations*keyClients {
		t.Errorf("%d attempts at %d requests: nothing was lost", attempts, operations*keyClients)
	}
	return answers
}

func order(transport http.RoundTripper, url, tenant, key string) (body string, attempts int, err error) {
	ctx, cancel := context.WithTimeout(idempotencykey.WithKey(context.Background(), key), 4*time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/orders", strings.NewReader(`{"item": "book"}`))
	if err != nil {
		return "", 0, err
	}
	r.Header.Set(tenantField, tenant)
	reply, err := transport.RoundTrip(r)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = reply.Body.Close() }()
	content, err := io.ReadAll(reply.Body)
	report, _ := idempotencykey.ReportOf(reply)
	if err == nil && reply.StatusCode != http.StatusCreated {
		err = fmt.Errorf("answered %s %s", reply.Status, content)
	}
	return string(content), report.Attempts, err
}

// lossy is a network that loses requests and replies and delivers requests twice.
type lossy struct{}

var errLost = errors.New("lost on the way")

func (lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	switch fault := rand.N(8); fault {
	case 0: // the request is lost
		return nil, errLost
	case 1, 2, 3: // the reply is; or it is delivered once more
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		reply, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if _, err = io.Copy(io.Discard, reply.Body); err != nil {
			return nil, err
		}
		_ = reply.Body.Close()
		if fault < 3 {
			return nil, errLost
		}
		r = r.Clone(r.Context())
		r.Body = body
	}
	return http.DefaultTransport.RoundTrip(r)
}

func sqliteLedger(t *testing.T) ledger {
	t.Helper()
	path := filepath.ToSlash(filepath.Join(t.TempDir(), "keys.db"))
	if err := sqliteclaim.Init(t.Context(), "sqlite://"+path); err != nil {
		t.Fatal(err)
	}
	return sqlLedger(t, "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)", "", "IDEMPOTENT_STORE=sqlite://"+path)
}

func postgresLedger(t *testing.T) ledger {
	t.Helper()
	url, prefix := engines.Postgres(t), fmt.Sprintf("k%d_", rand.Uint32())
	store := url + "&table=" + prefix + "keys"
	if err := postgresclaim.Init(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return sqlLedger(t, "pgx", url, prefix, "IDEMPOTENT_STORE="+store, "EFFECTS="+prefix)
}

func sqlLedger(t *testing.T, driver, url, prefix string, env ...string) ledger {
	t.Helper()
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+prefix+"effects (operation TEXT, id TEXT)"); err != nil {
		t.Fatal(err)
	}
	return ledger{env: env, effects: func(t *testing.T) map[string][]string {
		t.Helper()
		found := map[string][]string{}
		for _, row := range rowsOf(t, db, "SELECT operation, id FROM "+prefix+"effects") {
			found[row[0]] = append(found[row[0]], row[1])
		}
		return found
	}}
}

func firestoreLedger(t *testing.T) ledger {
	t.Helper()
	address, prefix := engines.Firestore(t), fmt.Sprintf("k%d_", rand.Uint32())
	env := []string{
		"FIRESTORE_EMULATOR_HOST=" + address, "IDEMPOTENT_STORE=firestore://local-project/(default)/" + prefix + "keys", "EFFECTS=" + prefix,
	}
	return ledger{env: env, effects: func(t *testing.T) map[string][]string {
		t.Helper()
		conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		client, err := firestore.NewClient(t.Context(), "local-project", option.WithGRPCConn(conn))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		documents, err := client.Collection(prefix + "effects").Documents(t.Context()).GetAll()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string][]string{}
		for _, document := range documents {
			operation, _ := document.Data()["key"].(string)
			id, _ := document.Data()["id"].(string)
			found[operation] = append(found[operation], id)
		}
		return found
	}}
}
