package main

import (
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

func TestSlowStartsAreCounted(t *testing.T) {
	event := func(kind history.Kind, object string, at time.Duration) history.Event {
		return history.Event{Kind: kind, Object: object, At: at}
	}
	h := &history.History{Events: []history.Event{
		event(history.ObjectBound, "quick", 0), event(history.ContainerStarted, "quick", time.Second),
		event(history.ObjectBound, "slow", time.Second), event(history.ContainerStarted, "slow", 16*time.Second),
		event(history.ContainerStarted, "slow", 60*time.Second), // once more
		event(history.ContainerStarted, "of a world that does not tell", 90*time.Second),
	}}
	if got := slowStarts(h); !strings.Contains(got, "1 of 2 containers began 5s or more after their pods had a node, the slowest after 15s") {
		t.Errorf("slowStarts says %q", got)
	}
	if got := slowStarts(&history.History{Events: h.Events[:2]}); got != "" {
		t.Errorf("where all began soon, slowStarts says %q", got)
	}
}
