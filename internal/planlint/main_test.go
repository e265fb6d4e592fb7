package planlint_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
)

// TestMain keeps the stand-in for providers, which runs in this process, from writing its log into the tests'.
func TestMain(m *testing.M) {
	if err := os.Setenv("TF_LOG_SDK", "off"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(engines.Main(m))
}
