package local

import "syscall"

// attributes put a child in a process group of its own, so that Ctrl-C reaches squall only, which ends its children in its own
// time, and have the kernel kill the child, frozen or not, when squall dies without a chance to.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
