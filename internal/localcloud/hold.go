package localcloud

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
)

// holdSuffix makes the name of the file that is locked out of that of the state file, which is replaced with each write, and a lock on it
// with it.
const holdSuffix = ".lock"

// errHeld is what [lock] returns where another process, or another cloud of this one, has the lock.
var errHeld = errors.New("locked by another")

// hold keeps a state file for one cloud until what it returns is closed or the process ends, however that comes. The file that it locks
// stays: one that is removed could be locked by two, each under the name while it had it.
func hold(path, url string) (*os.File, error) {
	file, err := os.OpenFile(path+holdSuffix, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep the state: %w", err)
	}

	err = lock(file)

	switch {
	case errors.Is(err, errHeld):
		err = fmt.Errorf("the state in %s is kept by %s: end that, or keep the state of this one in another file", path, holder(file))
	case err != nil:
		err = fmt.Errorf("lock %s, so that no other process writes the state: %w", file.Name(), err)
	default:
		err = sign(file, url)
	}

	if err != nil {
		return nil, errors.Join(err, file.Close())
	}

	return file, nil
}

// sign writes into a locked file who has it.
func sign(file *os.File, url string) error {
	err := file.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintf(file, "process %d, which serves %s", os.Getpid(), url)
	}

	if err != nil {
		return fmt.Errorf("keep the state: %w", err)
	}

	return nil
}

// holder is who has a locked file, in its own words. It may not have signed yet.
func holder(file *os.File) string {
	signed, _ := io.ReadAll(file)

	return cmp.Or(string(signed), "another process")
}
