package reports

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file in testdata/golden.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v\n  fix: go test ./reports -update, and read the file", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test ./reports -update writes it anew\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// sampleSummaries are one of each kind: a failure, a pass, an expected failure over many seeds, one
// that nobody could decide, one that broke the harness, one that was interrupted, one that is valid and should not be, and
// an expected failure that is no part of a suite.
func sampleSummaries() []Summary {
	failed := SummaryOf(failing())
	failed.Expected, failed.Group, failed.Report = Valid, "reference", "../stale-leader-42/report.html"
	passed := SummaryOf(passing())
	passed.Group = "reference"
	first := uint64(1<<63 + 7)
	many := Summary{Scenario: "lease-storm", Dispatcher: "naive", World: "sim", Seeds: 200, Valid: 150, Invalid: 50, FirstInvalid: &first, Expected: Invalid,
		Violations: map[string]int{"I1-overlap": 50, "I6-fence": 12}, Exercised: map[string]int{"I1-overlap": 900, "I4-cancel": 0, "I6-fence": 31},
		TraceHash: 1<<63 + 1, Virtual: 100 * time.Hour, Wall: 1500 * time.Millisecond, Group: "naive", Bundle: ".squall/runs/naive"}
	undecided := Summary{Scenario: "lease-storm", Dispatcher: "reference", World: "kind", Seeds: 3, Valid: 2, Unknown: 1, Expected: Valid, Group: "reference",
		Unmet: []string{"L1-ledger | <b>budget</b> spent"}}
	broken := SummaryOf(&Run{Err: errors.New("determinism is lost: seed 9")})
	stopped := SummaryOf(passing())
	stopped.Interrupted, stopped.Group = true, "reference"
	unmet := SummaryOf(passing())
	unmet.Dispatcher, unmet.Expected, unmet.Unmet = "naive", Invalid, []string{"verdict valid, expected invalid"}
	broken.Scenario, broken.Dispatcher, broken.World = "demo", "reference", "sim"
	all := []Summary{failed, passed, many, undecided, broken, stopped, unmet}
	for i := range all {
		all[i].Suite = true
	}
	alone := many // the same by itself: whatever was expected of it, it failed
	alone.Suite, alone.Scenario, alone.Group = false, "lease-storm-alone", ""
	return append(all, alone)
}

func TestOutputsAreGolden(t *testing.T) {
	for name, write := range map[string]func(io.Writer, []Summary) error{
		"results.txt": WriteText, "results.json": WriteJSON, "results.xml": WriteJUnit, "results.md": WriteMarkdown,
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b, sampleSummaries()); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
			b.Reset()
			if err := write(&b, nil); err != nil {
				t.Fatalf("of nothing: %v", err)
			}
		})
	}
}

func TestVerdictFileIsGolden(t *testing.T) {
	text, err := failing().VerdictJSON()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "verdict.json", text)
}

func TestJUnitKinds(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJUnit(&b, sampleSummaries()); err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Name       string `xml:"name,attr"`
			Properties []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Failures != 3 || suites.Errors != 3 {
		t.Errorf("%d failures and %d errors; an unexpected or lone invalid and an unmet expectation are failures, unknown, interrupted and a broken harness errors", suites.Failures, suites.Errors)
	}
	if p := suites.Suites[0].Properties; len(p) != 1 || p[0].Name != "attachment" || p[0].Value != failing().Bundle {
		t.Errorf("the failing suite's properties are %v, not its bundle as attachment", p)
	}
}

func TestMarkdownFitsAStepSummary(t *testing.T) {
	var all []Summary
	for range 400 {
		all = append(all, sampleSummaries()...)
	}
	hostile := all[0]
	hostile.Scenario, hostile.Story = strings.Repeat("|", 1<<17), strings.Repeat("<b>&", 1<<15)
	hostile.Failures = slices.Repeat([]string{strings.Repeat("$x$ ", 1<<11)}, 100)
	for range 20 {
		all = append(all, hostile)
	}
	var b bytes.Buffer
	if err := WriteMarkdown(&b, all); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 1<<20 {
		t.Errorf("%d bytes are more than the 1 MiB that GitHub shows", b.Len())
	}
	if n := strings.Count(b.String(), "```mermaid"); n != 1 {
		t.Errorf("%d diagrams; only the first failure is drawn", n)
	}
	if strings.Contains(b.String(), "<b>") {
		t.Error("a message can put HTML into the summary")
	}
	if !strings.Contains(b.String(), "2820 more results: see the report.") {
		t.Error("rows are left out in silence")
	}
}

func TestMarkdownTakesTextForText(t *testing.T) {
	for text, want := range map[string]string{
		"# no heading": "\\# no heading", "- no item": "\\- no item", "12. no item": "12\\. no item", "a | b": "a \\| b", "$x$": "\\$x\\$",
		"~~gone~~": "\\~\\~gone\\~\\~", "<img src=x>": "&lt;img src=x&gt;", "&lt;": "&amp;lt;", "![x](y)": "!\\[x](y)", "two\nlines": "two lines", "plain": "plain",
	} {
		if got := paragraphed(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
	if got := fenced("sh", "a\n```\n# b"); got != "````sh\na\n```\n# b\n````" {
		t.Errorf("a fence inside ends the block: %q", got)
	}
	for text, want := range map[string]string{"section two": "· section two", "Click me": "· Click me", "claim": "claim", "%%{init: 1}": "% % init  1 "} {
		if got := barLabel(text); got != want {
			t.Errorf("Mermaid's label of %q is %q, not %q", text, got, want)
		}
	}
}
