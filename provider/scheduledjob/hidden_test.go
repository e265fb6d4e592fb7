package scheduledjob_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func withHidden(key, version string) job {
	return job{
		target: fmt.Sprintf("headers_wo = {\n  X-Api-Key = %q\n}\nheaders_wo_version = %q", key, version),
	}
}

func wantKey(cloud *localcloud.Cloud, want string) func() error {
	return func() error {
		live, err := cloud.Job(fullName)
		if err == nil && live.GetHttpTarget().GetHeaders()["X-Api-Key"] != want {
			err = fmt.Errorf("the server holds %q", live.GetHttpTarget().GetHeaders()["X-Api-Key"])
		}
		return err
	}
}

func TestJobSendsHiddenHeadersAndKeepsThemNowhere(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	created := apply(cloud, withHidden("first-secret", "1"), plancheck.ResourceActionCreate)
	created.Check = func(state *terraform.State) error {
		if strings.Contains(state.String(), "first-secret") {
			return errors.New("the state holds the value")
		}
		return wantKey(cloud, "first-secret")()
	}
	run(t, created,
		// Nobody can see that the value is another one before the version says so.
		unchanged(cloud, withHidden("second-secret", "1")),
		then(apply(cloud, withHidden("second-secret", "2"), plancheck.ResourceActionUpdate), wantKey(cloud, "second-secret")),
		// Another change of the target must not lose them.
		then(apply(cloud, job{target: strings.Replace(withHidden("second-secret", "2").target, "headers_wo =", "http_method = \"PUT\"\nheaders_wo =", 1)},
			plancheck.ResourceActionUpdate), wantKey(cloud, "second-secret")),
		apply(cloud, withHidden("second-secret", "2"), plancheck.ResourceActionUpdate),
		// Whoever takes one away by hand is noticed, and it is sent again.
		then(before(apply(cloud, withHidden("second-secret", "2"), plancheck.ResourceActionUpdate), edit(t, cloud, func(live *schedulerpb.Job) {
			delete(live.GetHttpTarget().GetHeaders(), "X-Api-Key")
		})), wantKey(cloud, "second-secret")),
		then(apply(cloud, job{}, plancheck.ResourceActionUpdate), wantKey(cloud, "")))
}

func TestSecretLookingHeaderIsWarnedAboutOnceAndNotRepeated(t *testing.T) {
	t.Parallel()
	protocol, _ := acctest.Start(t)
	config := refusal{target: object{"headers": object{"X-Api-Key": "hunter2"}}}.config()
	if found := protocol.ValidateResource(t, "idempotent_scheduled_job", config); len(found) > 0 {
		t.Errorf("validation says it too: %s", acctest.Text(found[0]))
	}
	found := protocol.Plan(t, "idempotent_scheduled_job", config)
	wantWarnings(t, found, `http_target.headers["X-Api-Key"] of job "nightly-report": it looks like a secret`)
	if slices.ContainsFunc(found, func(d *tfprotov6.Diagnostic) bool { return strings.Contains(acctest.Text(d), "hunter2") }) {
		t.Error("the value is repeated")
	}
}
