package journal

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime is CLOCK_MONOTONIC: the same for all processes of a kernel that share a time namespace, see clock_gettime(2).
func uptime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
