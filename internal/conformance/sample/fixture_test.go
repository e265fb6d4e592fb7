package sample_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/sample"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/claimtest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

const longLease = 5 * time.Minute

// shared is one collection with handlers of both kinds over it.
type shared struct {
	client     *firestore.Client
	collection string
}

func share(t *testing.T) *shared {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+engines.Firestore(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	client, err := firestore.NewClient(t.Context(), "acme-prod", option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &shared{client: client, collection: "t_" + strings.ToLower(rand.Text()[:12])}
	// The first answers of the emulator take long on a busy machine, longer than the leases that some tests wait for.
	if _, err := s.theirs(longLease).Run(t.Context(), "first", func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return s
}

// theirs is a handler of the sample.
func (s *shared) theirs(lease time.Duration) *sample.Handler {
	return &sample.Handler{Client: s.client, Collection: s.collection, Lease: lease, Retention: time.Hour}
}

// ours is a handler of the runtime that names runs as the sample does.
func (s *shared) ours(t *testing.T, policy run.Policy, work func(context.Context) error) *ours {
	t.Helper()
	store, err := firestoreclaim.New(s.client, s.collection)
	if err != nil {
		t.Fatal(err)
	}
	policy.Format, policy.Deadline, policy.Retention = run.FormatSample, time.Minute, time.Hour
	check, err := caller.Insecure(caller.InsecureConfig{Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := scheduled.NewHandler(scheduled.Config{
		Work: func(ctx context.Context, _ run.Run) error { return work(ctx) }, Store: store, Caller: check, Policy: policy,
		Logger:       slog.New(slog.DiscardHandler),
		ClaimOptions: []claim.Option{claim.WithStoreTimeout(30 * time.Second)}, // the emulator on a busy machine
	})
	if err != nil {
		t.Fatal(err)
	}
	return &ours{handler}
}

type ours struct{ handler *scheduled.Handler }

// deliver is one delivery to ours.
func (o *ours) deliver(r aRun) (claim.Outcome, int) {
	request := claimtest.Request(run.Run{Identity: run.Identity{Project: "acme-prod", Region: "europe-west1", Job: r.job}})
	request.Header.Set(run.HeaderScheduleTime, r.at)
	reply := httptest.NewRecorder()
	o.handler.ServeHTTP(reply, request)
	return claim.Outcome(reply.Header().Get(run.HeaderOutcome)), reply.Code
}

// aRun is a run as the headers name it.
type aRun struct{ job, at string }

func newRun() aRun {
	return aRun{job: "job-" + strings.ToLower(rand.Text()[:8]), at: time.Now().Add(-time.Hour).Format(time.RFC3339)}
}

func (r aRun) id() string { return sample.ID(r.job, r.at) }

// counter is a work that counts its calls.
type counter struct{ n atomic.Int64 }

func (c *counter) work(context.Context) error {
	c.n.Add(1)
	return nil
}

func wantOurs(t *testing.T, when string, got claim.Outcome, code int, want claim.Outcome) {
	t.Helper()
	wantCode := map[claim.Outcome]int{
		claim.OutcomeExecuted: http.StatusOK, claim.OutcomeDuplicate: http.StatusOK, claim.OutcomeInProgress: http.StatusConflict,
		claim.OutcomeLost: http.StatusConflict, claim.OutcomeReleased: http.StatusInternalServerError,
		claim.OutcomeFailed: http.StatusUnprocessableEntity, claim.OutcomeUnknown: http.StatusUnprocessableEntity,
	}[want]
	if got != want || code != wantCode {
		t.Errorf("%s: ours answers %d %s, want %d %s", when, code, got, wantCode, want)
	}
}

func wantTheirs(t *testing.T, when string, got sample.Outcome, err error, want sample.Outcome) {
	t.Helper()
	if got != want || err != nil {
		t.Errorf("%s: the sample answers %s (%v), want %s", when, got, err, want)
	}
}
