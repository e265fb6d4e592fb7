package received_test

import (
	"os"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }
