package engines

import (
	"fmt"
	"runtime"
	"testing"
)

// recorder is a test that notes its failure and ends only its own goroutine.
type recorder struct {
	testing.TB

	fatal string
}

func (r *recorder) run(f func()) {
	done := make(chan struct{})

	go func() {
		defer close(done)

		f()
	}()
	<-done
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)

	runtime.Goexit()
}
