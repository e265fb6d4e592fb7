package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud/verify"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

type verifyFlags struct {
	verify.Config

	client  *devClient
	noToken bool
	json    bool
}

// newDevVerify delivers everything to a handler and judges it.
func newDevVerify(c *devClient) *cobra.Command {
	f := verifyFlags{client: c}
	cmd := &cobra.Command{
		Use:   "verify --url URL",
		Short: "Deliver everything that can be delivered to a handler, and see whether it keeps the contract",
		Long: `Deliver everything that can be delivered to a handler, in whatever language it is written, and see
which parts of the contract it keeps: duplicates, races, spellings of headers, missing and repeated
ones, forced runs, bad tokens.

The handler must trust the tokens of the local cloud (see what dev prints). The cloud that runs at
--cloud makes them; where none runs, one is served there for as long as this takes.

Effects are counted by the header Idempotent-Run of the answers, or, with --effects, by what the
handler itself tells: a URL that answers a GET with the number of effects so far.

Exit status 0: something holds and nothing fails. 1: something fails. 2: nothing could be told.`,
		Example: `  terraform-provider-idempotent dev verify --url http://127.0.0.1:8080/ \
    --account scheduler@my-project.iam.gserviceaccount.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.URL, "url", "", "where the handler takes deliveries")
	flags.StringVar(&f.Project, "project", "my-project", "the project that deliveries come from")
	flags.StringVar(&f.Region, "region", "europe-west1", "the region that deliveries come from")
	flags.StringVar(&f.Job, "job", "verify", "the job that deliveries come from; the handler must know it")
	flags.StringVar(&f.Account, "account", "", "the service account that calls (default scheduler@PROJECT.iam.gserviceaccount.com)")
	flags.StringVar(&f.Audience, "audience", "", "what tokens are made out to (default the URL)")
	flags.StringVar(&f.Effects, "effects", "", "a URL that answers a GET with the number of effects so far")
	flags.DurationVar(&f.Timeout, "timeout", 30*time.Second, "how long one delivery may take")
	flags.IntVar(&f.Rivals, "rivals", 8, "how many deliveries race for one run")
	flags.StringSliceVar(&f.Only, "only", nil, "the checks to make (default all)")
	flags.BoolVar(&f.noToken, "no-token", false, "send no tokens, and check nothing about callers")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	_ = cmd.MarkFlagRequired("url") // the flag is there
	return cmd
}

func (f *verifyFlags) run(ctx context.Context, out io.Writer) error {
	if f.Account == "" {
		f.Account = "scheduler@" + f.Project + ".iam.gserviceaccount.com"
	}
	if f.Rivals < 2 {
		return unreadable(fmt.Errorf("--rivals %d: a race takes two", f.Rivals))
	}
	if !f.noToken {
		stop, err := f.issuer(ctx)
		if err != nil {
			return unreadable(err)
		}
		defer stop()
	}
	report, err := verify.Run(ctx, f.Config)
	switch {
	case errors.Is(err, verify.ErrUnreachable):
		return unreadable(fmt.Errorf("%w: start it, or correct --url", err))
	case err != nil:
		return unreadable(err)
	}
	if f.json {
		err = printJSON(out, report)
	} else {
		err = printReport(out, report)
	}
	switch {
	case err != nil:
		return err
	case report.Fails > 0:
		return &exitError{status: exitFindings, err: fmt.Errorf("%d of %d checks fail", report.Fails, len(report.Results))}
	case report.Holds == 0:
		return unreadable(errors.New("no check tells whether the handler keeps the contract: give --effects, or answer the header " + run.HeaderOutcome))
	default:
		return nil
	}
}

// issuer lets tokens be made by the cloud that runs, or else by one that is served in its place until stop is called.
func (f *verifyFlags) issuer(ctx context.Context) (stop func(), err error) {
	f.Token = func(ctx context.Context, account, audience string) (string, error) {
		var made struct {
			Token string `json:"token"`
		}
		err := f.client.do(ctx, http.MethodPost, "token", map[string]string{"account": account, "audience": audience}, &made)
		return made.Token, err
	}
	err = f.client.do(ctx, http.MethodGet, "clock", nil, nil)
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return func() {}, err
	}
	base, err := url.Parse(f.client.url)
	if err != nil {
		return nil, err
	}
	cloud, err := localcloud.Start(ctx, localcloud.Config{Listen: base.Host})
	if err != nil {
		return nil, fmt.Errorf("no local cloud runs at %s, and none can be started: %w", f.client.url, err)
	}
	return func() { _ = cloud.Close() }, nil
}

func printReport(w io.Writer, report verify.Report) error {
	table := newTable(w)
	var errs []error
	for _, r := range report.Results {
		_, err := fmt.Fprintf(table, "%s\t%s\t%s\n", r.Verdict, r.ID, printable(r.Title))
		errs = append(errs, err)
		if r.Detail != "" {
			_, err = fmt.Fprintf(table, "\t\t%s\n", printable(strings.TrimSpace(r.Detail)))
			errs = append(errs, err)
		}
	}
	errs = append(errs, table.Flush())
	_, err := fmt.Fprintf(w, "\n%d hold, %d fail, %d unclear\n", report.Holds, report.Fails, report.Unclear)
	return errors.Join(append(errs, err)...)
}
