package scheduledjob_test

import (
	"os"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func TestMain(m *testing.M) { os.Exit(acctest.Main(m)) }

// The provider is the same under both tools, and the protocol is; what can differ is how a tool reads configurations, plans, moves,
// imports and shows. So OpenTofu gets all tests of the other objects, and of jobs those that create, update each attribute, remove it,
// replace, import, find a job gone, are refused, move, and wait for what is unknown; what is left out varies the values of these.
// IDEMPOTENT_TEST_OPENTOFU=all runs all of them, which takes as long as on Terraform.
func TestEverythingHoldsOnOpenTofu(t *testing.T) {
	t.Parallel()
	acctest.OnOpenTofu(t, "^TestJob",
		"TestJobIsCreatedWithEverythingKnownAtPlan",
		"TestJobTakesEveryAttributeAtOnceAndGivesThemUpAgain",
		"TestJobOfAppEngineIsCreatedChangedAndEmptied",
		"TestJobExplainsWhatTheServerRefuses",
		"TestJobOfAppEngineChangedByHandIsSetBack",
		"TestJobThatIsGoneIsPlannedAnew",
		"TestJobOfAnotherNameOrPlaceIsAnotherJob",
		"TestJobIsImportedByEachForm",
		"TestJobsOfTheIncumbentAreMigratedByARealTool",
		"TestJobSendsHiddenHeadersAndKeepsThemNowhere",
		"TestJobResumesWhenThePauseItWasGivenIsRemoved",
		"TestJobIsNotChangedByAnotherSpelling",
		"TestJobWaitsForWhatIsUnknown",
		"TestJobTakesBlocksThatAreUnknown",
		"TestJobDeletionPolicy",
	)
}
