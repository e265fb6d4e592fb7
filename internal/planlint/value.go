package planlint

import (
	"math"
	"slices"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// node is one value of a resource: what it is, whether it is known, whether it may be shown, and the expression that gives it.
type node struct {
	value, unknown, sensitive any
	// expression is the part of the configuration that gives the value. With configured, one that is missing there is computed by
	// the provider: while it is not known, nobody has set it.
	expression any
	configured bool
	// hide makes sensitive values unknown, for telling which messages depend on them.
	hide bool
}

// isUnknown says that the value is not known before apply.
func (n node) isUnknown() bool {
	return n.unknown == true && (!n.configured || n.expression != nil) || n.hide && n.sensitive == true
}

// given is a value that the configuration gives; what the provider fills in is left out.
func (n node) given() node {
	if n.configured && n.expression == nil {
		n.value, n.unknown = nil, nil
	}
	return n
}

// attribute is a part of an object.
func (n node) attribute(name string) node {
	child := n
	child.value = within(n.value, name)
	if n.unknown != true {
		child.unknown = within(n.unknown, name)
	}
	if n.sensitive != true {
		child.sensitive = within(n.sensitive, name)
	}
	if n.configured {
		child.expression = within(n.expression, name)
	}
	return child
}

func within(value any, name string) any {
	switch value := value.(type) {
	case object:
		return value.get(name)
	case index:
		return value[name]
	}
	return nil
}

// item is an element of a list.
func (n node) item(i int) node {
	child := n
	child.value = at(n.value, i)
	if n.unknown != true {
		child.unknown = at(n.unknown, i)
	}
	if n.sensitive != true {
		child.sensitive = at(n.sensitive, i)
	}
	// The blocks that a dynamic block makes are not part of the configuration's JSON.
	blocks, listed := n.expression.([]any)
	child.configured = n.configured && listed && i < len(blocks)
	child.expression = at(n.expression, i)
	return child
}

func at(list any, i int) any {
	items, _ := list.([]any)
	if i < len(items) {
		return items[i]
	}
	return nil
}

// block is a block that is there once. The value is Unset when it is not there, Unknown when that is not known.
func (n node) block(name string) (node, jobspec.Value[struct{}]) {
	list := n.attribute(name)
	// A dynamic block is not part of the configuration's JSON: one that is not known has been declared all the same.
	if list.unknown == true || list.isUnknown() {
		return node{}, jobspec.Unknown[struct{}]()
	}
	switch value := list.value.(type) {
	case []any:
		if len(value) > 0 {
			return list.item(0), jobspec.Known(struct{}{})
		}
	case object:
		return list, jobspec.Known(struct{}{})
	}
	return node{}, jobspec.Unset[struct{}]()
}

// each lists the elements of a list, and false when it is not known.
func (n node) each() ([]node, bool) {
	if n.isUnknown() {
		return nil, false
	}
	items, _ := n.value.([]any)
	nodes := make([]node, len(items))
	for i := range items {
		nodes[i] = n.item(i)
	}
	return nodes, true
}

// absent is what a value that is not there is: unset, or not known.
func absent[T any](n node) jobspec.Value[T] {
	if n.isUnknown() {
		return jobspec.Unknown[T]()
	}
	return jobspec.Unset[T]()
}

func (n node) text() jobspec.Value[string] {
	if text, ok := n.value.(string); ok && !n.isUnknown() {
		return jobspec.Known(text)
	}
	return absent[string](n)
}

func (n node) boolean() jobspec.Value[bool] {
	if flag, ok := n.value.(bool); ok && !n.isUnknown() {
		return jobspec.Known(flag)
	}
	return absent[bool](n)
}

// maxInteger is what larger numbers count as: above every bound there is, and still a duration when it counts seconds.
const maxInteger = math.MaxInt32

// integer is a whole number. One that is far out of any range is the greatest or least there is, so that its bounds are judged.
func (n node) integer() jobspec.Value[int] {
	if number, ok := n.value.(float64); ok && !n.isUnknown() {
		return jobspec.Known(int(max(-maxInteger, min(number, maxInteger))))
	}
	return absent[int](n)
}

// secondsOf is a number of seconds.
func (n node) secondsOf() jobspec.Value[time.Duration] {
	if number, ok := n.integer().Get(); ok {
		return jobspec.Known(time.Duration(number) * time.Second)
	}
	return absent[time.Duration](n)
}

// texts is a map of strings of which each may still be unknown.
func (n node) texts() jobspec.Value[map[string]jobspec.Value[string]] {
	if n.isUnknown() {
		return jobspec.Unknown[map[string]jobspec.Value[string]]()
	}
	values, isMap := n.value.(object)
	unknown, partly := n.unknown.(object)
	if !isMap && !partly {
		return jobspec.Unset[map[string]jobspec.Value[string]]()
	}
	// The expressions of a map's elements are not told apart by the configuration's JSON.
	n.configured = false
	n.value, n.unknown, n.sensitive = indexed(n.value), indexed(n.unknown), indexed(n.sensitive)
	texts := make(map[string]jobspec.Value[string], len(values))
	for _, m := range values {
		texts[m.name] = n.attribute(m.name).text()
	}
	for _, m := range unknown { // an element that is not known has no value at all
		texts[m.name] = n.attribute(m.name).text()
	}
	return jobspec.Known(texts)
}

// sensitiveInside says whether anything at or below the value is sensitive.
func sensitiveInside(mark any) bool {
	switch mark := mark.(type) {
	case bool:
		return mark
	case []any:
		if slices.ContainsFunc(mark, sensitiveInside) {
			return true
		}
	case object:
		for _, m := range mark {
			if sensitiveInside(m.value) {
				return true
			}
		}
	}
	return false
}
