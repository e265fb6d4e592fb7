package handler_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func TestMain(m *testing.M) { os.Exit(acctest.Main(m)) }

func TestEverythingHoldsOnOpenTofu(t *testing.T) {
	t.Parallel()
	acctest.OnOpenTofu(t, "^TestHandler")
}

const address = "idempotent_handler.test"

// reports is the resource with the given attributes.
func reports(attributes ...string) string {
	return fmt.Sprintf("resource \"idempotent_handler\" \"test\" {\n  name = \"reports\"\n%s\n}\n", strings.Join(attributes, "\n"))
}

// run plays the steps. After each one that applies, the framework itself demands that the next plan is empty.
func run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}

// planned demands a value that is known at plan already.
func planned(value knownvalue.Check, path ...string) plancheck.PlanCheck {
	at := tfjsonpath.New(path[0])
	for _, key := range path[1:] {
		at = at.AtMapKey(key)
	}
	return plancheck.ExpectKnownValue(address, at, value)
}

// apply is a step that must plan the action and the values.
func apply(cloud *localcloud.Cloud, config string, action plancheck.ResourceActionType, checks ...plancheck.PlanCheck) resource.TestStep {
	return resource.TestStep{
		Config: acctest.Config(cloud, config),
		ConfigPlanChecks: resource.ConfigPlanChecks{
			PreApply: append([]plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}, checks...),
		},
	}
}

func text(want string) knownvalue.Check { return knownvalue.StringExact(want) }

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
