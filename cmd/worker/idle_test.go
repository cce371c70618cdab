package main

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// What the Pod took to come about is part of the time that it is to take.
func TestIdle(t *testing.T) {
	ten := environment.Span{From: 10 * time.Second, To: 10 * time.Second}
	for _, c := range []struct {
		name     string
		config   config
		from, to time.Duration
	}{
		{"nobody says when it was asked for", config{startup: ten}, 10 * time.Second, 10 * time.Second},
		{"asked for 4 s ago", config{startup: ten, asked: time.Now().Add(-4 * time.Second)}, 5 * time.Second, 6 * time.Second},
		{"asked for a minute ago", config{startup: ten, asked: time.Now().Add(-time.Minute)}, 0, 0},
		{"by a clock that is ahead", config{startup: ten, asked: time.Now().Add(time.Minute)}, 10 * time.Second, 10 * time.Second},
		{"it is not to idle", config{asked: time.Now()}, 0, 0},
	} {
		if idle := c.config.idle(); idle < c.from || idle > c.to {
			t.Errorf("%s: it idles for %s, want %s to %s", c.name, idle, c.from, c.to)
		}
	}
}
