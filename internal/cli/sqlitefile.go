package cli

import (
	"errors"
	"fmt"
	"io/fs"
	neturl "net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var drive = regexp.MustCompile(`^/[A-Za-z]:/`)

// present refuses the URL of a SQLite file that is not there. Opening it would create it, and a mistyped path would look like a store in
// which nothing is amiss. What is wrong with other URLs is for their stores to say.
func present(url string) error {
	u, err := neturl.Parse(url)
	if err != nil || !strings.EqualFold(u.Scheme, "sqlite") || u.Host != "" || u.User != nil {
		return nil //nolint:nilerr // the store says it, without the URL
	}
	path := u.Path
	if u.Opaque != "" {
		if path, err = neturl.PathUnescape(u.Opaque); err != nil {
			return nil //nolint:nilerr // likewise
		}
	}
	if drive.MatchString(path) {
		path = path[1:] // file:///C:/x is C:/x
	}
	path = filepath.FromSlash(path)
	if _, err := os.Stat(path); path == "" || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("--store: there is no file %s: give the path of the handler's file; a relative one starts in the current folder", path)
}
