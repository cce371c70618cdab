//go:build !linux

package nodeimage

import "syscall"

func apart() *syscall.SysProcAttr { return nil } // not reached: see supported
