//go:build !linux

package local

import "syscall"

// attributes put a child in a process group of its own, so that Ctrl-C reaches squall only.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
