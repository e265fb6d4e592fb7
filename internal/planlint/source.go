package planlint

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-config-inspect/tfconfig"
)

// Source knows where the blocks of a configuration stand. A nil Source knows nothing.
type Source struct {
	positions map[string]Position // by module path, a slash and the block's address
}

// ReadSource reads the configuration in a folder and in those of its modules that are there. Modules of a registry are found where
// terraform init has put them.
func ReadSource(dir string) (*Source, error) {
	if !tfconfig.IsModuleDir(dir) {
		return nil, fmt.Errorf("%s: it holds no Terraform configuration", dir)
	}
	s := &Source{positions: map[string]Position{}}
	s.load(dir, nil, installed(dir))
	return s, nil
}

// load reads one module and those that it calls. What cannot be parsed has no positions; Terraform itself tells the errors.
func (s *Source) load(dir string, path []string, installed map[string]string) {
	if len(path) > maxDepth {
		return
	}
	module, _ := tfconfig.LoadModule(dir)
	for address, block := range module.ManagedResources {
		s.positions[strings.Join(path, ".")+"/"+address] = Position{File: relative(block.Pos.Filename), Line: block.Pos.Line}
	}
	for name, call := range module.ModuleCalls {
		inner := slices.Concat(path, []string{name})
		folder := installed[strings.Join(inner, ".")]
		if strings.HasPrefix(call.Source, "./") || strings.HasPrefix(call.Source, "../") {
			folder = filepath.Join(dir, call.Source)
		}
		if folder != "" {
			s.load(folder, inner, installed)
		}
	}
}

// installed reads where terraform init has put the modules, by module path.
func installed(dir string) map[string]string {
	var manifest struct {
		Modules []struct {
			Key string
			Dir string
		}
	}
	content, err := os.ReadFile(filepath.Join(dir, ".terraform", "modules", "modules.json"))
	if errors.Is(err, os.ErrNotExist) || json.Unmarshal(content, &manifest) != nil {
		return nil
	}
	folders := map[string]string{}
	for _, m := range manifest.Modules {
		folders[m.Key] = filepath.Join(dir, m.Dir)
	}
	return folders
}

// relative is a path as seen from where the command runs, with forward slashes.
func relative(path string) string {
	if filepath.IsAbs(path) {
		if here, err := os.Getwd(); err == nil {
			if short, err := filepath.Rel(here, path); err == nil && !strings.HasPrefix(short, "..") {
				path = short
			}
		}
	}
	return filepath.ToSlash(filepath.Clean(path))
}

func (s *Source) position(r *resource) Position {
	if s == nil {
		return Position{}
	}
	return s.positions[blockKey(r)]
}
