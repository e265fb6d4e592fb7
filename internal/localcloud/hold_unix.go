//go:build unix

package localcloud

import (
	"errors"
	"os"
	"syscall"
)

// lock locks an open file for as long as it is open, or returns [errHeld] at once.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}

	return err
}
