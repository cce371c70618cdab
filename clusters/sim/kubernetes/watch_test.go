package kubernetes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// drain is all that a watch shows now.
func drain(t *testing.T, watch *Watcher) string {
	t.Helper()
	var b strings.Builder
	for {
		e, ok, err := watch.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return strings.TrimSpace(b.String())
		}
		fmt.Fprintf(&b, "%d:%s:%s ", e.Type, e.Workload.Task, e.Workload.State)
	}
}

// kubernetes.io/docs/reference/using-api/api-concepts, efficient detection of changes: every change after the given version, in order.
func TestWatchShowsEveryChange(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.run = time.Minute
	watch, err := w.s.Watch(0)
	w.wantErr(err, nil)
	w.create("a")
	from := w.s.Version()
	w.until(2 * time.Minute)
	w.delete("a", false)
	// Added; bound; running; succeeded; deleted.
	want := "1:a:pending 2:a:pending 2:a:running 2:a:succeeded 3:a:succeeded"
	if got := drain(t, watch); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	later, err := w.s.Watch(from)
	w.wantErr(err, nil)
	if got := drain(t, later); got != strings.TrimPrefix(want, "1:a:pending ") {
		t.Errorf("from version %d: %s", from, got)
	}
}

// api-concepts, efficient detection of changes: a watch is told of changes after they happened; nothing bounds by how much.
func TestWatchLags(t *testing.T) {
	w := newWorld(t)
	w.s.SetCacheLag(clusters.Fixed(10 * time.Second))
	watch, _ := w.s.Watch(0)
	w.until(time.Minute)
	w.create("a")
	w.until(69 * time.Second)
	if got := drain(t, watch); got != "" {
		t.Errorf("too early: %s", got)
	}
	w.until(70 * time.Second)
	if got := drain(t, watch); got != "1:a:pending" {
		t.Errorf("got %s", got)
	}
}

// A watch has no gaps by itself; one that loses an event says nothing (argo-workflows #13986 and kin lived with such caches).
func TestWatchWithAGap(t *testing.T) {
	w := newWorld(t)
	watch, _ := w.s.Watch(0)
	watch.DropWatchEvents(func(e WatchEvent) bool { return e.Type == Deleted && e.Workload.Task == "a" })
	w.create("a")
	w.create("b")
	w.delete("a", false)
	w.delete("b", false)
	if got := drain(t, watch); got != "1:a:pending 1:b:pending 3:b:pending" {
		t.Errorf("got %s", got)
	}
}

// api-concepts, 410 Gone responses: a version that is no longer known, at the start of a watch or when it fell behind.
func TestWatchExpires(t *testing.T) {
	w := newWorld(t)
	w.create("a")
	_, _ = w.s.Watch(1) // the log begins with the first interest in it
	w.create("b")
	_, err := w.s.Watch(w.s.Version())
	w.wantErr(err, nil)
	_, err = w.s.Watch(1)
	w.wantErr(err, nil) // remembered since the first watch, which was at version 1
	behind, _ := w.s.Watch(0)
	from := w.s.Version()
	w.create("c")
	w.until(compactionAge + time.Second)
	_, err = w.s.Watch(from)
	w.wantErr(err, dispatcher.ErrExpired)
	_, _, err = behind.Next()
	w.wantErr(err, dispatcher.ErrExpired)
	current, err := w.s.Watch(w.s.Version())
	w.wantErr(err, nil)
	if got := drain(t, current); got != "" {
		t.Errorf("got %s", got)
	}
}

func TestWatchFromBeforeTheRecordExpires(t *testing.T) {
	w := newWorld(t)
	w.create("a")
	w.create("b")
	_, err := w.s.Watch(1)
	w.wantErr(err, dispatcher.ErrExpired)
}
