package plantest

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// module is one instance of a module: its blocks, and what they evaluate to.
type module struct {
	*evaluation

	folder  string
	address string // module.a["x"]; empty: the root
	parent  *module
	inputs  map[string]cty.Value

	variables map[string]*hclsyntax.Block
	locals    map[string]hclsyntax.Expression
	resources map[string]*hclsyntax.Block // by type.name
	calls     map[string]*hclsyntax.Block
	outputs   map[string]*hclsyntax.Block

	values   map[string]cty.Value // evaluated resources, calls and locals
	pending  map[string]bool
	children []*module
}

// newModule parses the files of a folder.
func (e *evaluation) newModule(folder, address string, parent *module) (*module, error) {
	m := &module{
		evaluation: e, folder: folder, address: address, parent: parent,
		variables: map[string]*hclsyntax.Block{}, locals: map[string]hclsyntax.Expression{},
		resources: map[string]*hclsyntax.Block{}, calls: map[string]*hclsyntax.Block{}, outputs: map[string]*hclsyntax.Block{},
		values: map[string]cty.Value{}, pending: map[string]bool{},
	}
	found := false
	for _, name := range slices.Sorted(maps.Keys(e.files)) {
		if path.Dir(name) != path.Clean(folder) || path.Ext(name) != ".tf" {
			continue
		}
		found = true
		file, diags := hclsyntax.ParseConfig([]byte(e.files[name]), name, hcl.InitialPos)
		if diags.HasErrors() {
			return nil, diags
		}
		body, ok := file.Body.(*hclsyntax.Body)
		if !ok {
			return nil, fmt.Errorf("%s: no native syntax", name)
		}
		for _, b := range body.Blocks {
			if err := m.add(b); err != nil {
				return nil, err
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("module %q: there is no folder %s", address, folder)
	}
	return m, nil
}

func (m *module) add(b *hclsyntax.Block) error {
	switch b.Type {
	case "resource":
		m.resources[b.Labels[0]+"."+b.Labels[1]] = b
	case "variable":
		m.variables[b.Labels[0]] = b
	case "output":
		m.outputs[b.Labels[0]] = b
	case "module":
		m.calls[b.Labels[0]] = b
	case "locals":
		for name, a := range b.Body.Attributes {
			m.locals[name] = a.Expr
		}
	case "provider":
		m.providers[b.Labels[0]] = b
	case "moved":
		from, to := source(m.files, b.Body.Attributes["from"].Expr), source(m.files, b.Body.Attributes["to"].Expr)
		m.moved[to] = from
	case "terraform":
	default:
		return fmt.Errorf("%s: block %s is not known here", b.Range(), b.Type)
	}
	return nil
}

// source is an expression as written.
func source(files map[string]string, e hclsyntax.Expression) string {
	r := e.Range()
	return files[r.Filename][r.Start.Byte:r.End.Byte]
}

// evaluate evaluates everything in the module and below.
func (m *module) evaluate() error {
	for _, name := range slices.Sorted(maps.Keys(m.resources)) {
		if _, err := m.value(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.calls)) {
		if _, err := m.value("module." + name); err != nil {
			return err
		}
	}
	return nil
}

// value is what a resource, module call, local or variable evaluates to.
func (m *module) value(name string) (cty.Value, error) {
	if v, ok := m.values[name]; ok {
		return v, nil
	}
	if m.pending[name] {
		return cty.NilVal, fmt.Errorf("%s refers to itself", name)
	}
	m.pending[name] = true
	v, err := m.fresh(name)
	m.values[name] = v
	return v, err
}

func (m *module) fresh(name string) (cty.Value, error) {
	kind, rest, _ := strings.Cut(name, ".")
	switch kind {
	case "var":
		return m.variable(rest)
	case "local":
		return m.eval(m.locals[rest], nil)
	case "module":
		return m.call(rest)
	}
	return m.resource(name)
}

func (m *module) variable(name string) (cty.Value, error) {
	b, ok := m.variables[name]
	if !ok {
		return cty.NilVal, fmt.Errorf("there is no variable %s", name)
	}
	v, given := m.inputs[name]
	if a := b.Body.Attributes["default"]; !given {
		if a == nil {
			return cty.NilVal, fmt.Errorf("variable %s has no value", name)
		}
		var err error
		if v, err = m.eval(a.Expr, nil); err != nil {
			return v, err
		}
	}
	if a := b.Body.Attributes["sensitive"]; a != nil {
		v = v.Mark(secret)
	}
	return v, nil
}

// eval evaluates an expression once what it refers to is.
func (m *module) eval(e hclsyntax.Expression, extra map[string]cty.Value) (cty.Value, error) {
	if e == nil {
		return cty.NilVal, errors.New("an expression is missing")
	}
	tree := map[string]map[string]cty.Value{}
	variables := map[string]cty.Value{}
	for _, traversal := range e.Variables() {
		root := traversal.RootName()
		if v, ok := extra[root]; ok {
			variables[root] = v
			continue
		}
		if len(traversal) < 2 {
			continue // a name bound by the expression itself
		}
		step, ok := traversal[1].(hcl.TraverseAttr)
		if !ok {
			return cty.NilVal, fmt.Errorf("%s: not a reference", e.Range())
		}
		v, err := m.value(root + "." + step.Name)
		if err != nil {
			return v, fmt.Errorf("%s: %w", e.Range(), err)
		}
		if tree[root] == nil {
			tree[root] = map[string]cty.Value{}
		}
		tree[root][step.Name] = v
	}
	for root, members := range tree {
		variables[root] = cty.ObjectVal(members)
	}
	v, diags := e.Value(&hcl.EvalContext{Variables: variables, Functions: functions()})
	if diags.HasErrors() {
		return v, diags
	}
	return v, nil
}

// instances are the keys of a block with count or for_each; one nil key without.
func (m *module) instances(b *hclsyntax.Block) ([]instance, error) {
	if a := b.Body.Attributes["count"]; a != nil {
		v, err := m.eval(a.Expr, nil)
		if err != nil {
			return nil, err
		}
		n, _ := v.AsBigFloat().Int64()
		var all []instance
		for i := range n {
			number := cty.NumberIntVal(i)
			all = append(all, instance{index: strconv.FormatInt(i, 10), key: number, extra: map[string]cty.Value{
				"count": cty.ObjectVal(map[string]cty.Value{"index": number}),
			}})
		}
		return all, nil
	}
	if a := b.Body.Attributes["for_each"]; a != nil {
		v, err := m.eval(a.Expr, nil)
		if err != nil {
			return nil, err
		}
		var all []instance
		for it := v.ElementIterator(); it.Next(); {
			key, value := it.Element()
			if v.Type().IsSetType() {
				key = value
			}
			all = append(all, instance{index: fmt.Sprintf("%q", key.AsString()), key: key, extra: map[string]cty.Value{
				"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": value}),
			}})
		}
		slices.SortFunc(all, func(a, b instance) int { return strings.Compare(a.index, b.index) })
		return all, nil
	}
	return []instance{{}}, nil
}

// instance is one of a block's.
type instance struct {
	index string // as JSON; empty: the only one
	key   cty.Value
	extra map[string]cty.Value
}

func (i instance) suffix() string {
	if i.index == "" {
		return ""
	}
	return "[" + i.index + "]"
}

// gather makes the value of a block of its instances.
func gather(keys []instance, values []cty.Value) cty.Value {
	if len(keys) == 1 && keys[0].index == "" {
		return values[0]
	}
	if len(keys) > 0 && keys[0].key.Type() == cty.Number {
		return cty.TupleVal(values)
	}
	all := map[string]cty.Value{}
	for i, k := range keys {
		all[k.key.AsString()] = values[i]
	}
	return cty.ObjectVal(all)
}

// call evaluates a module call: an object of its outputs.
func (m *module) call(name string) (cty.Value, error) {
	b := m.calls[name]
	if b == nil {
		return cty.NilVal, fmt.Errorf("there is no module %s", name)
	}
	keys, err := m.instances(b)
	if err != nil {
		return cty.NilVal, err
	}
	where, err := m.eval(b.Body.Attributes["source"].Expr, nil)
	if err != nil {
		return cty.NilVal, err
	}
	var values []cty.Value
	for _, k := range keys {
		address := strings.TrimPrefix(m.address+".module."+name+k.suffix(), ".")
		child, err := m.newModule(path.Join(m.folder, where.AsString()), address, m)
		if err != nil {
			return cty.NilVal, err
		}
		m.children = append(m.children, child)
		child.inputs = map[string]cty.Value{}
		for input, a := range b.Body.Attributes {
			if input == "source" || input == "for_each" || input == "count" {
				continue
			}
			if child.inputs[input], err = m.eval(a.Expr, k.extra); err != nil {
				return cty.NilVal, err
			}
		}
		if err := child.evaluate(); err != nil {
			return cty.NilVal, err
		}
		outputs := map[string]cty.Value{}
		for output, o := range child.outputs {
			if outputs[output], err = child.eval(o.Body.Attributes["value"].Expr, nil); err != nil {
				return cty.NilVal, err
			}
		}
		values = append(values, cty.ObjectVal(outputs))
	}
	return gather(keys, values), nil
}
