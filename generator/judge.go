package generator

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// folder is what judging needs of a folder: fs.ErrNotExist for what is not there.
type folder interface {
	read(path string) ([]byte, error)
}

type emptyFolder struct{}

func (emptyFolder) read(string) ([]byte, error) { return nil, fs.ErrNotExist }

type rootFolder struct{ root *os.Root }

func (f rootFolder) read(path string) ([]byte, error) {
	return f.root.ReadFile(filepath.FromSlash(path))
}

// changes is what has to be done to a folder, and what forbids it.
type changes struct {
	write   []File
	remove  []string
	missing []string
	diff    strings.Builder
	errs    []error
}

func (c *changes) report() (Report, error) {
	if len(c.errs) > 0 {
		return Report{}, errors.Join(c.errs...)
	}
	r := Report{Deleted: c.remove, Missing: c.missing, Diff: c.diff.String()}
	for _, f := range c.write {
		r.Written = append(r.Written, f.Path)
	}
	slices.Sort(r.Written)
	slices.Sort(r.Deleted)
	return r, nil
}

// judge compares the folder with the plan and touches nothing.
func judge(dir folder, name string, planned manifest, files []File, mode Mode) *changes {
	c := &changes{}
	was, err := currentManifest(dir)
	if err != nil {
		c.errs = append(c.errs, err)
		return c
	}
	if was.Handler != "" && was.Handler != planned.Handler {
		c.errs = append(c.errs, &ForeignError{Dir: name, Owner: was.Handler, Handler: planned.Handler})
		return c
	}
	j := judgement{changes: c, dir: dir, was: was, mode: mode}
	for _, f := range files {
		switch {
		case f.Path == ManifestPath:
			j.manifest(f)
		case f.Ours:
			j.ours(f)
		default:
			j.once(f)
		}
	}
	for _, e := range was.Ours {
		if _, still := planned.entry(e.Path); !still {
			j.stale(e, files)
		}
	}
	return c
}

func currentManifest(dir folder) (manifest, error) {
	content, err := dir.read(ManifestPath)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest{}, nil
	}
	if err != nil {
		return manifest{}, fmt.Errorf("read %s: %w", ManifestPath, err)
	}
	return readManifest(content)
}

type judgement struct {
	*changes

	dir  folder
	was  manifest
	mode Mode
}

// read returns what a file holds now, and whether it is there.
func (j judgement) read(path string) ([]byte, bool) {
	content, err := j.dir.read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false
	case err != nil:
		j.errs = append(j.errs, fmt.Errorf("read %s: %w", path, err))
	}
	return content, err == nil
}

func (j judgement) put(f File, now []byte, there bool) {
	j.write = append(j.write, f)
	j.show(f.Path, now, there, f.Content, true)
}

func (j judgement) show(path string, before []byte, was bool, after []byte, is bool) {
	if j.mode != Check {
		return
	}
	name := func(side string, exists bool) string {
		if !exists {
			return "/dev/null"
		}
		return side + "/" + path
	}
	j.diff.Write(trimHeader(diff.Diff(name("a", was), before, name("b", is), after)))
}

// trimHeader drops the line before the file names, which is no part of the format.
func trimHeader(d []byte) []byte {
	if rest, ok := bytes.CutPrefix(d, []byte("diff ")); ok {
		_, d, _ = bytes.Cut(rest, []byte("\n"))
	}
	return d
}

func (j judgement) manifest(f File) {
	now, there := j.read(f.Path)
	if !there || hash(now) != hash(f.Content) {
		j.put(f, now, there)
	}
}

func (j judgement) ours(f File) {
	now, there := j.read(f.Path)
	switch {
	case there && hash(now) == hash(f.Content):
		return
	case there && j.mode == Apply && !j.unchanged(f.Path, now):
		j.errs = append(j.errs, j.edited(f.Path, now, false))
	default:
		j.put(f, now, there)
	}
}

// once writes a file of the user's where it never was. One that its user deleted stays deleted.
func (j judgement) once(f File) {
	if _, there := j.read(f.Path); there {
		return
	}
	if slices.Contains(j.was.Once, f.Path) && j.mode != Force {
		j.missing = append(j.missing, f.Path)
		return
	}
	j.put(f, nil, false)
}

// stale removes what an earlier generation wrote and this one does not have; what has become the user's by the plan stays.
func (j judgement) stale(e manifestEntry, files []File) {
	if slices.ContainsFunc(files, func(f File) bool { return f.Path == e.Path }) {
		return
	}
	now, there := j.read(e.Path)
	switch {
	case !there:
		return
	case j.mode == Apply && hash(now) != e.SHA256:
		j.errs = append(j.errs, j.edited(e.Path, now, true))
	default:
		j.remove = append(j.remove, e.Path)
		j.show(e.Path, now, true, nil, false)
	}
}

func (j judgement) unchanged(path string, now []byte) bool {
	e, known := j.was.entry(path)
	return known && hash(now) == e.SHA256
}

func (j judgement) edited(path string, now []byte, stale bool) error {
	e, known := j.was.entry(path)
	if !known {
		return &EditedError{Path: path, Stale: stale}
	}
	return &EditedError{Path: path, Lines: editedLines(splitHashes(e.Lines), lineHashes(now)), Stale: stale}
}
