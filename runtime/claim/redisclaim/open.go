package redisclaim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/internal/driver"
)

const (
	// openTimeout bounds the calls that Open makes.
	openTimeout = 30 * time.Second
	// envPassword is where redis-cli, too, takes the password from.
	envPassword = "REDISCLI_AUTH"
)

// ErrEvicts: the server drops keys when its memory is full, and claims with them.
var ErrEvicts = errors.New("redis evicts keys")

var form = driver.Form{
	Store:   "redis",
	Example: "redis://HOST:6379/0?table=" + driver.DefaultTable + " (rediss:// for TLS) and give the password as REDISCLI_AUTH",
	Schemes: []string{"redis", "rediss"},
}

// parse reads redis://… with the client's own parameters, and table.
func parse(raw string) (*redis.Options, string, error) {
	u, table, err := form.Server(raw)
	if err != nil {
		return nil, "", err
	}

	options, err := redis.ParseURL(u.String())
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "redis: ")

		return nil, "", form.Errorf("the client cannot read it%s", driver.Harmless(reason, u))
	}

	return options, table, nil
}

// Option changes how Open connects.
type Option func(*redis.Options)

// WithOptions has change alter the client's options before it connects: a dialer, TLS, the password.
func WithOptions(change func(*redis.Options)) Option { return change }

// Open connects to the server that the URL names, sees that it evicts nothing, compares the clocks, and returns the store. The caller
// closes it. The URL takes the client's parameters (pool_size, …); the password may come from the environment, as REDISCLI_AUTH.
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	options, table, err := parse(url)
	if err != nil {
		return nil, err
	}

	// A resent script meets its own write, so the client is not to resend behind the claimer's back; and its deadlines count.
	options.MaxRetries = -1
	options.ContextTimeoutEnabled = true

	if options.Password == "" {
		options.Password = os.Getenv(envPassword)
	}

	for _, opt := range opts {
		opt(options)
	}

	s := newStore(redis.NewClient(options), table)
	s.owned = true

	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()

	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open redis at %s: %w", options.Addr, err), s.client.Close())
	}

	return s, nil
}

func (s *Store) prepare(ctx context.Context) (err error) {
	if err := s.CheckEviction(ctx); err != nil {
		return err
	}

	for _, script := range []*redis.Script{s.insert, s.swap, s.get} {
		if err := script.Load(ctx, s.client).Err(); err != nil {
			return fmt.Errorf("load script: %w", err)
		}
	}

	s.offset, err = driver.Offset(ctx, s)
	s.offsetKnown = err == nil

	return err
}

// CheckEviction returns an error that matches ErrEvicts unless the server's maxmemory-policy is noeviction.
func (s *Store) CheckEviction(ctx context.Context) error {
	info, err := s.client.Info(ctx, "memory").Result()
	if err != nil {
		return fmt.Errorf("read maxmemory-policy: %w", err)
	}

	const field, wanted = "maxmemory_policy:", "noeviction"

	for line := range strings.Lines(info) {
		if policy, ok := strings.CutPrefix(strings.TrimSpace(line), field); ok && policy != wanted {
			return fmt.Errorf("%w: its maxmemory-policy is %s, which forgets claims when memory is full; set it to noeviction (Memorystore: gcloud redis instances update NAME --update-redis-config maxmemory-policy=noeviction)", ErrEvicts, policy)
		} else if ok {
			return nil
		}
	}

	return fmt.Errorf("%w: INFO memory does not tell its maxmemory-policy, which must be noeviction", ErrEvicts)
}

// New returns a store over a client that the caller made, with the given table or, for "", the default one. The client should not
// resend by itself and keep to deadlines (MaxRetries -1, ContextTimeoutEnabled), and [Store.CheckEviction] should pass. Close leaves
// the client open.
func New(client redis.UniversalClient, table string) (*Store, error) {
	table = cmp.Or(table, driver.DefaultTable)

	if err := driver.CheckTable(table); err != nil {
		return nil, fmt.Errorf("redisclaim: %w", err)
	}

	return newStore(client, table), nil
}

// DDL checks the URL and returns nothing: Redis needs no table.
func DDL(url string) (string, error) {
	_, _, err := parse(url)

	return "", err
}

// Init sees that the server answers and evicts nothing. There is no table to create.
func Init(ctx context.Context, url string, opts ...Option) error {
	s, err := Open(ctx, url, opts...)
	if err != nil {
		return err
	}

	return s.Close()
}
