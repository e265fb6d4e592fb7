package idempotencykey

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

// ErrHijack is what a guarded handler gets that wants to take the connection over: what is sent past the middleware cannot be sent
// again.
var ErrHijack = fmt.Errorf("a request with an idempotency key cannot be hijacked: %w", http.ErrNotSupported)

// recorder holds a handler's answer back until its completion is stored.
type recorder struct {
	outer   http.ResponseWriter
	limit   int            // of a body that is kept
	discard func(int) bool // whether the body over the limit need not be held, by status
	live    http.Header    // what the handler sees and changes
	header  http.Header    // live, as it was when the answer began
	status  int            // zero: not begun
	body    []byte
	size    int // of the body, also of what was not held
}

func newRecorder(outer http.ResponseWriter) *recorder {
	return &recorder{outer: outer, live: outer.Header().Clone()}
}

// Header implements http.ResponseWriter.
func (rec *recorder) Header() http.Header {
	if rec.live == nil {
		rec.live = make(http.Header)
	}
	return rec.live
}

// WriteHeader implements http.ResponseWriter. Informational answers are swallowed: nothing goes out before the end.
func (rec *recorder) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", status)) // as net/http does
	}
	if rec.status != 0 || status < 200 {
		return
	}
	rec.status, rec.header = status, rec.Header().Clone()
}

// Write implements http.ResponseWriter.
func (rec *recorder) Write(p []byte) (int, error) {
	if rec.status == 0 {
		rec.WriteHeader(http.StatusOK)
	}
	if !bodyAllowed(rec.status) {
		return 0, http.ErrBodyNotAllowed
	}
	rec.size += len(p)
	if rec.size > rec.limit && rec.discard(rec.status) {
		rec.body = nil
		return len(p), nil
	}
	rec.body = append(rec.body, p...)
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (rec *recorder) WriteString(s string) (int, error) { return rec.Write([]byte(s)) }

// Flush implements http.Flusher: it begins the answer, and holds it back all the same.
func (rec *recorder) Flush() {
	if rec.status == 0 {
		rec.WriteHeader(http.StatusOK)
	}
}

// Hijack implements http.Hijacker by refusing, also to an http.ResponseController.
func (rec *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, ErrHijack }

// SetReadDeadline and SetWriteDeadline are passed on for http.ResponseController; there is no Unwrap, which would lead past the
// recorder.
func (rec *recorder) SetReadDeadline(t time.Time) error {
	return http.NewResponseController(rec.outer).SetReadDeadline(t)
}

// SetWriteDeadline is like SetReadDeadline.
func (rec *recorder) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(rec.outer).SetWriteDeadline(t)
}

// response is the whole answer once the handler has returned.
func (rec *recorder) response() Response {
	if rec.status == 0 {
		rec.WriteHeader(http.StatusOK)
	}
	res := Response{Status: rec.status, Header: rec.header, Body: rec.body, Trailer: rec.trailer()}
	if _, set := res.Header["Content-Type"]; !set && len(rec.body) > 0 && res.Header.Get("Content-Encoding") == "" {
		if res.Header == nil {
			res.Header = make(http.Header)
		}
		res.Header["Content-Type"] = []string{http.DetectContentType(rec.body)}
	}
	return res
}

// trailer collects what net/http would send as trailers: the headers announced in Trailer, and those with its prefix.
func (rec *recorder) trailer() http.Header {
	var trailer http.Header
	add := func(name string, values []string) {
		if len(values) == 0 || neverKept(name) {
			return
		}
		if trailer == nil {
			trailer = make(http.Header)
		}
		trailer[name] = values
	}
	for _, list := range rec.header["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			name = textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name))
			add(name, rec.live[name])
		}
	}
	for name, values := range rec.live {
		if after, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			add(textproto.CanonicalMIMEHeaderKey(after), values)
		}
	}
	return trailer
}

// send writes the answer as the handler would have without the middleware: it was not stored.
func (rec *recorder) send(w http.ResponseWriter) {
	res := rec.response()
	h := w.Header()
	clear(h)
	for name, values := range res.Header {
		if !strings.HasPrefix(name, http.TrailerPrefix) {
			h[name] = values
		}
	}
	writeOut(w, res)
}

// sendStored writes a stored answer. Headers that were set outside of the middleware stay, but for those that the answer decides.
func (m *Middleware) sendStored(w http.ResponseWriter, res Response) {
	h := w.Header()
	for name := range h {
		if m.kept[name] {
			delete(h, name)
		}
	}
	maps.Copy(h, res.Header)
	if h["Content-Type"] == nil {
		h["Content-Type"] = nil // nothing is guessed: the first answer had none either
	}
	writeOut(w, res)
}

// writeOut sends status, body and trailers. Errors mean that the client went away: it will ask again.
func writeOut(w http.ResponseWriter, res Response) {
	h := w.Header()
	h.Del("Content-Length")
	if bodyAllowed(res.Status) && len(res.Trailer) == 0 {
		h["Content-Length"] = []string{strconv.Itoa(len(res.Body))}
	}
	h.Del("Trailer")
	for name := range res.Trailer {
		h.Add("Trailer", name)
	}
	w.WriteHeader(res.Status)
	if len(res.Body) > 0 && bodyAllowed(res.Status) {
		_, _ = w.Write(res.Body)
	}
	for name, values := range res.Trailer {
		h[http.TrailerPrefix+name] = values
	}
}

func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// filter leaves of an answer what is stored of it.
func (m *Middleware) filter(res Response) Response {
	res.Header, res.Trailer = m.allowed(res.Header), m.allowed(res.Trailer)
	return res
}

func (m *Middleware) allowed(h http.Header) http.Header {
	var kept http.Header
	for name, values := range h {
		if m.kept[name] && len(values) > 0 {
			if kept == nil {
				kept = make(http.Header, 4)
			}
			kept[name] = values
		}
	}
	return kept
}
