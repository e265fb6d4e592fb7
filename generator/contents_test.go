package generator_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

func TestContentsGiveThePlanBack(t *testing.T) {
	t.Parallel()
	want := plan(t, generator.Spec{Name: "nightly", Store: "sqlite", Package: "nightly"})
	contents := map[string]string{}
	for _, f := range want {
		contents[f.Path] = string(f.Content)
	}
	got, err := generator.FromContents(contents)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if name, err := generator.HandlerName(got); err != nil || name != "nightly" {
		t.Errorf("handler %q, %v", name, err)
	}
}

func TestContentsThatDoNotBelongTogetherAreRefused(t *testing.T) {
	t.Parallel()
	contents := map[string]string{}
	for _, f := range plan(t, generator.Spec{Name: "nightly", Store: "sqlite"}) {
		contents[f.Path] = string(f.Content)
	}
	for want, change := range map[string]func(map[string]string){
		"the files hold no .idempotent.json":                           func(c map[string]string) { delete(c, generator.ManifestPath) },
		"handler_gen.go is not the file that .idempotent.json records": func(c map[string]string) { c["handler_gen.go"] += "// more" },
		"other_gen.go is not the file that .idempotent.json records":   func(c map[string]string) { c["other_gen.go"] = "package x" },
		"files that .idempotent.json records are missing":              func(c map[string]string) { delete(c, "job.go") },
		`path "../x" leaves the handler's folder`:                      func(c map[string]string) { c["../x"] = "" },
		`path "/etc/cron.d/x" leaves the handler's folder`:             func(c map[string]string) { c["/etc/cron.d/x"] = "" },
		`read .idempotent.json: its version is 2, this program knows 1: use the program that wrote it or a newer one`: func(c map[string]string) {
			c[generator.ManifestPath] = `{"version": 2}`
		},
	} {
		changed := maps.Clone(contents)
		change(changed)
		if _, err := generator.FromContents(changed); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
