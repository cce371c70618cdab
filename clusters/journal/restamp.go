package journal

import (
	"encoding/json"
	"fmt"
	"time"
)

// Restamp gives a line another stamp of the real-time clock, and takes that of the monotonic clock away: for lines that were kept by a
// server whose clock is the one that orders them, since their processes ran on several machines.
func Restamp(text []byte, at time.Time) ([]byte, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	l.At, l.Monotonic = at.UnixNano(), 0
	return json.Marshal(l)
}
