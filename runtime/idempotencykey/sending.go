package idempotencykey

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// Why a transport stops, for OutcomeUnknown.Err.
var (
	// ErrWindowOver: an answer to one more attempt could come after the server has forgotten the key.
	ErrWindowOver = errors.New("the window of the key is over")
	// ErrAttemptsUsed: the request was sent as often as it may be.
	ErrAttemptsUsed = errors.New("no attempts left")
	// ErrUnsettled: the server's answer says that it does not know either, or says nothing about an earlier attempt.
	ErrUnsettled = errors.New("the answer does not settle the operation")
)

// sending is one request on its way.
type sending struct {
	t             *Transport
	req           *http.Request // with the key, without a body
	key           string
	body          []byte
	timeout, span time.Duration
	attempts      int // sends and look-ups that are left
	wait, maxWait time.Duration

	first time.Time
	sent  int
	open  bool // the request may have taken effect, and no answer has settled that
	last  *Answer
}

// verdict is what an answer means.
type verdict int

const (
	settled   verdict = iota // the caller's
	again                    // repeat the request
	unsettled                // repeating does not help
)

func (s *sending) run() (*http.Response, error) {
	s.first = time.Now()
	for {
		s.attempts--
		s.sent++
		got := s.attempt()
		v, retryAfter := s.judge(got)
		switch v {
		case settled:
			return s.report(got.res, false), nil
		case unsettled:
			return nil, s.unknown(got, ErrUnsettled)
		case again:
		}
		res, err := s.pause(retryAfter)
		switch {
		case err != nil && s.open:
			return nil, s.unknown(got, err)
		case err != nil && got.res != nil:
			return s.report(got.res, false), nil // nothing was done, and this answer says so
		case err != nil:
			return nil, got.err
		case res != nil:
			closeBody(got.res)
			return s.report(res, true), nil
		}
		closeBody(got.res)
	}
}

// pause waits before the request is sent again, and looks it up. An answer settles the operation, an error ends it.
func (s *sending) pause(retryAfter time.Duration) (*http.Response, error) {
	for {
		wait := max(retryAfter, s.wait/2+rand.N(s.wait/2+1)) //nolint:gosec // spreads clients
		s.wait, retryAfter = min(2*s.wait, s.maxWait), 0
		switch {
		case s.attempts <= 0:
			return nil, ErrAttemptsUsed
		case time.Since(s.first)+wait > s.span:
			return nil, ErrWindowOver
		case !sleep(s.req.Context(), wait):
			return nil, context.Cause(s.req.Context())
		case s.t.Lookup == nil:
			return nil, nil
		}
		if res, err := s.lookup(); err == nil {
			return res, nil
		}
		s.attempts--
	}
}

func (s *sending) lookup() (*http.Response, error) {
	ctx, cancel := context.WithTimeout(s.req.Context(), s.timeout)
	defer cancel()
	return s.t.Lookup(ctx, Pending{Key: s.key, FirstSend: s.first, Attempts: s.sent, Request: s.req.Clone(ctx), Body: s.body, Last: s.last})
}

// judge takes in what an attempt brought and says what to do next.
func (s *sending) judge(got received) (verdict, time.Duration) {
	if got.err != nil {
		s.open = s.open || got.sent
		s.last = nil
		return again, 0
	}
	status, code, retryAfter := got.res.StatusCode, s.classify(got), retryAfter(got.res.Header)
	s.last = &Answer{Status: status, Header: got.res.Header, Body: got.body, Code: code}
	switch {
	case code == CodeUnknown:
		s.open = true
		return unsettled, 0
	case code == CodeInProgress, status == http.StatusConflict && code == "" && got.res.Header.Get("Retry-After") != "":
		s.open = true
		return again, retryAfter
	case code == CodeUnavailable:
		return again, retryAfter // nothing was done this time
	case status >= http.StatusInternalServerError:
		s.open = true
		return again, retryAfter
	case s.open && status != http.StatusConflict && !keepStatus(status, nil):
		// Refused for now: that says nothing about the attempt before.
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
			return unsettled, 0
		}
		return again, retryAfter
	default:
		return settled, 0
	}
}

func (s *sending) classify(got received) Code {
	if s.t.Classify != nil {
		return s.t.Classify(got.res, got.body)
	}
	if kind, _, err := mime.ParseMediaType(got.res.Header.Get("Content-Type")); err != nil || kind != "application/problem+json" {
		return ""
	}
	var p struct {
		Code Code `json:"code"`
	}
	_ = json.Unmarshal(got.body, &p) // no code is an answer too
	return p.Code
}

func (s *sending) report(res *http.Response, lookedUp bool) *http.Response {
	return withReport(res, s.req, Report{
		Key: s.key, FirstSend: s.first, Attempts: s.sent, LookedUp: lookedUp,
		Replayed: res.Header.Get(cmp.Or(s.t.ReplayHeader, DefaultReplayHeader)) == "true",
	})
}

func (s *sending) unknown(got received, why error) error {
	closeBody(got.res)
	if got.err != nil && !errors.Is(got.err, why) {
		why = errors.Join(why, got.err)
	}
	return &OutcomeUnknown{Key: s.key, FirstSend: s.first, Attempts: s.sent, Last: s.last, Err: why}
}

func closeBody(res *http.Response) {
	if res != nil {
		_ = res.Body.Close() // nobody reads it
	}
}

// retryAfter reads the header in seconds or as a date. Zero: there is none that can be read.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(time.Duration(seconds)*time.Second, 0)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
