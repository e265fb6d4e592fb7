package idempotencykey_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

func TestHeadersAreStoredByAllowList(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.KeepHeaders = []string{"x-total", "Retry-After"} }, func(f *fixture) {
		f.work = func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h.Set("Content-Type", "text/plain")
			h.Set("Location", "/payments/1")
			h.Add("Link", "<a>")
			h.Add("Link", "<b>")
			h.Set("X-Total", "7")
			h.Set("Retry-After", "9")
			h.Set("X-Secret", "s")
			h.Set("Date", "Thu, 01 Jan 1970 00:00:00 GMT")
			h.Set("Connection", "close")
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
			w.WriteHeader(http.StatusCreated)
			h.Set("Location", "too late")
		}
		want := http.Header{
			"Content-Type": {"text/plain"}, "Location": {"/payments/1"}, "Link": {"<a>", "<b>"}, "X-Total": {"7"}, "Retry-After": {"9"},
			"Content-Length": {"0"},
		}
		for range 2 {
			w := f.want(request(), 201, "")
			w.Header().Del("Idempotency-Replay")
			if !reflect.DeepEqual(w.Header(), want) {
				t.Errorf("headers %v, want %v", w.Header(), want)
			}
		}
		f.wantCalls(1)
	})
}

func TestHeadersOfOuterMiddlewareStay(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		for i := range 2 {
			w := httptest.NewRecorder()
			w.Header().Set("X-Request-Id", strconv.Itoa(i))
			w.Header().Set("Cache-Control", "outer")
			f.ServeHTTP(w, request())
			if got := w.Header(); got.Get("X-Request-Id") != strconv.Itoa(i) || got.Get("Cache-Control") != "outer" || got.Get("Location") == "" {
				t.Errorf("headers %v", got)
			}
		}
		f.wantCalls(1)
	})
}

// dialogue sends the request as bytes over a connection of its own and returns the answer as bytes.
func dialogue(t *testing.T, server *httptest.Server, r *http.Request) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	r.Close = true
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// TestAReplayIsTheSameOnTheWire compares the bytes of answers of every shape.
func TestAReplayIsTheSameOnTheWire(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]http.HandlerFunc{
		"nothing written": func(http.ResponseWriter, *http.Request) {},
		"no content":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"a see other":     func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusSeeOther) },
		"guessed type":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html><p>hi") },
		"no type": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, "<html><p>hi")
		},
		"encoded": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte{0x1f, 0x8b, 0, 1, 2})
		},
		"large and flushed": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 100 {
				_, _ = fmt.Fprintf(w, "%1000d\n", i)
				w.(http.Flusher).Flush()
			}
		},
		"wrong length": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "3")
			_, _ = io.WriteString(w, "four")
		},
		"announced trailer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "Etag, X-Hidden")
			_, _ = io.WriteString(w, "body")
			w.Header().Set("Etag", `"1"`)
			w.Header().Set("X-Hidden", "1")
		},
		"prefixed trailer": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "body")
			w.Header().Set(http.TrailerPrefix+"Etag", `"1"`)
		},
		"client error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such account", http.StatusBadRequest) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			guard, err := idempotencykey.New(idempotencykey.Config{Store: memclaim.New(), Scope: oneTenant})
			if err != nil {
				t.Fatal(err)
			}
			handler := guard.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { calls++; work(w, r) }))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Date", "Fri, 16 Oct 2026 12:00:00 GMT")
				handler.ServeHTTP(w, r)
			}))
			defer server.Close()
			first := dialogue(t, server, request())
			again := dialogue(t, server, request())
			if strings.Count(again, "Idempotency-Replay: true\r\n") != 1 {
				t.Fatalf("no replay: %s", again)
			}
			if again = strings.Replace(again, "Idempotency-Replay: true\r\n", "", 1); first != again || calls != 1 {
				t.Errorf("first\n%s\nthen\n%s\nafter %d calls", first, again, calls)
			}
			if strings.Contains(name, "trailer") && !strings.HasSuffix(first, "\r\nEtag: \"1\"\r\n\r\n") {
				t.Errorf("no trailer: %s", first)
			}
		})
	}
}

func TestAnAnswerThatIsNotKeptIsSentAsItIs(t *testing.T) {
	t.Parallel()
	guard, err := idempotencykey.New(idempotencykey.Config{Store: memclaim.New(), Scope: oneTenant, MaxResponse: 100, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	work := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		w.Header().Set("Date", "Fri, 16 Oct 2026 12:00:00 GMT")
		w.Header().Set("Trailer", "X-Sum")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.Copy(w, bytes.NewReader(make([]byte, 5000)))
		w.Header().Set("X-Sum", "1")
		w.Header().Set(http.TrailerPrefix+"X-Late", "2")
	})
	guarded, plain := httptest.NewServer(guard.Handler(work)), httptest.NewServer(work)
	defer guarded.Close()
	defer plain.Close()
	parse := func(text string) *http.Response {
		res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, res.Body); err != nil || n != 5000 {
			t.Fatalf("a body of %d bytes, %v", n, err)
		}
		return res
	}
	got, want := parse(dialogue(t, guarded, request())), parse(dialogue(t, plain, request()))
	if got.StatusCode != want.StatusCode || !reflect.DeepEqual(got.Header, want.Header) || !reflect.DeepEqual(got.Trailer, want.Trailer) {
		t.Errorf("%d %v %v, want %d %v %v", got.StatusCode, got.Header, got.Trailer, want.StatusCode, want.Header, want.Trailer)
	}
}

func TestHijackIsRefusedAndFlushIsBuffered(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.work = func(w http.ResponseWriter, _ *http.Request) {
			if _, _, err := http.NewResponseController(w).Hijack(); !errors.Is(err, idempotencykey.ErrHijack) || !errors.Is(err, http.ErrNotSupported) {
				t.Errorf("hijack: %v", err)
			}
			if err := http.NewResponseController(w).SetReadDeadline(time.Now()); !errors.Is(err, http.ErrNotSupported) {
				t.Errorf("read deadline of a recorder: %v", err)
			}
			w.(http.Flusher).Flush()
			w.WriteHeader(http.StatusTeapot) // too late, as without the middleware
		}
		f.want(request(), 200, "")
	})
}

func TestAnAnswerOverTheLimitIsReplacedFromTheFirst(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.MaxResponse = 10 }, func(f *fixture) {
		f.work = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "eleven char") }
		first := f.want(request(), 409, "response_not_kept")
		f.wantStatus(claim.StatusCompleted)
		again := f.want(request(), 409, "response_not_kept")
		if first.Body.String() != again.Body.String() || again.Header().Get("Idempotency-Replay") != "true" {
			t.Errorf("first %s, then %s", first.Body, again.Body)
		}
		f.wantCalls(1)
	})
}

func TestAnAnswerOverTheLimitIsSentOnceByOption(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.MaxResponse, c.Overflow = 10, idempotencykey.OverflowSendOnce }, func(f *fixture) {
		f.work = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "eleven char") }
		if w := f.want(request(), 200, ""); w.Body.String() != "eleven char" {
			t.Errorf("first %s", w.Body)
		}
		f.want(request(), 409, "response_not_kept")
		f.wantCalls(1)
	})
}

func TestHeadersCanBeTooLargeForTheStore(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.work = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", strings.Repeat("x", memclaim.MaxResult))
		}
		f.want(request(), 409, "response_not_kept")
		f.want(request(), 409, "response_not_kept")
		f.wantCalls(1)
	})
}

func TestDamagedResultsAreNotSent(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.want(request(), 201, "")
		snap := f.wantStatus(claim.StatusCompleted)
		for cut := range snap.Result {
			r := snap.Record
			r.Result = bytes.Clone(snap.Result[:cut])
			f.store.Put(id(), r)
			w := f.send(request())
			if w.Code != 201 && codeOf(t, w) != "response_not_kept" {
				t.Fatalf("cut at %d: %d %s", cut, w.Code, w.Body)
			}
		}
		f.wantCalls(1)
	})
}

func TestInvalidStatusPanicsAsWithoutTheMiddleware(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.work = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(42) }
		defer func() {
			if v := recover(); fmt.Sprint(v) != "invalid WriteHeader code 42" {
				t.Errorf("recovered %v", v)
			}
		}()
		f.send(request())
	})
}

func TestBodiesThatAreNotAllowedAreRefused(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.work = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
			if _, err := w.Write([]byte("x")); !errors.Is(err, http.ErrBodyNotAllowed) {
				t.Errorf("write: %v", err)
			}
		}
		f.want(request(), 204, "")
	})
}

func TestAnAnswerIsCompletedInTheTransaction(t *testing.T) {
	for name, after := range map[string]func(http.ResponseWriter){
		"nothing":         func(http.ResponseWriter) {},
		"another answer":  func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"a server error":  func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
		"a panic":         func(http.ResponseWriter) { panic("after the commit") },
		"an aborted call": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		inSub(t, name, func(t *testing.T) {
			inBubble(t, func(c *idempotencykey.Config) { c.Lapse = idempotencykey.LapseInTransaction }, func(f *fixture) {
				effects := 0
				f.work = func(w http.ResponseWriter, r *http.Request) {
					err := memclaim.CompleteTx(r.Context(), func(ctx context.Context) error {
						effects++
						res, err := idempotencykey.JSON(http.StatusCreated, map[string]int{"payment": effects})
						if err != nil {
							return err
						}
						res.Header.Set("X-Unlisted", "1")
						res.Header["etag"] = []string{`"1"`}
						return idempotencykey.Respond(ctx, res)
					})
					if err != nil {
						t.Error(err)
					}
					after(w)
				}
				for range 3 {
					w := f.want(request(), 201, "")
					if w.Body.String() != "{\"payment\":1}\n" || w.Header().Get("Etag") != `"1"` || w.Header().Get("X-Unlisted") != "" {
						t.Errorf("answer %v %s", w.Header(), w.Body)
					}
				}
				if effects != 1 || f.calls != 1 {
					t.Errorf("%d effects in %d calls", effects, f.calls)
				}
			})
		})
	}
}

func TestACommitWhoseReplyWasLostIsTheAnswer(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.work = func(w http.ResponseWriter, r *http.Request) {
			down := time.Now().Add(7 * time.Second)
			f.store.After(func(context.Context, memclaim.Verb, string) error {
				if time.Now().Before(down) {
					return errWire
				}
				return nil
			})
			complete := func(ctx context.Context, effect func(int) error) error {
				return memclaim.CompleteTx(ctx, func(context.Context) error { return effect(7) })
			}
			err := idempotencykey.CompleteTx(r.Context(), complete, func(tx int) (idempotencykey.Response, error) {
				return idempotencykey.JSON(http.StatusCreated, tx)
			})
			if !errors.Is(err, claim.ErrAmbiguous) {
				t.Errorf("complete: %v", err)
			}
			w.WriteHeader(http.StatusInternalServerError)
		}
		if w := f.want(request(), 201, ""); w.Body.String() != "7\n" {
			t.Errorf("answer %s", w.Body)
		}
		f.want(request(), 201, "")
		f.wantCalls(1)
	})
}

func TestATransactionThatRollsBackReleasesTheKey(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		complete := func(ctx context.Context, effect func(context.Context, string) error) error {
			return memclaim.CompleteTx(ctx, func(ctx context.Context) error { return effect(ctx, "tx") })
		}
		results := []error{errWire, nil}
		f.work = func(w http.ResponseWriter, r *http.Request) {
			err := idempotencykey.CompleteContextTx(r.Context(), complete, func(context.Context, string) (idempotencykey.Response, error) {
				return idempotencykey.Response{}, results[f.calls-1]
			})
			if err != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		f.want(request(), 500, "")
		f.wantStatus(claim.StatusReleased)
		f.want(request(), 200, "")
		f.wantStatus(claim.StatusCompleted)
	})
}

func TestWhatCannotBeStoredRollsTheTransactionBack(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.MaxResponse = 10 }, func(f *fixture) {
		for want, res := range map[string]idempotencykey.Response{
			"a body of 11 bytes, 10 are kept": {Body: make([]byte, 11)},
			"result too large for the store":  {Header: http.Header{"Link": {strings.Repeat("x", memclaim.MaxResult)}}},
			"status 500 is never stored":      {Status: 500},
			"status 101 is never stored":      {Status: 101},
		} {
			f.work = func(w http.ResponseWriter, r *http.Request) {
				err := memclaim.CompleteTx(r.Context(), func(ctx context.Context) error { return idempotencykey.Respond(ctx, res) })
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
				w.WriteHeader(http.StatusInternalServerError)
			}
			f.want(request(), 500, "")
			f.wantStatus(claim.StatusReleased)
		}
	})
}

func TestACommitWithoutAnAnswerSaysSo(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.work = func(w http.ResponseWriter, r *http.Request) {
			if err := memclaim.CompleteTx(r.Context(), func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusCreated)
		}
		f.want(request(), 409, "response_not_kept")
		f.want(request(), 409, "response_not_kept")
		f.wantCalls(1)
	})
}

func TestRespondNeedsAKey(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.work = func(_ http.ResponseWriter, r *http.Request) {
			if err := idempotencykey.Respond(r.Context(), idempotencykey.Response{}); !errors.Is(err, claim.ErrNoAttempt) {
				t.Errorf("respond: %v", err)
			}
		}
		f.want(request(withoutKey), 200, "")
	})
	if _, err := idempotencykey.JSON(200, make(chan int)); err == nil {
		t.Error("a channel was encoded")
	}
}
