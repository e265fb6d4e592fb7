package generator

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// carryOut writes and removes as judged. The manifest comes last: a run that is cut short before it leaves files that equal the
// plan, which the next run takes for its own.
func (c *changes) carryOut(root *os.Root) error {
	var last *File
	for _, f := range c.write {
		if f.Path == ManifestPath {
			last = &f
			continue
		}
		if err := replace(root, f); err != nil {
			return err
		}
	}
	for _, p := range c.remove {
		if err := root.Remove(filepath.FromSlash(p)); err != nil {
			return fmt.Errorf("delete %s: %w", p, err)
		}
		removeEmptyFolders(root, path.Dir(p))
	}
	if last == nil {
		return nil
	}
	return replace(root, *last)
}

// replace puts the content beside the file and renames it into place, so that a reader sees the old file or the new one.
func replace(root *os.Root, f File) error {
	name := filepath.FromSlash(f.Path)
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("create the folder of %s: %w", f.Path, err)
		}
	}
	temporary := filepath.Join(filepath.Dir(name), ".new-"+rand.Text())
	err := writeWhole(root, temporary, f.Content)
	if err == nil {
		err = root.Rename(temporary, name)
	}
	if err == nil {
		return nil
	}
	if left := root.Remove(temporary); left != nil && !errors.Is(left, fs.ErrNotExist) {
		err = errors.Join(err, left)
	}
	return fmt.Errorf("write %s: %w", f.Path, err)
}

func writeWhole(root *os.Root, name string, content []byte) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// removeEmptyFolders goes up from a folder that may have become empty; the first one that is not ends it.
func removeEmptyFolders(root *os.Root, dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if root.Remove(filepath.FromSlash(dir)) != nil {
			return
		}
	}
}
