package idempotencykey

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Code names a case in which the middleware itself answers. Codes are stable; what is sent for them can be changed by
// Config.Problems.
type Code string

// The cases.
const (
	CodeKeyMissing      Code = "key_missing"       // the route requires a key, the request has none
	CodeKeyInvalid      Code = "key_invalid"       // the header is repeated, empty or malformed
	CodeKeyTooLong      Code = "key_too_long"      // more than 255 characters
	CodeReused          Code = "reused"            // the key was used for another request
	CodeInProgress      Code = "in_progress"       // the request is running
	CodeUnknown         Code = "unknown"           // an attempt died and nobody knows whether the effect happened
	CodeFailed          Code = "failed"            // an operator recorded the operation as failed
	CodeExpired         Code = "expired"           // completed, and the window is over
	CodeResponseNotKept Code = "response_not_kept" // completed, and its answer was not kept
	CodeUnrecorded      Code = "unrecorded"        // the handler ran and its end could not be recorded
	CodeUnavailable     Code = "unavailable"       // the store cannot be reached, nothing was run
	CodeScopeMissing    Code = "scope_missing"     // the request belongs to no tenant
	CodeBodyTooLarge    Code = "body_too_large"    // the request's body is over the limit
	CodeBodyUnreadable  Code = "body_unreadable"   // the request's body ended early
)

// Problem is an error as RFC 9457 has it.
type Problem struct {
	// Status is the status code of the answer.
	Status int
	// Code is what the member "code" says. In Config.Problems: for example E01005 in place of reused.
	Code string
	// Type is a URI that names the kind of problem. Empty: left out, which means about:blank.
	Type string
	// Title says what is wrong in general, Detail what to do. Empty: left out.
	Title, Detail string
}

// over fills what p leaves out from base.
func (p Problem) over(base Problem) Problem {
	p.Status = cmp.Or(p.Status, base.Status)
	p.Code = cmp.Or(p.Code, base.Code)
	p.Type = cmp.Or(p.Type, base.Type)
	p.Title = cmp.Or(p.Title, base.Title)
	p.Detail = cmp.Or(p.Detail, base.Detail)
	return p
}

// problems are the answers where the configuration says nothing else. 409 and 422 follow the IETF draft, with reused at 409.
func problems() map[Code]Problem {
	list := map[Code]Problem{
		CodeKeyMissing:      {Status: http.StatusBadRequest, Title: "Idempotency key missing", Detail: "This operation requires an idempotency key: send one, and the same one with each repeat."},
		CodeKeyInvalid:      {Status: http.StatusBadRequest, Title: "Idempotency key invalid", Detail: "Send the key once, as 1 to 255 characters of printable ASCII, bare or as a quoted string of RFC 8941."},
		CodeKeyTooLong:      {Status: http.StatusUnprocessableEntity, Title: "Idempotency key too long", Detail: "A key has at most 255 characters."},
		CodeReused:          {Status: http.StatusConflict, Title: "Idempotency key used for another request", Detail: "Method, path, query string and body must be those of the first request, byte for byte: use a new key for a new request."},
		CodeInProgress:      {Status: http.StatusConflict, Title: "Request in progress", Detail: "A request with this key is running: repeat it after Retry-After to get its answer."},
		CodeUnknown:         {Status: http.StatusConflict, Title: "Outcome unknown", Detail: "A request with this key was begun and did not come to an end: look up whether it took effect before you send it with another key."},
		CodeFailed:          {Status: http.StatusConflict, Title: "Operation failed", Detail: "The operation was recorded as failed: use a new key to try again."},
		CodeExpired:         {Status: http.StatusConflict, Title: "Idempotency key expired", Detail: "The operation of this key was carried out, and its answer is not kept any more: use a new key for a new operation."},
		CodeResponseNotKept: {Status: http.StatusConflict, Title: "Answer not kept", Detail: "The operation was carried out, and its answer was not kept: look up its result."},
		CodeUnrecorded:      {Status: http.StatusInternalServerError, Title: "Outcome not recorded", Detail: "The operation may have been carried out, and that could not be recorded: repeat the request with the same key to learn more."},
		CodeUnavailable:     {Status: http.StatusServiceUnavailable, Title: "Idempotency unavailable", Detail: "The key could not be looked up, and nothing was carried out: repeat the request with the same key."},
		CodeScopeMissing:    {Status: http.StatusForbidden, Title: "Tenant missing", Detail: "The request cannot be attributed to a tenant."},
		CodeBodyTooLarge:    {Status: http.StatusRequestEntityTooLarge, Title: "Body too large", Detail: "The body of a request with an idempotency key is limited."},
		CodeBodyUnreadable:  {Status: http.StatusBadRequest, Title: "Body unreadable", Detail: "The body of the request ended early or could not be read."},
	}
	for code, p := range list {
		p.Code = string(code)
		list[code] = p
	}
	return list
}

// refuse answers a case. A positive retryAfter is sent in whole seconds, rounded up.
func (m *Middleware) refuse(w http.ResponseWriter, r *http.Request, code Code, retryAfter time.Duration) {
	p := m.problems[code]
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(retryAfter.Seconds())), 10))
	}
	if m.cfg.WriteProblem != nil {
		m.cfg.WriteProblem(w, r, code, p)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_, _ = w.Write(p.encode(m.cfg.CodeMember)) // a client that went away cannot be told
}

// encode writes the problem as JSON, its code under the given name.
func (p Problem) encode(codeMember string) []byte {
	members := map[string]any{"status": p.Status, codeMember: p.Code}
	for name, text := range map[string]string{"type": p.Type, "title": p.Title, "detail": p.Detail} {
		if text != "" {
			members[name] = text
		}
	}
	encoded, _ := json.Marshal(members) // strings and a number: it cannot fail
	return append(encoded, '\n')
}
