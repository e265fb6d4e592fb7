// Package bench_test measures the claim protocol: what a run costs against the algorithm of the published sample, what many deliveries
// at once do to both, what the handler adds to a bare one, and how many runs a store takes.
//
// What must hold on any machine is asserted in every test run. The numbers themselves are taken when IDEMPOTENT_BENCH names a file,
// which gets one line a row: section, case, ours, the other's and their ratio, parted by tabs (see scripts/bench.sh).
package bench_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/engines"
)

const envTable = "IDEMPOTENT_BENCH"

// measurement is why a test is skipped where no numbers are wanted.
const measurement = "a measurement: it needs the machine to itself, see make bench"

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// measuring reports whether numbers are wanted, and a test may take its time.
func measuring() bool { return os.Getenv(envTable) != "" }

// row adds a row to the table.
func row(t *testing.T, section, what, ours, other, ratio string) {
	t.Helper()
	t.Logf("%s: %s: ours %s, other %s, ratio %s", section, what, ours, other, ratio)
	if !measuring() {
		return
	}
	f, err := os.OpenFile(os.Getenv(envTable), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Join([]string{section, what, ours, other, ratio}, "\t") + "\n"); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func times(ratio float64) string { return fmt.Sprintf("%.1fx", ratio) }

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// median is the middle of the durations, which it sorts.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
