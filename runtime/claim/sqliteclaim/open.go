package sqliteclaim

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// busyTimeout is how long a statement waits for another writer before it gives up as a conflict. It is shorter than the claimer's
// deadline for a store, so that the conflict is seen and not a deadline.
const busyTimeout = time.Second

// openTimeout bounds Open.
const openTimeout = 10 * time.Second

var form = driver.Form{
	Store:      "sqlite",
	Example:    "sqlite:///absolute/path.db or sqlite:relative/path.db, with ?table=NAME for a table other than " + driver.DefaultTable,
	Schemes:    []string{"sqlite"},
	Parameters: []string{"table"},
}

var drive = regexp.MustCompile(`^/[A-Za-z]:/`)

// location is what a URL names.
type location struct{ path, table string }

// parse reads sqlite:///absolute/path.db or sqlite:relative/path.db.
func parse(raw string) (location, error) {
	u, err := form.Parse(raw)
	if err != nil {
		return location{}, err
	}

	if u.Host != "" || u.User != nil {
		return location{}, form.Errorf("after sqlite:// it names a host; a file has none, so an absolute path takes three slashes")
	}

	path := u.Path
	if u.Opaque != "" {
		if path, err = url.PathUnescape(u.Opaque); err != nil {
			return location{}, form.Errorf("its path has a bad percent-escape")
		}
	}

	switch {
	case path == "" || strings.HasSuffix(path, "/"):
		return location{}, form.Errorf("it names no file")
	case strings.HasPrefix(path, ":"):
		return location{}, form.Errorf("it asks for a database in memory, which no other process could see")
	case strings.ContainsRune(path, 0):
		return location{}, form.Errorf("its path holds a zero byte")
	case drive.MatchString(path):
		path = path[1:] // file:///C:/x is C:/x
	}

	table, err := form.Table(u)
	if err != nil {
		return location{}, err
	}

	return location{path: filepath.FromSlash(path), table: table}, nil
}

// Path returns the path of the file that the URL names, in the form of this system; a relative one starts in the current folder. It
// does not look whether the file is there. The error says what is wrong with the URL, as that of Open does.
func Path(url string) (string, error) {
	loc, err := parse(url)

	return loc.path, err
}

// dsn is the driver's name for the file: each connection waits for locks, begins transactions as a writer, and syncs every commit.
func dsn(path string) string {
	settings := url.Values{
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_txlock":       {"immediate"},
	}

	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: settings.Encode()}).String()
}

// Open opens the database file that the URL names, creates it and its table where they are missing, and returns the store. The
// caller closes it. The folder must exist.
func Open(ctx context.Context, url string) (*Store, error) {
	loc, err := parse(url)
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()

	db, err := sql.Open("sqlite", dsn(loc.path))
	if err != nil {
		return nil, fmt.Errorf("open sqlite database %s: %w", loc.path, err)
	}

	s, err := newStore(db, loc.table)
	if err == nil {
		s.owned = true
		err = s.prepare(ctx)
	}

	if err != nil {
		return nil, errors.Join(fmt.Errorf("open sqlite database %s: %w", loc.path, err), db.Close())
	}

	return s, nil
}

// New returns a store over a database that the caller opened, with the given table or, for "", the default one, which must exist
// ([Store.Init] creates it). The database should have a busy timeout and begin transactions as a writer (_txlock=immediate);
// Close leaves it open.
func New(db *sql.DB, table string) (*Store, error) {
	table = cmp.Or(table, driver.DefaultTable)

	return newStore(db, table)
}

func newStore(db *sql.DB, table string) (*Store, error) {
	if err := driver.CheckTable(table); err != nil {
		return nil, fmt.Errorf("sqliteclaim: %w", err)
	}

	return &Store{db: db, table: table, sql: statements(table), writer: make(chan struct{}, 1)}, nil
}

// prepare creates the table and checks its columns. The first connections to a new file may collide while they switch its journal
// mode, for which SQLite does not wait.
func (s *Store) prepare(ctx context.Context) error {
	const pause = 20 * time.Millisecond

	for {
		err := s.Init(ctx)
		if err == nil || !errors.Is(err, claim.ErrConflict) {
			return err
		}

		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
