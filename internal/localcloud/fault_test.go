package localcloud_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// faulty is a cloud with one job that retries, and its target.
func faulty(t *testing.T, answer http.HandlerFunc, fault localcloud.Fault) (*localcloud.Cloud, *target) {
	t.Helper()

	tg, cloud := newTarget(t, answer), manual(t)
	job := httpJob(tg.url)
	job.RetryConfig = &schedulerpb.RetryConfig{RetryCount: 5}
	create(t, cloud, job)

	if err := cloud.Inject(fault); err != nil {
		t.Fatal(err)
	}

	return cloud, tg
}

// answerOnce names the outcome as a handler of this project does.
func answerOnce() http.HandlerFunc { return answerLater(http.StatusOK) }

// answerLater answers the first request with 200 and executed, later ones with a status and duplicate.
func answerLater(status int) http.HandlerFunc {
	var once sync.Once

	return func(w http.ResponseWriter, _ *http.Request) {
		outcome, code := "duplicate", status

		once.Do(func() { outcome, code = "executed", http.StatusOK })
		w.Header().Set("Idempotent-Run", outcome)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(outcome))
	}
}

func TestLostReplyIsRecordedAndRetried(t *testing.T) {
	t.Parallel()

	cloud, tg := faulty(t, answerOnce(), localcloud.Fault{Job: "nightly-report", Kind: localcloud.LostReply})
	advance(t, cloud, 6*time.Minute)

	got := cloud.Deliveries(nightly)
	if len(got) != 2 || len(tg.requests()) != 2 {
		t.Fatalf("deliveries: %+v", got)
	}

	lost, retry := got[0], got[1]
	if lost.Status != 200 || lost.Outcome != "executed" || string(lost.Body) != "executed" || lost.Fault != localcloud.LostReply ||
		lost.Error != "the connection broke before the answer arrived" {
		t.Errorf("the lost reply: %+v", lost)
	}

	if retry.Status != 200 || retry.Outcome != "duplicate" || retry.Fault != "" || retry.Error != "" || retry.Number != 2 ||
		!retry.ScheduleTime.Equal(lost.ScheduleTime) {
		t.Errorf("the retry: %+v", retry)
	}
}

func TestDuplicatesAreDeliveredAtOnce(t *testing.T) {
	t.Parallel()

	// Each of the five waits for all of them: they would never be answered one after the other.
	var all sync.WaitGroup

	all.Add(5)

	first := answerLater(http.StatusConflict)
	cloud, _ := faulty(t, func(w http.ResponseWriter, r *http.Request) {
		all.Done()
		all.Wait()
		first(w, r)
	}, localcloud.Fault{Kind: localcloud.Duplicate, Count: 5})
	advance(t, cloud, 6*time.Minute)

	got := cloud.Deliveries("")
	if len(got) != 5 {
		t.Fatalf("%d deliveries: a run one of whose copies succeeded is over", len(got))
	}

	copies, executed := map[int]bool{}, 0

	for _, d := range got {
		copies[d.Copy] = true

		if d.Number != 1 || d.Run != 1 || d.Fault != localcloud.Duplicate || d.Ended.Before(got[4].Started) {
			t.Errorf("delivery %+v", d)
		}

		if d.Outcome == "executed" {
			executed++
		}
	}

	if len(copies) != 5 || executed != 1 {
		t.Errorf("copies %v, %d executed", copies, executed)
	}
}

func TestLateDuplicatesFollowASuccess(t *testing.T) {
	t.Parallel()

	cloud, _ := faulty(t, answerOnce(), localcloud.Fault{Kind: localcloud.Duplicate, After: 90 * time.Second, Count: 3})
	advance(t, cloud, 8*time.Minute)

	if diff := cmp.Diff([]time.Duration{300e9, 390e9, 390e9}, sinceNoon(cloud.Deliveries(""))); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

func TestDelayHoldsTheRequestUp(t *testing.T) {
	t.Parallel()

	cloud, tg := faulty(t, nil, localcloud.Fault{Kind: localcloud.Delay, Delay: time.Minute})
	advance(t, cloud, 5*time.Minute+59*time.Second)

	if n := len(tg.requests()); n != 0 {
		t.Fatalf("%d requests arrived before the delay was over", n)
	}

	advance(t, cloud, time.Second)

	if n := len(tg.requests()); n != 1 {
		t.Fatalf("%d requests arrived after the delay", n)
	}
}

func TestDelayBeyondTheDeadlineNeverArrives(t *testing.T) {
	t.Parallel()

	cloud, tg := faulty(t, nil, localcloud.Fault{Kind: localcloud.Delay, Delay: time.Hour})
	advance(t, cloud, 8*time.Minute+5*time.Second)

	// The deadline is over after 180 s, and the retry, 5 s later, meets no fault.
	got := landed(t, cloud, 2)
	if len(tg.requests()) != 1 || got[0].Error != "the attempt deadline was exceeded" || got[1].Status != 200 {
		t.Errorf("deliveries: %+v", got)
	}
}

func TestResetBreaksTheConnectionAfterTheRequestWasSent(t *testing.T) {
	t.Parallel()

	broken := make(chan struct{}, 1)

	var first sync.Once

	cloud, _ := faulty(t, func(_ http.ResponseWriter, r *http.Request) {
		first.Do(func() {
			<-r.Context().Done()
			broken <- struct{}{}
		})
	}, localcloud.Fault{Kind: localcloud.Reset, After: 10 * time.Millisecond})
	advance(t, cloud, 6*time.Minute)
	<-broken

	got := cloud.Deliveries("")
	if len(got) != 2 || got[0].Error != "the connection was reset" || got[0].Status != 0 || got[1].Status != 200 {
		t.Errorf("deliveries: %+v", got)
	}
}

func TestStatusComesFromThePath(t *testing.T) {
	t.Parallel()

	cloud, tg := faulty(t, nil, localcloud.Fault{Kind: localcloud.Status, Times: 2, Skip: 1})
	if err := cloud.Inject(localcloud.Fault{Kind: localcloud.Status, Status: 429, Times: -1}); err != nil {
		t.Fatal(err)
	}

	advance(t, cloud, 16*time.Minute)

	statuses := []int{}
	for _, d := range cloud.Deliveries("") {
		statuses = append(statuses, d.Status)
	}

	// The first fault lets one attempt go well and then happens twice; the second one never ends.
	if want := []int{200, 503, 503, 429, 429, 429, 429, 429, 429, 429, 429}; !cmp.Equal(want, statuses) || len(tg.requests()) != 1 {
		t.Errorf("statuses are %v, want %v; %d requests reached the target", statuses, want, len(tg.requests()))
	}

	cloud.ClearFaults()
	advance(t, cloud, time.Minute)

	if n := len(tg.requests()); n != 2 {
		t.Errorf("%d requests after the faults were cleared", n)
	}
}

func TestFaultsHappenToTheirJobOnly(t *testing.T) {
	t.Parallel()

	cloud, tg := faulty(t, nil, localcloud.Fault{Job: "other", Kind: localcloud.Status, Times: -1})
	advance(t, cloud, 5*time.Minute)

	if n := len(tg.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestImpossibleFaultsAreRefused(t *testing.T) {
	t.Parallel()

	cloud := manual(t)

	for _, tc := range []struct {
		fault localcloud.Fault
		want  string
	}{
		{
			localcloud.Fault{Kind: "explode"},
			`fault kind "explode" is unknown: use one of ["lost_reply" "duplicate" "delay" "slow_token" "reset" "status" "update_failed"]`,
		},
		{
			localcloud.Fault{Kind: localcloud.Delay, Delay: -1},
			"fault delay has a negative skip, count, after or delay: use zero or more",
		},
		{
			localcloud.Fault{Kind: localcloud.Duplicate, Count: 5000},
			"fault duplicate asks for 5000 deliveries: at most 1000 can be made of one",
		},
		{localcloud.Fault{Kind: localcloud.Status, Status: 42}, "fault status is 42: use an HTTP status from 200 to 599"},
	} {
		if err := cloud.Inject(tc.fault); err == nil || err.Error() != tc.want {
			t.Errorf("Inject(%+v) = %v, want %s", tc.fault, err, tc.want)
		}
	}
}
