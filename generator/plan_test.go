package generator_test

import (
	"slices"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

func TestPlanIsSortedAndPure(t *testing.T) {
	t.Parallel()
	spec := generator.Spec{Name: "nightly-report", Jobs: []string{"nightly-report", "clean-up"}, Store: "sqlite"}
	first, err := generator.Plan(spec)
	if err != nil {
		t.Fatal(err)
	}
	second, err := generator.Plan(spec)
	if err != nil {
		t.Fatal(err)
	}
	paths := make([]string, len(first))
	for i, f := range first {
		paths[i] = f.Path
		if second[i].Path != f.Path || string(second[i].Content) != string(f.Content) || second[i].Ours != f.Ours {
			t.Errorf("%s differs between two plans of one spec", f.Path)
		}
	}
	if !slices.IsSorted(paths) {
		t.Errorf("paths are not sorted: %v", paths)
	}
}
