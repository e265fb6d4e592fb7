// Package report is the function that the workflow calls: it makes a report once for each Idempotency-Key.
package report

import (
	"context"
	"net/http"
	"regexp"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Handler returns the function. It claims each key in the store and makes the report for the first request with it; any later one is
// refused with 409. A request whose report failed may be sent again.
func Handler(store claim.Store, makeReport func(ctx context.Context, key string) error) http.Handler {
	claimer := claim.New(store)
	valid := regexp.MustCompile(`^[0-9a-f]{64}$`)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if !valid.MatchString(key) {
			http.Error(w, "send the run id as Idempotency-Key", http.StatusBadRequest)
			return
		}
		name := run.KeyName("report", key)
		result := claimer.Do(r.Context(), claim.Proposal{
			ID: run.ID(name), Run: name, Lease: time.Minute, Renew: true, Retention: 7 * 24 * time.Hour,
		}, func(ctx context.Context) error { return makeReport(ctx, key) })
		switch result.Outcome {
		case claim.OutcomeExecuted:
			w.WriteHeader(http.StatusCreated)
		case claim.OutcomeDuplicate, claim.OutcomeInProgress:
			http.Error(w, "this run's report is made already, or is being made", http.StatusConflict)
		default:
			http.Error(w, "the report was not made, try again", http.StatusInternalServerError)
		}
	})
}
