package scheduledjob_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/jobs"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/scheduledjob"
)

// All that a refresh asks for counts: the jobs, and the expiry policy of their collection.
func TestAThousandJobsRefreshWithAtMostTenRequests(t *testing.T) {
	t.Parallel()
	const n = 1000
	protocol, cloud := acctest.Start(t)
	states := make([]acctest.Resource, n)
	writer, plain := client(cloud), incumbentState(t, "plain")
	inTens(n, func(i int) {
		at := jobs.Name{Project: acctest.Project, Region: acctest.Region, Job: fmt.Sprintf("report-%d", i)}
		if _, err := writer.Create(t.Context(), at, &schedulerpb.Job{
			Name: at.String(), Schedule: "0 3 * * *", TimeZone: "Etc/UTC",
			Target: &schedulerpb.Job_HttpTarget{HttpTarget: &schedulerpb.HttpTarget{Uri: "https://reports-abc.a.run.app/run"}},
		}); err != nil {
			t.Error(err)
		}
		states[i], _ = protocol.Move(t, scheduledjob.TypeName, incumbentProvider, incumbentType,
			bytes.ReplaceAll(plain, []byte("nightly-report"), []byte(at.Job)))
	})
	before := len(cloud.Requests())
	inTens(n, func(i int) {
		read, diagnostics := protocol.Read(t, states[i])
		if len(diagnostics) > 0 || read.State == nil {
			t.Errorf("job %d: %v", i, diagnostics)
		}
	})
	if made := len(cloud.Requests()) - before; made > 10 {
		t.Errorf("%d requests", made)
	}
}

// inTens does as Terraform does: ten at once.
func inTens(n int, do func(i int)) {
	var all sync.WaitGroup
	free := make(chan struct{}, 10)
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			do(i)
		})
	}
	all.Wait()
}
