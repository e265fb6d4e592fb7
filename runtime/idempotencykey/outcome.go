package idempotencykey

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// OutcomeUnknown is the error of a request of which nobody can say whether it took effect: it was sent, and no answer settled it
// before the transport had to stop. Look the operation up, or send the same request again with the same key within the server's
// window (see [WithKey]); a new key could make it happen twice.
//
//nolint:errname // named for what it says
type OutcomeUnknown struct {
	// Key is the key of the operation.
	Key string
	// FirstSend is when it was first sent.
	FirstSend time.Time
	// Attempts is how often it was sent.
	Attempts int
	// Last is the last answer. Nil: there was none.
	Last *Answer
	// Err is why the transport stopped, or the last error.
	Err error
}

// Error names the key: keep it.
func (e *OutcomeUnknown) Error() string {
	text := fmt.Sprintf("outcome unknown: key %s, first sent %s, sent %d times", e.Key, e.FirstSend.UTC().Format(time.RFC3339), e.Attempts)
	if e.Last != nil {
		text += fmt.Sprintf(", last answer %d", e.Last.Status)
		if e.Last.Code != "" {
			text += " " + string(e.Last.Code)
		}
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns why the transport stopped.
func (e *OutcomeUnknown) Unwrap() error { return e.Err }

// Answer is an answer that did not settle an operation.
type Answer struct {
	// Status is its status code, Header its header.
	Status int
	Header http.Header
	// Body is its body, as far as it was read.
	Body []byte
	// Code is the case, if the answer named one.
	Code Code
}

// Pending is an operation whose outcome is open, for [Transport.Lookup].
type Pending struct {
	// Key is the key of the operation.
	Key string
	// FirstSend is when it was first sent.
	FirstSend time.Time
	// Attempts is how often it was sent.
	Attempts int
	// Request is the request, with its key. Body is its body; that of Request is not to be read.
	Request *http.Request
	Body    []byte
	// Last is the last answer. Nil: there was none.
	Last *Answer
}

// Report says how an answer came about.
type Report struct {
	// Key is the key of the operation.
	Key string
	// FirstSend is when it was first sent.
	FirstSend time.Time
	// Attempts is how often it was sent.
	Attempts int
	// Replayed: the server had carried the operation out before, and sent its answer again.
	Replayed bool
	// LookedUp: Transport.Lookup knew the answer.
	LookedUp bool
}

type reportKey struct{}

// ReportOf says how an answer of a [Transport] came about; false for a request without a key.
func ReportOf(res *http.Response) (Report, bool) {
	if res == nil || res.Request == nil {
		return Report{}, false
	}
	r, ok := res.Request.Context().Value(reportKey{}).(*Report)
	if !ok {
		return Report{}, false
	}
	return *r, true
}

// withReport ties the report to the answer by its request, as net/http ties them.
func withReport(res *http.Response, req *http.Request, r Report) *http.Response {
	res.Request = req.WithContext(context.WithValue(req.Context(), reportKey{}, &r))
	return res
}
