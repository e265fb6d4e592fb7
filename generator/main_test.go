package generator_test

import (
	"os"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/chance"
)

func TestMain(m *testing.M) {
	chance.Fix()
	os.Exit(m.Run())
}
