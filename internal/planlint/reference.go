package planlint

import (
	"maps"
	"slices"
	"strings"
)

// maxSteps bounds how far a reference is followed through variables and outputs.
const maxSteps = 30

// referred lists the resources that an expression of r refers to, through variables and outputs of modules. Where a block has
// several instances, those that share the module and the key with r are meant, if there are any.
func (c *checker) referred(r *resource, e any) []*resource {
	if r.modules == nil {
		return nil
	}
	blocks := map[string]bool{}
	r.modules.follow(expressionOf(e).References, r.declared, maxSteps, blocks)
	var found []*resource
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		found = append(found, nearest(r, c.byBlock[block])...)
	}
	return found
}

// follow collects the blocks behind references, as module path, a slash and the block's address.
func (m *configModule) follow(references []string, from *configResource, steps int, blocks map[string]bool) {
	if m == nil || steps == 0 {
		return
	}
	for _, reference := range references {
		parts := addressSteps(reference)
		if len(parts) < 2 {
			continue
		}
		switch parts[0] {
		case "var":
			m.parent.follow(m.inputs[parts[1]].References, nil, steps-1, blocks)
		case "module":
			child, ok := m.children[parts[1]]
			if !ok {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(child.outputs)) {
				// module.m[each.key].out is listed as module.m: any of its outputs can be meant.
				if len(parts) < 3 && !slices.ContainsFunc(references, reaches(reference)) || len(parts) > 2 && parts[2] == name {
					child.follow(child.outputs[name].References, nil, steps-1, blocks)
				}
			}
		case "each":
			if from != nil {
				m.follow(from.forEach.References, nil, steps-1, blocks)
			}
		default:
			if block := parts[0] + "." + parts[1]; m.resources[block] != nil {
				blocks[m.path()+"/"+block] = true
			}
		}
	}
}

// reaches says whether a reference goes on from another.
func reaches(reference string) func(string) bool {
	return func(other string) bool {
		rest, ok := strings.CutPrefix(other, reference)
		return ok && strings.HasPrefix(strings.TrimLeft(rest, "[]\"'0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"), ".")
	}
}

// nearest narrows the instances of a block to those that r means.
func nearest(r *resource, instances []*resource) []*resource {
	for _, same := range []func(*resource) bool{
		func(o *resource) bool { return o.module == r.module },
		func(o *resource) bool { return slices.Equal(o.keys(), r.keys()) },
		func(o *resource) bool { return o.index == r.index },
	} {
		if narrowed := slices.DeleteFunc(slices.Clone(instances), func(o *resource) bool { return !same(o) }); len(narrowed) > 0 {
			instances = narrowed
		}
	}
	return instances
}

// blockKey is where a resource's block stands, as follow writes it.
func blockKey(r *resource) string {
	return strings.Join(modulePath(r.module), ".") + "/" + r.block()
}
