package localcloud_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

func TestAnUnreachableTargetIsAFailureThatSaysWhy(t *testing.T) {
	t.Parallel()

	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	url := "http://" + gone.Addr().String()
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}

	cloud := manual(t)
	create(t, cloud, httpJob(url))
	advance(t, cloud, 5*time.Minute)

	d := cloud.Deliveries("")
	if len(d) != 1 || d[0].Status != 0 || !strings.Contains(d[0].Error, "connection refused") {
		t.Errorf("delivery: %+v", d)
	}
}

// A page that reads nothing must hold up neither deliveries nor the end of the cloud.
func TestAPageThatReadsNothingHoldsNothingUp(t *testing.T) {
	t.Parallel()

	tg := newTarget(t, nil)
	cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), Grace: 100 * time.Millisecond})

	conn, err := net.Dial("tcp", cloud.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	if buffered, can := conn.(*net.TCPConn); can {
		_ = buffered.SetReadBuffer(1)
	}

	_, err = fmt.Fprintf(conn, "GET /local/events HTTP/1.1\r\nHost: %s\r\n\r\n", cloud.Addr())
	if err != nil {
		t.Fatal(err)
	}

	create(t, cloud, httpJob(tg.url))

	started := time.Now()

	advance(t, cloud, 24*time.Hour)

	if n := len(cloud.Deliveries("")); n != 288 {
		t.Errorf("%d deliveries in a day", n)
	}

	if err := cloud.Close(); err != nil {
		t.Logf("close: %v", err)
	}

	if took := time.Since(started); took > time.Minute {
		t.Errorf("a day and the end took %s", took)
	}
}

// A target that never answers holds an advance up once, and not at each of its runs.
func TestATargetThatNeverAnswersHoldsAnAdvanceUpOnce(t *testing.T) {
	t.Parallel()

	hangs := newTarget(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	const patience = 2 * time.Second
	cloud := start(t, localcloud.Config{Clock: localcloud.ManualClock(noon()), Settle: patience})
	job := httpJob(hangs.url)
	job.AttemptDeadline = durationpb.New(15 * time.Second)
	create(t, cloud, job)

	started := time.Now()

	advance(t, cloud, 2*time.Hour+time.Minute)

	const runs = 24
	if took := time.Since(started); took > runs*patience/2 {
		t.Errorf("%d runs that are not answered took %s", runs, took)
	}

	got := cloud.Deliveries("")
	if len(got) != runs {
		t.Fatalf("%d deliveries", len(got))
	}

	for i, d := range got {
		if d.Error != "the attempt deadline was exceeded" {
			t.Errorf("delivery %d: %+v", i, d)
		}
	}
}

func TestClosingCutsDeliveriesAfterTheGrace(t *testing.T) {
	t.Parallel()

	hangs := make(chan struct{})
	tg := newTarget(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hangs:
		case <-r.Context().Done():
		}
	})

	defer close(hangs)

	cloud := start(t, localcloud.Config{Grace: 50 * time.Millisecond})
	create(t, cloud, httpJob(tg.url))

	if err := cloud.Fire(t.Context(), nightly, noon()); err != nil {
		t.Fatal(err)
	}

	started := time.Now()

	if err := cloud.Close(); err != nil {
		t.Errorf("close: %v", err)
	}

	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("closing took %s", took)
	}

	if d := cloud.Deliveries(""); len(d) != 1 || d[0].InFlight() || !strings.Contains(d[0].Error, "closed") {
		t.Errorf("delivery: %+v", d)
	}
}
