package planlint

import (
	"encoding/json"
	"strings"
)

// configModule is a module of the configuration, as the plan's JSON has it.
type configModule struct {
	name      string
	parent    *configModule
	inputs    map[string]expression // of the call, by variable
	outputs   map[string]expression
	resources map[string]*configResource // by block, such as google_cloud_scheduler_job.nightly
	children  map[string]*configModule
}

// configResource is a block of a relevant type.
type configResource struct {
	expressions json.RawMessage
	provider    string
	forEach     expression
}

// expression is what the plan's JSON tells of one: what it refers to, or its constant value.
type expression struct {
	References []string `json:"references"`
	Constant   any      `json:"constant_value"`
}

// providerConfig is a provider block.
type providerConfig struct {
	Expressions map[string]any `json:"expressions"`
}

func (r *reader) configuration() error {
	return r.object(func(key string) error {
		switch key {
		case "provider_config":
			return r.decode(&r.document.providers)
		case "root_module":
			root := &configModule{}
			r.document.config = root
			return r.configModule(root, 0)
		}
		return r.skip()
	})
}

func (r *reader) configModule(m *configModule, depth int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	m.resources, m.children, m.outputs = map[string]*configResource{}, map[string]*configModule{}, map[string]expression{}
	return r.object(func(key string) error {
		switch key {
		case "resources":
			return r.array(func() error { return r.configResource(m) })
		case "outputs":
			return r.object(func(name string) error {
				var output struct {
					Expression expression `json:"expression"`
				}
				err := r.decode(&output)
				m.outputs[name] = output.Expression
				return err
			})
		case "module_calls":
			return r.object(func(name string) error { return r.moduleCall(m, name, depth) })
		}
		return r.skip()
	})
}

func (r *reader) configResource(m *configModule) error {
	var c struct {
		Mode        string          `json:"mode"`
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Provider    string          `json:"provider_config_key"`
		Expressions json.RawMessage `json:"expressions"`
		ForEach     expression      `json:"for_each_expression"`
	}
	if err := r.decode(&c); err != nil {
		return err
	}
	if c.Mode == managedResources && relevant(c.Type) {
		m.resources[c.Type+"."+c.Name] = &configResource{expressions: c.Expressions, provider: c.Provider, forEach: c.ForEach}
	}
	return nil
}

func (r *reader) moduleCall(m *configModule, name string, depth int) error {
	child := &configModule{name: name, parent: m}
	m.children[name] = child
	return r.object(func(key string) error {
		switch key {
		case "module":
			return r.configModule(child, depth+1)
		case "expressions":
			child.inputs = map[string]expression{}
			return r.object(func(variable string) error {
				var input any // a nested block of a provider's own making has another shape, and no references that matter
				err := r.decode(&input)
				child.inputs[variable] = expressionOf(input)
				return err
			})
		}
		return r.skip()
	})
}

// expressionOf reads an expression out of plain values; other shapes have no references.
func expressionOf(v any) expression {
	var e expression
	fields, _ := v.(map[string]any)
	e.Constant = fields["constant_value"]
	references, _ := fields["references"].([]any)
	for _, reference := range references {
		if text, ok := reference.(string); ok {
			e.References = append(e.References, text)
		}
	}
	return e
}

// link gives each resource the block that declares it.
func (d *Document) link() {
	if d.config == nil {
		return
	}
	for _, r := range d.resources {
		if m := d.config.find(modulePath(r.module)); m != nil {
			r.modules, r.declared = m, m.resources[r.block()]
		}
	}
}

func (m *configModule) find(path []string) *configModule {
	for _, name := range path {
		child, ok := m.children[name]
		if !ok {
			return nil
		}
		m = child
	}
	return m
}

// path is the names of the modules from the root down.
func (m *configModule) path() string {
	if m == nil || m.parent == nil {
		return ""
	}
	return strings.TrimPrefix(m.parent.path()+"."+m.name, ".")
}

// providerDefault is what the provider block of a resource says about project or region. Unknown where it cannot be told.
func (d *Document) providerDefault(r *resource, attribute string) (string, bool) {
	if r.declared == nil {
		return "", false
	}
	// The key of a provider inside a module is the module's address and the provider's name.
	key := r.declared.provider
	block, ok := d.providers[key]
	for !ok && strings.Contains(key, ":") {
		_, key, _ = strings.Cut(key, ":")
		block, ok = d.providers[key]
	}
	if !ok {
		return "", false
	}
	e := expressionOf(block.Expressions[attribute])
	if text, ok := e.Constant.(string); ok {
		return text, true
	}
	for _, reference := range e.References {
		if name, ok := strings.CutPrefix(reference, "var."); ok {
			text, ok := d.variables[name].Value.(string)
			return text, ok
		}
	}
	return "", false
}
