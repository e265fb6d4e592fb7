package forward_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A forwarder links the client of its own API and no other, and the way they share links none.
func TestAClientLinksNoOther(t *testing.T) {
	t.Parallel()
	const packages = "github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	clients := map[string]string{
		"": "", "/workflowsforward": "cloud.google.com/go/workflows/executions/apiv1", "/runjobforward": "cloud.google.com/go/run/apiv2",
		"/cloudbuildforward": "cloud.google.com/go/cloudbuild/apiv1/v2", "/forwardtest": "",
	}
	for name, own := range clients {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", packages+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		deps := strings.Fields(string(out))
		for _, client := range clients {
			if client != "" && slices.Contains(deps, client) != (client == own) {
				t.Errorf("forward%s: links %s: %t", name, client, client != own)
			}
		}
		if own == "" && slices.Contains(deps, "google.golang.org/grpc") {
			t.Errorf("forward%s links gRPC", name)
		}
	}
}
