package claim

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestOneOfThoseWhoWaitHasTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			held  turn
			taken atomic.Int32
		)

		if !held.try() || held.try() {
			t.Fatal("the turn is not the first's, or is also another's")
		}

		const many = 5
		for range many {
			go func() {
				if held.take(nil, nil) {
					taken.Add(1)
				}
			}()
		}

		for want := range int32(many) {
			synctest.Wait()

			if got := taken.Load(); got != want {
				t.Errorf("given back %d times, it was taken %d times", want, got)
			}

			held.give()
		}

		synctest.Wait()

		if got := taken.Load(); got != many {
			t.Errorf("taken %d times, want %d", got, many)
		}
	})
}

// TestATurnThatIsFreeIsNotWaitedFor: it may be given back after it was found taken, and before it is waited for.
func TestATurnThatIsFreeIsNotWaitedFor(t *testing.T) {
	t.Parallel()

	var free turn

	select {
	case <-free.next():
	default:
		t.Error("who waits for it waits for ever")
	}
}

func TestWaitingForATurnCanBeGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var held turn

		held.try()

		over := make(chan struct{})
		answers := make(chan bool, 2)

		go func() { answers <- held.take(over, nil) }()
		go func() { answers <- held.take(nil, over) }()

		synctest.Wait()

		if len(answers) > 0 {
			t.Fatal("nobody waits")
		}

		close(over)

		for range cap(answers) {
			if <-answers {
				t.Error("one who has given up has the turn")
			}
		}

		held.give()

		if !held.try() {
			t.Error("the turn is not free after those who waited have given up")
		}
	})
}
