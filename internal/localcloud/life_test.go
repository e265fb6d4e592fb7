package localcloud_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

func TestScheduledRunsDoNotOverlap(t *testing.T) {
	t.Parallel()

	release := make(chan struct{})
	entered := make(chan struct{}, 10)
	tg := newTarget(t, func(_ http.ResponseWriter, r *http.Request) {
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

	if took := time.Since(began); took > 20*time.Second {
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

func TestARunOfADeletedJobDoesNotTouchItsSuccessor(t *testing.T) {
	t.Parallel()

	entered, release := make(chan struct{}, 1), make(chan struct{})
	tg := newTarget(t, func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}

		<-release
		w.WriteHeader(http.StatusInternalServerError)
	})
	cloud := manual(t)
	job := httpJob(tg.url)
	job.RetryConfig = &schedulerpb.RetryConfig{RetryCount: 5}
	create(t, cloud, job)

	if err := cloud.Fire(t.Context(), nightly, noon()); err != nil {
		t.Fatal(err)
	}

	<-entered

	if err := schedulerClient(t, cloud, false).DeleteJob(t.Context(), &schedulerpb.DeleteJobRequest{Name: nightly}); err != nil {
		t.Fatal(err)
	}

	create(t, cloud, job)
	close(release)
	landed(t, cloud, 1)
	advance(t, cloud, 4*time.Minute)

	stored, err := cloud.Job(nightly)
	if err != nil || stored.GetStatus() != nil || stored.GetLastAttemptTime() != nil {
		t.Errorf("the new job has the status of the old one: %v, %v", stored, err)
	}

	if n := len(cloud.Deliveries("")); n != 1 {
		t.Errorf("%d deliveries: the run of the deleted job was retried", n)
	}
}
