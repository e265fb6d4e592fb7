package scheduledjob_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/scheduledjob"
)

// BenchmarkPlanOfANewJob is what a plan costs the provider for each job: validation and plan.
func BenchmarkPlanOfANewJob(b *testing.B) {
	protocol := acctest.NewProtocol(b)
	if diagnostics := protocol.Configure(b, object{"access_token": "unused"}); len(diagnostics) > 0 {
		b.Fatal(diagnostics)
	}
	config := protocol.Sent(b, scheduledjob.TypeName, refusal{}.config())
	nothing := &tfprotov6.DynamicValue{JSON: []byte("null")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := protocol.ValidateResourceConfig(b.Context(), &tfprotov6.ValidateResourceConfigRequest{
			TypeName: scheduledjob.TypeName, Config: config,
		}); err != nil {
			b.Fatal(err)
		}
		plan, err := protocol.PlanResourceChange(b.Context(), &tfprotov6.PlanResourceChangeRequest{
			TypeName: scheduledjob.TypeName, PriorState: nothing, ProposedNewState: config, Config: config,
		})
		if err != nil || len(plan.Diagnostics) > 0 {
			b.Fatal(err, plan.Diagnostics)
		}
	}
}
