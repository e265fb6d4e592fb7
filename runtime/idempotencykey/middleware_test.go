package idempotencykey_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

func TestOnlyMutatingMethodsAreGuarded(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.RequireKey = true }, func(f *fixture) {
		for method, guarded := range map[string]bool{
			"POST": true, "PATCH": true, "PUT": true, "DELETE": true, "GET": false, "HEAD": false, "OPTIONS": false, "QUERY": false,
		} {
			f.calls = 0
			for range 2 {
				f.want(request(withMethod(method), withKey(method)), 201, "")
			}
			want := 2
			if guarded {
				want = 1
			}
			if f.calls != want {
				t.Errorf("%s: the handler ran %d times, want %d", method, f.calls, want)
			}
			if w := f.send(request(withMethod(method), withoutKey)); (codeOf(t, w) == "key_missing" && w.Code == 400) != guarded {
				t.Errorf("%s without a key: %d", method, w.Code)
			}
		}
	})
}

func TestWithoutAKeyNothingIsGuarded(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.work = func(w http.ResponseWriter, r *http.Request) {
			if idempotencykey.Guarded(r.Context()) {
				t.Error("guarded")
			}
			http.SetCookie(w, &http.Cookie{Name: "s", Value: "1"})
		}
		for range 2 {
			if w := f.want(request(withoutKey), 200, ""); w.Header().Get("Set-Cookie") == "" {
				t.Error("an unguarded answer was changed")
			}
		}
		f.wantCalls(2)
	})
}

func TestARepeatGetsTheSameAnswer(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		first := f.want(request(), 201, "")
		time.Sleep(3*time.Hour - time.Second)
		again := f.want(request(), 201, "")
		f.wantCalls(1)
		if first.Header().Get("Idempotency-Replay") != "" || again.Header().Get("Idempotency-Replay") != "true" {
			t.Error("the replay is not told from the first answer")
		}
		again.Header().Del("Idempotency-Replay")
		if first.Body.String() != `{"payment":1}` || first.Body.String() != again.Body.String() || !reflect.DeepEqual(first.Header(), again.Header()) {
			t.Errorf("first %v %s, then %v %s", first.Header(), first.Body, again.Header(), again.Body)
		}
	})
}

func TestAfterTheWindowAKeyBeginsANewOperation(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.Window = time.Hour }, func(f *fixture) {
		f.want(request(), 201, "")
		time.Sleep(time.Hour)
		f.want(request(withBody("another")), 201, "")
		f.wantCalls(2)
	})
}

func TestAfterTheWindowAKeyIsRefusedByOption(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.Window, c.RefuseFor = time.Hour, time.Hour }, func(f *fixture) {
		f.want(request(), 201, "")
		time.Sleep(time.Hour - time.Second)
		f.want(request(), 201, "")
		time.Sleep(time.Second)
		f.want(request(), 409, "expired")
		f.want(request(withBody("another")), 409, "reused")
		f.wantCalls(1)
		time.Sleep(time.Hour)
		f.want(request(), 201, "")
		f.wantCalls(2)
	})
}

func TestARunningRequestIsInProgress(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		first := f.held(request(), func() {
			if w := f.want(request(), 409, "in_progress"); w.Header().Get("Retry-After") != "1" {
				t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
			}
		})
		if first.Code != 201 {
			t.Errorf("first answer %d", first.Code)
		}
		f.wantCalls(1)
	})
}

func TestARepeatWaitsForTheAnswerByOption(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.Wait = 10 * time.Second }, func(f *fixture) {
		var repeats sync.WaitGroup
		f.held(request(), func() {
			repeats.Go(func() {
				if w := f.send(request()); w.Code != 201 || w.Header().Get("Idempotency-Replay") != "true" {
					t.Errorf("the repeat got %d", w.Code)
				}
			})
			time.Sleep(9 * time.Second)
		})
		repeats.Wait()
		f.held(request(withKey("k2")), func() {
			began := time.Now()
			f.want(request(withKey("k2")), 409, "in_progress")
			if held := time.Since(began); held != 10*time.Second {
				t.Errorf("held for %v", held)
			}
		})
		f.wantCalls(2)
	})
}

func TestAWaitingCallerThatHangsUpIsLetGo(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.Wait = time.Minute }, func(f *fixture) {
		f.held(request(), func() {
			ctx, cancel := context.WithTimeout(f.Context(), time.Second)
			defer cancel()
			began := time.Now()
			f.want(request().WithContext(ctx), 409, "in_progress")
			if held := time.Since(began); held != time.Second {
				t.Errorf("held for %v", held)
			}
		})
	})
}

func TestWhichAnswersAreKept(t *testing.T) {
	option := map[int]bool{404: false, 409: true}
	for status, kept := range map[int]bool{
		200: true, 204: true, 303: true, 400: true, 402: true, 410: true, 422: true, 499: true,
		401: false, 403: false, 408: false, 425: false, 429: false,
		404: false, 409: true, // by option
		500: false, 502: false, 503: false, 599: false,
	} {
		inSub(t, http.StatusText(status), func(t *testing.T) {
			inBubble(t, func(c *idempotencykey.Config) { c.Keep = option }, func(f *fixture) {
				f.work = func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("X-Own", "kept only where nothing is stored")
					w.WriteHeader(status)
				}
				w := f.want(request(), status, "")
				if own := w.Header().Get("X-Own") != ""; own == kept {
					t.Errorf("kept is %v and a header outside of the allow-list is there: %v", kept, own)
				}
				if kept {
					f.wantStatus(claim.StatusCompleted)
				} else {
					f.wantStatus(claim.StatusReleased)
				}
				f.want(request(), status, "")
				f.wantCalls(map[bool]int{true: 1, false: 2}[kept])
			})
		})
	}
}

func inSub(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, test)
}

func Test409IsNotKeptByDefault(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.work = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) }
		f.want(request(), 409, "")
		f.want(request(), 409, "")
		f.wantCalls(2)
	})
}

func TestAPanicReleasesTheKeyAndGoesOn(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		work := f.work
		f.work = func(http.ResponseWriter, *http.Request) { panic(errWire) }
		func() {
			defer func() {
				if v := recover(); v != errWire { //nolint:errorlint // the very value
					t.Errorf("recovered %v", v)
				}
			}()
			f.send(request())
		}()
		f.wantStatus(claim.StatusReleased)
		f.work = work
		f.want(request(), 201, "")
	})
}

func TestAKeyWhoseProcessDiedIsUnknown(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.die(request())
		f.want(request(), 409, "in_progress")
		time.Sleep(90 * time.Second)
		for range 2 {
			f.want(request(), 409, "unknown")
		}
		f.wantStatus(claim.StatusUnknown)
		f.wantCalls(0)
		time.Sleep(3 * time.Hour)
		f.want(request(), 201, "") // the record's end is the end of what is known
	})
}

func TestAKeyWhoseProcessDiedRunsAgainWhereThatIsSafe(t *testing.T) {
	for name, lapse := range map[string]idempotencykey.Lapse{
		"in transaction": idempotencykey.LapseInTransaction, "may be repeated": idempotencykey.LapseRerun,
	} {
		inSub(t, name, func(t *testing.T) {
			inBubble(t, func(c *idempotencykey.Config) { c.Lapse = lapse }, func(f *fixture) {
				f.die(request())
				f.want(request(), 409, "in_progress")
				time.Sleep(90 * time.Second)
				f.want(request(), 201, "")
				f.want(request(), 201, "")
				f.wantCalls(1)
			})
		})
	}
}

// early fails the test when something was sent before the completion was stored.
type early struct {
	*httptest.ResponseRecorder

	sent bool
}

func (w *early) WriteHeader(status int) { w.sent = true; w.ResponseRecorder.WriteHeader(status) }

func (w *early) Write(p []byte) (int, error) { w.sent = true; return w.ResponseRecorder.Write(p) }

func (w *early) Flush() { w.sent = true; w.ResponseRecorder.Flush() }

func TestNothingIsSentBeforeTheCompletionIsStored(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		w := &early{ResponseRecorder: httptest.NewRecorder()}
		f.work = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, "part")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
		}
		f.store.Before(func(_ context.Context, verb memclaim.Verb, _ string) error {
			if verb == memclaim.Swap {
				time.Sleep(time.Second)
				if w.sent {
					t.Error("sent before the completion was stored")
				}
			}
			return nil
		})
		f.ServeHTTP(w, request())
		if !w.sent || w.Code != http.StatusAccepted || w.Body.String() != "part" {
			t.Errorf("answer %d %s", w.Code, w.Body)
		}
	})
}

func TestAnUnreachableStoreIs503BeforeAnythingRuns(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.store.Before(func(context.Context, memclaim.Verb, string) error { return errWire })
		if w := f.want(request(), 503, "unavailable"); w.Header().Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
		}
		f.wantCalls(0)
		f.want(request(withoutKey), 201, "")
		f.store.Before(nil)
		f.want(request(), 201, "")
	})
}

func TestAResultThatCannotBeStoredIsTriedAgainAndNeverRerun(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		down := func(d time.Duration) {
			end := time.Now().Add(d)
			f.store.Before(func(_ context.Context, verb memclaim.Verb, _ string) error {
				if verb != memclaim.Insert && time.Now().Before(end) {
					return errWire
				}
				return nil
			})
		}
		down(5 * time.Second)
		f.want(request(), 201, "")
		f.want(request(), 201, "")
		f.wantCalls(1)

		f.store.Delete(id())
		down(20 * time.Second)
		f.want(request(), 500, "unrecorded")
		time.Sleep(20 * time.Second) // the store is up again
		f.wantStatus(claim.StatusInProgress)
		f.want(request(), 409, "in_progress")
		time.Sleep(90 * time.Second)
		f.want(request(), 409, "unknown")
		f.wantCalls(2)
	})
}

func TestAnAttemptThatWasGivenUpAnswersUnknown(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.work = func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			if err := context.Cause(r.Context()); !errors.Is(err, claim.ErrTimeout) {
				t.Errorf("the handler was ended by %v", err)
			}
			time.Sleep(time.Minute)
			f.want(request(), 409, "unknown")
			w.WriteHeader(http.StatusCreated)
		}
		f.want(request(), 409, "unknown")
		f.wantCalls(1)
	})
}

func TestAnAttemptThatLostItsKeyToAnotherSendsTheAnswerOfThatOne(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.Lapse = idempotencykey.LapseRerun }, func(f *fixture) {
		second := f.work
		f.work = func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(2 * time.Minute)
			f.work = second
			f.want(request(), 201, "")
			w.WriteHeader(http.StatusAccepted)
		}
		if w := f.want(request(), 201, ""); w.Header().Get("Idempotency-Replay") != "true" {
			t.Error("not marked as a replay")
		}
		f.wantCalls(2)
	})
}

func TestTenantsDoNotShareKeys(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.want(request(), 201, "")
		f.want(request(withTenant("globex"), withBody("another")), 201, "")
		f.wantCalls(2)
		f.want(request(withTenant("")), 403, "scope_missing")
		f.wantCalls(2)
	})
	t.Run("an error is no tenant", func(t *testing.T) {
		inBubble(t, func(c *idempotencykey.Config) {
			c.Scope = func(*http.Request) (string, error) { return "acme", errWire }
		}, func(f *fixture) {
			f.want(request(), 403, "scope_missing")
			f.wantCalls(0)
		})
	})
}

func TestBodiesAreReadOnceAndBounded(t *testing.T) {
	inBubble(t, func(c *idempotencykey.Config) { c.MaxBody = int64(len(body)) }, func(f *fixture) {
		f.work = func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write(b)
		}
		chunked := func(r *http.Request) { r.ContentLength = -1 }
		if w := f.want(request(), 200, ""); w.Body.String() != body {
			t.Errorf("the handler read %q", w.Body)
		}
		if w := f.want(request(withKey("k2"), chunked), 200, ""); w.Body.String() != body {
			t.Errorf("the handler read %q", w.Body)
		}
		f.wantCalls(2)
		f.want(request(withKey("k3"), withBody(body+".")), 413, "body_too_large")
		f.want(request(withKey("k3"), withBody(body+"."), chunked), 413, "body_too_large")
		f.want(request(withKey("k3"), func(r *http.Request) { r.ContentLength++ }), 413, "body_too_large")
		f.want(request(withKey("k3"), withBody("short"), func(r *http.Request) { r.ContentLength = 9 }), 400, "body_unreadable")
		f.want(request(withKey("k3"), func(r *http.Request) { r.Body = nil }), 200, "")
		f.wantCalls(3)
	})
}

func TestAnInnerGuardOfTheSameKeyStandsBack(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		w := httptest.NewRecorder()
		f.guard.Handler(f).ServeHTTP(w, request())
		if w.Code != 201 || f.calls != 1 {
			t.Errorf("answer %d after %d calls", w.Code, f.calls)
		}
	})
}

func TestAfterShutdownKeysAreUnavailable(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		started := make(chan struct{})
		work := f.work
		f.work = func(w http.ResponseWriter, r *http.Request) {
			close(started)
			<-r.Context().Done()
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		var first sync.WaitGroup
		first.Go(func() { f.want(request(), 503, "") })
		<-started
		f.work = work
		if err := f.guard.Shutdown(f.Context()); err != nil {
			t.Error(err)
		}
		first.Wait()
		f.wantStatus(claim.StatusReleased)
		f.want(request(), 503, "unavailable")
		f.wantCalls(1)
	})
}
