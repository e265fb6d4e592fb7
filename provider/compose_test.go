package provider_test

import (
	"context"
	"encoding/json"
	"fmt"
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

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

// attach serves a provider in this process until the test ends, and returns how a tool finds it.
func attach(t *testing.T, server func() tfprotov6.ProviderServer, name string) map[string]any {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	found, closed := make(chan *plugin.ReattachConfig, 1), make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		failed <- tf6server.Serve(name, server, tf6server.WithDebug(ctx, found, closed), tf6server.WithoutLogStderrOverride(),
			tf6server.WithGoPluginLogger(hclog.NewNullLogger()))
	}()
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	select {
	case err := <-failed:
		t.Fatalf("serve %s: %v", name, err)
		return nil
	case at := <-found:
		return map[string]any{
			"Protocol": string(at.Protocol), "ProtocolVersion": at.ProtocolVersion, "Pid": at.Pid, "Test": at.Test,
			"Addr": map[string]any{"Network": at.Addr.Network(), "String": at.Addr.String()},
		}
	}
}

// composition is a folder that uses a module, with the providers that a tool needs for it attached.
type composition struct {
	folder, reattach string
	google           *stubGoogle
}

func compose(t *testing.T, cloud *localcloud.Cloud, module string) composition {
	t.Helper()
	google := &stubGoogle{before: func(typeName string) {
		for _, request := range cloud.Requests() {
			if request.Method == "CreateJob" {
				t.Errorf("%s is made after job %s", typeName, request.Resource)
			}
		}
	}}
	ours := attach(t, providerserver.NewProtocol6(provider.New("dev")()), "registry.terraform.io/idempotent-jobs/idempotent")
	stub := attach(t, providerserver.NewProtocol6(google), "registry.terraform.io/hashicorp/google")
	attached := map[string]any{}
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		attached[host+"/idempotent-jobs/idempotent"], attached[host+"/hashicorp/google"] = ours, stub
	}
	reattach, err := json.Marshal(attached)
	if err != nil {
		t.Fatal(err)
	}
	c := composition{folder: t.TempDir(), reattach: string(reattach), google: google}
	// The module's folder is copied, since a tool takes no absolute path of another volume for a local module.
	if err := os.CopyFS(filepath.Join(c.folder, "module"), os.DirFS(module)); err != nil {
		t.Fatal(err)
	}
	text := acctest.Config(cloud, fmt.Sprintf(`
module "reports" {
  source = "./module"

  project    = %q
  region     = %q
  name       = "reports"
  image      = "europe-west1-docker.pkg.dev/acme-prod/apps/reports:1"
  output_dir = %q
  jobs = {
    nightly-report = { schedule = "0 3 * * *", time_zone = "Europe/Berlin" }
    weekly-report  = { schedule = "0 4 * * MON" }
  }
}

output "roles" {
  value = module.reports.roles
}
`, acctest.Project, acctest.Region, filepath.Join(c.folder, "handler")))
	if err := os.WriteFile(filepath.Join(c.folder, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// tool runs the command line tool and returns what it says.
func (c composition) tool(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Getenv("TF_ACC_TERRAFORM_PATH"), arguments...)
	command.Dir = c.folder
	command.Env = append(os.Environ(), "TF_REATTACH_PROVIDERS="+c.reattach, "TF_IN_AUTOMATION=1")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// The whole is one graph without a cycle; nothing has to be applied twice, and no job is there before its first run is authorised.
func TestExampleModuleIsAppliedInOneGo(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	c := compose(t, cloud, "../examples/modules/cloud_run_jobs")
	c.tool(t, "init", "-no-color")
	c.tool(t, "apply", "-auto-approve", "-no-color")

	for _, name := range []string{"nightly-report", "weekly-report"} {
		job, err := cloud.Job(name)
		if err != nil {
			t.Fatal(err)
		}
		token := job.GetHttpTarget().GetOidcToken()
		if token.GetAudience() != "idempotent/acme-prod/reports" || token.GetServiceAccountEmail() != "reports-scheduler@acme-prod.iam.gserviceaccount.com" {
			t.Errorf("the token of %s is %v", name, token)
		}
		if got := job.GetHttpTarget().GetUri(); got != "https://reports-abc123-ew.a.run.app/" {
			t.Errorf("the target of %s is %s", name, got)
		}
	}
	for typeName, want := range map[string]int{
		"google_service_account": 2, "google_cloud_run_v2_service": 1, "google_project_iam_member": 1, "google_cloud_run_v2_service_iam_member": 1,
	} {
		if got := c.google.count(typeName); got != want {
			t.Errorf("%d of %s, not %d", got, typeName, want)
		}
	}
	if _, err := os.Stat(filepath.Join(c.folder, "handler", "weekly_report_job.go")); err != nil {
		t.Error(err)
	}
	if again := c.tool(t, "plan", "-no-color", "-detailed-exitcode"); !strings.Contains(again, "No changes") {
		t.Errorf("the second plan is not empty:\n%s", again)
	}
}
