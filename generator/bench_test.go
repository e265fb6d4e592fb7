package generator_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// BenchmarkThousandHandlers plans and writes a thousand handlers into empty folders, on all cores; an operation is all of them.
func BenchmarkThousandHandlers(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i := range 1000 {
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
		if err := group.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}
