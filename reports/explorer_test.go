package reports

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/checker/synthetic"
)

var desk = screen{width: 1280, height: 900, scheme: "light"}

// manyCalls is a run of about ten times as many calls as tasks.
func manyCalls(tasks int) *Run {
	h := synthetic.History(synthetic.Options{Seed: 1, Tasks: tasks, Lost: 0.1, Unknown: 0.02})
	return &Run{History: h, Judged: checker.Valid, Settings: sampleSettings(), Virtual: time.Hour}
}

// explorerOf opens a page at a view of the full timeline, and waits until it is there.
func explorerOf(t testing.TB, html []byte, s screen, view string) *tab {
	t.Helper()
	p := openAt(t, html, s, view)
	p.must(chromedp.Do(p.ctx, chromedp.WaitReady("#explorer[data-ready]")))
	return p
}

func TestFullTimeline(t *testing.T) {
	p := explorerOf(t, page(t, "invalid"), desk, "#full?q=create+unknown")
	if said := eval[string](p, `document.getElementById("explorer-hits").textContent`); said != "1 found" {
		t.Errorf("the search of the link says %q", said)
	}
	p.must(chromedp.Do(p.ctx, chromedp.Focus("#full [name=q]"), chromedp.KeyEvent("\r")))
	told := strings.ReplaceAll(eval[string](p, `document.getElementById("explorer-told").textContent`), "\u00a0", " ")
	if told != "66.03 s: dispatcher-1 create 7 → unknown (timeout) after 10 s" {
		t.Errorf("the call found is told as %q", told)
	}
	p.must(chromedp.Do(p.ctx, chromedp.Focus("#explorer"), chromedp.KeyEvent("+"), chromedp.KeyEvent("+"), chromedp.Sleep(400*time.Millisecond)))
	if hash := eval[string](p, "location.hash"); !strings.HasPrefix(hash, "#full?from=") || !strings.Contains(hash, "q=create+unknown") || !strings.Contains(hash, "item=") {
		t.Errorf("the address is %q", hash)
	}
	if wide := eval[float64](p, `(() => { const a = new URLSearchParams(location.hash.slice(6)); return (a.get("to") - a.get("from")) / 1e6; })()`); wide > 106 || wide < 104 {
		t.Errorf("after + + a view of 420 s is %v s wide", wide)
	}
	rows := eval[string](p, `(async () => { const s = document.querySelector("#full [name=task]"); s.value = "7"; s.dispatchEvent(new Event("input"));
		document.querySelector("#full [name=q]").value = ""; document.querySelector("#full [name=q]").dispatchEvent(new Event("input"));
		document.querySelector("[data-look=all]").click(); document.getElementById("explorer-table").open = true;
		await new Promise(r => setTimeout(r, 500)); return [...document.querySelectorAll("#explorer-table tbody tr")].map(r => r.innerText.replace(/\s+/g, " ")).join("\n"); })()`)
	for _, want := range []string{"66.03 s dispatcher-1 7 create unknown (timeout) 10 s", "reconciler-1 7 requeue ok", "spot-1 7 container"} {
		if !strings.Contains(rows, want) {
			t.Errorf("the table of what is in view lacks %q:\n%s", want, rows)
		}
	}
	if strings.Contains(rows, " 3 ") {
		t.Errorf("the filter for task 7 shows task 3:\n%s", rows)
	}
	p.shoot("explorer-desk")
	p.quiet()
}

// TestFullTimelineIsAnAddition: without script nothing of it is shown, and without a look at it nothing is read.
func TestFullTimelineIsAnAddition(t *testing.T) {
	html := page(t, "invalid")
	p := open(t, html, screen{width: 1280, height: 900, scheme: "light", noScript: true})
	if tall := eval[float64](p, `document.getElementById("full").getBoundingClientRect().height`); tall != 0 {
		t.Errorf("without script it takes %v px", tall)
	}
	p = open(t, html, desk)
	if eval[bool](p, `!!document.getElementById("explorer").dataset.ready`) {
		t.Error("it is built before anybody comes near it")
	}
}

func TestLargeTimelineLooksAsItShould(t *testing.T) {
	html := htmlOf(t, manyCalls(300))
	if !bytes.Contains(html, []byte(`id="explorer-data">"H4sI`)) {
		t.Error("3,000 calls are not compressed")
	}
	// Of width, scheme and order of the lanes every two meet.
	for name, by := range map[string]string{"1280-light": "actor", "390-light": "task", "1280-dark": "task", "390-dark": "actor"} {
		t.Run(name, func(t *testing.T) {
			s := screens[name]
			p := explorerOf(t, html, s, "#full?by="+by+"&from=20000000&to=60000000")
			if drawn := eval[int](p, `(() => { const c = document.querySelector("#explorer canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
				for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size; })()`); drawn < 10 {
				t.Errorf("by %s: the canvas has %d colours", by, drawn)
			}
			if wide := eval[float64](p, "document.documentElement.scrollWidth"); wide > float64(s.width) {
				t.Errorf("the page is %v px wide on a screen of %d", wide, s.width)
			}
			p.shoot("explorer-" + by + "-" + name)
			p.quiet()
		})
	}
}

func htmlOf(t testing.TB, r *Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExplorerCarriesEveryCall(t *testing.T) {
	r := failing()
	x, err := setScene(r).explore()
	if err != nil {
		t.Fatal(err)
	}
	var run exploredRun
	if err := json.Unmarshal([]byte(x.JSON), &run); err != nil {
		t.Fatal(err)
	}
	if x.Calls != len(r.History.Operations) || len(run.Calls.At) != x.Calls || x.Left != 0 || len(run.Lives.At) != 13 || len(run.Faults) != 3 || len(run.Broken) != 2 {
		t.Errorf("%d calls, %d containers, %d faults, %d violations, %d left", len(run.Calls.At), len(run.Lives.At), len(run.Faults), len(run.Broken), x.Left)
	}
	var at int64
	for i, o := range r.History.Operations {
		if at += run.Calls.At[i]; at != o.CalledAt.Microseconds() || run.Verbs[run.Calls.Verb[i]-1] != o.Verb.String() || run.Codes[run.Calls.Code[i]] != o.Code.String() {
			t.Fatalf("call %d is at %d, %s %s", i, at, run.Verbs[run.Calls.Verb[i]-1], run.Codes[run.Calls.Code[i]])
		}
	}
	if s := string(x.JSON); strings.Contains(s, "<") {
		t.Error("a name could end the script element")
	}
}

// TestExplorerIsBounded: of more calls than a page can carry the routine ones go.
func TestExplorerIsBounded(t *testing.T) {
	r := manyCalls(10)
	one := r.History.Operations[0]
	one.Verb, one.Outcome = history.Heartbeat, history.OK
	for range mostExplored {
		r.History.Operations = append(r.History.Operations, one)
	}
	s := setScene(r)
	calls, left := s.explored(true)
	if left < mostExplored || len(calls)+left != len(r.History.Operations) {
		t.Errorf("%d calls and %d left of %d", len(calls), left, len(r.History.Operations))
	}
}

// BenchmarkFullTimeline is a page with 100,000 calls in a real browser: its size, how long after its opening the timeline can be used,
// and how long drawing it anew takes.
func BenchmarkFullTimeline(b *testing.B) {
	html := htmlOf(b, manyCalls(10_000))
	p := explorerOf(b, html, desk, "#full?from=0")
	b.ReportMetric(float64(len(html))/(1<<20), "MB")
	b.ReportMetric(eval[float64](p, `+document.getElementById("explorer").dataset.ready`), "ms-to-use")
	whole := `(() => { const e = document.getElementById("explorer"), n = %; const t = performance.now(); for (let i = 0; i < n; i++) e.paint(); return (performance.now() - t) / n; })()`
	b.ReportMetric(eval[float64](p, strings.Replace(whole, "%", "20", 1)), "ms/drawing-all")
	eval[bool](p, `document.getElementById("explorer").look(2e8, 2.6e8), true`)
	b.ReportMetric(eval[float64](p, strings.Replace(whole, "%", "20", 1)), "ms/drawing-a-minute")
	b.ReportMetric(eval[float64](p, `(() => { const s = document.querySelector("#full [name=q]"), t = performance.now(); s.value = "requeue"; s.dispatchEvent(new Event("input")); return performance.now() - t; })()`), "ms/search")
	b.ReportMetric(eval[float64](p, `(() => { const s = document.querySelector("#full [name=by]"), t = performance.now(); s.value = "task"; s.dispatchEvent(new Event("change")); return performance.now() - t; })()`), "ms/lanes-by-task")
	for range b.N {
	}
}
