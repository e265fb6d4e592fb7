package generator_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// BenchmarkThousandHandlers plans and writes a thousand handlers into empty folders; an operation is all of them.
func BenchmarkThousandHandlers(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		for i := range 1000 {
			name := fmt.Sprintf("job-%d", i)
			files, err := generator.Plan(generator.Spec{Name: name, Jobs: []string{name}, Project: "acme"})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := generator.Write(filepath.Join(dir, name), files, generator.Apply); err != nil {
				b.Fatal(err)
			}
		}
	}
}
