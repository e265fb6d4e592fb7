package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Mode says what Write may do.
type Mode int

const (
	// Apply writes what is missing or outdated, and refuses to touch a file of ours that somebody edited.
	Apply Mode = iota
	// Check writes nothing: the report says what Apply would do, and shows it as a diff.
	Check
	// Force is Apply that also takes back edited files of ours, and writes once more the user's files that were deleted.
	Force
)

// Report says what Write did or, in Check mode, would do. All paths are relative to the folder, sorted, with forward slashes.
type Report struct {
	// Written are the files that were created or replaced.
	Written []string
	// Deleted are files of ours that the handler no longer has.
	Deleted []string
	// Missing are files of the user's that were written once and have been deleted since; they stay so unless forced.
	Missing []string
	// Diff is a unified diff from the folder to the plan. Only Check makes it; empty: the folder is up to date.
	Diff string
}

// Changed reports whether anything was, or would be, written or deleted.
func (r Report) Changed() bool { return len(r.Written)+len(r.Deleted) > 0 }

// Write brings planned files into the folder dir, which is created if need be. Everything is judged before anything is written, so
// that an error of judgement leaves the folder as it was: an [*EditedError] for each file of ours that somebody edited, a
// [*ForeignError] for a folder of another handler. Each file is replaced atomically, and no access leaves the folder, whatever
// symbolic links it holds. A second run with the same plan writes nothing.
func Write(dir string, files []File, mode Mode) (Report, error) {
	planned, err := plannedManifest(files)
	if err != nil {
		return Report{}, err
	}
	root, err := openFolder(dir, mode)
	if err != nil {
		return Report{}, err
	}
	if root == nil {
		return judge(emptyFolder{}, dir, planned, files, mode).report()
	}
	report, err := writeInto(root, dir, planned, files, mode)
	return report, errors.Join(err, root.Close())
}

func writeInto(root *os.Root, dir string, planned manifest, files []File, mode Mode) (Report, error) {
	changes := judge(rootFolder{root}, dir, planned, files, mode)
	report, err := changes.report()
	if err != nil || mode == Check {
		return report, err
	}
	return report, changes.carryOut(root)
}

// openFolder opens the folder. Nil: it does not exist and Check must not create it.
func openFolder(dir string, mode Mode) (*os.Root, error) {
	if mode != Check {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // source folders are readable by all
			return nil, fmt.Errorf("create the handler's folder: %w", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if mode == Check && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the handler's folder: %w", err)
	}
	return root, nil
}

func plannedManifest(files []File) (manifest, error) {
	for _, f := range files {
		if f.Path == ManifestPath {
			return readManifest(f.Content)
		}
	}
	return manifest{}, fmt.Errorf("the plan holds no %s: write the files that Plan returned", ManifestPath)
}

// EditedError says that a file which is rewritten at each generation was edited by hand, or was there before.
type EditedError struct {
	// Path is the file, relative to the folder.
	Path string
	// Lines names what was edited, such as "lines 3-5, 9". Empty: the file is not one that the manifest knows.
	Lines string
	// Stale says that the handler no longer has the file, which would be deleted.
	Stale bool
}

// Error names the file, the lines and the two ways on.
func (e *EditedError) Error() string {
	switch {
	case e.Lines == "":
		return e.Path + " is already there and was not generated: move it away, or take its place with --force"
	case e.Stale:
		return fmt.Sprintf("%s was edited (%s) and is no longer part of the handler: move your lines elsewhere, then delete it with --force",
			e.Path, e.Lines)
	default:
		return fmt.Sprintf("%s was edited (%s): move your lines to a file of your own, then take it back with --force", e.Path, e.Lines)
	}
}

// ForeignError says that the folder belongs to another handler.
type ForeignError struct {
	// Dir is the folder; Owner is whose it is; Handler is who asked for it.
	Dir, Owner, Handler string
}

// Error names both handlers and the two ways on.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("folder %s belongs to handler %q: give handler %q a folder of its own, or hand this one over by deleting its %s",
		e.Dir, e.Owner, e.Handler, ManifestPath)
}
