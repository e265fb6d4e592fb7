package generator

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// FromContents turns path and content of a handler's files, as Terraform keeps them, back into what [Plan] returned. The manifest
// among them says which are ours; the error is about contents that do not belong together.
func FromContents(contents map[string]string) ([]File, error) {
	text, ok := contents[ManifestPath]
	if !ok {
		return nil, fmt.Errorf("the files hold no %s", ManifestPath)
	}
	m, err := readManifest([]byte(text))
	if err != nil {
		return nil, err
	}
	files := []File{{Path: ManifestPath, Content: []byte(text), Ours: true}}
	for path, content := range contents {
		if path == ManifestPath {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(path)) {
			return nil, fmt.Errorf("path %q leaves the handler's folder", path)
		}
		entry, ours := m.entry(path)
		if ours && entry.SHA256 != hash([]byte(content)) || !ours && !slices.Contains(m.Once, path) {
			return nil, fmt.Errorf("%s is not the file that %s records", path, ManifestPath)
		}
		files = append(files, File{Path: path, Content: []byte(content), Ours: ours})
	}
	if len(files) != len(m.Ours)+len(m.Once)+1 {
		return nil, fmt.Errorf("files that %s records are missing", ManifestPath)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// HandlerName returns the name of the handler that planned files belong to.
func HandlerName(files []File) (string, error) {
	m, err := plannedManifest(files)
	return m.Handler, err
}
