package main

import (
	"os/exec"
	"syscall"
)

// endWithUs has the system kill a worker when this process is gone, however it went: a worker that
// a drill has frozen could not notice it.
func endWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
