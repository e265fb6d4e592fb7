package otelclaim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/otelclaim"
)

// A handler passes the same option on: scheduled.Config{ClaimOptions: []claim.Option{claim.WithObserver(observer)}}.
func ExampleNew() {
	observer, err := otelclaim.New()
	if err != nil {
		fmt.Println(err)

		return
	}

	claimer := claim.New(memclaim.New(), claim.WithObserver(observer))
	proposal := claim.Proposal{ID: "nightly-report", Run: "nightly-report", Lease: time.Minute, Retention: 24 * time.Hour}
	result := claimer.Do(context.Background(), proposal, func(context.Context) error { return nil })
	fmt.Println(result.Outcome)
	// Output: executed
}
