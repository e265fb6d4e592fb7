package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// ttlField is the field that the second, paused job's store has its TTL policy on.
const ttlField = "projects/" + project + "/databases/(default)/collectionGroups/scheduler_runs/fields/expire_at"

// checkDeclared reads from the cloud what the apply has made there.
func (s *stage) checkDeclared(ctx context.Context) error {
	var errs []error

	for _, scenario := range []Scenario{LostReply, Duplicates, Killed, Forced} {
		job, err := s.cloud.Job(jobName(scenario))
		if err != nil {
			errs = append(errs, err)

			continue
		}

		target := job.GetHttpTarget()
		if got := target.GetOidcToken().GetServiceAccountEmail(); got != account {
			errs = append(errs, fmt.Errorf("job %s: its token's service account is %q, not %q", scenario, got, account))
		}

		for name, want := range map[string]string{run.HeaderProject: project, run.HeaderRegion: region, run.HeaderPolicy: "v=1"} {
			if got := header(target.GetHeaders(), name); !strings.HasPrefix(got, want) {
				errs = append(errs, fmt.Errorf("job %s: header %s is %q, not %q", scenario, name, got, want))
			}
		}
	}

	field, err := s.cloud.Field(ctx, ttlField)
	if err != nil {
		errs = append(errs, err)
	} else if field.GetTtlConfig() == nil {
		errs = append(errs, errors.New("the store of the paused job has no TTL policy"))
	}

	if !slices.ContainsFunc(s.cloud.Requests(), func(r localcloud.APIRequest) bool { return strings.HasSuffix(r.Method, "UpdateField") }) {
		errs = append(errs, errors.New("the TTL policy was not set through the Firestore Admin API"))
	}

	return errors.Join(errs...)
}

func header(all map[string]string, name string) string {
	for k, v := range all {
		if strings.EqualFold(k, name) {
			return v
		}
	}

	return ""
}
