package inbound_test

import (
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
	read := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer inbound.Patience(w, 50*time.Millisecond)()
		_, err := io.ReadAll(r.Body)
		read <- err
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
	if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v", err)
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
	p := &patient{ResponseWriter: httptest.NewRecorder()}
	end := inbound.Patience(p, time.Hour)
	if len(p.deadlines) != 1 || time.Until(p.deadlines[0]) <= 0 || time.Until(p.deadlines[0]) > time.Hour {
		t.Errorf("while the body is read: %v", p.deadlines)
	}
	end()
	if len(p.deadlines) != 2 || !p.deadlines[1].IsZero() {
		t.Errorf("after it was read: %v", p.deadlines)
	}
}

func TestAWriterThatKnowsNoDeadlineIsTaken(t *testing.T) {
	t.Parallel()
	inbound.Patience(httptest.NewRecorder(), time.Second)()
}
