package deposit

import (
	"testing"
	"time"
)

// SetPatience is for tests that wait for its end.
func SetPatience(t *testing.T, d time.Duration) {
	before := patience
	patience = d
	t.Cleanup(func() { patience = before })
}
