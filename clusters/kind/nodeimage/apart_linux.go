package nodeimage

import "syscall"

// apart keeps a terminal's interrupt from a child, and does not let the child outlive this process.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
