package localcloud_test

import (
	"context"
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

func TestScheduledRunsFireOnTime(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	create(t, cloud, httpJob(tg.url+"/work?x=1"))
	advance(t, cloud, 16*time.Minute)

	want := []time.Duration{5 * time.Minute, 10 * time.Minute, 15 * time.Minute}
	got := cloud.Deliveries("")

	if diff := cmp.Diff(want, sinceNoon(got)); diff != "" {
		t.Fatalf("deliveries (-want +got):\n%s", diff)
	}

	for i, d := range got {
		if !d.ScheduleTime.Equal(noon().Add(want[i])) || d.Number != 1 || d.Forced || d.Status != http.StatusOK {
			t.Errorf("delivery %d is %+v", i, d)
		}
	}

	job, err := cloud.Job("nightly-report")
	if err != nil {
		t.Fatal(err)
	}

	if at := job.GetScheduleTime().AsTime(); !at.Equal(noon().Add(20 * time.Minute)) {
		t.Errorf("the next run is at %s", at)
	}

	if at := job.GetLastAttemptTime().AsTime(); !at.Equal(noon().Add(15 * time.Minute)) {
		t.Errorf("the last attempt was at %s", at)
	}

	if job.GetStatus().GetCode() != 0 || job.GetStatus() == nil {
		t.Errorf("status is %v", job.GetStatus())
	}
}

func TestDeliveryCarriesTheHeadersOfCloudScheduler(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	job := httpJob(tg.url + "/work?x=1")
	job.GetHttpTarget().Headers = map[string]string{
		"X-Team": "billing", "x-goOgle-thing": "no", "X-AppEngine-Country": "no", "x-cloudscheduler-jobname": "no",
		"user-agent": "no", "Host": "no.example", "content-length": "3", "authorization": "Basic abc",
	}
	create(t, cloud, job)
	advance(t, cloud, 5*time.Minute)

	seen := tg.requests()
	if len(seen) != 1 {
		t.Fatalf("%d requests", len(seen))
	}

	got := seen[0]
	if got.method != http.MethodPost || got.uri != "/work?x=1" || got.body != `{"a":1}` || "http://"+got.host != tg.url {
		t.Errorf("request is %+v", got)
	}

	got.header.Del("Accept-Encoding")

	want := http.Header{
		"X-Cloudscheduler":              {"true"},
		"X-Cloudscheduler-Jobname":      {"nightly-report"},
		"X-Cloudscheduler-Scheduletime": {"2026-10-16T12:05:00Z"},
		"X-Idempotent-Clock":            {"2026-10-16T12:05:00Z"},
		"User-Agent":                    {"Google-Cloud-Scheduler"},
		"Content-Type":                  {"application/octet-stream"},
		"Content-Length":                {"7"},
		"Authorization":                 {"Basic abc"},
		"X-Team":                        {"billing"},
	}
	if diff := cmp.Diff(want, got.header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestRealTimeSendsNoClock(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), start(t, localcloud.Config{})
	job := httpJob(tg.url)
	job.GetHttpTarget().HttpMethod, job.GetHttpTarget().Body = schedulerpb.HttpMethod_GET, nil
	create(t, cloud, job)

	if err := cloud.Fire(t.Context(), nightly, noon()); err != nil {
		t.Fatal(err)
	}

	landed(t, cloud, 1)

	got := tg.requests()[0]
	if clock, told := got.header["X-Idempotent-Clock"]; told {
		t.Errorf("the handler was told the clock %s", clock)
	}

	if kind, set := got.header["Content-Type"]; set || got.method != http.MethodGet {
		t.Errorf("%s request without a body has the content type %s", got.method, kind)
	}
}

func TestRealClockFiresByItself(t *testing.T) {
	t.Parallel()

	tg := newTarget(t, nil)
	cloud := start(t, localcloud.Config{})
	job := httpJob(tg.url)
	job.Schedule = "* * * * *"
	create(t, cloud, job)

	// The clock is put half a second before the minute after next; the rest of the way it runs by itself.
	next := cloud.Now().Truncate(time.Minute).Add(2 * time.Minute)
	advance(t, cloud, time.Until(next)-500*time.Millisecond)

	got := landed(t, cloud, 2)
	if last := got[1]; !last.ScheduleTime.Equal(next) || last.Clock.Before(next) || last.Clock.Sub(next) > 5*time.Second {
		t.Errorf("fired for %s at %s, want %s", last.ScheduleTime, last.Clock, next)
	}
}

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
				tc.want[i] = time.Minute + tc.want[i]*time.Second
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

func TestScheduledRunsDoNotOverlap(t *testing.T) {
	t.Parallel()

	release := make(chan struct{})
	entered := make(chan struct{}, 10)
	tg := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}

		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), Settle: 20 * time.Millisecond})
	job := httpJob(tg.url)
	job.Schedule, job.AttemptDeadline = "* * * * *", durationpb.New(30*time.Minute)
	create(t, cloud, job)
	advance(t, cloud, 3*time.Minute)
	<-entered

	if n := len(cloud.Deliveries("")); n != 1 {
		t.Fatalf("%d deliveries while the first is in flight", n)
	}

	// A forced run overlaps with anything.
	_, err := schedulerClient(t, cloud, false).RunJob(t.Context(), &schedulerpb.RunJobRequest{Name: nightly})
	if err != nil {
		t.Fatal(err)
	}

	<-entered

	close(release)

	got := landed(t, cloud, 3)
	if got[0].Forced || !got[1].Forced || got[2].Forced {
		t.Errorf("deliveries are %+v", got)
	}

	// The run that waited is the latest one that fell due.
	if at := got[2].ScheduleTime.Sub(noon()); at != 3*time.Minute {
		t.Errorf("after the first run came the one of %s", at)
	}

	// The forced run carried the next schedule time.
	if at := got[1].ScheduleTime.Sub(noon()); at != 4*time.Minute {
		t.Errorf("the forced run carried %s", at)
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

func TestPausedJobsDoNotFire(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, failing(1)), manual(t)
	client := schedulerClient(t, cloud, false)
	job := httpJob(tg.url)
	job.RetryConfig = &schedulerpb.RetryConfig{RetryCount: 5}
	create(t, cloud, job)
	advance(t, cloud, 5*time.Minute)

	if _, err := client.PauseJob(t.Context(), &schedulerpb.PauseJobRequest{Name: nightly}); err != nil {
		t.Fatal(err)
	}

	advance(t, cloud, time.Hour)

	// The retry of the failed run is gone with the pause, too.
	if n := len(cloud.Deliveries("")); n != 1 {
		t.Errorf("%d deliveries of a job that was paused after the first", n)
	}

	err := cloud.Fire(t.Context(), nightly, noon())
	if want := "fire " + nightly + ": the job is PAUSED and does not run on schedule: resume it"; err == nil || err.Error() != want {
		t.Errorf("Fire says %v, want %s", err, want)
	}

	// It can still be forced, for the time at which it would run next.
	forced, err := client.RunJob(t.Context(), &schedulerpb.RunJobRequest{Name: nightly})
	if err != nil || !forced.GetLastAttemptTime().AsTime().Equal(noon().Add(65*time.Minute)) {
		t.Errorf("forced: %v, %v", forced, err)
	}

	got := landed(t, cloud, 2)
	if !got[1].Forced || !got[1].ScheduleTime.Equal(noon().Add(70*time.Minute)) {
		t.Errorf("forced delivery: %+v", got[1])
	}

	if _, err := client.ResumeJob(t.Context(), &schedulerpb.ResumeJobRequest{Name: nightly}); err != nil {
		t.Fatal(err)
	}

	advance(t, cloud, 5*time.Minute)

	if n := len(cloud.Deliveries("")); n != 3 {
		t.Errorf("%d deliveries after the job was resumed", n)
	}
}

func TestChangedAndDeletedJobsFollowTheirNewState(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	client := schedulerClient(t, cloud, false)
	create(t, cloud, httpJob(tg.url))

	job := httpJob(tg.url)
	job.Schedule, job.TimeZone = "7 14 * * *", "Europe/Berlin"

	if _, err := client.UpdateJob(t.Context(), &schedulerpb.UpdateJobRequest{Job: job}); err != nil {
		t.Fatal(err)
	}

	advance(t, cloud, 10*time.Minute)

	if diff := cmp.Diff([]time.Duration{7 * time.Minute}, sinceNoon(cloud.Deliveries(""))); diff != "" {
		t.Errorf("after the update (-want +got):\n%s", diff)
	}

	if err := client.DeleteJob(t.Context(), &schedulerpb.DeleteJobRequest{Name: nightly}); err != nil {
		t.Fatal(err)
	}

	advance(t, cloud, 48*time.Hour)

	if n := len(cloud.Deliveries("")); n != 1 {
		t.Errorf("%d deliveries, some after the job was deleted", n)
	}
}

func TestAMonthPassesAtOnce(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	job := httpJob(tg.url)
	job.Schedule, job.TimeZone = "30 2 * * *", "Europe/Berlin"
	create(t, cloud, job)
	advance(t, cloud, 31*24*time.Hour)

	// The autumn change makes 02:30 of 25 October happen twice.
	if n := len(cloud.Deliveries("")); n != 32 {
		t.Errorf("%d deliveries in 31 days with one doubled hour", n)
	}
}

func TestRedirectsAreFollowed(t *testing.T) {
	t.Parallel()

	tg := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusPermanentRedirect)
		}
	})
	cloud := manual(t)
	create(t, cloud, httpJob(tg.url+"/old"))
	advance(t, cloud, 5*time.Minute)

	seen := tg.requests()
	if len(seen) != 2 || seen[1].uri != "/new" || seen[1].method != http.MethodPost || seen[1].body != `{"a":1}` {
		t.Fatalf("requests: %+v", seen)
	}

	if got := seen[1].header.Get("X-CloudScheduler-ScheduleTime"); got != "2026-10-16T12:05:00Z" {
		t.Errorf("the redirected request is for %q", got)
	}
}

func TestUnreachableTargetsFailWithoutAnAnswer(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	app := &schedulerpb.Job{
		Name: parent + "/jobs/app", Schedule: "5 12 * * *",
		Target: &schedulerpb.Job_AppEngineHttpTarget{AppEngineHttpTarget: &schedulerpb.AppEngineHttpTarget{RelativeUri: "/"}},
	}
	topic := &schedulerpb.Job{
		Name: parent + "/jobs/topic", Schedule: "5 12 * * *",
		Target: &schedulerpb.Job_PubsubTarget{PubsubTarget: &schedulerpb.PubsubTarget{
			TopicName: "projects/acme-prod/topics/t", Data: []byte("x"),
		}},
	}
	nobody := httpJob("http://127.0.0.1:1/")
	nobody.Schedule = "5 12 * * *"

	for _, job := range []*schedulerpb.Job{app, topic, nobody} {
		create(t, cloud, job)
	}

	advance(t, cloud, 5*time.Minute)

	for job, want := range map[string]string{
		"app":            "no App Engine address is configured",
		"topic":          "the local cloud stores Pub/Sub targets but does not deliver to them",
		"nightly-report": `send: Post "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused`,
	} {
		got := cloud.Deliveries(job)
		if len(got) != 1 || got[0].Error != want || got[0].Status != 0 {
			t.Errorf("%s: %+v, want the error %s", job, got, want)
		}

		stored, err := cloud.Job(job)
		if err != nil || stored.GetStatus().GetCode() != int32(codes.Unavailable) {
			t.Errorf("%s: status is %v, %v", job, stored.GetStatus(), err)
		}
	}

	if len(tg.requests()) != 0 {
		t.Errorf("requests: %+v", tg.requests())
	}
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
}

func TestCloseCutsDeliveriesThatDoNotEnd(t *testing.T) {
	t.Parallel()

	entered := make(chan struct{}, 1)
	tg := newTarget(t, func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-r.Context().Done()
	})

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	cloud, err := localcloud.Start(ctx, localcloud.Config{Grace: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}

	create(t, cloud, httpJob(tg.url))

	if err := cloud.Fire(t.Context(), "nightly-report", noon()); err != nil {
		t.Fatal(err)
	}

	<-entered

	began := time.Now()

	// The end of the context that it was started with ends the cloud; Close waits for that.
	cancel()

	if err := cloud.Close(); err != nil {
		t.Error(err)
	}

	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("closing took %s", took)
	}

	got := cloud.Deliveries("")
	if len(got) != 1 || got[0].InFlight() || got[0].Error != "the local cloud is closed" {
		t.Errorf("deliveries: %+v", got)
	}

	if err := cloud.Fire(t.Context(), nightly, noon()); err == nil {
		t.Error("a closed cloud fires")
	}

	if err := cloud.Advance(t.Context(), time.Hour); err == nil {
		t.Error("a closed cloud advances")
	}
}
