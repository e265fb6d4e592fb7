package localcloud_test

import (
	"net/http"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

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
	nobody := httpJob("http://127.0.0.1:1/?key=secret")
	nobody.Schedule = "5 12 * * *"

	for _, job := range []*schedulerpb.Job{app, topic, nobody} {
		create(t, cloud, job)
	}

	advance(t, cloud, 5*time.Minute)

	for job, want := range map[string]string{
		"app":            "no App Engine address is configured",
		"topic":          "the local cloud stores Pub/Sub targets but does not deliver to them",
		"nightly-report": `send: dial tcp 127.0.0.1:1: connect: connection refused`,
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
