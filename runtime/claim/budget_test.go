package claim

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// limited is a context that ends at a time, and what ends it sooner.
type limited struct {
	context.Context //nolint:containedctx // it is what is tested

	cancel func()
}

// TestABudgetSaysWhatAContextWithADeadlineSays, though it makes what can be waited for only when somebody waits.
func TestABudgetSaysWhatAContextWithADeadlineSays(t *testing.T) {
	t.Parallel()

	type key struct{}

	errGone := errors.New("gone")

	for name, happens := range map[string]func(one limited, end context.CancelCauseFunc){
		"nothing":                     func(limited, context.CancelCauseFunc) {},
		"its time passes":             func(limited, context.CancelCauseFunc) { time.Sleep(time.Second) },
		"its parent ends":             func(_ limited, end context.CancelCauseFunc) { end(errGone) },
		"it is cancelled":             func(one limited, _ context.CancelCauseFunc) { one.cancel() },
		"both, the parent first":      func(one limited, end context.CancelCauseFunc) { end(errGone); one.cancel() },
		"its time passes, waited for": func(one limited, _ context.CancelCauseFunc) { one.Done(); time.Sleep(time.Second) },
		"its parent ends, waited for": func(one limited, end context.CancelCauseFunc) { one.Done(); end(errGone) },
		"it is cancelled, waited for": func(one limited, _ context.CancelCauseFunc) { one.Done(); one.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var said [2]struct{ before, after, cause, made error }

				for i := range said {
					parent, end := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
					defer end(nil)

					at := time.Now().Add(time.Second)

					one := limited{}
					if i == 0 {
						one.Context, one.cancel = context.WithDeadline(parent, at)
					} else {
						b := withBudget(parent, at)
						one = limited{b, b.cancel}
					}
					defer one.cancel()

					happens(one, end)
					synctest.Wait()

					said[i].before = one.Err()

					made, cancel := context.WithCancel(one)
					defer cancel()

					select {
					case <-one.Done():
						<-made.Done()
					default:
					}

					said[i].after, said[i].cause, said[i].made = one.Err(), context.Cause(one), context.Cause(made)

					if got, ok := one.Deadline(); !ok || !got.Equal(at) || one.Value(key{}) != "value" {
						t.Errorf("deadline %v, want %v; value %v", got, at, one.Value(key{}))
					}
				}

				if said[0] != said[1] {
					t.Errorf("it says %v, want %v", said[1], said[0])
				}
			})
		})
	}
}

func TestABudgetEndsNoLaterThanItsParent(t *testing.T) {
	t.Parallel()

	sooner := time.Now().Add(time.Hour)

	parent, cancel := context.WithDeadline(t.Context(), sooner)
	defer cancel()

	b := withBudget(parent, sooner.Add(time.Hour))
	defer b.cancel()

	if got, _ := b.Deadline(); !got.Equal(sooner) {
		t.Errorf("deadline %v, want that of its parent, %v", got, sooner)
	}
}
