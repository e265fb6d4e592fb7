package generator

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"path"
	"strings"
	"sync"
	"text/template"

	"github.com/idempotent-jobs/terraform-provider-idempotent/templates"
)

// blueprint is one template of a folder. In its path, SERVICE stands for the service's name, and EACH for the stem of a job's file:
// such a template is rendered once for each job that does not live in job.go, and for each event likewise.
type blueprint struct {
	path   string
	render *template.Template
}

// render executes the templates of a kind. One that comes out blank is left out: that is how a template says that it has no place
// in this handler.
func render(k kind, d data) ([]File, error) {
	blueprints, err := loadBlueprints()
	if err != nil {
		return nil, err
	}
	byPath := map[string]File{}
	for _, folder := range k.folders {
		for _, b := range blueprints[folder] {
			for _, j := range b.jobs(d) {
				d.Job = j
				file, err := b.file(d)
				if err != nil {
					return nil, err
				}
				if len(bytes.TrimSpace(file.Content)) > 0 {
					byPath[file.Path] = file
				}
			}
		}
	}
	files := make([]File, 0, len(byPath))
	for _, f := range byPath {
		files = append(files, f)
	}
	return files, nil
}

// jobs returns the jobs for which the template is rendered; for one that is not of a job: the handler's own, which job.go holds.
func (b blueprint) jobs(d data) []job {
	var own job
	var others []job
	for _, j := range d.Jobs {
		if j.Own {
			own = j
		} else {
			others = append(others, j)
		}
	}
	if strings.Contains(b.path, "EACH") {
		return others
	}
	return []job{own}
}

func (b blueprint) file(d data) (File, error) {
	p := strings.NewReplacer("SERVICE", d.Service, "EACH", d.Job.File).Replace(b.path)
	var out bytes.Buffer
	if err := b.render.Execute(&out, d); err != nil {
		return File{}, fmt.Errorf("render %s: %w", p, err)
	}
	content := out.Bytes()
	if ours := strings.HasSuffix(p, "_gen.go"); len(bytes.TrimSpace(content)) > 0 && (ours || d.Client != nil && strings.HasSuffix(p, ".go")) {
		// Lists and imports that depend on the spec are aligned and sorted here. All other Go files are formatted as the templates
		// have them, which saves most of the time that planning takes; a test holds them to it.
		formatted, err := format.Source(content)
		if err != nil {
			return File{}, fmt.Errorf("format %s: %w", p, err)
		}
		content = formatted
	}
	return File{Path: p, Content: content, Ours: strings.HasSuffix(p, "_gen.go")}, nil
}

// loadBlueprints parses the templates once; they are part of the binary and never change.
var loadBlueprints = sync.OnceValues(func() (map[string][]blueprint, error) {
	parts, err := template.New("parts").Funcs(functions()).ParseFS(templates.FS(), "parts/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	all := map[string][]blueprint{}
	err = fs.WalkDir(templates.FS(), "kinds", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".tmpl" {
			return err
		}
		source, err := fs.ReadFile(templates.FS(), name)
		if err != nil {
			return err
		}
		set, err := parts.Clone()
		if err != nil {
			return err
		}
		t, err := set.New(name).Parse(string(source))
		if err != nil {
			return err
		}
		folder, file, _ := strings.Cut(strings.TrimPrefix(name, "kinds/"), "/")
		all[folder] = append(all[folder], blueprint{path: strings.TrimSuffix(file, ".tmpl"), render: t})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	return all, nil
})

func functions() template.FuncMap {
	return template.FuncMap{
		"quote":   func(s string) string { return fmt.Sprintf("%q", s) },
		"shell":   shellQuote,
		"join":    strings.Join,
		"comment": comment,
		"secret":  secretName,
	}
}

// shellQuote makes a text one word for the shell.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// comment bounds a name that stands in a comment, so that a long one keeps the line readable.
func comment(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
