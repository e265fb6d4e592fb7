package localcloud_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// day lets some hours of five-minute runs pass under chance and returns what went wrong with each delivery, in order of the runs.
func day(t *testing.T, seed uint64) []string {
	t.Helper()

	tg, cloud := newTarget(t, nil), manual(t)
	create(t, cloud, httpJob(tg.url))

	set, err := cloud.Randomize(localcloud.Random{Seed: seed, Rate: 0.5})
	if err != nil || set.Seed != seed {
		t.Fatalf("randomize: %+v, %v", set, err)
	}

	advance(t, cloud, 6*time.Hour)

	out := []string{}
	for _, d := range cloud.Deliveries("") {
		out = append(out, fmt.Sprint(d.ScheduleTime.Format(time.TimeOnly), " ", d.Number, " ", d.Copy, " ", d.Fault))
	}

	slices.Sort(out)

	return out
}

func TestTheSameSeedTellsTheSameStory(t *testing.T) {
	t.Parallel()

	one, again, other := day(t, 7), day(t, 7), day(t, 8)
	if !slices.Equal(one, again) {
		t.Errorf("the same seed differs:\n%v\n%v", one, again)
	}

	if slices.Equal(one, other) {
		t.Error("another seed tells the same story")
	}
}

func TestChanceTellsItsSeedAndEnds(t *testing.T) {
	t.Parallel()

	tg, cloud := newTarget(t, nil), manual(t)
	create(t, cloud, httpJob(tg.url))

	code, got := call(t, cloud, "PUT", "/local/random", `{"rate": 1, "job": "nightly-report"}`, nil)
	if seed, _ := got["seed"].(float64); code != http.StatusOK || seed < 1 {
		t.Errorf("random: %d %v", code, got)
	}

	advance(t, cloud, 5*time.Minute)

	if d := cloud.Deliveries(""); d[0].Fault == "" {
		t.Errorf("nothing went wrong at rate 1: %+v", d[0])
	}

	call(t, cloud, "PUT", "/local/random", `{"rate": 0}`, nil)

	before := len(cloud.Deliveries(""))
	advance(t, cloud, 5*time.Minute)

	for _, d := range cloud.Deliveries("")[before:] {
		if d.Fault != "" && d.Copy == 0 {
			t.Errorf("still by chance: %+v", d)
		}
	}

	for _, rate := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := cloud.Randomize(localcloud.Random{Rate: rate}); err == nil {
			t.Errorf("rate %v is taken", rate)
		}
	}
}

// App Engine's system errors do not count as attempts; chance must not draw the same one for each of their retries.
func TestChanceLetsGoOfAnAppEngineRun(t *testing.T) {
	t.Parallel()

	tg := newTarget(t, nil)
	cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), AppEngine: tg.url})
	create(t, cloud, &schedulerpb.Job{
		Name: nightly, Schedule: "0 * * * *",
		Target: &schedulerpb.Job_AppEngineHttpTarget{AppEngineHttpTarget: &schedulerpb.AppEngineHttpTarget{}},
	})

	if _, err := cloud.Randomize(localcloud.Random{Seed: 1, Rate: 0.9}); err != nil {
		t.Fatal(err)
	}

	advance(t, cloud, 24*time.Hour)

	unavailable := 0

	for _, d := range cloud.Deliveries("") {
		if d.Status == http.StatusServiceUnavailable {
			unavailable++
		}
	}

	// A run that draws the same each time would be tried every five seconds of its hour.
	if unavailable == 0 || unavailable > 100 {
		t.Errorf("%d deliveries were answered 503 by chance", unavailable)
	}
}
