package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// newDevInject lets things go wrong in a running local cloud.
func newDevInject(c *devClient) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inject",
		Short: "Let something go wrong in the running local cloud",
		Long:  `Let something go wrong in the running local cloud: with the next deliveries of a job, or of any.`,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, kind := range injectKinds() {
		cmd.AddCommand(newInjectKind(c, kind))
	}
	cmd.AddCommand(newInjectQuota(c), newInjectRandom(c), newInjectClear(c))
	return cmd
}

// injectKind is a fault as the command line has it. Each has the flags that mean something for it.
type injectKind struct {
	use   string
	kind  localcloud.FaultKind
	short string
	flags func(*cobra.Command, *localcloud.Fault)
}

func injectKinds() []injectKind {
	by := func(cmd *cobra.Command, f *localcloud.Fault) {
		cmd.Flags().DurationVar(&f.Delay, "by", 10*time.Second, "how long it takes longer, by the cloud's clock")
	}
	return []injectKind{
		{use: "lost-reply", kind: localcloud.LostReply, short: "The target does the work and answers, the scheduler sees a broken connection"},
		{use: "duplicate", kind: localcloud.Duplicate, short: "One delivery arrives several times", flags: func(cmd *cobra.Command, f *localcloud.Fault) {
			cmd.Flags().IntVar(&f.Count, "count", 2, "how many deliveries arrive in all")
			cmd.Flags().DurationVar(&f.After, "after", 0, "how much later the copies arrive, by the cloud's clock; 0: at once")
		}},
		{use: "delay", kind: localcloud.Delay, short: "The request is held up on its way", flags: by},
		{use: "slow-token", kind: localcloud.SlowToken, short: "The token of the job is late", flags: by},
		{use: "reset", kind: localcloud.Reset, short: "The connection breaks after the request was sent", flags: func(cmd *cobra.Command, f *localcloud.Fault) {
			cmd.Flags().DurationVar(&f.After, "after", 0, "how much later it breaks, in real time")
		}},
		{use: "status", kind: localcloud.Status, short: "Something on the way answers an error", flags: func(cmd *cobra.Command, f *localcloud.Fault) {
			cmd.Flags().IntVar(&f.Status, "code", http.StatusServiceUnavailable, "the HTTP status that it answers")
		}},
		{use: "update-failed", kind: localcloud.UpdateFailed, short: "The next update of the job fails and leaves it in UPDATE_FAILED"},
	}
}

func newInjectKind(c *devClient, kind injectKind) *cobra.Command {
	fault := localcloud.Fault{Kind: kind.kind}
	cmd := &cobra.Command{
		Use:   kind.use + " [JOB]",
		Short: kind.short,
		Long:  kind.short + ".\n\nJOB is the full name or the unique short id of a job; without it any job is meant.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				fault.Job = args[0]
			}
			return pending(cmd.OutOrStdout(), func(into any) error {
				return c.do(cmd.Context(), http.MethodPost, "faults", fault, into)
			})
		},
	}
	cmd.Flags().IntVar(&fault.Times, "times", 1, "how often it happens; negative: until it is cleared")
	cmd.Flags().IntVar(&fault.Skip, "skip", 0, "how many deliveries go well first")
	if kind.flags != nil {
		kind.flags(cmd, &fault)
	}
	return cmd
}

func newInjectClear(c *devClient) *cobra.Command {
	return &cobra.Command{
		Use:   "clear",
		Short: "Forget all faults that have not happened, and end faults by chance",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(
				c.do(cmd.Context(), http.MethodPut, "random", localcloud.Random{}, nil),
				pending(cmd.OutOrStdout(), func(into any) error { return c.do(cmd.Context(), http.MethodDelete, "faults", nil, into) }),
			)
		},
	}
}

func newInjectQuota(c *devClient) *cobra.Command {
	asked := map[string]any{"code": "RESOURCE_EXHAUSTED"}
	var times int
	cmd := &cobra.Command{
		Use:     "quota [METHOD]",
		Short:   "The API refuses calls because the quota is used up",
		Long:    "The API refuses the next calls of METHOD, or of any, with 429 and the details of a quota that is used up.",
		Example: "  terraform-provider-idempotent dev inject quota GetJob --times 3",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				asked["method"] = args[0]
			}
			asked["times"] = times
			return c.do(cmd.Context(), http.MethodPost, "fail", asked, nil)
		},
	}
	cmd.Flags().IntVar(&times, "times", 1, "how many calls are refused")
	return cmd
}

func newInjectRandom(c *devClient) *cobra.Command {
	var set localcloud.Random
	cmd := &cobra.Command{
		Use:   "random [JOB]",
		Short: "Let deliveries meet faults by chance",
		Long: `Let deliveries meet faults by chance, from now on. The seed is printed: with the same seed the same
deliveries meet the same faults again.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				set.Job = args[0]
			}
			if err := c.do(cmd.Context(), http.MethodPut, "random", set, &set); err != nil {
				return err
			}
			return printRandom(cmd.OutOrStdout(), set)
		},
	}
	cmd.Flags().Float64Var(&set.Rate, "rate", 0.3, "the share of deliveries that meet a fault, from 0 to 1")
	cmd.Flags().Uint64Var(&set.Seed, "seed", 0, "where the chance begins; 0: anywhere")
	return cmd
}

func printRandom(w io.Writer, set localcloud.Random) error {
	if set.Rate == 0 {
		_, err := fmt.Fprintln(w, "No faults by chance.")
		return err
	}
	_, err := fmt.Fprintf(w, "Faults by chance: %g of the deliveries of %s, seed %d\n", set.Rate, cmp.Or(set.Job, "any job"), set.Seed)
	return err
}

// pending prints the faults that are still to happen.
func pending(w io.Writer, ask func(into any) error) error {
	var answer struct {
		Faults []localcloud.Fault `json:"faults"`
	}
	if err := ask(&answer); err != nil {
		return err
	}
	if len(answer.Faults) == 0 {
		_, err := fmt.Fprintln(w, "No faults are still to happen.")
		return err
	}
	var errs []error
	for _, fault := range answer.Faults {
		times := fmt.Sprintf("%d more", fault.Times)
		if fault.Times < 0 {
			times = "until cleared"
		}
		_, err := fmt.Fprintf(w, "%s  %s  %s\n", fault.Kind, cmp.Or(fault.Job, "any job"), times)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
