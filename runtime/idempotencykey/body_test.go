package idempotencykey_test

import (
	"net/http/httptest"
	"testing"
	"time"
)

// patient is a writer that notes how long the body is waited for.
type patient struct {
	*httptest.ResponseRecorder

	deadlines []time.Time
}

func (p *patient) SetReadDeadline(t time.Time) error {
	p.deadlines = append(p.deadlines, t)
	return nil
}

func TestACallersBodyIsNotWaitedForWithoutEnd(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		w := &patient{ResponseRecorder: httptest.NewRecorder()}
		f.ServeHTTP(w, request())
		if w.Code != 201 || len(w.deadlines) != 2 || w.deadlines[0].IsZero() || !w.deadlines[1].IsZero() {
			t.Errorf("%d, the body was waited for until %v, want one time and then none", w.Code, w.deadlines)
		}
	})
}
