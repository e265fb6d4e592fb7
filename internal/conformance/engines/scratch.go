package engines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// scratchPrefix begins the name of every data folder; the process id that follows tells whose it is.
const scratchPrefix = "idempotent-engine-"

// scratch makes a data folder for an engine and removes those of test processes that died without cleaning up.
func scratch(name string) (string, error) {
	sweep()

	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-%s-", scratchPrefix, os.Getpid(), name))
	if err != nil {
		return "", fmt.Errorf("make a data folder for %s: %w", name, err)
	}

	return dir, nil
}

func sweep() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+"*"))
	if err != nil {
		return
	}

	for _, dir := range dirs {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), scratchPrefix), "-")

		pid, err := strconv.Atoi(owner)
		if err != nil || pid == os.Getpid() || alive(pid) {
			continue
		}

		_ = os.RemoveAll(dir)
	}
}

// alive reports whether a process of that id exists; when in doubt it does.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}

	err = p.Signal(syscall.Signal(0))

	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}
