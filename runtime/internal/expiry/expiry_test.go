package expiry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/expiry"
)

// purge is a store that purges by a function.
type purge func(context.Context) (int64, error)

func (p purge) Purge(ctx context.Context) (int64, error) { return p(ctx) }

// never is a store whose purge takes too long.
func never(ctx context.Context) (int64, error) { <-ctx.Done(); return 0, ctx.Err() }

func TestOneOfManyHasTheTurnOnceAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var turn expiry.Turn
		for i, want := range []int32{1, 0, 0, 1} {
			var taken atomic.Int32
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					if turn.Take() {
						taken.Add(1)
					}
				})
			}
			all.Wait()
			if n := taken.Load(); n != want {
				t.Errorf("after %d minutes: %d turns, want %d", 20*i, n, want)
			}
			time.Sleep(20 * time.Minute)
		}
	})
}

func TestAPurgeIsLoggedUnlessTheProcessEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		store purge
		end   time.Duration // of the process
		took  time.Duration
		want  string
	}{
		"something was deleted": {
			store: func(context.Context) (int64, error) { return 7, nil },
			want:  `level=INFO msg="expired events deleted" events=7`,
		},
		"nothing was": {store: func(context.Context) (int64, error) { return 0, nil }},
		"it failed": {
			store: func(context.Context) (int64, error) { return 7, errors.New("permission denied") },
			want:  `level=WARN msg="expired events not deleted, the next try comes in an hour" error="permission denied"`,
		},
		"it took too long": {
			store: never, took: 30 * time.Second,
			want: `level=WARN msg="expired events not deleted, the next try comes in an hour" error="context deadline exceeded"`,
		},
		"the process ended": {store: never, end: time.Second, took: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.end > 0 {
					time.AfterFunc(test.end, cancel)
				}
				var log bytes.Buffer
				began := time.Now()
				expiry.Purge(ctx, test.store, slog.New(slog.NewTextHandler(&log, nil)), "events")
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				if _, got, _ := strings.Cut(strings.TrimSpace(log.String()), " "); got != test.want {
					t.Errorf("logged: %s\nwant:   %s", got, test.want)
				}
			})
		})
	}
}
