package serving_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/serving"
)

// purges counts what is asked of a store that deletes nothing by itself.
type purges int

func (p *purges) Purge(context.Context) (int64, error) { *p++; return 1, nil }

func TestExpiredRecordsAreDeletedNowAndEachHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var store purges
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- serving.Purging(&store)(ctx) }()
		time.Sleep(150 * time.Minute)
		synctest.Wait()
		if store != 3 {
			t.Errorf("purged %d times in two and a half hours, want 3", store)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAStoreThatDeletesByItselfIsLeftAlone(t *testing.T) {
	t.Parallel()
	if err := serving.Purging(struct{}{})(t.Context()); err != nil {
		t.Error(err)
	}
}
