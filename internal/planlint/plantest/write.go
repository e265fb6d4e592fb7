package plantest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

type object = map[string]any

// changes are the resource_changes.
func (e *evaluation) changes() []object {
	var all []object
	left := map[string]bool{}
	for address := range e.prior {
		left[address] = true
	}
	for _, r := range e.found {
		previous := ""
		before, existed := e.prior[r.address]
		if from, ok := e.movedFrom(r); ok {
			before, existed = e.prior[from]
			previous = from
		}
		delete(left, before.address)
		after, unknown, sensitive := parts(r.value)
		change := object{
			"actions": []string{"create"}, "before": nil, "after": after, "after_unknown": orEmpty(unknown), "before_sensitive": false,
			"after_sensitive": orEmpty(sensitive),
		}
		if existed {
			was, _, hidden := parts(before.value)
			change["before"], change["before_sensitive"] = was, orEmpty(hidden)
			change["actions"] = actions(r, before)
		}
		out := r.json(change)
		if previous != "" {
			out["previous_address"] = previous
		}
		all = append(all, out)
	}
	for _, address := range slices.Sorted(maps.Keys(left)) {
		r := e.prior[address]
		was, _, hidden := parts(r.value)
		all = append(all, r.json(object{
			"actions": []string{"delete"}, "before": was, "after": nil, "after_unknown": object{}, "before_sensitive": orEmpty(hidden),
			"after_sensitive": false,
		}))
	}
	return all
}

func (e *evaluation) movedFrom(r instanceOf) (string, bool) {
	for to, from := range e.moved {
		if _, existed := e.prior[from]; existed && (to == r.address || r.address == to+"["+r.index+"]") {
			return from, true
		}
	}
	return "", false
}

func actions(r, before instanceOf) []string {
	was, _ := before.value.UnmarkDeep()
	now, _ := r.value.UnmarkDeep()
	switch {
	case replaces(r.schema, before.value, r.value):
		return []string{"delete", "create"}
	case now.IsWhollyKnown() && was.RawEquals(now):
		return []string{"no-op"}
	}
	return []string{"update"}
}

func (r instanceOf) json(change object) object {
	out := object{
		"address": r.address, "mode": "managed", "type": r.kind, "name": r.name,
		"provider_name": "registry.terraform.io/" + providerOf(r.kind), "change": change,
	}
	if r.module != "" {
		out["module_address"] = r.module
	}
	if r.index != "" {
		out["index"] = json.RawMessage(r.index)
	}
	return out
}

func providerOf(kind string) string {
	name, _, _ := strings.Cut(kind, "_")
	if name == "idempotent" {
		return "idempotent-jobs/idempotent"
	}
	return "hashicorp/" + name
}

func orEmpty(v any) any {
	if v == nil {
		return object{}
	}
	return v
}

// parts splits a value into what is known, which parts are unknown and which are sensitive, as a change has them.
func parts(v cty.Value) (known, unknown, sensitive any) {
	if v.IsMarked() {
		v, _ = v.UnmarkDeep()
		known, unknown, _ = parts(v)
		return known, unknown, true
	}
	switch {
	case !v.IsKnown():
		return nil, true, nil
	case v.IsNull():
		return nil, nil, nil
	case v.Type() == cty.String:
		return v.AsString(), nil, nil
	case v.Type() == cty.Bool:
		return v.True(), nil, nil
	case v.Type() == cty.Number:
		n, _ := v.AsBigFloat().Float64()
		return n, nil, nil
	case v.Type().IsObjectType() || v.Type().IsMapType():
		values, unknowns, secrets := object{}, object{}, object{}
		for it := v.ElementIterator(); it.Next(); {
			key, item := it.Element()
			value, u, s := parts(item)
			if u != true {
				values[key.AsString()] = value
			}
			if u != nil {
				unknowns[key.AsString()] = u
			}
			if s != nil {
				secrets[key.AsString()] = s
			}
		}
		return values, orNone(unknowns), orNone(secrets)
	}
	values, unknowns, secrets := []any{}, []any{}, []any{}
	anyUnknown, anySecret := false, false
	for it := v.ElementIterator(); it.Next(); {
		_, item := it.Element()
		value, u, s := parts(item)
		values, unknowns, secrets = append(values, value), append(unknowns, orEmpty(u)), append(secrets, orEmpty(s))
		anyUnknown, anySecret = anyUnknown || u != nil, anySecret || s != nil
	}
	unknown, sensitive = any(unknowns), any(secrets)
	if !anyUnknown {
		unknown = nil
	}
	if !anySecret {
		sensitive = nil
	}
	return values, unknown, sensitive
}

func orNone(o object) any {
	if len(o) == 0 {
		return nil
	}
	return o
}

// treeJSON is a module tree of values.
func treeJSON(found []instanceOf) object {
	type node struct {
		address   string
		resources []object
		children  []string
	}
	nodes := map[string]*node{"": {}}
	var get func(address string) *node
	get = func(address string) *node {
		if n := nodes[address]; n != nil {
			return n
		}
		n := &node{address: address}
		nodes[address] = n
		parent := ""
		if i := strings.LastIndex(address, ".module."); i >= 0 {
			parent = address[:i]
		}
		p := get(parent)
		p.children = append(p.children, address)
		return n
	}
	found = slices.Clone(found)
	slices.SortFunc(found, func(a, b instanceOf) int { return strings.Compare(a.address, b.address) })
	for _, r := range found {
		values, _, sensitive := parts(r.value)
		out := r.json(nil)
		delete(out, "change")
		delete(out, "module_address")
		out["values"], out["sensitive_values"], out["schema_version"] = values, orEmpty(sensitive), 1
		n := get(r.module)
		n.resources = append(n.resources, out)
	}
	var write func(address string) object
	write = func(address string) object {
		n := nodes[address]
		out := object{}
		if n.address != "" {
			out["address"] = n.address
		}
		if len(n.resources) > 0 {
			out["resources"] = n.resources
		}
		var children []object
		for _, child := range n.children {
			children = append(children, write(child))
		}
		if len(children) > 0 {
			out["child_modules"] = children
		}
		return out
	}
	return write("")
}

func variablesJSON(root *module) object {
	out := object{}
	for name := range root.variables {
		v, err := root.value("var." + name)
		if err == nil {
			known, _, _ := parts(v)
			out[name] = object{"value": known}
		}
	}
	return out
}

func (e *evaluation) providersJSON(root *module) object {
	out := object{}
	for name, b := range e.providers {
		out[name] = object{"name": name, "full_name": "registry.terraform.io/" + providerOf(name), "expressions": root.expressions(b.Body)}
	}
	return out
}

// configJSON is a module of the configuration.
func (m *module) configJSON() object {
	resources := []object{}
	for _, address := range slices.Sorted(maps.Keys(m.resources)) {
		b := m.resources[address]
		provider, _, _ := strings.Cut(b.Labels[0], "_")
		r := object{
			"address": address, "mode": "managed", "type": b.Labels[0], "name": b.Labels[1], "provider_config_key": m.providerKey(provider),
			"expressions": m.expressions(b.Body), "schema_version": 1,
		}
		if a := b.Body.Attributes["for_each"]; a != nil {
			r["for_each_expression"] = m.expression(a.Expr)
		}
		if a := b.Body.Attributes["count"]; a != nil {
			r["count_expression"] = m.expression(a.Expr)
		}
		resources = append(resources, r)
	}
	outputs, calls := object{}, object{}
	for name, b := range m.outputs {
		outputs[name] = object{"expression": m.expression(b.Body.Attributes["value"].Expr)}
	}
	for _, child := range m.children {
		name, _, _ := strings.Cut(child.address[strings.LastIndex(child.address, "module.")+len("module."):], "[")
		b := m.calls[name]
		inputs := m.expressions(b.Body)
		where := inputs["source"]
		delete(inputs, "source")
		calls[name] = object{"source": where.(object)["constant_value"], "expressions": inputs, "module": child.configJSON()} //nolint:forcetypeassert // sources are constants
	}
	out := object{"resources": resources}
	if len(outputs) > 0 {
		out["outputs"] = outputs
	}
	if len(calls) > 0 {
		out["module_calls"] = calls
	}
	return out
}

func (m *module) providerKey(provider string) string {
	if m.address == "" {
		return provider
	}
	return m.address + ":" + provider
}

func (m *module) expressions(body *hclsyntax.Body) object {
	out := object{}
	for name, a := range body.Attributes {
		if name == "for_each" || name == "count" || name == "depends_on" {
			continue
		}
		out[name] = m.expression(a.Expr)
	}
	for _, b := range body.Blocks {
		if b.Type == "dynamic" || b.Type == "lifecycle" {
			continue
		}
		list, _ := out[b.Type].([]any)
		out[b.Type] = append(list, m.expressions(b.Body))
	}
	return out
}

func (m *module) expression(e hclsyntax.Expression) object {
	if len(e.Variables()) > 0 {
		return object{"references": references(m.files, e)}
	}
	v, err := m.eval(e, nil)
	if err != nil || v.ContainsMarked() {
		return object{}
	}
	known, _, _ := parts(v)
	return object{"constant_value": known}
}
