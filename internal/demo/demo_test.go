package demo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/demo"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// The demo is the end to end test of the main job: it is the same program that `make demo` runs, and its own verdict counts.
func TestEveryRunHasOneEffect(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name, store string
		cli         func(testing.TB) (string, string)
		engine      func(testing.TB)
	}{
		{"Terraform, claims in SQLite", "sqlite", engines.Terraform, func(testing.TB) {}},
		{"OpenTofu, claims in Firestore", "firestore", engines.Tofu, engines.NeedFirestore},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			c.engine(t)
			cli, _ := c.cli(t)

			var out strings.Builder

			seen, err := demo.Run(t.Context(), demo.Options{Store: c.store, CLI: cli, Provider: provider(t), Checkout: checkout(t), Out: &out, Verbose: true})
			if err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}

			if demo.Report(&out, seen) != 0 {
				t.Error(out.String())
			}
		})
	}
}

func checkout(t *testing.T) string {
	t.Helper()

	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("the test does not know where it is")
	}

	return filepath.Join(filepath.Dir(file), "..", "..")
}

// provider builds the binary that Terraform starts.
func provider(t *testing.T) string {
	t.Helper()

	binary := filepath.Join(t.TempDir(), "terraform-provider-idempotent")

	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	cmd.Dir = checkout(t)

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the provider: %v\n%s", err, out)
	}

	return binary
}
