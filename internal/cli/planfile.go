package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// plannedHandler is one handler of a Terraform plan or state.
type plannedHandler struct {
	address string
	name    string
	dir     string
	files   []generator.File
}

// document is what this command reads of the output of terraform show -json: a plan has planned values, a state has values.
type document struct {
	FormatVersion string       `json:"format_version"`
	PlannedValues *moduleTree  `json:"planned_values"`
	Values        *moduleTree  `json:"values"`
	Changes       []planChange `json:"resource_changes"`
}

type moduleTree struct {
	RootModule module `json:"root_module"`
}

type module struct {
	Resources    []resource `json:"resources"`
	ChildModules []module   `json:"child_modules"`
}

type resource struct {
	Address string          `json:"address"`
	Mode    string          `json:"mode"`
	Type    string          `json:"type"`
	Values  json.RawMessage `json:"values"`
}

// handlerValues are the attributes of both resources that hold a handler.
type handlerValues struct {
	// of idempotent_scheduled_job
	Handler []struct {
		OutputDir string `json:"output_dir"`
	} `json:"handler"`
	HandlerFiles map[string]string `json:"handler_files"`
	// of idempotent_handler
	OutputDir string            `json:"output_dir"`
	Files     map[string]string `json:"files"`
}

type planChange struct {
	Address string `json:"address"`
	Change  struct {
		AfterUnknown map[string]json.RawMessage `json:"after_unknown"`
	} `json:"change"`
}

// readPlanned reads the handlers out of a plan or state; name chooses one, "" all of them.
func readPlanned(path, name string) ([]plannedHandler, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	var d document
	if err := json.Unmarshal(content, &d); err != nil {
		return nil, fmt.Errorf("%s: it is no output of terraform show -json: %w", path, err)
	}
	tree := d.PlannedValues
	if tree == nil {
		tree = d.Values
	}
	if d.FormatVersion == "" || tree == nil {
		return nil, fmt.Errorf("%s: it holds no plan and no state: write one by terraform show -json", path)
	}
	var handlers []plannedHandler
	var errs []error
	tree.RootModule.each(func(r resource) {
		h, found, err := d.handler(r)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", r.Address, err))
		case found && (name == "" || h.name == name):
			handlers = append(handlers, h)
		}
	})
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if len(handlers) == 0 {
		return nil, noHandlers(path, name)
	}
	return handlers, nil
}

func noHandlers(path, name string) error {
	if name != "" {
		return fmt.Errorf("%s: it holds no handler %q", path, name)
	}
	return fmt.Errorf("%s: it holds no handlers: no idempotent_scheduled_job with a handler block and no idempotent_handler", path)
}

func (m module) each(do func(resource)) {
	for _, r := range m.Resources {
		do(r)
	}
	for _, child := range m.ChildModules {
		child.each(do)
	}
}

// handler reads the handler of a resource, if it has one.
func (d document) handler(r resource) (plannedHandler, bool, error) {
	var files string
	switch {
	case r.Mode != "managed":
		return plannedHandler{}, false, nil
	case r.Type == "idempotent_scheduled_job":
		files = "handler_files"
	case r.Type == "idempotent_handler":
		files = "files"
	default:
		return plannedHandler{}, false, nil
	}
	var v handlerValues
	if err := json.Unmarshal(r.Values, &v); err != nil {
		return plannedHandler{}, false, fmt.Errorf("read its values: %w", err)
	}
	contents, dir := v.Files, v.OutputDir
	if r.Type == "idempotent_scheduled_job" {
		if len(v.Handler) == 0 {
			return plannedHandler{}, false, nil
		}
		contents, dir = v.HandlerFiles, v.Handler[0].OutputDir
	}
	if contents == nil && d.unknown(r.Address, files) {
		return plannedHandler{}, false, fmt.Errorf("its %s are known only after apply: read them from the state then", files)
	}
	planned, err := generator.FromContents(contents)
	if err != nil {
		return plannedHandler{}, false, fmt.Errorf("%s: %w", files, err)
	}
	name, err := generator.HandlerName(planned)
	if dir == "" {
		dir = name
	}
	return plannedHandler{address: r.Address, name: name, dir: dir, files: planned}, true, err
}

func (d document) unknown(address, attribute string) bool {
	for _, c := range d.Changes {
		if c.Address == address {
			return strings.TrimSpace(string(c.Change.AfterUnknown[attribute])) != ""
		}
	}
	return false
}

// folder is where the handler goes: its own folder, taken from base when it is relative, as Terraform takes it from the folder that
// it runs in.
func (h plannedHandler) folder(base string) string {
	if filepath.IsAbs(h.dir) {
		return h.dir
	}
	return filepath.Join(base, h.dir)
}
