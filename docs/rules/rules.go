// Package rules holds a page for every rule of `check` and of plan-time diagnostics: what it finds, why that matters, an example,
// and what mends it. The files are Markdown, named by the rule's id.
package rules

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Page is the page of a rule, and false when there is none.
func Page(id string) (string, bool) {
	content, err := pages.ReadFile(id + ".md")
	return string(content), err == nil && id != index
}

// index is the page that lists the others.
const index = "README"

// IDs lists the rules that have a page, sorted.
func IDs() []string {
	names, err := fs.Glob(pages, "*.md")
	if err != nil { // the pattern is a constant
		return nil
	}
	var ids []string
	for _, name := range names {
		if id := strings.TrimSuffix(name, ".md"); id != index {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
