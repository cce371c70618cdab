//go:build !linux

package journal

import "time"

// uptime is not known: the containers of a cluster run on Linux.
func uptime() time.Duration { return 0 }
