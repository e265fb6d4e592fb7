package scheduledjob_test

import (
	"os"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func TestMain(m *testing.M) { os.Exit(acctest.Main(m)) }

func TestEverythingHoldsOnOpenTofu(t *testing.T) {
	t.Parallel()
	acctest.OnOpenTofu(t, "^TestJob")
}
