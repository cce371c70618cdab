package kubernetes

import (
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

func names(items []dispatcher.Workload) string {
	var b strings.Builder
	for _, x := range items {
		b.WriteString(string(x.Task) + ":" + string(x.State) + " ")
	}
	return strings.TrimSpace(b.String())
}

// kubernetes.io/docs/reference/using-api/api-concepts, retrieving large results sets in chunks: further pages show the state of
// the first, and a token lives about five minutes, then 410.
func TestPagesShowOneMoment(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	for _, task := range []string{"c", "a", "e", "b"} {
		w.create(task)
	}
	page, err := w.s.List(dispatcher.List{Limit: 3})
	w.wantErr(err, nil)
	if got := names(page.Items); got != "a:pending b:pending c:pending" || page.Continue == "" {
		t.Errorf("first page: %s, continue %q", got, page.Continue)
	}
	w.create("d")
	w.delete("e", false)
	w.until(4*time.Minute + 59*time.Second)
	for range 2 { // a page whose reply was lost can be asked for again
		next, err := w.s.List(dispatcher.List{Limit: 3, Continue: page.Continue})
		w.wantErr(err, nil)
		if got := names(next.Items); got != "e:pending" || next.Continue != "" {
			t.Errorf("second page: %s, continue %q", got, next.Continue)
		}
	}
	w.until(5 * time.Minute)
	_, err = w.s.List(dispatcher.List{Limit: 3, Continue: page.Continue})
	w.wantErr(err, dispatcher.ErrExpired)
	_, err = w.s.List(dispatcher.List{Continue: "?"})
	w.wantErr(err, dispatcher.ErrRejected)
	all, err := w.s.List(dispatcher.List{})
	w.wantErr(err, nil)
	if got := names(all.Items); got != "a:running b:running c:running d:running" {
		t.Errorf("all: %s", got)
	}
}

// What was compacted is not kept, and an unchanged state is kept once.
func TestSnapshotsAreDropped(t *testing.T) {
	w := newWorld(t)
	w.create("a")
	w.create("b")
	for range 100 {
		for range 3 {
			if _, err := w.s.List(dispatcher.List{Limit: 1}); err != nil {
				t.Fatal(err)
			}
		}
		w.until(w.k.Now() + time.Minute)
		w.wantErr(w.s.Delete("task-b", "", false), nil)
		w.create("b")
	}
	if n := len(w.s.snapshots); n > 6 {
		t.Errorf("%d snapshots are kept", n)
	}
	_, _ = w.s.List(dispatcher.List{Limit: 1})
	w.until(w.k.Now() + 4*time.Minute)
	page, _ := w.s.List(dispatcher.List{Limit: 1})
	w.until(w.k.Now() + 4*time.Minute)
	_, err := w.s.List(dispatcher.List{Continue: page.Continue})
	w.wantErr(err, nil) // four minutes old, although the state it shows is older
}

// api-concepts, semantics for get and list: resourceVersion=0 is "Any", so a list may be served from an old cache, which ignores the
// limit; without it a read is the most recent.
func TestStaleLists(t *testing.T) {
	stale := func(w *world) string {
		page, err := w.s.List(dispatcher.List{Stale: true, Limit: 1})
		w.wantErr(err, nil)
		return names(page.Items)
	}
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.run = 47 * time.Second // until 60 s
	w.create("a")
	w.create("b")
	w.until(20 * time.Second)
	w.s.SetCacheLag(clusters.Fixed(30 * time.Second))
	w.delete("b", true)
	for _, c := range []struct {
		at   time.Duration
		want string
	}{
		{21 * time.Second, "a:running b:running"}, // a cache that begins to lag stands still
		{49 * time.Second, "a:running b:running"},
		{50 * time.Second, "a:running"},
		{89 * time.Second, "a:running"},
		{90 * time.Second, "a:succeeded"},
	} {
		w.until(c.at)
		if got := stale(w); got != c.want {
			t.Errorf("at %v the stale list shows %q, want %q", c.at, got, c.want)
		}
		if w.exists("b") {
			t.Error("Get is stale")
		}
		if live, _ := w.s.List(dispatcher.List{}); strings.Contains(names(live.Items), "b") {
			t.Error("a live list is stale")
		}
	}
	w.create("c")
	if got := stale(w); got != "a:succeeded" {
		t.Errorf("stale list shows %q", got)
	}
	w.s.SetCacheLag(clusters.Dist{})
	if got := stale(w); got != "a:succeeded c:pending" {
		t.Errorf("after healing the stale list shows %q", got)
	}
}

// TestAnAnswerStaysAsItWas: a stale list is shown what the cache holds, and the cache moves on.
func TestAnAnswerStaysAsItWas(t *testing.T) {
	p := steady
	p.CacheLag = clusters.Fixed(time.Second)
	w := newWorldOn(t, p, pool("od", clusters.OnDemand, 1, 10))
	w.create("b")
	w.until(10 * time.Second)
	first, _ := w.s.List(dispatcher.List{Stale: true})
	second, _ := w.s.List(dispatcher.List{Stale: true})
	was := names(first.Items)
	w.create("a")
	w.delete("b", true)
	w.until(20 * time.Second)
	third, _ := w.s.List(dispatcher.List{Stale: true})
	if names(first.Items) != was || names(second.Items) != was || !strings.HasPrefix(was, "b:") || !strings.HasPrefix(names(third.Items), "a:") {
		t.Errorf("the first list showed %q and shows %q, the second %q, the third %q", was, names(first.Items), names(second.Items), names(third.Items))
	}
}

// api-concepts, resource versions: one watch cache follows one log, so what it shows may be old, but never older than before.
func TestCacheNeverGoesBack(t *testing.T) {
	p := steady
	p.CacheLag = clusters.Uniform(0, time.Minute)
	w := newWorldOn(t, p, pool("od", clusters.OnDemand, 1, 10))
	w.create("a")
	w.until(2 * time.Minute)
	w.delete("a", true)
	gone := false
	for range 100 {
		w.until(w.k.Now() + time.Second)
		page, _ := w.s.List(dispatcher.List{Stale: true})
		if len(page.Items) > 0 && gone {
			t.Fatalf("at %v the deleted object is back", w.k.Now())
		}
		gone = len(page.Items) == 0
	}
	if !gone {
		t.Error("the deletion never showed")
	}
}

func TestJournalIsTrimmedUnderALag(t *testing.T) {
	for _, lag := range []time.Duration{time.Second, 2 * compactionAge} {
		w := newWorld(t)
		w.s.SetCacheLag(clusters.Fixed(lag))
		for range 10 * trimAt {
			w.create("a")
			w.delete("a", false)
			w.until(w.k.Now() + time.Second)
		}
		if n := len(w.s.journal.changes); n > 5*trimAt {
			t.Errorf("lag %v: %d changes are kept", lag, n)
		}
		w.create("z")
		w.until(w.k.Now() + lag)
		if page, _ := w.s.List(dispatcher.List{Stale: true}); names(page.Items) != "z:pending" {
			t.Errorf("lag %v: the cache shows %s", lag, names(page.Items))
		}
	}
}
