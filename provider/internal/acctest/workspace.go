package acctest

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider"
)

// Workspace is a folder with a configuration and a state in which the command line tool runs, for what the test framework cannot do:
// begin with a state that another provider wrote, say.
type Workspace struct {
	Dir string
	cli string
	env []string
}

// NewWorkspace makes a workspace whose provider runs in this process. It answers for hashicorp/google too: a state that names that
// provider can be loaded, and its jobs moved, without it.
func NewWorkspace(t *testing.T) *Workspace {
	t.Helper()
	w := &Workspace{Dir: t.TempDir(), cli: os.Getenv("TF_ACC_TERRAFORM_PATH")}
	ctx, cancel := context.WithCancel(context.Background())
	serving, closed := make(chan *plugin.ReattachConfig, 1), make(chan struct{})
	t.Cleanup(func() { cancel(); <-closed })
	go func() {
		if err := tf6server.Serve(address(), func() tfprotov6.ProviderServer {
			return providerserver.NewProtocol6(provider.New("dev")())()
		}, tf6server.WithDebug(ctx, serving, closed), tf6server.WithoutLogStderrOverride(), tf6server.WithGoPluginLogger(hclog.NewNullLogger())); err != nil {
			t.Errorf("serve the provider: %v", err)
		}
	}()
	at := <-serving
	reattach := map[string]any{}
	for _, served := range []string{address(), host() + "/hashicorp/google"} {
		reattach[served] = map[string]any{
			"Protocol": at.Protocol, "ProtocolVersion": at.ProtocolVersion, "Pid": at.Pid, "Test": true,
			"Addr": map[string]string{"Network": at.Addr.Network(), "String": at.Addr.String()},
		}
	}
	text, err := json.Marshal(reattach)
	if err != nil {
		t.Fatal(err)
	}
	w.env = append(os.Environ(), "TF_REATTACH_PROVIDERS="+string(text))
	return w
}

func host() string { return cmp.Or(os.Getenv("TF_ACC_PROVIDER_HOST"), "registry.terraform.io") }

func address() string { return host() + "/idempotent-jobs/idempotent" }

// Write writes a file of the workspace.
func (w *Workspace) Write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.Dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Run runs the tool and returns what it prints.
func (w *Workspace) Run(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), w.cli, arguments...)
	command.Dir, command.Env = w.Dir, w.env
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return string(output)
}
