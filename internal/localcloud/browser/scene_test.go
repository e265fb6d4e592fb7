// Package browser_test watches the page of the local cloud in a real browser.
package browser_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	scheduler "cloud.google.com/go/scheduler/apiv1"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/caller"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

const (
	parent   = "projects/acme-prod/locations/europe-west1"
	account  = "scheduler@acme-prod.iam.gserviceaccount.com"
	audience = "https://reports.example.com"
)

// scene is a local cloud and a real handler whose runs it delivers.
type scene struct {
	cloud   *localcloud.Cloud
	store   *memclaim.Store
	url     string
	effects atomic.Int64
	// dying is how many of the next deliveries of the job billing-sync take the claim and die.
	dying atomic.Int64
}

// deadLease is how long the claim of an attempt that died holds the run: on a busy machine, too, longer than until the first retry, which
// is told to wait, and shorter than until the third.
const deadLease = 4 * time.Second

func newScene(t *testing.T) *scene {
	t.Helper()

	s := &scene{store: memclaim.New()}

	cloud, err := localcloud.Start(t.Context(), localcloud.Config{Store: s.store, Grace: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = cloud.Close() })
	s.cloud = cloud

	checker, err := caller.Verify(caller.VerifyConfig{
		Audiences: []string{audience}, Callers: []string{account}, Issuer: cloud.Issuer(), JWKSURL: cloud.JWKSURL(),
	})
	if err != nil {
		t.Fatal(err)
	}

	handler, err := scheduled.NewHandler(scheduled.Config{
		Store: s.store, Caller: checker, Region: "europe-west1", LocalCloud: true, Logger: slog.New(slog.DiscardHandler),
		Work: func(context.Context, run.Run) error {
			s.effects.Add(1)

			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	server := httptest.NewServer(s.mortal(handler))
	t.Cleanup(server.Close)
	s.url = server.URL

	return s
}

// mortal lets a delivery die right after it took the claim, as a process that is killed does.
func (s *scene) mortal(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(run.HeaderJobName) != "billing-sync" || s.dying.Add(-1) < 0 {
			next.ServeHTTP(w, r)

			return
		}

		at, err := time.Parse(time.RFC3339, r.Header.Get(run.HeaderScheduleTime))
		name, nameErr := run.Identity{Project: "acme-prod", Region: "europe-west1", Job: "billing-sync", ScheduleTime: at}.Name()

		if err == nil && nameErr == nil {
			now := time.Now().UTC()
			_, _, err = s.store.Insert(r.Context(), run.ID(name), claim.Record{
				Status: claim.StatusInProgress, AttemptID: "00000000000000000000000000000001", Attempt: 1, Counted: 1, Rev: 1, Lease: deadLease,
				LeaseExpires: now.Add(deadLease), ExpireAt: now.Add(24 * time.Hour), ClaimedAt: now, Holder: "killed", Run: name,
			})
		}

		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)

			return
		}

		panic(http.ErrAbortHandler)
	})
}

// create declares jobs as the provider does: with a token, retries and the injected headers.
func (s *scene) create(t *testing.T, names ...string) {
	t.Helper()

	client, err := scheduler.NewCloudSchedulerClient(t.Context(), option.WithEndpoint(s.cloud.Addr()), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = client.Close() })

	for _, name := range names {
		_, err := client.CreateJob(t.Context(), &schedulerpb.CreateJobRequest{Parent: parent, Job: &schedulerpb.Job{
			Name: parent + "/jobs/" + name, Schedule: "0 3 * * *", TimeZone: "Europe/Berlin",
			RetryConfig: &schedulerpb.RetryConfig{RetryCount: 5, MinBackoffDuration: durationpb.New(time.Second), MaxDoublings: 1},
			Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{
				Uri: s.url + "/" + name, HttpMethod: schedulerpb.HttpMethod_POST,
				Headers: map[string]string{
					run.HeaderProject: "acme-prod", run.HeaderRegion: "europe-west1",
					run.HeaderPolicy: run.Policy{Deadline: 180 * time.Second, Lease: 210 * time.Second}.Encode(),
				},
				AuthorizationHeader: &schedulerpb.HttpTarget_OidcToken{OidcToken: &schedulerpb.OidcToken{
					ServiceAccountEmail: account, Audience: audience,
				}},
			}},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (s *scene) fire(t *testing.T, job string) {
	t.Helper()

	err := s.cloud.Fire(t.Context(), job, time.Now().Truncate(time.Second))
	if err != nil {
		t.Fatal(err)
	}
}

func (s *scene) inject(t *testing.T, fault localcloud.Fault) {
	t.Helper()

	err := s.cloud.Inject(fault)
	if err != nil {
		t.Fatal(err)
	}
}

// ended waits until a job has so many deliveries that ended.
func (s *scene) ended(t *testing.T, job string, n int) {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	err := s.cloud.Wait(ctx, func([]localcloud.Delivery) bool {
		ended := 0

		for _, d := range s.cloud.Deliveries(job) {
			if !d.InFlight() {
				ended++
			}
		}

		return ended >= n
	})
	if err != nil {
		t.Fatal(err)
	}
}
