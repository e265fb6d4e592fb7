//go:build !linux

package engines

import (
	"os/exec"
	"syscall"
)

// endWithParent does nothing: only Linux can tie a child to its parent, elsewhere Main ends it.
func endWithParent(*exec.Cmd, syscall.Signal) {}
