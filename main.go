// Command terraform-provider-idempotent is the provider, when Terraform or OpenTofu starts it, and a command line for people: it
// generates handlers and runs a local cloud. See the README.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	_ "time/tzdata" // Terraform compares results between plan and apply, which may run on machines with other time zone files.

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/cli"
	"github.com/idempotent-jobs/terraform-provider-idempotent/provider"
)

// version is set by the release build.
var version = "dev"

// address is the provider's name in the registry.
const address = "registry.terraform.io/idempotent-jobs/idempotent"

func main() {
	debugging := slices.Contains([]string{"-debug", "--debug"}, argument(1))
	switch {
	case debugging || len(os.Args) == 1 && underTerraform():
		if err := serve(debugging); err != nil {
			fmt.Fprintln(os.Stderr, "terraform-provider-idempotent:", err)
			os.Exit(1)
		}
	default:
		// Without arguments the command line prints its help.
		os.Exit(cli.ExitStatus(cli.New(version).Execute()))
	}
}

func argument(n int) string {
	if n < len(os.Args) {
		return os.Args[n]
	}
	return ""
}

// underTerraform says whether Terraform or OpenTofu started this process: they set the cookie of the plugin protocol.
func underTerraform() bool { return os.Getenv("TF_PLUGIN_MAGIC_COOKIE") != "" }

// serve is the provider. Most of the time of a large plan went into log lines that nobody reads and into collecting their garbage:
// the framework's own log is off unless somebody asks for one, and the collector waits longer.
func serve(debugging bool) error {
	if os.Getenv("TF_LOG") == "" && os.Getenv("TF_LOG_PROVIDER") == "" && os.Getenv("TF_LOG_SDK") == "" {
		if err := os.Setenv("TF_LOG_SDK", "off"); err != nil {
			return fmt.Errorf("quieten the framework's log: %w", err)
		}
	}
	debug.SetGCPercent(400)
	var options []tf6server.ServeOpt
	if debugging {
		options = append(options, tf6server.WithManagedDebug())
	}
	if err := tf6server.Serve(address, func() tfprotov6.ProviderServer { return provider.Server(version) }, options...); err != nil {
		return fmt.Errorf("serve the provider: %w", err)
	}
	return nil
}
