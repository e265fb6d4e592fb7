package bench_test

import (
	"syscall"
	"testing"
	"time"
)

// cpu is the processor time that do takes, the collector's share included. Unlike time on the wall it is the same beside other work.
func cpu(t *testing.T, do func()) time.Duration {
	t.Helper()
	before := spent(t)
	do()
	return spent(t) - before
}

func spent(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
