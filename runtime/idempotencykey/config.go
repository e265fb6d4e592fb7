package idempotencykey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// DefaultReplayHeader is the response header that marks an answer as sent again; its value is "true".
const DefaultReplayHeader = "Idempotency-Replay"

// The defaults of Config.
const (
	DefaultWindow      = 3 * time.Hour
	DefaultTimeout     = time.Minute
	DefaultRetryAfter  = time.Second
	DefaultMaxBody     = 1 << 20
	DefaultMaxResponse = 256 << 10
)

// Lapse says what becomes of a key whose attempt died: its process ended, or lost touch with the store, after it may have acted.
type Lapse int

const (
	// LapseUnknown makes the key unknown: it is refused until an operator has looked, or the record expires.
	LapseUnknown Lapse = iota
	// LapseInTransaction runs the handler again, since it has its whole effect in [CompleteTx]: what did not commit did not happen.
	LapseInTransaction
	// LapseRerun runs the handler again, since its effect bears being repeated.
	LapseRerun
)

// Overflow says what becomes of an answer that is larger than what is kept. The operation is completed either way.
type Overflow int

const (
	// OverflowReplace sends and stores response_not_kept in the place of the answer, the first time too.
	OverflowReplace Overflow = iota
	// OverflowSendOnce sends the whole answer once, and response_not_kept from then on. The answer is held in memory, whatever its
	// size, until the completion is stored.
	OverflowSendOnce
)

// Config says what a [Middleware] does. Store and Scope are required.
type Config struct {
	// Store keeps the claims and the answers. It stays the caller's to close.
	Store claim.Store
	// Scope names the tenant that a request belongs to: workspace, organisation, account. Two tenants never share a key. An error
	// or an empty name is answered scope_missing: let the middleware run behind authentication.
	Scope func(*http.Request) (string, error)
	// AcceptFailoverLoss admits a store that may forget claims when it fails over, as Redis does: a request that is repeated after
	// that runs a second time.
	AcceptFailoverLoss bool
	// RequireKey answers a mutating request without a key with key_missing. False: it passes through unguarded.
	RequireKey bool
	// Header carries the key. Default: Idempotency-Key.
	Header string
	// ReplayHeader marks answers that are sent again. Default: Idempotency-Replay.
	ReplayHeader string
	// Endpoint names the endpoint, with its path parameters, for the fingerprint. Default: the path as the client sent it.
	Endpoint func(*http.Request) string

	// Window is how long after its completion a request gets its answer again. Default: 3 h.
	Window time.Duration
	// RefuseFor is how long after the window the key is answered expired. Zero: the key begins a new operation.
	RefuseFor time.Duration
	// Timeout ends the handler's context, counted from the arrival of the request. Default: 60 s.
	Timeout time.Duration
	// Lease is how long a dead attempt keeps the key in_progress. Default: Timeout + 30 s, or 60 s when it is renewed.
	Lease time.Duration
	// Renew renews the lease while the handler runs.
	Renew bool
	// Lapse says what becomes of the key of a dead attempt. Default: unknown.
	Lapse Lapse
	// Wait holds a repeat of a running request until its answer is there, for so long at most. Zero: it is answered at once.
	Wait time.Duration
	// RetryAfter is what in_progress and unavailable ask clients to wait. Default: 1 s.
	RetryAfter time.Duration
	// ReusedInProgress answers another request under a running key with in_progress in the place of reused.
	ReusedInProgress bool

	// Keep says for single statuses from 400 to 499 whether the answer is kept. Default: all but 401, 403, 408, 409, 425 and 429.
	Keep map[int]bool
	// KeepHeaders are response headers to store beside those that describe the body or name the result (Content-Type, Location,
	// Etag and the like). A header that is not stored is not sent either. Set-Cookie, Date and the headers of a connection cannot
	// be stored.
	KeepHeaders []string
	// MaxBody is the greatest length of a request's body in bytes. Default: 1 MiB.
	MaxBody int64
	// MaxResponse is the greatest length of an answer's body in bytes that is kept. Default: 256 KiB, or what the store keeps.
	MaxResponse int
	// Overflow says what becomes of a larger one.
	Overflow Overflow

	// Problems change the answers of the middleware, field by field: a zero field is left as it is.
	Problems map[Code]Problem
	// CodeMember is the name of the code in those answers. Default: code.
	CodeMember string
	// WriteProblem writes those answers in another form. The header Retry-After is set already. Nil: application/problem+json.
	WriteProblem func(w http.ResponseWriter, r *http.Request, code Code, p Problem)

	// Logger gets what nobody is answered. Default: slog.Default().
	Logger *slog.Logger
	// ClaimOptions are passed to the claimer.
	ClaimOptions []claim.Option
}

// Middleware guards handlers. Its methods are safe for concurrent use.
type Middleware struct {
	given    Config // without defaults, which depend on each other
	cfg      Config
	caps     claim.Caps
	claimer  *claim.Claimer
	kept     map[string]bool
	problems map[Code]Problem
}

// New returns a middleware, or an error that names the field of cfg which cannot be as it is.
func New(cfg Config) (*Middleware, error) {
	if cfg.Store == nil {
		return nil, errors.New("idempotency keys: Store is missing: open one of the claim stores")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	options := append([]claim.Option{claim.WithLogger(cfg.Logger)}, cfg.ClaimOptions...)
	return build(cfg, claim.New(cfg.Store, options...))
}

// With returns a middleware for other routes: the same claims, with what change makes of the configuration. Store, Logger and
// ClaimOptions cannot be changed.
func (m *Middleware) With(change func(*Config)) (*Middleware, error) {
	cfg := m.given
	cfg.Keep, cfg.Problems = maps.Clone(cfg.Keep), maps.Clone(cfg.Problems)
	change(&cfg)
	cfg.Store, cfg.Logger, cfg.ClaimOptions = m.given.Store, m.given.Logger, m.given.ClaimOptions
	return build(cfg, m.claimer)
}

func build(cfg Config, claimer *claim.Claimer) (*Middleware, error) {
	m := &Middleware{given: cfg, cfg: cfg, caps: cfg.Store.Caps(), claimer: claimer, problems: problems()}
	m.setDefaults()
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("idempotency keys: %w", err)
	}
	for code, p := range cfg.Problems {
		base, known := m.problems[code]
		if !known {
			return nil, fmt.Errorf("idempotency keys: Problems: there is no code %q", code)
		}
		if p.Status != 0 && (p.Status < 400 || p.Status > 599) {
			return nil, fmt.Errorf("idempotency keys: Problems: %s has status %d, which is no error: use 400 to 599", code, p.Status)
		}
		m.problems[code] = p.over(base)
	}
	kept, err := keptHeaders(cfg.KeepHeaders)
	if err != nil {
		return nil, fmt.Errorf("idempotency keys: %w", err)
	}
	m.kept = kept
	return m, nil
}

func (m *Middleware) setDefaults() {
	c := &m.cfg
	c.Header = http.CanonicalHeaderKey(cmp.Or(c.Header, DefaultHeader))
	c.ReplayHeader = http.CanonicalHeaderKey(cmp.Or(c.ReplayHeader, DefaultReplayHeader))
	c.CodeMember = cmp.Or(c.CodeMember, "code")
	c.Window = cmp.Or(c.Window, DefaultWindow)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Lease = cmp.Or(c.Lease, claim.DefaultLease(c.Timeout, 0, c.Renew))
	c.RetryAfter = cmp.Or(c.RetryAfter, DefaultRetryAfter)
	c.MaxBody = cmp.Or(c.MaxBody, DefaultMaxBody)
	c.MaxResponse = cmp.Or(c.MaxResponse, min(DefaultMaxResponse, max(m.caps.MaxResult-storedOverhead, 1)))
	if c.Endpoint == nil {
		c.Endpoint = requestPath
	}
}

// storedOverhead is what an answer may take beside its body by default: headers, trailers, the form.
const storedOverhead = 16 << 10

func (m *Middleware) check() error {
	c := m.cfg
	switch {
	case c.Scope == nil:
		return errors.New("Scope is missing: name the tenant of a request, or return a constant if there is only one")
	case m.caps.MaxResult <= 0:
		return fmt.Errorf("Store: %s keeps no results: use another store", m.caps.Store)
	case !m.caps.SurvivesFailover && !c.AcceptFailoverLoss:
		return fmt.Errorf("Store: %s may forget keys when it fails over, and a repeated request then runs twice: use another store, or set AcceptFailoverLoss", m.caps.Store)
	case c.Window < 0, c.RefuseFor < 0, c.Timeout < 0, c.Wait < 0, c.RetryAfter < 0, c.MaxBody < 0, c.MaxResponse < 0:
		return errors.New("Window, RefuseFor, Timeout, Wait, RetryAfter, MaxBody and MaxResponse must not be negative")
	case c.Lease < claim.MinLease(c.Timeout, 0, c.Renew):
		return fmt.Errorf("Lease: %v is too short for handlers of %v: set at least %v", c.Lease, c.Timeout, claim.MinLease(c.Timeout, 0, c.Renew))
	case c.MaxResponse > m.caps.MaxResult:
		return fmt.Errorf("MaxResponse: %d bytes, %s keeps %d", c.MaxResponse, m.caps.Store, m.caps.MaxResult)
	}
	return checkKeep(c.Keep)
}

// Shutdown lets running handlers know by their context that the process ends, and returns when all have ended and are recorded, or
// with an error when ctx ends. From then on requests with a key are answered unavailable. It ends every middleware made by With.
func (m *Middleware) Shutdown(ctx context.Context) error {
	return m.claimer.Shutdown(ctx)
}
