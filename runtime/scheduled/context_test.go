package scheduled_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

// printer prints the contexts that it is given, as a log line of an observer might.
type printer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *printer) Observe(ctx context.Context, _ claim.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(&p.text, "%v %+v %s\n", ctx, ctx, ctx)
}

func TestAPrintedContextShowsNothingOfTheRequest(t *testing.T) {
	t.Parallel()
	var seen printer
	f := newFixture(t, func(c *scheduled.Config) { c.ClaimOptions = append(c.ClaimOptions, claim.WithObserver(&seen)) })
	f.works(func(ctx context.Context) error {
		seen.Observe(ctx, claim.Event{})
		return nil
	})
	r := deliver(due(), func(h http.Header) { h.Set("Authorization", "Bearer s3cr3t") })
	f.want(t, r, http.StatusOK, claim.OutcomeExecuted)
	text := seen.text.String()
	if strings.Count(text, "\n") != 3 { // claimed, at work, executed
		t.Errorf("not each context was printed:\n%s", text)
	}
	for _, secret := range []string{"s3cr3t", "hello", "[104 101 108 108 111]", project} { // the body, as text and as bytes
		if strings.Contains(text, secret) {
			t.Errorf("%s shows in\n%s", secret, text)
		}
	}
}
