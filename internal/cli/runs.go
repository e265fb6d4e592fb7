package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// newRunsCommand is the operator's view of a store.
func newRunsCommand() *cobra.Command {
	f := &runsFlags{getenv: os.Getenv}
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "See and mend the runs in a store",
		Long: `See and mend the runs in a store: who is at what, what is stuck, what failed for good.

The store is named by --store, or by the environment variable ` + run.EnvStore + `, as handlers read it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f.addStore(cmd)
	cmd.AddCommand(newRunsInit(f), newRunsList(f), newRunsShow(f), newRunsRelease(f), newRunsComplete(f), newRunsPurge(f))
	return cmd
}

// runsFlags are what all commands on a store share.
type runsFlags struct {
	url    string
	json   bool
	tenant string
	source string
	getenv func(string) string
}

// driver finds the store that is meant, and its URL.
func (f *runsFlags) driver() (storeDriver, string, error) {
	url := cmp.Or(f.url, f.getenv(run.EnvStore))
	d, err := findDriver(url)
	return d, url, err
}

// with opens the store for one command.
func (f *runsFlags) with(ctx context.Context, do func(claim.Store) error) error {
	d, url, err := f.driver()
	if err != nil {
		return err
	}
	if err := present(url); err != nil {
		return err
	}
	store, err := d.claims.open(ctx, url)
	if err != nil {
		return err
	}
	return errors.Join(do(store), store.Close())
}

func (f *runsFlags) addStore(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&f.url, "store", "", "URL of the store, such as sqlite:///var/lib/handler/claims.db (default "+run.EnvStore+")")
}

func (f *runsFlags) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

func (f *runsFlags) addTenant(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tenant, "tenant", "", "RUN is an idempotency key of this tenant of an API")
}

// runName is the run that an argument means: with --tenant, an empty one too, that of a request with an idempotency key.
func (f *runsFlags) runName(cmd *cobra.Command, arg string) string {
	if cmd.Flags().Changed("tenant") {
		return run.KeyName(f.tenant, arg)
	}
	return arg
}

var idForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// runID reads how a run is named on the command line: by its id, or by its readable name, which the id is the hash of.
func runID(arg string) string {
	if idForm.MatchString(arg) {
		return arg
	}
	return run.ID(arg)
}

// find reads the record of a run.
func find(ctx context.Context, store claim.Store, arg string) (claim.Snapshot, error) {
	found, err := store.Get(ctx, runID(arg))
	if errors.Is(err, claim.ErrNotFound) {
		return found, fmt.Errorf("the store has no record of run %q: name it by its id or its whole name, as runs list shows them", arg)
	}
	found.ID = runID(arg)
	return found, err
}
