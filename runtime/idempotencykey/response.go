package idempotencykey

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Response is an answer as it is stored and sent.
type Response struct {
	// Status is the status code, 200 to 499: 5xx is never stored. Zero: 200.
	Status int
	// Header holds the headers; those outside the allow-list are not stored, and so not sent either.
	Header http.Header
	// Body is the body.
	Body []byte
	// Trailer holds the trailers, under the same allow-list.
	Trailer http.Header
}

// JSON is a response with v as its body. The error is that of encoding v.
func JSON(status int, v any) (Response, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return Response{}, fmt.Errorf("encode the response: %w", err)
	}
	return Response{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: append(body, '\n')}, nil
}

// stored is what the claim's record keeps as its result.
type stored struct {
	Response

	at   time.Time // when it was composed, by the store's clock, to the millisecond
	kept bool      // false: the operation was carried out, its answer was too large
}

// The stored form: version, flags, time, status, headers, trailers, and the rest is the body. Numbers are varints, texts come after
// their length.
const (
	storedVersion = 1
	flagKept      = 1
)

var errStored = errors.New("stored answer is damaged")

func (s stored) encode() []byte {
	flags := byte(0)
	if s.kept {
		flags = flagKept
	}
	size := 32 + len(s.Body)
	for _, h := range []http.Header{s.Header, s.Trailer} {
		for name, values := range h {
			for _, v := range values {
				size += len(name) + len(v) + 8
			}
		}
	}
	b := append(make([]byte, 0, size), storedVersion, flags)
	b = binary.AppendVarint(b, s.at.UnixMilli())
	b = binary.AppendUvarint(b, uint64(s.Status))
	b = appendHeader(b, s.Header)
	b = appendHeader(b, s.Trailer)
	return append(b, s.Body...)
}

func appendHeader(b []byte, h http.Header) []byte {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	b = binary.AppendUvarint(b, uint64(n))
	for name, values := range h {
		for _, v := range values {
			b = appendText(appendText(b, name), v)
		}
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func decodeStored(b []byte) (stored, error) {
	if len(b) < 2 || b[0] != storedVersion {
		return stored{}, fmt.Errorf("%w: it does not begin with version %d", errStored, storedVersion)
	}
	s := stored{kept: b[1]&flagKept != 0}
	d := decoder{rest: b[2:]}
	s.at = time.UnixMilli(d.varint()).UTC()
	s.Status = int(d.count(999))
	s.Header = d.header()
	s.Trailer = d.header()
	s.Body = d.rest
	if d.failed || s.kept && s.Status < 200 {
		return stored{}, errStored
	}
	return s, nil
}

// decoder reads front to back; after a failure it reads zeros.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) took(n int) {
	if n <= 0 {
		d.failed, d.rest = true, nil
		return
	}
	d.rest = d.rest[n:]
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	d.took(n)
	return v
}

// count reads a number that is at most limit.
func (d *decoder) count(limit int) uint64 {
	v, n := binary.Uvarint(d.rest)
	d.took(n)
	if v > uint64(limit) {
		d.failed, d.rest = true, nil
		return 0
	}
	return v
}

func (d *decoder) text() string {
	n := d.count(len(d.rest))
	if n > uint64(len(d.rest)) { // the length itself took some of it
		d.failed, d.rest = true, nil
		return ""
	}
	text := string(d.rest[:n])
	d.rest = d.rest[n:]
	return text
}

func (d *decoder) header() http.Header {
	n := d.count(len(d.rest))
	if n == 0 {
		return nil
	}
	h := make(http.Header, min(n, 32))
	for range n {
		if d.failed {
			return nil
		}
		name := d.text()
		h[name] = append(h[name], d.text())
	}
	return h
}
