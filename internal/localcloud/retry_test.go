package localcloud_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

func TestRetriesFollowTheBackoffAndBothLimits(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		retry *schedulerpb.RetryConfig
		want  []time.Duration // after the first attempt
	}{
		"none by default": {nil, []time.Duration{0}},
		"five": {
			&schedulerpb.RetryConfig{RetryCount: 5},
			[]time.Duration{0, 5, 15, 35, 75, 155},
		},
		"doublings end and the cap holds": {
			&schedulerpb.RetryConfig{
				RetryCount: 5, MinBackoffDuration: durationpb.New(10 * time.Second), MaxBackoffDuration: durationpb.New(35 * time.Second),
				MaxDoublings: 1,
			},
			[]time.Duration{0, 10, 30, 65, 100, 135},
		},
		"by duration alone": {
			&schedulerpb.RetryConfig{MaxRetryDuration: durationpb.New(36 * time.Second)},
			[]time.Duration{0, 5, 15, 35},
		},
		"until both limits are reached, the duration later": {
			&schedulerpb.RetryConfig{RetryCount: 1, MaxRetryDuration: durationpb.New(80 * time.Second)},
			[]time.Duration{0, 5, 15, 35, 75},
		},
		"until both limits are reached, the count later": {
			&schedulerpb.RetryConfig{RetryCount: 3, MaxRetryDuration: durationpb.New(6 * time.Second)},
			[]time.Duration{0, 5, 15, 35},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tg, cloud := newTarget(t, failing(1000)), manual(t)
			job := httpJob(tg.url)
			job.Schedule, job.RetryConfig = "1 12 * * *", tc.retry
			create(t, cloud, job)
			advance(t, cloud, 2*time.Hour)

			got := cloud.Deliveries("")
			for i := range tc.want {
				tc.want[i] = time.Minute + tc.want[i]*time.Second //nolint:durationcheck // the table holds bare seconds
			}

			if diff := cmp.Diff(tc.want, sinceNoon(got)); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}

			for i, d := range got {
				if !d.ScheduleTime.Equal(noon().Add(time.Minute)) || d.Run != 1 || d.Number != i+1 {
					t.Errorf("attempt %d is %+v", i, d)
				}
			}

			stored, err := cloud.Job("")
			if err == nil {
				t.Errorf("an empty name found %v", stored)
			}

			stored, err = cloud.Job(nightly)
			if err != nil || stored.GetStatus().GetCode() != int32(codes.Internal) {
				t.Errorf("status is %v, %v", stored.GetStatus(), err)
			}
		})
	}
}

func TestRetriesEndWithSuccessOrTheNextRun(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, failing(2)), manual(t)
	job := httpJob(tg.url)
	job.RetryConfig = &schedulerpb.RetryConfig{RetryCount: 5}
	create(t, cloud, job)
	advance(t, cloud, 9*time.Minute)

	if diff := cmp.Diff([]time.Duration{300e9, 305e9, 315e9}, sinceNoon(cloud.Deliveries(""))); diff != "" {
		t.Errorf("success does not end the retries (-want +got):\n%s", diff)
	}

	other := newTarget(t, failing(1000))
	slow := httpJob(other.url)
	slow.Name, slow.Schedule = parent+"/jobs/each-minute", "* * * * *"
	slow.RetryConfig = &schedulerpb.RetryConfig{RetryCount: 5, MinBackoffDuration: durationpb.New(25 * time.Second)}
	create(t, cloud, slow)
	advance(t, cloud, 2*time.Minute+time.Second)

	// 25 s after the first attempt there is a retry; the one that is due 50 s later meets the next run.
	want := []time.Duration{600e9, 625e9, 660e9}
	if diff := cmp.Diff(want, sinceNoon(cloud.Deliveries("each-minute"))); diff != "" {
		t.Errorf("the next run does not end the retries (-want +got):\n%s", diff)
	}
}

func TestAttemptsEndAtTheDeadlineAndRetriesStartBesideALateHandler(t *testing.T) {
	t.Parallel()

	release := make(chan struct{})
	entered, done := make(chan struct{}, 10), make(chan struct{}, 10)
	tg := newTarget(t, func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}

		<-release
		done <- struct{}{}
	})

	cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), Settle: 20 * time.Millisecond})
	job := httpJob(tg.url)
	job.AttemptDeadline, job.RetryConfig = durationpb.New(15*time.Second), &schedulerpb.RetryConfig{RetryCount: 1}
	create(t, cloud, job)
	advance(t, cloud, 5*time.Minute+14*time.Second)

	if got := cloud.Deliveries(""); len(got) != 1 || !got[0].InFlight() {
		t.Fatalf("before the deadline: %+v", got)
	}

	advance(t, cloud, time.Second)

	got := landed(t, cloud, 1)
	if got[0].Error != "the attempt deadline was exceeded" || got[0].Status != 0 {
		t.Errorf("at the deadline: %+v", got[0])
	}

	if stored, err := cloud.Job(nightly); err != nil || stored.GetStatus().GetCode() != int32(codes.DeadlineExceeded) {
		t.Errorf("status is %v, %v", stored.GetStatus(), err)
	}

	advance(t, cloud, 5*time.Second)

	// The retry reaches the handler while the first attempt is still at work.
	<-entered
	<-entered
	close(release)
	<-done
	<-done
}

func TestAppEngineRetriesSystemErrorsForEver(t *testing.T) {
	t.Parallel()

	var count atomic.Int32

	tg := newTarget(t, func(w http.ResponseWriter, _ *http.Request) {
		if count.Add(1) <= 20 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), AppEngine: tg.url})
	create(t, cloud, &schedulerpb.Job{
		Name: nightly, Schedule: "5 12 * * *",
		Target: &schedulerpb.Job_AppEngineHttpTarget{AppEngineHttpTarget: &schedulerpb.AppEngineHttpTarget{RelativeUri: "/run?a=b"}},
	})
	advance(t, cloud, time.Hour)

	seen := tg.requests()
	if len(seen) != 21 || seen[0].uri != "/run?a=b" {
		t.Fatalf("%d requests, the first %+v", len(seen), seen[0])
	}

	if agent := seen[0].header.Get("User-Agent"); agent != "AppEngine-Google; (+http://code.google.com/appengine)" {
		t.Errorf("user agent is %q", agent)
	}

	// Services on App Engine know by such a header that the request is no outsider's.
	if queue := seen[0].header.Get("X-AppEngine-QueueName"); queue != "__scheduler" {
		t.Errorf("queue name is %q", queue)
	}
}
