// Package chance decides what property tests draw.
package chance

import (
	"flag"
	"os"
)

// Fix gives property tests the same draws in each run on CI (the variable CI is set), so that a change is judged by what it changes.
// Elsewhere, and where -rapid.seed says so, they look for new cases. It is called before the flags are parsed.
func Fix() {
	if seed := flag.Lookup("rapid.seed"); seed != nil && os.Getenv("CI") != "" {
		_ = seed.Value.Set("1") // a number, as it takes them
	}
}
