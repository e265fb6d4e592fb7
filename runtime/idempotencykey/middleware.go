package idempotencykey

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/textproto"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/inbound"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// How often a waiting request looks whether the answer is there: soon at first, since most work is short.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// errNotKept releases the key of a handler whose answer is not kept.
var errNotKept = errors.New("the answer's status is not kept")

// Handler returns next under guard: the middleware itself, func(http.Handler) http.Handler.
func (m *Middleware) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, next) })
}

func (m *Middleware) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	arrived := time.Now()
	if !Mutating(r.Method) {
		next.ServeHTTP(w, r)
		return
	}
	key, err := ParseKey(r.Header[m.cfg.Header])
	switch {
	case err == nil:
	case errors.Is(err, ErrNoKey) && !m.cfg.RequireKey:
		next.ServeHTTP(w, r)
		return
	default:
		m.refuse(w, r, keyCode(err), 0)
		return
	}
	tenant, err := m.cfg.Scope(r)
	if err != nil || tenant == "" {
		m.cfg.Logger.WarnContext(r.Context(), "request with an idempotency key belongs to no tenant", "error", err)
		m.refuse(w, r, CodeScopeMissing, 0)
		return
	}
	name := run.KeyName(tenant, key)
	x := &exchange{m: m, w: w, r: r, next: next, proposal: m.proposal(name, arrived)}
	if outer, ok := claim.FromContext(r.Context()); ok && outer.RunID() == x.proposal.ID {
		next.ServeHTTP(w, r) // guarded already, by the same middleware further out
		return
	}
	if x.body, err = inbound.Read(w, bodyTimeout, func() ([]byte, error) { return readBody(w, r, m.cfg.MaxBody) }); err != nil {
		m.refuse(w, r, bodyCode(err), 0)
		return
	}
	x.proposal.Fingerprint = Fingerprint(r.Method, m.cfg.Endpoint(r), r.URL.RawQuery, x.body)
	x.answer(x.claim())
}

func (m *Middleware) proposal(name string, arrived time.Time) claim.Proposal {
	return claim.Proposal{
		ID: run.ID(name), Run: name, Arrived: arrived,
		Runtime: m.cfg.Timeout, Lease: m.cfg.Lease, Renew: m.cfg.Renew,
		// The record ends so long after the end of the operation, whatever its lease.
		Retention: m.cfg.Window + m.cfg.RefuseFor, Horizon: m.cfg.Window + m.cfg.RefuseFor,
		LapseUnknown: m.cfg.Lapse == LapseUnknown,
	}
}

func keyCode(err error) Code {
	switch {
	case errors.Is(err, ErrNoKey):
		return CodeKeyMissing
	case errors.Is(err, ErrKeyTooLong):
		return CodeKeyTooLong
	default:
		return CodeKeyInvalid
	}
}

// bodyTimeout bounds how long a caller may take to send its body.
const bodyTimeout = 30 * time.Second

// readBody reads a body once, bounded.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	if r.ContentLength > 0 { // net/http reads no further
		b := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, b); err != nil {
			return nil, err
		}
		return b, nil
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
}

func bodyCode(err error) Code {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return CodeBodyTooLarge
	}
	return CodeBodyUnreadable
}

// exchange is one guarded request.
type exchange struct {
	m        *Middleware
	w        http.ResponseWriter
	r        *http.Request
	next     http.Handler
	body     []byte
	proposal claim.Proposal
	rec      *recorder // of the handler, if it ran here
}

// claim claims the key and runs the handler, or finds out why not. A repeat of a running request is held as long as Wait says.
func (x *exchange) claim() claim.Result {
	res := x.m.claimer.Do(x.r.Context(), x.proposal, x.work)
	if x.m.cfg.Wait <= 0 {
		return res
	}
	until := time.Now().Add(x.m.cfg.Wait)
	for pause := firstLook; res.Outcome == claim.OutcomeInProgress; pause = min(2*pause, lastLook) {
		left := time.Until(until)
		if left <= 0 || !sleep(x.r.Context(), min(pause, left)) {
			return res
		}
		res = x.m.claimer.Do(x.r.Context(), x.proposal, x.work)
	}
	return res
}

// sleep says whether the time has passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// work runs the handler and leaves its answer for the completion. An error releases the key.
func (x *exchange) work(ctx context.Context) error {
	attempt, _ := claim.FromContext(ctx)
	ctx = context.WithValue(ctx, guardedKey{}, &guarded{m: x.m, attempt: attempt})
	x.rec = newRecorder(x.w)
	x.rec.limit = x.m.cfg.MaxResponse
	x.rec.discard = func(status int) bool { return x.m.cfg.Overflow == OverflowReplace && keepStatus(status, x.m.cfg.Keep) }
	r := x.r.WithContext(ctx)
	r.Body, r.ContentLength = newBody(x.body), int64(len(x.body))
	x.next.ServeHTTP(x.rec, r)

	res := x.rec.response()
	if !keepStatus(res.Status, x.m.cfg.Keep) {
		return errNotKept
	}
	s := stored{Response: x.m.filter(res), at: x.m.now(), kept: true}
	if x.rec.size <= x.m.cfg.MaxResponse {
		if err := attempt.SetResult(s.encode()); err == nil || !errors.Is(err, claim.ErrTooLarge) {
			return err
		}
	}
	return attempt.SetResult(stored{at: s.at}.encode())
}

// now is the store's time, as far as it is known.
func (m *Middleware) now() time.Time { return time.Now().Add(m.claimer.Offset()) }

// answer sends what came of the claim. Nothing was sent before.
func (x *exchange) answer(res claim.Result) {
	x.repanic(res)
	switch res.Outcome {
	case claim.OutcomeExecuted:
		x.executed(res)
	case claim.OutcomeDuplicate:
		x.replay(res)
	case claim.OutcomeReleased:
		x.rec.send(x.w)
	case claim.OutcomeMismatch:
		running := res.Record.Status != claim.StatusReleased && !res.Record.Status.Done()
		if running && x.m.cfg.ReusedInProgress {
			x.refuse(CodeInProgress, x.m.cfg.RetryAfter)
			return
		}
		x.refuse(CodeReused, 0)
	case claim.OutcomeInProgress:
		x.refuse(CodeInProgress, x.retryAfter(res))
	case claim.OutcomeUnknown:
		x.refuse(CodeUnknown, 0)
	case claim.OutcomeFailed:
		x.refuse(CodeFailed, 0)
	case claim.OutcomeUnavailable:
		if x.r.Context().Err() == nil { // else the caller went away
			x.log(slog.LevelError, "idempotency key not claimed, nothing was run", res)
		}
		x.refuse(CodeUnavailable, x.m.cfg.RetryAfter)
	default: // lost, unrecorded: the handler ran
		x.unrecorded(res)
	}
}

// repanic goes on with a panic of the handler as without the middleware, now that the key is released. One that came after the
// transaction had committed changes nothing.
func (x *exchange) repanic(res claim.Result) {
	p, ok := errors.AsType[*claim.PanicError](res.Err)
	if !ok {
		return
	}
	if p.Value != http.ErrAbortHandler { //nolint:errorlint // a value that was panicked with, by identity as in net/http
		x.m.cfg.Logger.ErrorContext(x.r.Context(), "handler panicked", "run", x.proposal.Run, "outcome", string(res.Outcome), "panic", p.Value,
			"stack", string(p.Stack))
	}
	if res.Outcome != claim.OutcomeExecuted && res.Outcome != claim.OutcomeDuplicate {
		panic(p.Value)
	}
}

func (x *exchange) refuse(code Code, retryAfter time.Duration) {
	x.m.refuse(x.w, x.r, code, retryAfter)
}

// retryAfter is what is configured, unless the lease is over before that.
func (x *exchange) retryAfter(res claim.Result) time.Duration {
	if res.RetryAfter > 0 {
		return min(x.m.cfg.RetryAfter, res.RetryAfter)
	}
	return x.m.cfg.RetryAfter
}

// executed sends what was stored with the completion. A larger answer than is kept is sent from memory, where that is the policy.
func (x *exchange) executed(res claim.Result) {
	s, err := decodeStored(res.Record.Result)
	switch {
	case err != nil:
		x.m.cfg.Logger.ErrorContext(x.r.Context(), "handler completed the key in a transaction and stored no answer with it: use idempotencykey.CompleteTx or Respond",
			"run", x.proposal.Run)
		x.refuse(CodeResponseNotKept, 0)
	case s.kept:
		x.m.sendStored(x.w, s.Response)
	case x.m.cfg.Overflow == OverflowSendOnce:
		x.rec.send(x.w)
	default:
		x.m.cfg.Logger.WarnContext(x.r.Context(), "answer is larger than what is kept, response_not_kept was sent instead", "run", x.proposal.Run,
			"bytes", x.rec.size, "kept", x.m.cfg.MaxResponse)
		x.refuse(CodeResponseNotKept, 0)
	}
}

// replay sends a stored answer again.
func (x *exchange) replay(res claim.Result) {
	s, err := decodeStored(res.Record.Result)
	if err == nil && x.m.cfg.RefuseFor > 0 && x.m.now().Sub(s.at) >= x.m.cfg.Window {
		x.refuse(CodeExpired, 0)
		return
	}
	x.w.Header()[x.m.cfg.ReplayHeader] = []string{"true"}
	if err != nil || !s.kept {
		x.refuse(CodeResponseNotKept, 0)
		return
	}
	x.m.sendStored(x.w, s.Response)
}

// unrecorded answers for a handler that ran and whose end could not be recorded as its own.
func (x *exchange) unrecorded(res claim.Result) {
	x.log(slog.LevelError, "handler ran, its end was not recorded", res)
	if res.Outcome == claim.OutcomeLost && res.Record.Status == claim.StatusUnknown {
		x.refuse(CodeUnknown, 0)
		return
	}
	x.refuse(CodeUnrecorded, x.m.cfg.RetryAfter)
}

func (x *exchange) log(level slog.Level, msg string, res claim.Result) {
	x.m.cfg.Logger.Log(x.r.Context(), level, msg, "run", x.proposal.Run, "outcome", string(res.Outcome), "error", res.Err)
}

// canonical spells the headers of an answer that a handler made by hand, so that the allow-list finds them.
func canonical(res Response) Response {
	res.Header, res.Trailer = canonicalHeader(res.Header), canonicalHeader(res.Trailer)
	return res
}

func canonicalHeader(h http.Header) http.Header {
	out := make(http.Header, len(h))
	for name, values := range h {
		name = textproto.CanonicalMIMEHeaderKey(name)
		out[name] = append(out[name], values...)
	}
	return out
}
