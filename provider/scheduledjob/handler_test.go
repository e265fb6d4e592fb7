package scheduledjob_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/acctest"
)

func handled(folder string, more ...string) job {
	return job{root: "handler {\n  module = \"example.com/reports\"\n  output_dir = \"" + folder + "\"\n}\n" + strings.Join(more, "\n")}
}

func TestJobWritesItsHandlerAtApply(t *testing.T) {
	t.Parallel()
	cloud := acctest.Cloud(t)
	folder := filepath.Join(t.TempDir(), "handler")
	own, ours := filepath.Join(folder, "job.go"), filepath.Join(folder, "handler_gen.go")
	planned := apply(cloud, handled(folder), plancheck.ResourceActionCreate)
	planned.ConfigPlanChecks.PreApply = append(planned.ConfigPlanChecks.PreApply,
		plancheck.ExpectKnownValue(address, tfjsonpath.New("handler_files").AtMapKey("handler_gen.go"), knownvalue.NotNull()))
	write := func(path, text string) func() {
		return func() {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	run(t, planned,
		// Files are not read at refresh: neither people's own changes nor missing files plan anything.
		before(unchanged(cloud, handled(folder)), write(own, "package main // people's own")),
		// People's files are never touched again.
		then(apply(cloud, handled(folder, `description = "new"`), plancheck.ResourceActionUpdate), func() error {
			content, err := os.ReadFile(own)
			if err == nil && string(content) != "package main // people's own" {
				t.Errorf("job.go was overwritten: %s", content)
			}
			return err
		}),
		before(resource.TestStep{
			Config:      acctest.Config(cloud, handled(folder, `description = "newer"`).String()),
			ExpectError: message(`Unable to write the handler of job "nightly-report"`, `handler_gen.go`),
		}, write(ours, "package main // edited")))
}
