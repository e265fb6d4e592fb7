package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

const (
	modulePath = "github.com/idempotent-jobs/terraform-provider-idempotent"

	project = "demo-project"
	region  = "europe-west1"
	// account is the service account that calls the handler, and the only one that it lets in.
	account = "scheduler@" + project + ".iam.gserviceaccount.com"

	// patience bounds every wait for something that the demo expects to happen.
	patience = 2 * time.Minute
	// pollEvery is the pause between two looks at a process or a file.
	pollEvery = 50 * time.Millisecond
)

// Options say what to run the demo with. Zero values are not filled in: make and the tests name them all.
type Options struct {
	// Store is sqlite or firestore.
	Store string
	// CLI is the Terraform or OpenTofu binary.
	CLI string
	// Provider is the provider binary, in a folder of its own.
	Provider string
	// Checkout is this module's folder: the configuration comes from it, and the generated handler links it.
	Checkout string
	// Out hears what the demo does.
	Out io.Writer
	// Verbose prints what the handler logs.
	Verbose bool
}

// stage is what the scenarios play on.
type stage struct {
	out     io.Writer
	cloud   *localcloud.Cloud
	tf      *terraform
	backend *backend
	handler *process
	marks   string
}

// Run plays all scenarios and returns what was seen. Every process and file of it is gone afterwards, whatever happened.
func Run(ctx context.Context, opts Options) (seen Evidence, err error) {
	dir, err := os.MkdirTemp("", "idempotent-demo-")
	if err != nil {
		return Evidence{}, fmt.Errorf("make a work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	cloud, err := localcloud.Start(ctx, localcloud.Config{})
	if err != nil {
		return Evidence{}, err
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()

	back, err := openBackend(ctx, opts.Store, dir)
	if err != nil {
		return Evidence{}, err
	}
	defer func() { err = errors.Join(err, back.close()) }()

	s := &stage{out: opts.Out, cloud: cloud, backend: back, marks: filepath.Join(dir, "marks")}
	if err := s.declare(ctx, opts, dir); err != nil {
		return Evidence{}, err
	}

	defer s.handler.stop()

	if err := s.build(ctx, opts, dir); err != nil {
		return Evidence{}, err
	}

	seen, err = s.play(ctx)
	if err != nil || opts.Verbose {
		fmt.Fprintf(opts.Out, "\nthe handler logged:\n%s", s.handler.log.String())
	}

	return seen, err
}

// declare applies the configuration to the local cloud and checks that the world is as declared.
func (s *stage) declare(ctx context.Context, opts Options, dir string) error {
	port, err := engines.FreePort()
	if err != nil {
		return err
	}

	target := "http://127.0.0.1:" + port + "/"
	s.handler = &process{binary: filepath.Join(dir, "handler"), port: port, env: s.environment(target)}

	s.tf, err = newTerraform(opts.CLI, opts.Provider, filepath.Join(opts.Checkout, "examples", "quickstart"), filepath.Join(dir, "terraform"),
		map[string]string{
			"project": project, "region": region, "service_account_email": account,
			"target_uri": target, "store": s.backend.url, "output_dir": filepath.Join(dir, "handler-src"),
			"cloud_scheduler_custom_endpoint": s.cloud.URL() + "/v1/", "firestore_custom_endpoint": s.cloud.URL() + "/v1/",
			"forced_paused": "true",
		})
	if err != nil {
		return err
	}

	version, err := s.tf.version(ctx)
	if err != nil {
		return err
	}

	s.sayf("apply with %s; claims live in %s", version, opts.Store)

	if err := s.tf.apply(ctx); err != nil {
		return err
	}

	if err := s.checkDeclared(ctx); err != nil {
		return err
	}

	changed, plan, err := s.tf.changes(ctx)
	if err != nil {
		return err
	}

	if changed {
		return fmt.Errorf("the second plan is not empty:\n%s", plan)
	}

	s.sayf("jobs, OIDC, injected headers and TTL policy are set; the second plan is empty")

	return nil
}

// environment is what a deployed handler would get from its service's configuration. The target's address is the audience, since that
// is the default for a target of no platform.
func (s *stage) environment(audience string) []string {
	env := []string{
		"IDEMPOTENT_STORE=" + s.backend.url,
		"IDEMPOTENT_CALLER=verify",
		"IDEMPOTENT_AUDIENCES=" + audience,
		"IDEMPOTENT_CALLERS=" + account,
		"IDEMPOTENT_ISSUER=" + s.cloud.Issuer(),
		"IDEMPOTENT_JWKS=" + s.cloud.JWKSURL(),
		"DEMO_MARKS=" + s.marks,
	}

	for scenario, long := range map[Scenario]string{LostReply: "200ms", Duplicates: "2s", Killed: "4s", Forced: "200ms"} {
		env = append(env, "DEMO_WORK_"+string(scenario)+"="+long)
	}

	return append(env, s.backend.env...)
}

// build compiles the generated handler and starts it.
func (s *stage) build(ctx context.Context, opts Options, dir string) error {
	if err := os.Mkdir(s.marks, 0o700); err != nil {
		return fmt.Errorf("make a folder for marks: %w", err)
	}

	checkout, err := filepath.Abs(opts.Checkout)
	if err != nil {
		return fmt.Errorf("find the checkout: %w", err)
	}

	s.sayf("build the generated handler as a module of its own")

	if err := buildHandler(ctx, filepath.Join(dir, "handler-src"), checkout, s.backend.work, s.handler.binary); err != nil {
		return err
	}

	return s.handler.start(ctx)
}

func (s *stage) sayf(format string, args ...any) {
	fmt.Fprintf(s.out, "demo: "+format+"\n", args...)
}

// jobName is the full name of a scenario's job.
func jobName(s Scenario) string {
	return strings.Join([]string{"projects", project, "locations", region, "jobs", string(s)}, "/")
}
