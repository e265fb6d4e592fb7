package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// one takes one argument, which its error tells what to give: how it is written in the usage, and what it is.
func one(name, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 || args[0] == "":
			return fmt.Errorf("%s is missing: give %s, as in %s", name, what, cmd.UseLine())
		case len(args) > 1:
			return fmt.Errorf("there are %d arguments where one is taken, %s, %s: put quotes around what belongs together", len(args), name, what)
		}
		return nil
	}
}
