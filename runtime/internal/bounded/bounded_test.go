package bounded_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/bounded"
)

func TestACallEndsWhenItsCallerSaysAndElseSoon(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ given, want time.Duration }{
		"no deadline": {0, 10 * time.Second},
		"a short one": {time.Second, time.Second},
		"a long one":  {time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.given > 0 {
					limited, cancel := context.WithTimeout(ctx, test.given)
					defer cancel()
					ctx = limited
				}
				began := time.Now()
				call, cancel := bounded.Call(ctx)
				defer cancel()
				<-call.Done()
				if took := time.Since(began); took != test.want {
					t.Errorf("it ended after %v, want %v", took, test.want)
				}
			})
		})
	}
}
