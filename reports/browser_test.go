package reports

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// errNoBrowser: in continuous integration the tests fail with it, since a report that nobody has looked at is not
// tested; elsewhere they are skipped, and `make test` ends with what was left out and how to get it.
var errNoBrowser = errors.New("no browser: install one with `apt-get install chromium`")

// browserPath finds a Chromium.
var browserPath = sync.OnceValues(func() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
})

// browser is one Chromium for all tests of the package.
var browser struct {
	sync.Once
	ctx  context.Context
	stop []context.CancelFunc
	// scraps is where the browser may leave what it likes.
	scraps string
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(browser.stop) - 1; i >= 0; i-- {
		browser.stop[i]()
	}
	if browser.scraps != "" {
		_ = os.RemoveAll(browser.scraps) // the browser may still be on its way out
	}
	os.Exit(code)
}

func startBrowser() {
	path, err := browserPath()
	if err != nil {
		browser.err = err
		return
	}
	scraps, err := os.MkdirTemp("", "squall-browser-") // Chromium leaves files behind
	if err != nil {
		browser.err = err
		return
	}
	browser.scraps = scraps
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-software-rasterizer", true), // else pages are painted by an emulated graphics card
		chromedp.Flag("disable-sync", true), chromedp.NoFirstRun, chromedp.Env("TMPDIR="+scraps))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to run as root with it
	}
	ctx, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stopBrowser := chromedp.NewContext(ctx)
	browser.stop = []context.CancelFunc{stopAllocator, stopBrowser}
	browser.ctx = ctx
	_, browser.err = chromedp.Run(ctx, chromedp.Title())
}

// screen is how a page is looked at.
type screen struct {
	width, height int64
	scheme        string
	noScript      bool
}

// tab is a page in the browser, with what it said and asked for.
type tab struct {
	t   testing.TB
	ctx context.Context
	mu  sync.Mutex
	// requests are the URLs that the page asked for, but for itself and what it carries along.
	requests []string
	console  <-chan string
}

// open loads a page from a file, with nothing but the file.
func open(t testing.TB, html []byte, s screen) *tab { return openAt(t, html, s, "") }

// openAt is open with what follows the file's name in the address.
func openAt(t testing.TB, html []byte, s screen, at string) *tab {
	t.Helper()
	browser.Do(startBrowser)
	if errors.Is(browser.err, errNoBrowser) && os.Getenv("CI") == "" {
		t.Skip(browser.err)
	}
	if browser.err != nil {
		t.Fatal(browser.err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, html, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser.ctx)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(stop)
	p := &tab{t: t, ctx: ctx}
	p.must(chromedp.Do(ctx, chromedp.EmulateViewport(s.width, s.height)))
	p.must(chromedp.Listen(ctx, p.listen))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	p.must(err)
	p.wear(s.scheme)
	_, err = chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: s.noScript})
	p.must(err)
	p.listenConsole()
	p.must(chromedp.Do(ctx, chromedp.Navigate("file://"+file+at)))
	return p
}

// wear changes the colour scheme.
func (p *tab) wear(scheme string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	p.must(err)
}

func (p *tab) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) listen(event any) {
	sent, ok := event.(*network.EventRequestWillBeSent)
	if !ok || strings.HasPrefix(sent.Request.URL, "data:") || strings.HasSuffix(sent.Request.URL, "/report.html") {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, sent.Request.URL)
}

func (p *tab) listenConsole() {
	messages := chromedp.Console(p.ctx)
	said := make(chan string, 100)
	p.console = said
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			select {
			case said <- m.String():
			default:
			}
		}
	}()
}

// quiet fails when the page complained, or asked for anything.
func (p *tab) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) > 0 {
		p.t.Errorf("the page asked for %q", p.requests)
	}
	for {
		select {
		case line := <-p.console:
			p.t.Errorf("the console says %s", line)
		default:
			return
		}
	}
}

// eval runs an expression in the page; T is what it gives.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%v\nin %.300s", err, expression)
	}
	return v
}

// shoot keeps a picture among the test's artefacts, if somebody asks for them: go test ./reports -artifacts -outputdir=DIR.
func (p *tab) shoot(name string) {
	p.t.Helper()
	if f := flag.Lookup("test.artifacts"); f == nil || f.Value.String() != "true" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	p.must(err)
	p.must(os.WriteFile(filepath.Join(p.t.ArtifactDir(), name+".png"), picture, 0o644))
}

// made are pages of each kind, by name: they are written once.
var made = map[string][]byte{}

func page(t *testing.T, name string) []byte {
	t.Helper()
	if made[name] == nil {
		made[name] = write(t, name)
	}
	return made[name]
}

func write(t *testing.T, name string) []byte {
	t.Helper()
	switch name {
	case "suite":
		var b bytes.Buffer
		suite, results := suiteWithBaseline()
		if err := suite.WriteHTML(&b, "Squall: the suite", "v0.1.0", results); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	case "comparison":
		return comparisonHTML(t, sweptSample())
	case "large-comparison": // wide enough; how large one may be is TestALargeComparisonStaysSmall's
		return comparisonHTML(t, fabricated(50, 100))
	case "explained":
		return htmlOf(t, explained())
	case "valid":
		return htmlOf(t, passing())
	case "live":
		return htmlOf(t, live())
	}
	failed := failing()
	failed.Control = passing()
	return htmlOf(t, failed)
}

var screens = map[string]screen{
	"1280-light": {width: 1280, height: 900, scheme: "light"},
	"1280-dark":  {width: 1280, height: 900, scheme: "dark"},
	"390-light":  {width: 390, height: 844, scheme: "light"},
	"390-dark":   {width: 390, height: 844, scheme: "dark"},
}

// overlapping lists pairs of texts in figures that lie on each other.
const overlapping = `(() => {
	const found = [];
	for (const svg of document.querySelectorAll("svg.figure")) {
		if (!svg.getClientRects().length) continue;
		const texts = [...svg.querySelectorAll("text:not(.badge-number)")].map(e => [e.textContent, e.getBoundingClientRect()]).filter(([, r]) => r.width > 0);
		for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
			const [a, b] = [texts[i][1], texts[j][1]];
			const dx = Math.min(a.right, b.right) - Math.max(a.left, b.left), dy = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
			if (dx > 0.5 && dy > 4) found.push(svg.id + ": " + texts[i][0] + " / " + texts[j][0]);
		}
	}
	return found;
})()`

func TestPagesInABrowser(t *testing.T) {
	for _, name := range []string{"invalid", "explained", "suite", "comparison"} {
		onScreens(t, name, page(t, name), true)
	}
	for _, name := range []string{"valid", "live", "large-comparison"} { // nothing in them that the others do not have, in the dark
		onScreens(t, name, page(t, name), false)
	}
}

// onScreens has a page looked at on a wide and on a narrow screen, and, if the dark has something of its own to show, in both schemes. Axe, which
// takes longer than all the rest, goes over all of it once; in the dark it asks for contrast, on the narrow screen for what scrolls there.
func onScreens(t *testing.T, name string, html []byte, dark bool) {
	for _, width := range []string{"1280", "390"} {
		t.Run(name+"-"+width, func(t *testing.T) {
			s := screens[width+"-light"]
			p := open(t, html, s)
			p.fits(s)
			p.shoot(name + "-" + width + "-light")
			switch {
			case width == "390":
				p.audit(`runOnly: ["scrollable-region-focusable"],`)
			case name != "valid": // it has been through with the invalid one
				p.audit("")
			}
			if dark {
				p.wear("dark")
				p.fits(s)
				p.shoot(name + "-" + width + "-dark")
				if width == "1280" {
					p.audit(`runOnly: ["color-contrast"],`)
				}
			}
			p.quiet()
		})
	}
}

// fits fails when something sticks out of the page, or lies on something else.
func (p *tab) fits(s screen) {
	p.t.Helper()
	if wide := eval[float64](p, "document.documentElement.scrollWidth"); wide > float64(s.width) {
		p.t.Errorf("the page is %v px wide on a screen of %d", wide, s.width)
	}
	if found := eval[[]string](p, overlapping); len(found) > 0 {
		p.t.Errorf("labels overlap: %q", found)
	}
}

// audit fails with what axe finds.
func (p *tab) audit(options string) {
	p.t.Helper()
	for _, v := range p.violations(options) {
		p.t.Errorf("axe: %s", v)
	}
}

var axe = sync.OnceValues(func() ([]byte, error) { return os.ReadFile(filepath.Join("testdata", "axe", "axe.min.js")) })

func (p *tab) violations(options string) []string {
	p.t.Helper()
	script, err := axe()
	p.must(err)
	eval[bool](p, "if (!window.axe) {"+string(script)+"}; true")
	return eval[[]string](p, `axe.run({exclude: ["svg.figure *"]}, {`+options+` resultTypes: ["violations"]}).then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical")
	.map(v => v.id + " (" + v.impact + "): " + v.help + ": " + v.nodes.slice(0, 4).map(n => n.html.slice(0, 160) + " " + (n.any[0] ? n.any[0].message : "")).join(" | ")))`)
}

// TestTheLooksCanFail makes sure that the checks of TestPagesInABrowser see what they look for.
func TestTheLooksCanFail(t *testing.T) {
	bad := strings.Replace(string(page(t, "suite")), "<main ", `<style>@media (prefers-color-scheme: dark) { #dusk { color: #222; background: #333 } }</style><p id="dusk">dusk</p>
<p style="color:#aaa;background:#bbb">pale</p><img src="data:,"><p style="width:3000px">wide</p>
<svg class="figure" width="100" height="100"><text y="20">one</text><text y="22">two</text></svg><script>console.error("a complaint")</script><main `, 1)
	p := open(t, []byte(bad), screen{width: 1280, height: 900, scheme: "light"})
	if wide := eval[float64](p, "document.documentElement.scrollWidth"); wide < 3000 {
		t.Errorf("the page is %v px wide", wide)
	}
	if found := eval[[]string](p, overlapping); len(found) != 1 {
		t.Errorf("overlapping labels: %q", found)
	}
	found := strings.Join(p.violations(""), "\n")
	for _, rule := range []string{"image-alt", "color-contrast"} {
		if !strings.Contains(found, rule) {
			t.Errorf("axe does not find %s, only %s", rule, found)
		}
	}
	p.wear("dark")
	if dark := strings.Join(p.violations(`runOnly: ["color-contrast"],`), "\n"); strings.Contains(found, "dusk") || !strings.Contains(dark, "dusk") {
		t.Errorf("in the light axe finds %s, in the dark %s", found, dark)
	}
	if said := <-p.console; !strings.Contains(said, "Content Security Policy") {
		t.Errorf("a foreign script is let through, and the console says %q", said)
	}
}

func TestTheViolationIsInView(t *testing.T) {
	html := page(t, "invalid")
	for name, screen := range map[string]screen{"desk": {width: 1280, height: 900, scheme: "light"}, "telephone": {width: 390, height: 844, scheme: "light"}} {
		t.Run(name, func(t *testing.T) {
			p := open(t, html, screen)
			top := eval[float64](p, `Math.min(...[...document.querySelectorAll(".focus")].filter(e => e.getClientRects().length).map(e => e.getBoundingClientRect().top))`)
			if most := float64(screen.height) * 1.5; top > most {
				t.Errorf("the first violation begins %v px down; %v are in view after half a screen of scrolling", top, most)
			}
			if n := eval[int](p, `["verdict-title", "story", "replay"].filter(id => document.getElementById(id).getBoundingClientRect().bottom < innerHeight).length`); n < 3 {
				t.Errorf("only %d of verdict, story and replay command are in view at once", n)
			}
		})
	}
}

func TestPagesSayEverythingWithoutScript(t *testing.T) {
	p := open(t, page(t, "invalid"), screen{width: 1280, height: 900, scheme: "light", noScript: true})
	text := strings.ReplaceAll(eval[string](p, "document.body.innerText"), "\u00a0", " ")
	for _, needed := range []string{"Invalid", "I1-overlap", "two executions are alive at once for 55.73 s", "squall replay .squall/runs/stale-leader-42",
		"not exercised", "First difference", "met nobody", "These settings do not nest"} {
		if !strings.Contains(text, needed) {
			t.Errorf("without script the page does not say %q", needed)
		}
	}
	if n := eval[int](p, `[...document.querySelectorAll(".script-only")].filter(e => e.getClientRects().length).length`); n > 0 {
		t.Errorf("%d controls are shown that do nothing without script", n)
	}
	p.quiet()
}

func TestComparisonsSayEverythingWithoutScript(t *testing.T) {
	p := open(t, page(t, "comparison"), screen{width: 1280, height: 900, scheme: "light", noScript: true})
	text := strings.ReplaceAll(eval[string](p, "document.body.innerText"), "\u00a0", " ")
	for _, needed := range []string{"Recommended", "Take recovery_grace=", "The cliff of recovery_grace lies between", "The rules derive 305s (workflow-in-grace)", "squall replay .squall/runs/x",
		"Make it again", "in kind", "Method", "Clopper and Pearson"} {
		if !strings.Contains(text, needed) {
			t.Errorf("without script the page does not say %q", needed)
		}
	}
	p.quiet()
}

func TestKeysSearchAndZoom(t *testing.T) {
	p := open(t, page(t, "invalid"), screen{width: 1280, height: 900, scheme: "light"})
	p.must(chromedp.Do(p.ctx, chromedp.KeyEvent("j"), chromedp.KeyEvent("j")))
	if hash := eval[string](p, "location.hash"); hash != "#control" {
		t.Errorf("j j leads to %q", hash)
	}
	p.must(chromedp.Do(p.ctx, chromedp.KeyEvent("k")))
	if hash := eval[string](p, "location.hash"); hash != "#timeline" {
		t.Errorf("k leads back to %q", hash)
	}
	before := eval[float64](p, `document.querySelector("#all-tasks").getBoundingClientRect().width`)
	p.must(chromedp.Do(p.ctx, chromedp.KeyEvent("+")))
	if after := eval[float64](p, `document.querySelector("#all-tasks").getBoundingClientRect().width`); after < before*1.5 {
		t.Errorf("+ stretches the figure from %v to %v", before, after)
	}
	p.must(chromedp.Do(p.ctx, chromedp.KeyEvent("/")))
	if id := eval[string](p, "document.activeElement.id"); id != "search" {
		t.Errorf("/ leads to %q", id)
	}
	said := eval[string](p, `(() => { const s = document.getElementById("search"); s.value = "spot-2"; s.dispatchEvent(new Event("input")); return document.getElementById("found").textContent; })()`)
	if said != "3 of 12" {
		t.Errorf("the search for spot-2 says %q", said)
	}
	p.quiet()
}
