package idempotencykey_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

func TestErrorsAreProblems(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.RequireKey = true }, func(f *fixture) {
		w := f.want(request(withoutKey), 400, "key_missing")
		var p map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if p["status"] != 400.0 || p["title"] != "Idempotency key missing" || p["detail"] == "" || p["type"] != nil || len(p) != 4 {
			t.Errorf("problem %v", p)
		}
		if w.Header().Get("Cache-Control") != "no-store" {
			t.Error("the problem can be cached")
		}
	})
}

func TestAPublicAPIsOwnErrorsCanBeReproduced(t *testing.T) {
	type problem = idempotencykey.Problem
	codes := map[idempotencykey.Code]problem{
		idempotencykey.CodeKeyTooLong:  {Code: "E01001", Type: "https://api.example.com/errors/E01001", Title: "Too long", Detail: "255 at most"},
		idempotencykey.CodeInProgress:  {Code: "E01004"},
		idempotencykey.CodeReused:      {Code: "E01005", Status: 422},
		idempotencykey.CodeUnavailable: {Code: "E01033"},
	}
	inBubble(t, func(c *idempotencykey.Config) {
		c.Problems, c.CodeMember, c.Header, c.ReplayHeader = codes, "error_code", "x-request-key", "x-replayed"
	}, func(f *fixture) {
		own := func(key string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Del("Idempotency-Key"); r.Header.Set("X-Request-Key", key) }
		}
		code := func(r *http.Request, status int, want string) {
			t.Helper()
			w := f.send(r)
			var p map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != status || p["error_code"] != want || p["code"] != nil {
				t.Errorf("answer %d %v, want %d %s", w.Code, p, status, want)
			}
		}
		code(request(own(strings.Repeat("k", 256))), 422, "E01001")
		if got := f.send(request(own(strings.Repeat("k", 256)))).Body.String(); got !=
			`{"detail":"255 at most","error_code":"E01001","status":422,"title":"Too long","type":"https://api.example.com/errors/E01001"}`+"\n" {
			t.Errorf("problem %s", got)
		}
		f.held(request(own("k")), func() { code(request(own("k")), 409, "E01004") })
		code(request(own("k"), withBody("{}")), 422, "E01005")
		if w := f.want(request(own("k")), 201, ""); w.Header().Get("X-Replayed") != "true" {
			t.Error("the replay is not marked under its own name")
		}
		if err := f.guard.Shutdown(f.Context()); err != nil {
			t.Error(err)
		}
		code(request(own("k")), 503, "E01033")
		f.wantCalls(1)
	})
}

func TestErrorsCanBeWrittenInAnotherForm(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) {
		c.WriteProblem = func(w http.ResponseWriter, _ *http.Request, code idempotencykey.Code, p idempotencykey.Problem) {
			w.WriteHeader(p.Status)
			_, _ = io.WriteString(w, "<error>"+string(code)+"</error>")
		}
	}, func(f *fixture) {
		f.held(request(), func() {
			if w := f.send(request()); w.Code != 409 || w.Body.String() != "<error>in_progress</error>" || w.Header().Get("Retry-After") != "1" {
				t.Errorf("answer %d %s", w.Code, w.Body)
			}
		})
	})
}
