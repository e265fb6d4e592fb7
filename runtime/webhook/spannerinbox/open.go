package spannerinbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"cloud.google.com/go/spanner"
	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/spannerclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/internal/driver"
)

// openTimeout bounds the read that Open makes: a cold start connects and fetches a token first.
const openTimeout = 30 * time.Second

// probeID is the id of no event: those are hexadecimal.
const probeID = "clock"

// Store is the inbox. It is safe for concurrent use.
type Store struct {
	*spannerclaim.Store

	client      *spanner.Client
	table       string
	owned       bool
	offset      time.Duration
	offsetKnown bool
}

var (
	_ webhook.Inbox     = (*Store)(nil)
	_ claim.OffsetStore = (*Store)(nil)
)

// location is what a URL names: the database's full name, the table, and the URL with the table in it.
type location struct{ database, table, url string }

// parse reads a URL as package spannerclaim does, but for the table of one that names none.
func parse(raw string) (location, error) {
	full, table, err := driver.Table(raw)
	if err != nil {
		return location{}, err
	}

	if _, err := spannerclaim.DDL(full); err != nil {
		return location{}, driver.InboxURL(err)
	}

	u, err := url.Parse(full)
	if err != nil {
		return location{}, err // not after DDL has read it
	}

	return location{database: u.Host + u.Path, table: table, url: full}, nil
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
// returns the inbox. The URL is that of package spannerclaim, spanner://projects/PROJECT/instances/INSTANCE/databases/DATABASE; without
// ?table=NAME the table is [webhook.DefaultTable]. The caller closes the inbox. Credentials are the application's default ones, which
// need roles/spanner.databaseUser.
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	loc, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("open spanner inbox: %w", err)
	}

	client, err := spanner.NewClientWithConfig(ctx, loc.database, spanner.ClientConfig{DisableNativeMetrics: true}, collect(opts)...)
	if err != nil {
		return nil, fmt.Errorf("open spanner inbox %s in %s: %w", loc.table, loc.database, err)
	}

	s, err := New(client, loc.table)
	if err != nil {
		client.Close()

		return nil, err
	}

	s.owned = true

	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()

	if err := s.learn(ctx); err != nil {
		client.Close()

		return nil, fmt.Errorf("open spanner inbox %s in %s: %w", loc.table, loc.database, explain(err, loc.table))
	}

	return s, nil
}

// New returns an inbox over a client that the caller made, with the given table or, for "", the default one. Close leaves the client
// open.
func New(client *spanner.Client, table string) (*Store, error) {
	table = cmp.Or(table, webhook.DefaultTable)

	if err := driver.CheckTable(table); err != nil {
		return nil, fmt.Errorf("spannerinbox: %w", err)
	}

	claims, err := spannerclaim.New(client, table)
	if err != nil {
		return nil, fmt.Errorf("spannerinbox: %w", err)
	}

	return &Store{Store: claims, client: client, table: table}, nil
}

// learn reads the columns of an event, so that a table without them is found now, and compares the clocks.
func (s *Store) learn(ctx context.Context) error {
	sent := time.Now()

	read := s.client.Single()
	defer read.Close()

	_, err := read.ReadRow(ctx, s.table, spanner.Key{probeID}, append(eventColumns(), "due_at", "shard"))
	if err != nil && !errors.Is(err, spanner.ErrRowNotFound) {
		return err
	}

	now, err := read.Timestamp()
	if err != nil {
		return err
	}

	took := time.Since(sent)
	s.offset, s.offsetKnown = now.Sub(sent.Round(0).Add(took/2)), true

	return nil
}

// Unwrap leads spannerclaim.CompleteTx to its store.
func (s *Store) Unwrap() claim.Store { return s.Store }

// Client returns the client that the inbox uses.
func (s *Store) Client() *spanner.Client { return s.client }

// Offset is Spanner's clock minus the local one, as Open found it.
func (s *Store) Offset() (offset time.Duration, known bool) { return s.offset, s.offsetKnown }

// Close closes a client that Open made.
func (s *Store) Close() error {
	if s.owned {
		s.client.Close()
	}

	return nil
}
