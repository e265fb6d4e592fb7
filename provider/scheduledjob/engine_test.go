package scheduledjob_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

// engine is a valid job with an App Engine target, and what a test adds to the resource and to the target.
type engine struct{ root, target string }

func (e engine) String() string {
	root := withDefaults(e.root, "name", `"nightly-report"`, "schedule", `"0 3 * * *"`, "attempt_deadline", `"600s"`)
	target := withDefaults(e.target, "relative_uri", `"/run"`)
	return fmt.Sprintf("resource \"idempotent_scheduled_job\" \"test\" {\n%s\n  app_engine_http_target {\n%s\n  }\n}\n", root, target)
}

func routing(text string) engine {
	return engine{target: "app_engine_routing {\n" + text + "\n}"}
}

func TestJobOfAppEngineIsCreatedChangedAndEmptied(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	var plain map[string]string
	steps := []resource.TestStep{then(apply(cloud, engine{}, plancheck.ResourceActionCreate), func() (err error) {
		plain, err = engineFacts(cloud)
		return err
	})}
	changes := map[string]struct {
		job     engine
		differs []string
	}{
		"relative_uri": {engine{target: `relative_uri = "/other?all=1"`}, []string{"uri=/other?all=1"}},
		"http_method":  {engine{target: `http_method = "PUT"`}, []string{"method=PUT"}},
		"body":         {engine{target: `body = base64encode("hello")`}, []string{"body=hello"}},
		"body_text":    {engine{target: `body_text = "hello there"`}, []string{"body=hello there"}},
		"headers":      {engine{target: "headers = {\n  X-Team = \"billing\"\n}"}, []string{"X-Team=billing"}},
		"User-Agent":   {engine{target: "headers = {\n  User-Agent = \"reports\"\n}"}, []string{"User-Agent=reports " + agent}},
		"service":      {routing(`service = "worker"`), []string{"host=worker.acme-prod.appspot.com"}},
		"version": {
			routing("service = \"worker\"\nversion = \"v2\""), []string{"host=v2.worker.acme-prod.appspot.com"},
		},
		"instance": {
			routing("service = \"worker\"\nversion = \"v2\"\ninstance = \"i1\""), []string{"host=i1.v2.worker.acme-prod.appspot.com"},
		},
		"attempt_deadline": {engine{root: `attempt_deadline = "24h"`}, []string{"deadline=24h0m0s"}},
	}
	for _, attribute := range slices.Sorted(maps.Keys(changes)) {
		tested := changes[attribute]
		steps = append(steps, then(apply(cloud, tested.job, plancheck.ResourceActionUpdate), func() error {
			now, err := engineFacts(cloud)
			if err != nil {
				return err
			}
			var got []string
			for key, value := range now {
				if plain[key] != value {
					got = append(got, key+"="+value)
				}
			}
			if diff := cmp.Diff(tested.differs, got); diff != "" {
				return fmt.Errorf("%s: %s", attribute, diff)
			}
			return nil
		}))
	}
	steps = append(steps,
		apply(cloud, engine{}, plancheck.ResourceActionUpdate),
		resource.TestStep{ResourceName: address, ImportState: true, ImportStateId: fullName, ImportStateVerify: true})
	run(t, steps...)
}

const agent = "AppEngine-Google; (+http://code.google.com/appengine)"

// engineFacts is what the server holds of the job's App Engine target, in words.
func engineFacts(cloud *localcloud.Cloud) (map[string]string, error) {
	live, err := cloud.Job(fullName)
	if err != nil {
		return nil, err
	}
	target := live.GetAppEngineHttpTarget()
	all := map[string]string{
		"uri": target.GetRelativeUri(), "method": target.GetHttpMethod().String(), "body": string(target.GetBody()),
		"host": target.GetAppEngineRouting().GetHost(), "deadline": live.GetAttemptDeadline().AsDuration().String(),
	}
	for key, value := range target.GetHeaders() {
		if key != "Content-Type" && !strings.HasPrefix(key, "X-Idempotent-") {
			all[key] = value
		}
	}
	return all, nil
}

// Without a deadline the service's scaling decides; the lease must be renewed then.
func TestJobOfAppEngineWithoutADeadlineLeavesItToTheService(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	renewed := engine{root: "deduplication {\n  renew_lease = true\n}"}
	without := func(e engine) fmt.Stringer {
		return text(strings.Replace(e.String(), `attempt_deadline = "600s"`, "", 1))
	}
	run(t,
		then(apply(cloud, without(renewed), plancheck.ResourceActionCreate, state("attempt_deadline", knownvalue.StringExact("0s"))), func() error {
			live, err := cloud.Job(fullName)
			if err == nil && live.GetAttemptDeadline() != nil {
				err = fmt.Errorf("the deadline on the server is %s", live.GetAttemptDeadline().AsDuration())
			}
			return err
		}),
		before(unchanged(cloud, without(renewed)), edit(t, cloud, func(live *schedulerpb.Job) {
			live.GetAppEngineHttpTarget().GetAppEngineRouting().Host = "default-dot-acme-prod.ew.r.appspot.com"
		})))
}

func TestAppEngineTargetNeedsADeadlineOrARenewedLease(t *testing.T) {
	t.Parallel()
	config := refusal{engine: object{}}.config()
	delete(config, "attempt_deadline")
	found := acctest.NewProtocol(t).ValidateResource(t, "idempotent_scheduled_job", config)
	if len(found) != 1 || found[0].Summary != `attempt_deadline of job "nightly-report": an App Engine target needs one` {
		t.Errorf("validation says %v", found)
	}
}

type text string

func (t text) String() string { return string(t) }

func TestJobOfAppEngineChangedByHandIsSetBack(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	worker := routing(`service = "worker"`)
	steps := []resource.TestStep{apply(cloud, worker, plancheck.ResourceActionCreate)}
	for _, change := range []func(*schedulerpb.AppEngineHttpTarget){
		func(live *schedulerpb.AppEngineHttpTarget) { live.RelativeUri = "/elsewhere" },
		func(live *schedulerpb.AppEngineHttpTarget) {
			live.GetAppEngineRouting().Host = "other.acme-prod.appspot.com"
		},
		func(live *schedulerpb.AppEngineHttpTarget) { live.GetHeaders()["X-By-Hand"] = "yes" },
	} {
		steps = append(steps, before(apply(cloud, worker, plancheck.ResourceActionUpdate),
			edit(t, cloud, func(live *schedulerpb.Job) { change(live.GetAppEngineHttpTarget()) })))
	}
	run(t, steps...)
}

func TestJobChangesBetweenHTTPAndAppEngine(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	var start int
	run(t, then(apply(cloud, job{root: `attempt_deadline = "600s"`}, plancheck.ResourceActionCreate), func() error {
		start = len(cloud.Requests())
		return nil
	}),
		then(apply(cloud, engine{}, plancheck.ResourceActionUpdate), wantCalls(cloud, &start, "UpdateJob(app_engine_http_target)")),
		apply(cloud, job{root: `attempt_deadline = "600s"`}, plancheck.ResourceActionUpdate))
}
