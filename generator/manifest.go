package generator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ManifestPath is where a handler's folder keeps what is ours.
const ManifestPath = ".idempotent.json"

const manifestVersion = 1

// manifest records whose folder it is and what in it is ours.
type manifest struct {
	Version int             `json:"version"`
	Handler string          `json:"handler"`
	Kind    string          `json:"kind"`
	Ours    []manifestEntry `json:"ours"`
	// Once lists the files that were written once: one that its user deleted is not brought back.
	Once []string `json:"once"`
}

// manifestEntry is one file of ours as it was written.
type manifestEntry struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// Lines holds a short hash of each line, so that edited lines can be named without the old content.
	Lines string `json:"lines"`
}

func newManifest(d data, files []File) manifest {
	m := manifest{Version: manifestVersion, Handler: d.Name, Kind: d.Kind}
	for _, f := range files {
		if f.Ours {
			m.Ours = append(m.Ours, manifestEntry{Path: f.Path, SHA256: hash(f.Content), Lines: strings.Join(lineHashes(f.Content), "")})
		} else {
			m.Once = append(m.Once, f.Path)
		}
	}
	slices.SortFunc(m.Ours, func(a, b manifestEntry) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(m.Once)
	return m
}

func (m manifest) file() (File, error) {
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return File{}, fmt.Errorf("write %s: %w", ManifestPath, err)
	}
	return File{Path: ManifestPath, Content: append(content, '\n'), Ours: true}, nil
}

func (m manifest) entry(path string) (manifestEntry, bool) {
	for _, e := range m.Ours {
		if e.Path == path {
			return e, true
		}
	}
	return manifestEntry{}, false
}

// readManifest reads what an earlier generation left. A path that points outside the folder cannot be followed, since every access
// goes through the folder's root; it is refused here all the same, because none of ours has one.
func readManifest(content []byte) (manifest, error) {
	var m manifest
	if err := json.Unmarshal(content, &m); err != nil {
		return manifest{}, fmt.Errorf("read %s: %w: restore it from version control, or delete it to start afresh", ManifestPath, err)
	}
	if m.Version != manifestVersion {
		return manifest{}, fmt.Errorf("read %s: its version is %d, this program knows %d: use the program that wrote it or a newer one",
			ManifestPath, m.Version, manifestVersion)
	}
	for _, e := range m.Ours {
		if !filepath.IsLocal(e.Path) {
			return manifest{}, fmt.Errorf("read %s: path %q leaves the folder: restore it from version control", ManifestPath, e.Path)
		}
	}
	return m, nil
}

// hash ignores how lines end, since version control may have rewritten that.
func hash(content []byte) string {
	sum := sha256.Sum256(plainLines(content))
	return hex.EncodeToString(sum[:])
}

func plainLines(content []byte) []byte {
	return bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
}
