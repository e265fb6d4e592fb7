package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"text/template"
	"time"

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
	store       string
	state       string
	clock       string
	mutation    time.Duration
	fronts      map[string]string
	audiences   []string
	invokers    []string
	random      localcloud.Random
	getenv      func(string) string
}

// newDevCommand runs the local cloud until it is interrupted.
func newDevCommand() *cobra.Command {
	f := devFlags{getenv: os.Getenv}
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run Cloud Scheduler on this machine",
		Long: `Run Cloud Scheduler on this machine: jobs fire, with the headers, deadlines, retries and signed
tokens of the real one, and Terraform, gcloud and the Go clients work against it. A page on the same
address shows the runs as they happen: each delivery, the leases, what was taken over. With --store
it also shows the records of the handlers.

Everything is kept in memory, or with --state in a file. Nobody is asked for credentials: it listens
on loopback addresses only, unless --allow-remote is given.`,
		Example: `  terraform-provider-idempotent dev
  terraform-provider-idempotent dev --store sqlite:claims.db --state dev.json
  terraform-provider-idempotent dev --clock 2026-10-16T12:00:00Z
  terraform-provider-idempotent dev --cloud-run 127.0.0.1:8080=http://127.0.0.1:8081
  terraform-provider-idempotent dev inject lost-reply nightly-report
  terraform-provider-idempotent dev advance 24h
  terraform-provider-idempotent dev verify --url http://127.0.0.1:8080/`,
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
	flags.StringVar(&f.store, "store", "", "URL of the store in which handlers keep their claims, to show them (default "+run.EnvStore+", if set)")
	flags.StringVar(&f.state, "state", "", "file that keeps jobs, field settings and the clock across restarts; deliveries are kept beside it")
	flags.StringVar(&f.clock, "clock", "", "time in RFC 3339 at which the clock stands until it is moved (default: real time)")
	flags.DurationVar(&f.mutation, "mutation-time", 0, "how long one change of a job takes; another of the same job meanwhile is refused with 409")
	flags.StringToStringVar(&f.fronts, "cloud-run", nil,
		"HOST:PORT=URL: stand before the handler at URL as Cloud Run does, and check callers as IAM does")
	flags.StringSliceVar(&f.audiences, "audience", nil, "custom audiences of the services behind --cloud-run")
	flags.StringSliceVar(&f.invokers, "invoker", nil, "service accounts that may call the services behind --cloud-run (default any)")
	flags.Float64Var(&f.random.Rate, "random", 0, "the share of deliveries that meet a fault by chance, from 0 to 1")
	flags.Uint64Var(&f.random.Seed, "seed", 0, "where the chance begins; 0: anywhere, and it is printed")
	client := &devClient{}
	for _, sub := range []*cobra.Command{newDevAdvance(client), newDevInject(client), newDevVerify(client)} {
		client.addFlag(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// config is what the flags ask for. The store is opened, if there is one.
func (f *devFlags) config(ctx context.Context, log io.Writer) (localcloud.Config, error) {
	cfg := localcloud.Config{
		Listen: f.listen, AllowRemote: f.allowRemote, AppEngine: f.appEngine, StateFile: f.state, Settle: devSettle, MutationTime: f.mutation,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	}
	if f.clock != "" {
		at, err := time.Parse(time.RFC3339, f.clock)
		if err != nil {
			return cfg, fmt.Errorf("--clock %q is no time: write it like 2026-10-16T12:00:00Z", f.clock)
		}
		cfg.Clock = localcloud.ManualClock(at)
	}
	for _, listen := range slices.Sorted(maps.Keys(f.fronts)) {
		cfg.Fronts = append(cfg.Fronts, localcloud.Front{Listen: listen, Target: f.fronts[listen], Audiences: f.audiences, Invokers: f.invokers})
	}
	url := cmp.Or(f.store, f.getenv(run.EnvStore))
	if url == "" {
		return cfg, nil
	}
	driver, err := findDriver(url)
	if err != nil {
		return cfg, err
	}
	cfg.Store, err = driver.claims.open(ctx, url)
	return cfg, err
}

// devSettle is how long an advance waits for deliveries that a handler does not answer.
const devSettle = 30 * time.Second

// run serves until ctx ends or the process is told to end; a second signal ends it at once.
func (f *devFlags) run(ctx context.Context, out, log io.Writer) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()

	cfg, err := f.config(ctx, log)
	if err != nil {
		return err
	}
	if cfg.Store != nil {
		defer cfg.Store.Close() //nolint:errcheck // it was only read
	}
	// The cloud outlives ctx, so that deliveries in flight end well before Close returns.
	cloud, err := localcloud.Start(context.WithoutCancel(ctx), cfg)
	var taken *net.OpError
	switch {
	case errors.Is(err, syscall.EADDRINUSE) && errors.As(err, &taken) && taken.Addr != nil:
		return fmt.Errorf("%s is in use by another program: end that, or choose another port", taken.Addr)
	case err != nil:
		return fmt.Errorf("start the local cloud: %w", err)
	}

	err = f.begin(cloud, out)
	if err != nil {
		return errors.Join(err, cloud.Close())
	}

	<-ctx.Done()
	stop()
	return cloud.Close()
}

// begin prints what clients need to know and lets chance in.
func (f *devFlags) begin(cloud *localcloud.Cloud, out io.Writer) error {
	if f.random.Rate != 0 {
		set, err := cloud.Randomize(f.random)
		if err == nil {
			err = printRandom(out, set)
		}
		if err != nil {
			return err
		}
	}
	kept := "jobs and deliveries are gone then"
	if f.state != "" {
		kept = "jobs and deliveries are kept in " + f.state
	}
	err := devHelp().Execute(out, map[string]any{
		"URL": cloud.URL(), "Addr": cloud.Addr(), "JWKS": cloud.JWKSURL(), "Project": f.project,
		"Fronts": cloud.FrontURLs(), "Kept": kept,
		"EnvIssuer": run.EnvIssuer, "EnvJWKS": run.EnvJWKS, "EnvLocalCloud": run.EnvLocalCloud,
	})
	if err != nil {
		return fmt.Errorf("print the settings: %w", err)
	}
	return nil
}

// devHelp says how to point each client at the cloud.
func devHelp() *template.Template {
	return template.Must(template.New("dev").Parse(`Local cloud on {{.URL}}

Watch the runs: {{.URL}}/

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

{{range .Fronts}}As on Cloud Run, behind IAM: {{.}}

{{end}}Go clients: gRPC without TLS on {{.Addr}}, REST on {{.URL}}

Deliveries are logged below. Interrupt to end; {{.Kept}}.
`))
}
