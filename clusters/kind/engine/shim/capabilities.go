package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// names are the capabilities in the order of their bits (linux/capability.h).
var names = strings.Fields(`
	CAP_CHOWN CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER CAP_FSETID CAP_KILL CAP_SETGID CAP_SETUID
	CAP_SETPCAP CAP_LINUX_IMMUTABLE CAP_NET_BIND_SERVICE CAP_NET_BROADCAST CAP_NET_ADMIN CAP_NET_RAW CAP_IPC_LOCK CAP_IPC_OWNER
	CAP_SYS_MODULE CAP_SYS_RAWIO CAP_SYS_CHROOT CAP_SYS_PTRACE CAP_SYS_PACCT CAP_SYS_ADMIN CAP_SYS_BOOT CAP_SYS_NICE
	CAP_SYS_RESOURCE CAP_SYS_TIME CAP_SYS_TTY_CONFIG CAP_MKNOD CAP_LEASE CAP_AUDIT_WRITE CAP_AUDIT_CONTROL CAP_SETFCAP
	CAP_MAC_OVERRIDE CAP_MAC_ADMIN CAP_SYSLOG CAP_WAKE_ALARM CAP_BLOCK_SUSPEND CAP_AUDIT_READ CAP_PERFMON CAP_BPF
	CAP_CHECKPOINT_RESTORE`)

const sysResource = "CAP_SYS_RESOURCE"

// set is a mask of capabilities.
type set uint64

// bounding reads the line CapBnd of /proc/PID/status (proc_pid_status(5)).
func bounding(status []byte) (set, error) {
	for line := range strings.Lines(string(status)) {
		if mask, ok := strings.CutPrefix(line, "CapBnd:"); ok {
			bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			if err != nil {
				return 0, fmt.Errorf("CapBnd: %w", err)
			}
			return set(bits), nil
		}
	}
	return 0, errors.New("no line CapBnd in /proc/self/status")
}

// lacks tells whether a capability is known and not in the set; a name that is not known here is left to runc.
func (s set) lacks(name string) bool {
	for bit, known := range names {
		if known == name {
			return s&(1<<bit) == 0
		}
	}
	return false
}
