package inbound_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/inbound"
)

func TestABodyThatDoesNotComeIsGivenUp(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := inbound.Read(w, 50*time.Millisecond, func() ([]byte, error) { return io.ReadAll(r.Body) })
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v", err)
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer server.Close()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\nthe begin"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest || !resp.Close {
		t.Errorf("status %d, the connection is to be closed: %v", resp.StatusCode, resp.Close)
	}
}

// patient is a writer that notes what it is told.
type patient struct {
	http.ResponseWriter

	deadlines []time.Time
}

func (p *patient) SetReadDeadline(t time.Time) error {
	p.deadlines = append(p.deadlines, t)
	return nil
}

func TestPatienceEndsWithTheBody(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err       error
		deadlines int
	}{
		"read whole": {nil, 2},
		"not read":   {io.ErrUnexpectedEOF, 1},
	} {
		p := &patient{ResponseWriter: httptest.NewRecorder()}
		body, err := inbound.Read(p, time.Hour, func() ([]byte, error) { return []byte("body"), test.err })
		if string(body) != "body" || !errors.Is(err, test.err) {
			t.Errorf("%s: %q, %v", name, body, err)
		}
		if len(p.deadlines) != test.deadlines || time.Until(p.deadlines[0]) <= 0 || time.Until(p.deadlines[0]) > time.Hour {
			t.Fatalf("%s: waited until %v, want %d times", name, p.deadlines, test.deadlines)
		}
		if test.deadlines == 2 && !p.deadlines[1].IsZero() {
			t.Errorf("%s: the deadline stands: %v", name, p.deadlines[1])
		}
	}
}

func TestAWriterThatKnowsNoDeadlineIsTaken(t *testing.T) {
	t.Parallel()
	body, err := inbound.Read(httptest.NewRecorder(), time.Second, func() ([]byte, error) { return []byte("body"), nil })
	if string(body) != "body" || err != nil {
		t.Errorf("%q, %v", body, err)
	}
}
