package plantest

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// instanceOf is one resource of the result.
type instanceOf struct {
	address, module, kind, name, index string
	value                              cty.Value
	schema                             *block
}

// resource evaluates a resource block and adds its instances to the result.
func (m *module) resource(name string) (cty.Value, error) {
	b := m.resources[name]
	if b == nil {
		return cty.NilVal, fmt.Errorf("there is no resource %s", name)
	}
	schema := m.schemas[b.Labels[0]]
	if schema == nil {
		return cty.NilVal, fmt.Errorf("%s: type %s is not known here", b.Range(), b.Labels[0])
	}
	keys, err := m.instances(b)
	if err != nil {
		return cty.NilVal, err
	}
	var values []cty.Value
	for _, k := range keys {
		address := strings.TrimPrefix(m.address+"."+name+k.suffix(), ".")
		prior := cty.NilVal
		if m.prior != nil {
			from := address
			if old, ok := m.moved[strings.TrimSuffix(address, k.suffix())]; ok {
				from = old
			} else if old, ok := m.moved[address]; ok {
				from = old
			}
			if existing, ok := m.prior[from]; ok {
				prior = existing.value
			}
		}
		v, err := m.inside(b.Body, schema, k.extra, prior)
		if err != nil {
			return v, err
		}
		if prior != cty.NilVal && replaces(schema, prior, v) { // nothing that is computed stays
			if v, err = m.inside(b.Body, schema, k.extra, cty.NilVal); err != nil {
				return v, err
			}
		}
		values = append(values, v)
		m.found = append(m.found, instanceOf{address, m.address, b.Labels[0], b.Labels[1], k.index, v, schema})
	}
	return gather(keys, values), nil
}

// inside evaluates the body of a resource or block. Computed attributes keep their prior value; without one they are unknown, or as
// the schema says once everything is applied.
func (m *module) inside(body *hclsyntax.Body, schema *block, extra map[string]cty.Value, prior cty.Value) (cty.Value, error) {
	object := map[string]cty.Value{}
	for name, a := range body.Attributes {
		if name == "count" || name == "for_each" || name == "depends_on" || name == "provider" {
			continue
		}
		if _, ok := schema.attributes[name]; !ok {
			return cty.NilVal, fmt.Errorf("%s: there is no attribute %s", a.Range(), name)
		}
		v, err := m.eval(a.Expr, extra)
		if err != nil {
			return v, err
		}
		object[name] = v
	}
	for _, name := range schema.order {
		a := schema.attributes[name]
		if v, set := object[name]; set && !v.IsNull() {
			continue
		}
		before := cty.NilVal
		if prior != cty.NilVal && !prior.IsNull() && prior.Type().IsObjectType() && prior.Type().HasAttribute(name) {
			before = prior.GetAttr(name)
		}
		switch {
		case a.provider:
			object[name] = m.providerValue(name)
		case a.fallback != nil:
			object[name] = scalar(*a.fallback)
		case a.computed && before != cty.NilVal:
			object[name] = before
		case a.computed && m.applied:
			object[name] = fill(a.applied, object)
		case a.computed:
			object[name] = cty.UnknownVal(cty.String)
		default:
			object[name] = cty.NullVal(cty.String)
		}
	}
	for name, inner := range schema.blocks {
		blocks, err := m.blocks(body, name, inner, extra, prior)
		if err != nil {
			return cty.NilVal, err
		}
		object[name] = blocks
	}
	for _, b := range body.Blocks {
		if b.Type != "dynamic" && b.Type != "lifecycle" && schema.blocks[b.Type] == nil {
			return cty.NilVal, fmt.Errorf("%s: there is no block %s", b.Range(), b.Type)
		}
	}
	return cty.ObjectVal(object), nil
}

// blocks evaluates the blocks of one name, dynamic ones among them.
func (m *module) blocks(body *hclsyntax.Body, name string, schema *block, extra map[string]cty.Value, prior cty.Value) (cty.Value, error) {
	var all []cty.Value
	add := func(inner *hclsyntax.Body, extra map[string]cty.Value) error {
		before := cty.NilVal
		if prior != cty.NilVal && prior.GetAttr(name).LengthInt() > len(all) {
			before = prior.GetAttr(name).Index(cty.NumberIntVal(int64(len(all))))
		}
		v, err := m.inside(inner, schema, extra, before)
		all = append(all, v)
		return err
	}
	for _, b := range body.Blocks {
		switch {
		case b.Type == name:
			if err := add(b.Body, extra); err != nil {
				return cty.NilVal, err
			}
		case b.Type == "dynamic" && b.Labels[0] == name:
			each, err := m.eval(b.Body.Attributes["for_each"].Expr, extra)
			if err != nil {
				return cty.NilVal, err
			}
			if !each.IsKnown() {
				return cty.UnknownVal(cty.DynamicPseudoType), nil
			}
			for it := each.ElementIterator(); it.Next(); {
				key, value := it.Element()
				inner := map[string]cty.Value{name: cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})}
				maps.Copy(inner, extra)
				if err := add(b.Body.Blocks[0].Body, inner); err != nil {
					return cty.NilVal, err
				}
			}
		}
	}
	if len(all) == 0 && name == "status" { // computed as a whole
		if !m.applied && prior == cty.NilVal {
			return cty.UnknownVal(cty.DynamicPseudoType), nil
		}
		if prior != cty.NilVal {
			return prior.GetAttr(name), nil
		}
		v, err := m.inside(&hclsyntax.Body{}, schema, extra, cty.NilVal)
		return cty.TupleVal([]cty.Value{v}), err
	}
	return cty.TupleVal(all), nil
}

func (m *module) providerValue(name string) cty.Value {
	for _, b := range m.providers {
		if a := b.Body.Attributes[name]; a != nil {
			if v, err := m.root().eval(a.Expr, nil); err == nil {
				return v
			}
		}
	}
	return cty.UnknownVal(cty.String)
}

func (m *module) root() *module {
	for m.parent != nil {
		m = m.parent
	}
	return m
}

// fill writes what a computed attribute is once it is applied.
func fill(applied string, object map[string]cty.Value) cty.Value {
	for name, v := range object {
		if v.IsKnown() && !v.IsNull() && !v.IsMarked() && v.Type() == cty.String {
			applied = strings.ReplaceAll(applied, "{"+name+"}", v.AsString())
		}
	}
	return scalar(applied)
}

// scalar reads #5 and 60 as numbers, true and false as such, all else as text.
func scalar(text string) cty.Value {
	if n, err := strconv.Atoi(strings.TrimPrefix(text, "#")); err == nil {
		return cty.NumberIntVal(int64(n))
	}
	switch text {
	case "":
		return cty.NullVal(cty.String)
	case "true", "false":
		return cty.BoolVal(text == "true")
	}
	return cty.StringVal(text)
}

// replaces says that the change needs another resource.
func replaces(schema *block, before, after cty.Value) bool {
	for name, a := range schema.attributes {
		if !a.replaces {
			continue
		}
		was, _ := before.GetAttr(name).UnmarkDeep()
		now, _ := after.GetAttr(name).UnmarkDeep()
		if !now.IsKnown() || !was.RawEquals(now) {
			return true
		}
	}
	return false
}
