package engines

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel signal the child when the test process dies, so that a killed test leaves no server behind.
func endWithParent(cmd *exec.Cmd, sig syscall.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}

	cmd.SysProcAttr.Pdeathsig = sig
}
