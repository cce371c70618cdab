package journal

import "time"

// clock stamps on both clocks of the machine. Go measures its own monotonic clock from the start of the process; it runs as the machine's
// does, so that one comparison at the start spares a system call per line.
type clock struct {
	origin time.Time
	uptime time.Duration
}

func newClock() clock {
	best := clock{}
	shortest := time.Duration(-1)
	for range 5 { // the process may lose the processor between the two readings
		c := clock{origin: time.Now(), uptime: uptime()}
		if took := time.Since(c.origin); shortest < 0 || took < shortest {
			best, shortest = c, took
		}
	}
	return best
}

// now returns both stamps; the second is 0 where it is not known.
func (c clock) now() (time.Time, time.Duration) {
	now := time.Now()
	if c.uptime == 0 {
		return now, 0
	}
	return now, c.uptime + now.Sub(c.origin)
}
