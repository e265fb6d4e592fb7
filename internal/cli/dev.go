package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// defaultDevListen is where dev serves unless told otherwise, so that settings which point at it stay valid.
const defaultDevListen = "127.0.0.1:8795"

type devFlags struct {
	listen      string
	allowRemote bool
	appEngine   string
	project     string
}

// newDevCommand runs the local cloud until it is interrupted.
func newDevCommand() *cobra.Command {
	var f devFlags
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run Cloud Scheduler on this machine",
		Long: `Run Cloud Scheduler on this machine: jobs fire, with the headers, deadlines, retries and signed
tokens of the real one, and Terraform, gcloud and the Go clients work against it.

Everything is kept in memory and gone when the command ends. Nobody is asked for credentials:
it listens on loopback addresses only, unless --allow-remote is given.`,
		Example: `  terraform-provider-idempotent dev
  terraform-provider-idempotent dev --listen 127.0.0.1:9000 --project my-project`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", defaultDevListen, "the host and port to serve on; port 0 takes a free one")
	flags.BoolVar(&f.allowRemote, "allow-remote", false, "permit --listen on an address that other machines reach; nothing there is protected")
	flags.StringVar(&f.appEngine, "app-engine", "", "base URL that jobs with an App Engine target are sent to")
	flags.StringVar(&f.project, "project", "my-project", "the project to print in the settings; any project works")
	return cmd
}

// run serves until ctx ends or the process is told to end; a second signal ends it at once.
func (f *devFlags) run(ctx context.Context, out, log io.Writer) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()

	// The cloud outlives ctx, so that deliveries in flight end well before Close returns.
	cloud, err := localcloud.Start(context.WithoutCancel(ctx), localcloud.Config{
		Listen:      f.listen,
		AllowRemote: f.allowRemote,
		AppEngine:   f.appEngine,
		Logger:      slog.New(slog.NewTextHandler(log, nil)),
	})
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use by another program: end that, or choose another port with --listen", f.listen)
	case err != nil:
		return fmt.Errorf("start the local cloud: %w", err)
	}

	err = devHelp().Execute(out, map[string]string{
		"URL": cloud.URL(), "Addr": cloud.Addr(), "JWKS": cloud.JWKSURL(), "Project": f.project,
		"EnvIssuer": run.EnvIssuer, "EnvJWKS": run.EnvJWKS, "EnvLocalCloud": run.EnvLocalCloud,
	})
	if err != nil {
		return errors.Join(fmt.Errorf("print the settings: %w", err), cloud.Close())
	}

	<-ctx.Done()
	stop()
	return cloud.Close()
}

// devHelp says how to point each client at the cloud.
func devHelp() *template.Template {
	return template.Must(template.New("dev").Parse(`Local cloud on {{.URL}}

Terraform, OpenTofu:
  provider "idempotent" {
    project                         = "{{.Project}}"
    region                          = "europe-west1"
    cloud_scheduler_custom_endpoint = "{{.URL}}/v1/"
    firestore_custom_endpoint       = "{{.URL}}/v1/"
  }

gcloud:
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDSCHEDULER={{.URL}}/
  export CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true
  export CLOUDSDK_CORE_PROJECT={{.Project}}

Handlers:
  export {{.EnvIssuer}}={{.URL}}
  export {{.EnvJWKS}}={{.JWKS}}
  export {{.EnvLocalCloud}}=true

Go clients: gRPC without TLS on {{.Addr}}, REST on {{.URL}}

Deliveries are logged below. Interrupt to end; all jobs are gone then.
`))
}
