package generator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// thousand plans and writes handlers into empty folders, on all cores.
func thousand(dir string, count int) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range count {
		group.Go(func() error {
			name := fmt.Sprintf("job-%d", i)
			files, err := generator.Plan(generator.Spec{Name: name, Jobs: []string{name}, Project: "acme"})
			if err != nil {
				return err
			}
			_, err = generator.Write(filepath.Join(dir, name), files, generator.Apply)
			return err
		})
	}
	return group.Wait()
}

// baseline writes the files of one handler as often, each beside its place and renamed into it: what no generator can do without.
func baseline(dir string, count int) error {
	files, err := generator.Plan(generator.Spec{Name: "job", Jobs: []string{"job"}, Project: "acme"})
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range count {
		group.Go(func() error {
			folder := filepath.Join(dir, fmt.Sprintf("job-%d", i))
			if err := os.Mkdir(folder, 0o700); err != nil {
				return err
			}
			for _, f := range files {
				path := filepath.Join(folder, f.Path)
				if err := os.WriteFile(path+".new", f.Content, 0o600); err != nil {
					return err
				}
				if err := os.Rename(path+".new", path); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// BenchmarkThousandHandlers compares a thousand handlers, planned and written, with writing alone; an operation is all of them.
func BenchmarkThousandHandlers(b *testing.B) {
	for name, do := range map[string]func(string, int) error{"generated": thousand, "written": baseline} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := do(b.TempDir(), 1000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Time on a shared machine says little; how often planning allocates is the same everywhere, and most of what it costs. It is no
// parallel test, so that nothing else is counted.
func TestPlanningAllocatesLittle(t *testing.T) {
	const most = 3000 // it was 2,400 when this was written
	spec := generator.Spec{Name: "job", Jobs: []string{"job"}, Project: "acme"}
	got := testing.AllocsPerRun(10, func() { // templates are parsed once, before what is counted
		if _, err := generator.Plan(spec); err != nil {
			t.Fatal(err)
		}
	})
	if got > most {
		t.Errorf("a plan allocates %v times, more than %d", got, most)
	}
}
