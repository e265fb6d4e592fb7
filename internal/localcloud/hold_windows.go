package localcloud

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// beyondText is a byte that the file never has: nobody could read what is in a range that is locked.
const beyondText = 1 << 30

// lock locks an open file for as long as it is open, or returns [errHeld] at once.
func lock(file *os.File) error {
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{Offset: beyondText})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}

	return err
}
