package jobspec_test

import (
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// BenchmarkEvaluate is what a plan pays for each job.
func BenchmarkEvaluate(b *testing.B) {
	j := nightly()
	j.TimeZone = text("Europe/Berlin")
	b.ReportAllocs()
	for b.Loop() {
		jobspec.Evaluate(j)
	}
}
