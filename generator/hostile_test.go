package generator_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"pgregory.net/rapid"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// texts draws the fields of a spec: ordinary ones, but for one that may break out of Go, shells or Markdown where it is not quoted.
type texts struct {
	t       *rapid.T
	hostile string
}

func (d texts) draw(field, ordinary string) string {
	if field != d.hostile {
		return rapid.OneOf(rapid.Just(""), rapid.StringMatching(ordinary)).Draw(d.t, field)
	}
	return rapid.StringOf(rapid.SampledFrom([]rune("a1-_/.:@\"'`\\\n\r\t $(){};|&<>*#%=?\u00e9\x00"))).Draw(d.t, field)
}

// Whatever a spec holds, it is refused or becomes the same declarations: no text of a spec turns into code.
func TestNoTextOfASpecBecomesCode(t *testing.T) {
	t.Parallel()
	want := []string{"Close", "NewHandler", "OpenStores", "Serve", "Stores", "Works", "_", "openStore", "withDefaults"}
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		fields := []string{"name", "module", "package", "job", "project", "region", "store", "schedule", "zone", "version"}
		fields = append(fields, "schedule", "zone", "schedule", "zone", "none", "none") // free text is accepted, and has to be quoted
		d := texts{t, rapid.SampledFrom(fields).Draw(t, "hostile field")}
		spec := generator.Spec{
			Name: "n" + d.draw("name", "[a-z]{1,8}"), Module: d.draw("module", "example.com/[a-z]{1,8}"),
			Package: d.draw("package", "[a-z]{3,8}z"), Jobs: []string{"j" + d.draw("job", "[a-z-]{1,8}")},
			Project: d.draw("project", "[a-z]{1,8}"), Region: d.draw("region", "[a-z]{1,8}"),
			Store:          "sqlite:///x" + d.draw("store", `/[a-z]{1,8}\.db`),
			Policy:         run.Policy{Schedule: d.draw("schedule", "[0-9*/ ]{5,9}"), TimeZone: d.draw("zone", "[A-Za-z/]{3,9}")},
			RuntimeVersion: d.draw("version", `v1\.[0-9]\.0`),
		}
		files, err := generator.Plan(spec)
		if err != nil {
			return
		}
		accepted++
		if strings.ContainsAny(spec.Store, "\"'`\n$\\") {
			t.Fatalf("store %q was accepted, which README.md gives to a shell", spec.Store)
		}
		for _, f := range files {
			switch {
			case f.Path == "handler_gen.go":
				if got := declared(t, f); !slices.Equal(got, want) && !slices.Equal(got, want[:len(want)-1]) {
					t.Fatalf("%+v: declares %v, want %v", spec, got, want)
				}
			case strings.HasSuffix(f.Path, ".go"):
				declared(t, f)
			case f.Path == "go.mod":
				if _, err := modfile.ParseLax(f.Path, f.Content, nil); err != nil {
					t.Fatalf("%+v: %v", spec, err)
				}
			}
		}
	})
	if accepted == 0 {
		t.Error("no drawn spec was accepted: nothing was tried")
	}
}

// The same holds for what only services have.
func TestNoTextOfAServiceBecomesCode(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"webhook": {"Configurer", "NewService", "OpenStore", "Serve", "Service", "Source", "Works", "_", "newDrain", "newReceiver", "newWorker", "senderKeys", "workOf"},
		"api":     {"Configurer", "Handler", "NewHandler", "OpenStore", "Operations", "Serve", "Shutdown", "TenantHeader", "_", "tenant"},
	}
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"webhook", "api"}).Draw(t, "kind")
		d := texts{t, rapid.SampledFrom([]string{"source", "event", "secret", "header", "code", "member", "none"}).Draw(t, "hostile field")}
		spec := generator.Spec{Name: "service", Kind: kind, Store: "sqlite"}
		if kind == "webhook" {
			spec.Webhook = &generator.Webhook{
				Source: d.draw("source", "[a-z]{1,8}"), Events: []string{"e" + d.draw("event", `\.[a-z]{1,8}`)}, Secrets: []string{"S" + d.draw("secret", "[A-Z]{1,8}")},
			}
		} else {
			spec.API = &generator.API{
				TenantHeader: "X" + d.draw("header", "[a-z]{1,8}"), Codes: map[string]string{"reused": "E" + d.draw("code", "[0-9]{1,5}")},
				CodeMember: d.draw("member", "[a-z]{3,8}z"),
			}
		}
		files, err := generator.Plan(spec)
		if err != nil {
			return
		}
		accepted++
		for _, f := range files {
			if strings.HasSuffix(f.Path, ".go") {
				got := declared(t, f)
				if f.Path == "handler_gen.go" && !slices.Equal(got, want[kind]) {
					t.Fatalf("%+v: declares %v, want %v", spec, got, want[kind])
				}
			}
		}
	})
	if accepted == 0 {
		t.Error("no drawn spec was accepted: nothing was tried")
	}
}

// declared returns the names that a Go file declares, sorted, without those it imports.
func declared(t *rapid.T, f generator.File) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	slices.Sort(names)
	return names
}
