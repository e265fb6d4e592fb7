package inbox_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheReceiverStandsOnTheStandardLibraryAlone: an inbox brings the SDK of its store, and nothing else does.
func TestTheReceiverStandsOnTheStandardLibraryAlone(t *testing.T) {
	t.Parallel()
	const module = "github.com/idempotent-jobs/terraform-provider-idempotent"
	list := exec.Command("go", "list", "-deps", "./runtime/webhook", "./runtime/webhook/meminbox")
	list.Dir = "../../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if host, _, _ := strings.Cut(dep, "/"); strings.Contains(host, ".") && !strings.HasPrefix(dep, module) {
			t.Errorf("it pulls %s", dep)
		}
	}
}
