package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// planFile plans the handler that a YAML or JSON file describes. Errors begin with file:line:column where they have a place.
func planFile(path, version string) ([]generator.File, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the spec: %w", err)
	}
	file, err := parseSpecFile(path, content)
	if err != nil {
		return nil, err
	}
	files, err := generator.Plan(withVersion(file.spec, version))
	return files, eachSpecError(err, func(e *generator.SpecError) error { return file.place(e) })
}

// specFile is a spec and where its fields stand in the file.
type specFile struct {
	path   string
	spec   generator.Spec
	fields map[string]ast.Node
}

func parseSpecFile(path string, content []byte) (*specFile, error) {
	f := &specFile{path: path, fields: map[string]ast.Node{}}
	tree, err := parser.ParseBytes(content, 0)
	var syntax yaml.Error
	switch {
	case errors.As(err, &syntax) && syntax.GetToken() != nil:
		at := syntax.GetToken().Position
		return nil, fmt.Errorf("%s:%d:%d: %s", path, at.Line, at.Column, syntax.GetMessage())
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var root ast.Node
	for _, document := range tree.Docs {
		switch {
		case document.Body == nil:
		case root != nil:
			return nil, f.errorAt(document.Body, "a spec is one document, this is a second one")
		default:
			root = document.Body
		}
	}
	if root == nil {
		return nil, fmt.Errorf("%s: the file is empty: give at least a name", path)
	}
	return f, f.readSpec(root)
}

func (f *specFile) readSpec(root ast.Node) error {
	texts := map[string]*string{
		"name": &f.spec.Name, "kind": &f.spec.Kind, "module": &f.spec.Module, "package": &f.spec.Package, "project": &f.spec.Project,
		"region": &f.spec.Region, "store": &f.spec.Store, "runtime_version": &f.spec.RuntimeVersion,
	}
	return f.eachField(root, "", func(key string, value ast.Node) error {
		if text, ok := texts[key]; ok {
			return f.readText(key, value, text)
		}
		switch key {
		case "jobs":
			return f.readJobs(value)
		case "policy":
			return f.readPolicy(value)
		case "forward":
			return f.readForward(value)
		case "webhook":
			f.spec.Webhook = &generator.Webhook{}
			return f.readPart(value, webhookFields(f.spec.Webhook))
		case "api":
			f.spec.API = &generator.API{}
			return f.readPart(value, apiFields(f.spec.API))
		default:
			return f.errorAt(f.fields[key], key+": a spec has no such field; it has name, kind, module, package, jobs, forward, webhook, api, "+
				"project, region, store, policy and runtime_version")
		}
	})
}

// eachField calls read for each field of a mapping and joins the errors, so that all are reported at once.
func (f *specFile) eachField(node ast.Node, prefix string, read func(key string, value ast.Node) error) error {
	mapping, ok := node.(ast.MapNode)
	if !ok {
		return f.errorAt(node, orSpec(prefix)+" must be a mapping of fields to values")
	}
	var errs []error
	for it := mapping.MapRange(); it.Next(); {
		key := prefix + it.Key().GetToken().Value
		f.fields[key] = it.Key()
		err := read(key, it.Value())
		if _, scalar := it.Value().(ast.ScalarNode); scalar {
			f.fields[key] = it.Value()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func orSpec(prefix string) string {
	if prefix == "" {
		return "a spec"
	}
	return strings.TrimSuffix(prefix, ".")
}

func (f *specFile) readText(field string, node ast.Node, into *string) error {
	switch node.(type) {
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		*into = textOf(node)
		return nil
	default:
		return f.errorAt(node, field+": it must be a text")
	}
}

// textOf returns a scalar as it is written.
func textOf(node ast.Node) string {
	if literal, ok := node.(*ast.LiteralNode); ok {
		return literal.Value.Value
	}
	return node.GetToken().Value
}

func (f *specFile) readJobs(node ast.Node) error {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		return f.errorAt(node, "jobs: it must be a list of job names")
	}
	var errs []error
	for i, value := range sequence.Values {
		field := fmt.Sprintf("jobs[%d]", i)
		f.fields[field] = value
		var name string
		errs = append(errs, f.readText(field, value, &name))
		f.spec.Jobs = append(f.spec.Jobs, name)
	}
	return errors.Join(errs...)
}

func (f *specFile) readPolicy(node ast.Node) error {
	policy := newPolicyText()
	err := f.eachField(node, "policy.", func(key string, value ast.Node) error {
		var text string
		err := f.readText(key, value, &text)
		policy.add(key[len("policy."):], text)
		return err
	})
	if err != nil {
		return err
	}
	f.spec.Policy, err = policy.parse()
	if refused, ok := errors.AsType[*generator.SpecError](err); ok {
		return f.place(refused)
	}
	return err
}

// place puts the position of a field before its error.
func (f *specFile) place(e *generator.SpecError) error {
	if node, ok := f.fields[e.Field]; ok {
		return f.errorAt(node, e.Error())
	}
	return fmt.Errorf("%s: %w", f.path, e)
}

func (f *specFile) errorAt(node ast.Node, message string) error {
	at := start(node).GetToken().Position
	return fmt.Errorf("%s:%d:%d: %s", f.path, at.Line, at.Column, message)
}

// start returns the node that a text begins with: a mapping's own token is its first colon.
func start(node ast.Node) ast.Node {
	if mapping, ok := node.(ast.MapNode); ok {
		if it := mapping.MapRange(); it.Next() {
			return it.Key()
		}
	}
	return node
}
