package runstore_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func TestMain(m *testing.M) { os.Exit(acctest.Main(m)) }

func TestEverythingHoldsOnOpenTofu(t *testing.T) {
	t.Parallel()
	acctest.OnOpenTofu(t, "^TestStore")
}

const (
	address = "idempotent_run_store.test"
	group   = "projects/acme-prod/databases/(default)/collectionGroups/scheduler_runs"
)

// store is the resource with the given attributes.
func store(attributes ...string) string {
	return fmt.Sprintf("resource \"idempotent_run_store\" \"test\" {\n%s\n}\n", strings.Join(attributes, "\n"))
}

// run plays the steps. After each one that applies, the framework itself demands that the next plan is empty.
func run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}

// apply is a step that must plan the action.
func apply(cloud *localcloud.Cloud, config string, action plancheck.ResourceActionType, checks ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{
		Config:            acctest.Config(cloud, config),
		ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}},
		ConfigStateChecks: checks,
	}
}

func state(attribute string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(attribute), value)
}

// before is the step with something done first.
func before(step resource.TestStep, do func()) resource.TestStep {
	step.PreConfig = do
	return step
}

// then is the step with a look at the cloud after it.
func then(step resource.TestStep, look func() error) resource.TestStep {
	step.Check = func(*terraform.State) error { return look() }
	return step
}

// edit changes a field's settings behind Terraform's back.
func edit(t *testing.T, cloud *localcloud.Cloud, field string, change func(*adminpb.Field)) func() {
	t.Helper()
	return func() {
		if err := cloud.EditField(group+"/fields/"+field, change); err != nil {
			t.Error(err)
		}
	}
}

// wantChanges demands the field changes that the cloud carried out since the n-th request, as field(mask).
func wantChanges(cloud *localcloud.Cloud, n *int, want ...string) func() error {
	return func() error {
		var made []string
		for _, request := range cloud.Requests()[*n:] {
			if request.Method == "UpdateField" && request.Code == 0 {
				_, field, _ := strings.Cut(request.Resource, "/fields/")
				made = append(made, field+"("+strings.Join(request.Mask, ",")+")")
			}
		}
		if !slices.Equal(made, want) {
			return fmt.Errorf("the cloud changed %v, not %v", made, want)
		}
		return nil
	}
}

// wantField demands whether a field carries the policy and whether it is exempt.
func wantField(cloud *localcloud.Cloud, name string, policy, exempt bool) error {
	field, err := cloud.Field(context.Background(), group+"/fields/"+name)
	if err != nil {
		return err
	}
	if got := field.GetTtlConfig() != nil; got != policy {
		return fmt.Errorf("%s carries the policy: %t", name, got)
	}
	if got := !field.GetIndexConfig().GetUsesAncestorConfig() && len(field.GetIndexConfig().GetIndexes()) == 0; got != exempt {
		return fmt.Errorf("%s is exempt: %t", name, got)
	}
	return nil
}

// message matches a text however the tool breaks its lines.
func message(parts ...string) *regexp.Regexp {
	for i, part := range parts {
		words := strings.Fields(part)
		for j, word := range words {
			words[j] = regexp.QuoteMeta(word)
		}
		parts[i] = strings.Join(words, `[\s│╷╵]+`)
	}
	return regexp.MustCompile(`(?s)` + strings.Join(parts, `.*`))
}
