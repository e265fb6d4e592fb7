package localcloud_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/protobuf/types/known/durationpb"
)

// The reference of groc: an interval counts from the end of the run before, retries and all.
func TestIntervalsCountFromTheEndOfTheRunAndPromiseNoTime(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, failing(2)), manual(t)
	job := httpJob(tg.url)
	job.Schedule = "every 5 minutes"
	job.RetryConfig = &schedulerpb.RetryConfig{RetryCount: 5, MinBackoffDuration: durationpb.New(30 * time.Second)}
	create(t, cloud, job)
	advance(t, cloud, 13*time.Minute)

	want := []time.Duration{5 * time.Minute, 5*time.Minute + 30*time.Second, 6*time.Minute + 30*time.Second, 11*time.Minute + 30*time.Second}
	if diff := cmp.Diff(want, sinceNoon(cloud.Deliveries(""))); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}

	for _, seen := range tg.requests() {
		if at := seen.header.Get("X-CloudScheduler-ScheduleTime"); at != "" {
			t.Errorf("a run without a grid promises the schedule time %s", at)
		}
	}

	stored, err := cloud.Job(nightly)
	if err != nil || !stored.GetScheduleTime().AsTime().Equal(noon().Add(16*time.Minute+30*time.Second)) {
		t.Errorf("next run: %v, %v", stored.GetScheduleTime(), err)
	}
}
