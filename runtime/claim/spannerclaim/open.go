package spannerclaim

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"time"

	"cloud.google.com/go/spanner"
	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

// openTimeout bounds the read that Open makes: a cold start connects and fetches a token first.
const openTimeout = 30 * time.Second

var form = driver.Form{
	Store:      "spanner",
	Example:    "spanner://projects/PROJECT/instances/INSTANCE/databases/DATABASE, with ?table=NAME for a table other than " + driver.DefaultTable,
	Schemes:    []string{"spanner"},
	Parameters: []string{"table"},
}

var databaseAlphabet = regexp.MustCompile(
	`^projects/[A-Za-z0-9][A-Za-z0-9:.-]*/instances/[a-z][a-z0-9-]{0,62}[a-z0-9]/databases/[a-z][a-z0-9_-]{0,28}[a-z0-9]$`)

// location is what a URL names: the database's full name and the table.
type location struct{ database, table string }

func parse(raw string) (location, error) {
	u, err := form.Parse(raw)
	if err != nil {
		return location{}, err
	}

	database := u.Host + u.Path
	if u.User != nil || !databaseAlphabet.MatchString(database) {
		return location{}, form.Errorf("it does not name a database in full (instance ids have 2 to 64 lower-case letters, digits and hyphens, database ids 2 to 30, with underscores)")
	}

	table, err := form.Table(u)
	if err != nil {
		return location{}, err
	}

	return location{database: database, table: table}, nil
}

// Option changes how Open connects.
type Option func(*options)

type options struct{ client []option.ClientOption }

// WithClientOptions passes options on to the Spanner clients: credentials, an endpoint, interceptors.
func WithClientOptions(opts ...option.ClientOption) Option {
	return func(o *options) { o.client = append(o.client, opts...) }
}

func collect(opts []Option) []option.ClientOption {
	var o options
	for _, opt := range opts {
		opt(&o)
	}

	return o.client
}

// Open connects to the database that the URL names, reads the table once to see that it answers and to compare the clocks, and
// returns the store. The caller closes it. Credentials are the application's default ones, which need roles/spanner.databaseUser.
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	loc, err := parse(url)
	if err != nil {
		return nil, err
	}

	client, err := spanner.NewClientWithConfig(ctx, loc.database, spanner.ClientConfig{DisableNativeMetrics: true}, collect(opts)...)
	if err != nil {
		return nil, fmt.Errorf("open spanner database %s: %w", loc.database, err)
	}

	s := newStore(client, loc.table)
	s.owned = true

	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()

	if s.offset, err = driver.Offset(ctx, s); err != nil {
		client.Close()

		return nil, fmt.Errorf("open spanner database %s: %w", loc.database, explain(err, loc.table))
	}

	s.offsetKnown = true

	return s, nil
}

// New returns a store over a client that the caller made, with the given table or, for "", the default one. Close leaves the client
// open.
func New(client *spanner.Client, table string) (*Store, error) {
	table = cmp.Or(table, driver.DefaultTable)

	if err := driver.CheckTable(table); err != nil {
		return nil, fmt.Errorf("spannerclaim: %w", err)
	}

	return newStore(client, table), nil
}

func newStore(client *spanner.Client, table string) *Store {
	return &Store{client: client, table: table, update: updateStatement(table)}
}
