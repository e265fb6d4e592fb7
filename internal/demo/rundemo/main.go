// Command rundemo is what `make demo` starts: it runs the demo and exits 0 only if every run had exactly one effect.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/demo"
)

func main() {
	os.Exit(run())
}

func run() int {
	var opts demo.Options

	flag.StringVar(&opts.Store, "store", "sqlite", "where claims live: sqlite or firestore (the emulator of the gcloud SDK)")
	flag.StringVar(&opts.CLI, "cli", "terraform", "path of the Terraform or OpenTofu binary")
	flag.StringVar(&opts.Provider, "provider", "", "path of the provider binary")
	flag.StringVar(&opts.Checkout, "checkout", ".", "folder of this module, which the generated handler links")
	flag.BoolVar(&opts.Verbose, "v", false, "print what the handler logs")
	flag.Parse()

	opts.Out = os.Stdout

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	seen, err := demo.Run(ctx, opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		fmt.Println("demo: FAILED")

		return 1
	}

	return demo.Report(os.Stdout, seen)
}
