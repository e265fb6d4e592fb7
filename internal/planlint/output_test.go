package planlint_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint"
)

// everyOutput is a result in each format.
func everyOutput(t *testing.T, r planlint.Result) map[string][]byte {
	t.Helper()
	outputs := map[string][]byte{}
	for format, write := range map[string]func(*bytes.Buffer) error{
		"text":  func(b *bytes.Buffer) error { return planlint.WriteText(b, r) },
		"json":  func(b *bytes.Buffer) error { return planlint.WriteJSON(b, r) },
		"sarif": func(b *bytes.Buffer) error { return planlint.WriteSARIF(b, r, "plan.json", "1.2.3") },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		outputs[format] = b.Bytes()
	}
	return outputs
}

func TestSensitiveValuesAppearInNoOutput(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, e := range corpus(t) {
		if !strings.HasPrefix(e.name, "sensitive") {
			continue
		}
		seen++
		plan := e.plan(t)
		if !bytes.Contains(plan, []byte("hunter")) {
			t.Fatalf("%s: the plan holds no secret to leak", e.name)
		}
		for format, output := range everyOutput(t, e.check(t, plan)) {
			for _, secret := range []string{"hunter", "Vilnius", "Zagreb", "177s"} {
				if i := bytes.Index(output, []byte(secret)); i >= 0 {
					t.Errorf("%s as %s shows %q: …%s…", e.name, format, secret, output[max(0, i-80):min(len(output), i+80)])
				}
			}
		}
	}
	if seen == 0 {
		t.Error("the corpus has no sensitive values")
	}
}

// sarifSchema is the schema of OASIS, which the SARIF library carries as a constant of its source.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	pkg, err := build.Import("github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if s, err := strconv.Unquote(literal.Value); err == nil && len(s) > len(text) {
				text = s
			}
		}
		return true
	})
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("sarif.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestSARIFOfEveryConfigurationFitsItsSchema(t *testing.T) {
	t.Parallel()
	schema := sarifSchema(t)
	if err := schema.Validate(map[string]any{"version": "2.1.0", "runs": "none"}); err == nil {
		t.Fatal("the schema takes anything")
	}
	for _, e := range corpus(t) {
		result := e.check(t, e.plan(t))
		output := everyOutput(t, result)["sarif"]
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(output))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); err != nil {
			t.Errorf("%s: %v", e.name, err)
		}
		checkForCodeScanning(t, e.name, output, len(result.Findings)+len(result.Suppressed))
	}
}

// checkForCodeScanning holds a report against what GitHub asks for beyond the schema.
func checkForCodeScanning(t *testing.T, name string, output []byte, want int) {
	t.Helper()
	var report struct {
		Runs []struct {
			Results []struct {
				RuleID    string `json:"ruleId"`
				RuleIndex int    `json:"ruleIndex"`
				Level     string `json:"level"`
				Locations []struct {
					Physical struct {
						Artifact struct {
							URI string `json:"uri"`
						} `json:"artifactLocation"`
						Region struct {
							Line int `json:"startLine"`
						} `json:"region"`
					} `json:"physicalLocation"`
				} `json:"locations"`
				Fingerprints map[string]string `json:"partialFingerprints"`
			} `json:"results"`
			Tool struct {
				Driver struct {
					Rules []struct {
						ID string `json:"id"`
					} `json:"rules"`
				} `json:"driver"`
			} `json:"tool"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(output, &report); err != nil {
		t.Fatal(err)
	}
	run := report.Runs[0]
	if len(run.Results) != want {
		t.Errorf("%s: %d results, want %d", name, len(run.Results), want)
	}
	for _, r := range run.Results {
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("%s: rule index of %s is that of %s", name, r.RuleID, run.Tool.Driver.Rules[r.RuleIndex].ID)
		}
		if len(r.Locations) == 0 || r.Locations[0].Physical.Artifact.URI == "" || r.Locations[0].Physical.Region.Line < 1 {
			t.Errorf("%s: %s has no place", name, r.RuleID)
		}
		if len(r.Fingerprints) == 0 {
			t.Errorf("%s: %s has no fingerprint", name, r.RuleID)
		}
	}
}

func TestFindingsOfOneResourceHaveFingerprintsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, e := range corpus(t) {
		seen := map[string]bool{}
		for _, f := range e.check(t, e.plan(t)).Findings {
			key := f.Address + " " + string(f.Rule) + " " + f.Path.String()
			if seen[key] {
				t.Errorf("%s: %s is found twice", e.name, key)
			}
			seen[key] = true
		}
	}
}
