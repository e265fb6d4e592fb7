package inbox_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
)

// roundTrips is what the calls of an inbox cost in calls to the server.
type roundTrips struct{ accepted, duplicate, conflict, found, idle int64 }

// testRoundTrips makes each call once. calls is counted by the inbox's client.
func testRoundTrips(t *testing.T, s webhook.Inbox, calls *atomic.Int64, want roundTrips) {
	t.Helper()

	cost := func(do func()) int64 {
		before := calls.Load()

		do()

		return calls.Load() - before
	}
	accept := func(body string, want webhook.Receipt) int64 {
		return cost(func() {
			if got, err := s.Accept(t.Context(), entry("msg_1", body)); err != nil || got != want {
				t.Fatalf("receipt %+v, %v, want %+v", got, err, want)
			}
		})
	}
	due := func() (found int, calls int64) {
		calls = cost(func() {
			events, err := s.Due(t.Context(), 5, time.Hour)
			if err != nil {
				t.Fatal(err)
			}

			found = len(events)
		})

		return found, calls
	}

	var got roundTrips

	got.accepted = accept(`{"a":1}`, webhook.Receipt{})
	got.duplicate = accept(`{"a":1}`, webhook.Receipt{Duplicate: true})
	got.conflict = accept(`{"a":2}`, webhook.Receipt{Duplicate: true, Differs: true})

	eventually(t, "it is due", func() bool {
		found, calls := due()
		got.found = calls

		return found == 1
	})

	_, got.idle = due()

	if got != want {
		t.Errorf("round trips\n got %+v\nwant %+v", got, want)
	}
}
