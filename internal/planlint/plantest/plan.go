package plantest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// evaluation is the reading of one configuration.
type evaluation struct {
	files     map[string]string
	schemas   map[string]*block
	prior     map[string]instanceOf // by address; nil: nothing was applied before
	applied   bool                  // computed values are known
	providers map[string]*hclsyntax.Block
	moved     map[string]string
	found     []instanceOf
}

// Files is a configuration: path to content, with forward slashes.
type Files map[string]string

// Plan is the JSON of a plan that takes what before describes to what after describes. Without before everything is created.
func Plan(before, after Files) ([]byte, error) {
	var prior map[string]instanceOf
	if len(before) > 0 {
		old, _, err := evaluate(before, nil, true)
		if err != nil {
			return nil, fmt.Errorf("before: %w", err)
		}
		prior = map[string]instanceOf{}
		for _, r := range old.found {
			prior[r.address] = r
		}
	}
	e, root, err := evaluate(after, prior, false)
	if err != nil {
		return nil, err
	}
	document := object{
		"format_version": "1.2", "terraform_version": "1.11.4", "applyable": true, "complete": true, "errored": false,
		"variables":        variablesJSON(root),
		"planned_values":   object{"root_module": treeJSON(e.found)},
		"resource_changes": e.changes(),
		"configuration":    object{"provider_config": e.providersJSON(root), "root_module": root.configJSON()},
	}
	if prior != nil {
		document["prior_state"] = object{
			"format_version": "1.0", "terraform_version": "1.11.4",
			"values": object{"root_module": treeJSON(slices.Collect(maps.Values(prior)))},
		}
	}
	return json.MarshalIndent(document, "", "  ")
}

// State is the JSON of the state after the configuration was applied.
func State(files Files) ([]byte, error) {
	e, _, err := evaluate(files, nil, true)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(object{
		"format_version": "1.0", "terraform_version": "1.11.4", "values": object{"root_module": treeJSON(e.found)},
	}, "", "  ")
}

func evaluate(files Files, prior map[string]instanceOf, applied bool) (*evaluation, *module, error) {
	known, err := schemas()
	if err != nil {
		return nil, nil, err
	}
	e := &evaluation{
		files: files, schemas: known, prior: prior, applied: applied, providers: map[string]*hclsyntax.Block{}, moved: map[string]string{},
	}
	root, err := e.newModule(".", "", nil)
	if err != nil {
		return nil, nil, err
	}
	err = root.evaluate()
	slices.SortFunc(e.found, func(a, b instanceOf) int { return strings.Compare(a.address, b.address) })
	return e, root, err
}

// secret marks sensitive values.
const secret = "sensitive"

func functions() map[string]function.Function {
	text := func(f func(string) string) function.Function {
		return function.New(&function.Spec{
			Params: []function.Parameter{{Name: "text", Type: cty.String}},
			Type:   function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return cty.StringVal(f(args[0].AsString())), nil
			},
		})
	}
	return map[string]function.Function{
		"jsonencode":   stdlib.JSONEncodeFunc,
		"format":       stdlib.FormatFunc,
		"split":        stdlib.SplitFunc,
		"base64encode": text(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		"toset": function.New(&function.Spec{
			Params: []function.Parameter{{Name: "items", Type: cty.DynamicPseudoType}},
			Type:   function.StaticReturnType(cty.Set(cty.String)),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return cty.SetVal(args[0].AsValueSlice()), nil
			},
		}),
		"sensitive": function.New(&function.Spec{
			Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowMarked: true, AllowUnknown: true, AllowDynamicType: true}},
			Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
			Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0].Mark(secret), nil },
		}),
	}
}

// references are what the plan's JSON lists for an expression: each reference and what contains it.
func references(files map[string]string, e hclsyntax.Expression) []string {
	var all []string
	for _, traversal := range e.Variables() {
		r := traversal.SourceRange()
		text := files[r.Filename][r.Start.Byte:r.End.Byte]
		least := 2
		for n := len(traversal); n >= least; n-- {
			end := traversal[n-1].(interface{ SourceRange() hcl.Range }).SourceRange().End.Byte //nolint:forcetypeassert // every step has one
			if part := text[:end-r.Start.Byte]; !slices.Contains(all, part) {
				all = append(all, part)
			}
			if root := traversal.RootName(); root == "var" || root == "each" || root == "local" || root == "count" {
				break
			}
		}
	}
	return all
}
