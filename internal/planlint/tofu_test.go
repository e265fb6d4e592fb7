package planlint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint/plantest"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider"
)

// plannedByTofu are the configurations of the corpus that a real tool plans as well: each way in which a plan's JSON says something
// that the rules depend on.
func plannedByTofu() []string {
	return []string{
		"count", "dynamic", "for-each", "modules", "moved-block", "other-targets", "runs-renamed", "sensitive-change", "unknown",
	}
}

// The corpus is planned by a stand-in for Terraform, which is quick. That real plans say the same is what this test holds it to.
func TestFindingsInPlansOfOpenTofuAreThoseOfTheCorpus(t *testing.T) {
	t.Parallel()
	tool, config := engines.Tofu(t)
	standIn, err := plantest.Provider()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range corpus(t) {
		if !slices.Contains(plannedByTofu(), e.name) {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			providers := attach(t, standIn, "google", "idempotent", "random")
			run := tofu{tool: tool, folder: t.TempDir(), env: []string{"TF_CLI_CONFIG_FILE=" + config, "TF_REATTACH_PROVIDERS=" + providers}}
			if len(e.before) > 0 {
				run.write(t, e.before)
				run.do(t, "init")
				run.do(t, "apply", "-auto-approve")
				run.remove(t, e.before)
			}
			run.write(t, e.after)
			run.do(t, "init")
			run.do(t, "plan", "-out=plan")
			got := lines(e.check(t, run.do(t, "show", "-json", "plan")))
			if diff := cmp.Diff(sorted(e.want), sorted(got)); diff != "" {
				t.Errorf("findings (-corpus +OpenTofu):\n%s", diff)
			}
		})
	}
}

// sorted is text without the order of its lines, which follows that of the plan.
func sorted(text string) []string { return slices.Sorted(strings.Lines(text)) }

// What the real provider plans, in front of a local cloud, is judged as the corpus says as well.
func TestFindingsInPlansOfThisProviderAreThoseOfTheCorpus(t *testing.T) {
	t.Parallel()
	tool, config := engines.Tofu(t)
	cloud, err := localcloud.Start(t.Context(), localcloud.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Errorf("close the local cloud: %v", err)
		}
	})
	block := fmt.Sprintf(`
provider "idempotent" {
  project                         = "acme-prod"
  region                          = "europe-west1"
  cloud_scheduler_custom_endpoint = "%[1]s/v1/"
  firestore_custom_endpoint       = "%[1]s/v1/"
}
`, cloud.URL())
	for _, e := range corpus(t) {
		if e.name != "mode-observe" && e.name != "clean-ours" && e.name != "ttl-ensured" {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			providers := attach(t, provider.New("dev")(), "idempotent")
			run := tofu{tool: tool, folder: t.TempDir(), env: []string{"TF_CLI_CONFIG_FILE=" + config, "TF_REATTACH_PROVIDERS=" + providers}}
			e.after["providers.tf"] = block
			run.write(t, e.after)
			run.do(t, "init")
			run.do(t, "plan", "-out=plan")
			got := lines(e.check(t, run.do(t, "show", "-json", "plan")))
			if diff := cmp.Diff(sorted(e.want), sorted(got)); diff != "" {
				t.Errorf("findings (-corpus +OpenTofu):\n%s", diff)
			}
		})
	}
}

// attach serves a provider until the test ends, once for each of the names, and returns how a tool finds it under them. It is for one
// run of a tool: a server takes the configuration that it was given last for all of its clients.
func attach(t *testing.T, served framework.Provider, names ...string) string {
	t.Helper()
	all := map[string]any{}
	for _, name := range names {
		at := serve(t, served)
		all["registry.opentofu.org/hashicorp/"+name] = map[string]any{
			"Protocol": string(at.Protocol), "ProtocolVersion": at.ProtocolVersion, "Pid": at.Pid, "Test": at.Test,
			"Addr": map[string]any{"Network": at.Addr.Network(), "String": at.Addr.String()},
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func serve(t *testing.T, served framework.Provider) *plugin.ReattachConfig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	found, closed := make(chan *plugin.ReattachConfig, 1), make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		failed <- tf6server.Serve("registry.opentofu.org/hashicorp/google", func() tfprotov6.ProviderServer {
			return providerserver.NewProtocol6(served)()
		}, tf6server.WithDebug(ctx, found, closed), tf6server.WithoutLogStderrOverride(), tf6server.WithGoPluginLogger(hclog.NewNullLogger()))
	}()
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	select {
	case err := <-failed:
		t.Fatalf("serve the provider: %v", err)
		return nil
	case at := <-found:
		return at
	}
}

// tofu runs OpenTofu in a folder of its own.
type tofu struct {
	tool, folder string
	env          []string
}

func (r tofu) write(t *testing.T, files plantest.Files) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(r.folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (r tofu) remove(t *testing.T, files plantest.Files) {
	t.Helper()
	for name := range files {
		if err := os.Remove(filepath.Join(r.folder, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
}

func (r tofu) do(t *testing.T, arguments ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), r.tool, arguments...)
	command.Dir = r.folder
	command.Env = append(slices.Clone(os.Environ()), append(r.env, "TF_IN_AUTOMATION=1", "TF_INPUT=0")...)
	var said strings.Builder
	command.Stderr = &said
	output, err := command.Output()
	if err != nil {
		t.Fatalf("tofu %s: %v\n%s\n%s", strings.Join(arguments, " "), err, output, said.String())
	}
	return output
}
