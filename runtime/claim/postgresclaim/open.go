package postgresclaim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

const (
	// openTimeout bounds the read that Open makes.
	openTimeout = 30 * time.Second
	// setLockTimeout makes a wait for a lock end before the claimer's deadline for a store does, as a conflict.
	setLockTimeout = "SET lock_timeout = '1s'"
)

var form = driver.Form{
	Store:   "postgres",
	Example: "postgres://USER@HOST:5432/DATABASE?table=" + driver.DefaultTable + " and give the password as PGPASSWORD",
	Schemes: []string{"postgres", "postgresql"},
}

// parse reads postgres://… with the driver's own parameters, and table.
func parse(raw string) (*pgxpool.Config, string, error) {
	u, table, err := form.Server(raw)
	if err != nil {
		return nil, "", err
	}

	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		_, reason, _ := strings.Cut(err.Error(), "`: ") // before it the driver quotes the URL

		return nil, "", form.Errorf("the driver cannot read it%s", driver.Harmless(reason, u))
	}

	return config, table, nil
}

// Option changes how Open connects.
type Option func(*pgxpool.Config)

// WithConfig has change alter the pool's configuration before it connects: a dialer, TLS, a tracer, the password.
func WithConfig(change func(*pgxpool.Config)) Option { return change }

// Open connects to the database that the URL names, reads the table once to see that it answers and to compare the clocks, and
// returns the store. The caller closes it. The URL takes the driver's parameters (sslmode, pool_max_conns, …), and the environment
// its variables (PGPASSWORD, …).
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	s, err := connect(ctx, url, opts)
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()

	if s.offset, err = driver.Offset(ctx, s); err != nil {
		s.pool.Close()

		return nil, fmt.Errorf("open postgres table %s: %w", s.table, explain(err))
	}

	s.offsetKnown = true

	return s, nil
}

func connect(ctx context.Context, url string, opts []Option) (*Store, error) {
	config, table, err := parse(url)
	if err != nil {
		return nil, err
	}

	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, setLockTimeout)

		return err
	}

	for _, opt := range opts {
		opt(config)
	}

	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}

	s := newStore(pool, table)
	s.owned = true

	return s, nil
}

// explain adds the mend to what a missing or foreign table makes the server say.
func explain(err error) error {
	const undefinedTable, undefinedColumn = "42P01", "42703"

	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case undefinedTable:
			return fmt.Errorf("the table is missing, create it with `terraform-provider-idempotent runs init`: %w", err)
		case undefinedColumn:
			return fmt.Errorf("the table is not one of claims, name another one with ?table=NAME: %w", err)
		}
	}

	return err
}

// New returns a store over a pool that the caller made, with the given table or, for "", the default one. Its connections should
// have a lock_timeout of about a second. Close leaves the pool open.
func New(pool *pgxpool.Pool, table string) (*Store, error) {
	table = cmp.Or(table, driver.DefaultTable)

	if err := driver.CheckTable(table); err != nil {
		return nil, fmt.Errorf("postgresclaim: %w", err)
	}

	return newStore(pool, table), nil
}

func newStore(pool *pgxpool.Pool, table string) *Store {
	return &Store{pool: pool, table: table, sql: statements(table)}
}
