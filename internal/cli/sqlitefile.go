package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
)

// present refuses the URL of a SQLite file that is not there. Opening it would create it, and a mistyped path would look like a store in
// which nothing is amiss. What is wrong with other URLs is for their stores to say.
func present(url string) error {
	path, err := sqliteclaim.Path(url)
	if err != nil {
		return nil //nolint:nilerr // the store says it
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("--store: there is no file %s: give the path of the handler's file; a relative one starts in the current folder", path)
}
