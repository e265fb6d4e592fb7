package planlint

import (
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
	expressions []byte // JSON
	provider    string
	forEach     expression
}

// expression is what the plan's JSON tells of one: what it refers to, or its constant value.
type expression struct {
	References []string
	Constant   any
}

func (r *reader) configuration() error {
	return r.object(func(key string) error {
		switch key {
		case "provider_config":
			return r.object(r.providerConfig)
		case "root_module":
			root := &configModule{}
			r.document.config = root
			return r.configModule(root, 0)
		}
		return r.skip()
	})
}

// providerConfig reads a provider block.
func (r *reader) providerConfig(name string) error {
	return r.object(func(key string) error {
		if key != "expressions" {
			return r.skip()
		}
		text, err := r.element()
		r.document.providers[name], _ = parsed(text).(object)
		return err
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
				return r.object(func(key string) error {
					if key != "expression" {
						return r.skip()
					}
					text, err := r.element()
					m.outputs[name] = expressionOf(parsed(text))
					return err
				})
			})
		case "module_calls":
			return r.object(func(name string) error { return r.moduleCall(m, name, depth) })
		}
		return r.skip()
	})
}

func (r *reader) configResource(m *configModule) error {
	whole, err := r.element()
	if err != nil {
		return err
	}
	var block configResource
	var mode, kind, name string
	in := r.inner.within(whole)
	if err := in.object(func(key string) error {
		switch key {
		case "mode":
			return in.text(&mode)
		case "type":
			return in.text(&kind)
		case "name":
			return in.text(&name)
		case "provider_config_key":
			return in.text(&block.provider)
		case "expressions":
			return in.keep(&block.expressions)
		case "for_each_expression":
			text, err := in.element()
			block.forEach = expressionOf(parsed(text))
			return err
		}
		return in.skip()
	}); err != nil {
		return err
	}
	if mode == managedResources && relevant(kind) {
		m.resources[kind+"."+name] = &block
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
				text, err := r.element() // one of another shape has no references that matter
				child.inputs[variable] = expressionOf(parsed(text))
				return err
			})
		}
		return r.skip()
	})
}

// expressionOf reads an expression out of plain values; other shapes have no references.
func expressionOf(v any) expression {
	var e expression
	fields, _ := v.(object)
	e.Constant = fields.get("constant_value")
	references, _ := fields.get("references").([]any)
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
	e := expressionOf(block.get(attribute))
	if text, ok := e.Constant.(string); ok {
		return text, true
	}
	for _, reference := range e.References {
		if name, ok := strings.CutPrefix(reference, "var."); ok {
			text, ok := d.variables[name]
			return text, ok
		}
	}
	return "", false
}
