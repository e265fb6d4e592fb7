package cli_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/cli"
)

// TestMain makes the command line available to the scripts under its own name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"terraform-provider-idempotent": func() {
			if err := cli.New("0.3.1").Execute(); err != nil {
				os.Exit(1)
			}
		},
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"planjson": planJSON},
	})
}

// planJSON writes what terraform show -json prints of a plan with two handlers, a job without one and one of another provider:
// planjson FILE.
func planJSON(ts *testscript.TestScript, _ bool, args []string) {
	files := func(name string) map[string]string {
		planned, err := generator.Plan(generator.Spec{Name: name, Jobs: []string{name}, Store: "sqlite"})
		ts.Check(err)
		contents := map[string]string{}
		for _, f := range planned {
			contents[f.Path] = string(f.Content)
		}
		return contents
	}
	type object = map[string]any
	job := func(address string, values object) object {
		return object{"address": address, "mode": "managed", "type": "idempotent_scheduled_job", "values": values}
	}
	nightly := job("idempotent_scheduled_job.nightly", object{
		"handler": []object{{"output_dir": "handlers/nightly"}}, "handler_files": files("nightly"),
	})
	plain := job("idempotent_scheduled_job.plain", object{"handler": []object{}})
	foreign := object{"address": "random_id.x", "mode": "managed", "type": "random_id", "values": object{"files": "none"}}
	hourly := object{
		"address": `module.a.idempotent_handler.this["hourly"]`, "mode": "managed", "type": "idempotent_handler",
		"values": object{"files": files("hourly"), "output_dir": nil},
	}
	plan, err := json.Marshal(object{
		"format_version": "1.2",
		"planned_values": object{"root_module": object{
			"resources":     []object{nightly, plain, foreign},
			"child_modules": []object{{"resources": []object{hourly}}},
		}},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), plan, 0o600))
}
