package findings

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/dispatcher"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample has one finding of each sort: an error in two repositories with its proof, a warning, a suppression that has expired, and
// one that is suppressed. The names hold what formats take for their own.
func sample() Document {
	here := chain.Place{File: "deploy/cron jobs#1.yaml", Line: 9, Col: 30}
	there := chain.Place{File: "../platform#main:recover.env", Line: 2, Col: 24, Elsewhere: true}
	equal := chain.Finding{Code: "SQ521", Severity: dispatcher.SeverityError, Relation: "workflow-in-grace", Rule: true,
		Message: "workflow and grace are both 240s; 65s must lie between them", Margin: "0s", Need: "65s", Formula: "pod_grace + sweep",
		Left:  &chain.Side{Formula: "workflow", Value: "240s", Parts: []chain.Part{{Link: "workflow", Value: "240s", Text: "240", Owner: "in|gest <b>", Place: here, In: "CronJob/nightly"}}},
		Right: &chain.Side{Formula: "grace", Value: "240s", Parts: []chain.Part{{Link: "grace", Value: "240s", Text: "4m", Owner: "platform", Place: there}}},
		Harm:  "overrunning work runs again: 100%, and\n::error::twice", Because: "so", Place: here, Fingerprint: "aa01",
		Fixes: []chain.Fix{{Link: "grace", Owner: "platform", Text: "raise grace to at least 305s"}},
		Proof: &chain.Proof{Status: "found", Scenario: "unseen-work", Seed: 7, Violated: "I5-false-death", Story: "It was requeued.", Replay: "squall replay x", Control: "valid"}}
	rate := chain.Finding{Code: "SQ524", Severity: dispatcher.SeverityWarning, Relation: "recover-rate", Message: "slow", Margin: "-1/s", Need: "0", Harm: "slow",
		Left:  &chain.Side{Formula: "a / b", Value: "2/s", Parts: []chain.Part{{Link: "a", Value: "2", Text: "2", Owner: "x", Place: here}, {Link: "b", Value: "1s", Text: "c + 0s", Place: here}}},
		Right: &chain.Side{Formula: "c", Value: "1/s", Parts: []chain.Part{{Link: "c", Value: "1", Text: "1", Owner: "x", Place: here}}}, Place: here, Fingerprint: "aa02",
		Proof: &chain.Proof{Status: "none", Scenario: "swarm-standard", Seeds: 200, Bound: "fewer than 1.5 %"}}
	expired := chain.Finding{Code: "SQ530", Severity: dispatcher.SeverityError, Relation: "start", Message: "the suppression of start ended on 2020-01-01",
		Place: chain.Place{File: "squall.yaml", Line: 3, Col: 5}, Fingerprint: "aa03", Proof: &chain.Proof{Status: "not simulated", Reason: "it is about the chain file"}}
	silent := equal
	silent.Relation, silent.Fingerprint, silent.Proof = "step-in-workflow", "aa04", nil
	silent.Suppressed = &chain.Suppression{Relation: "step-in-workflow", Reason: "known", Owner: "sre", Until: "2027-06-30"}
	return Document{Version: "v1.2.3", Title: func(code string) string { return "title of " + code },
		Relative: func(file string) string { return strings.TrimPrefix(file, "./") },
		Report: chain.Report{Chain: "night\x00ly", File: "squall.yaml", Links: 4, Values: 4, Files: 2, Relations: 5, Rules: 3, Known: 1,
			Findings: []chain.Finding{equal, rate, expired}, Silent: []chain.Finding{silent}, Unchecked: []chain.Unchecked{{Rule: "start", Needs: []string{"cold_pull"}}}}}
}

func TestFormats(t *testing.T) {
	for _, format := range Formats() {
		var b bytes.Buffer
		if err := Write(&b, format, sample()); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", format+".golden")
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: got\n%s", format, b.String())
		}
	}
}

// TestFormatsAreWellFormed: whatever names hold, each format can be read by what it is for.
func TestFormatsAreWellFormed(t *testing.T) {
	d := sample()
	text := func(format string) string {
		var b bytes.Buffer
		if err := Write(&b, format, d); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, format := range []string{JSON, SARIF, GitLab} {
		if !json.Valid([]byte(text(format))) {
			t.Errorf("%s is no JSON", format)
		}
	}
	for x := xml.NewDecoder(strings.NewReader(text(JUnit))); ; {
		if _, err := x.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("JUnit is no XML: %v", err)
		}
	}
	lines := strings.Split(strings.TrimSpace(text(GitHub)), "\n")
	if len(lines) != len(d.Findings) {
		t.Errorf("%d findings make %d commands", len(d.Findings), len(lines))
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(text(SARIF)), &log); err != nil {
		t.Fatal(err)
	}
	results := log.Runs[0].Results
	if uri := results[0].Locations[0].Physical.Artifact.URI; uri != "deploy/cron%20jobs%231.yaml" {
		t.Errorf("the URI is %q", uri)
	}
	if len(results) != 4 || len(results[3].Suppressions) != 1 || len(results[0].Related) != 1 || log.Runs[0].Tool.Driver.Rules[results[1].RuleIndex].ID != "SQ524" {
		t.Errorf("results: %+v", results)
	}
}

// TestManyFindings: CI systems show only so many, so the last one says how many there are besides.
func TestManyFindings(t *testing.T) {
	d := sample()
	d.Findings = slices.Repeat(d.Findings[:1], 60)
	for format, want := range map[string]string{GitHub: fmt.Sprintf("%d more findings", 60-9), Markdown: "10 more."} {
		var b bytes.Buffer
		if err := Write(&b, format, d); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v, and no %q in\n%s", format, err, want, b.String())
		}
	}
}

// TestNoFindings: a file without a case, or with null for a list, is taken for a broken run.
func TestNoFindings(t *testing.T) {
	d := Document{Report: chain.Report{Chain: "calm", Relations: 3}, Title: func(string) string { return "" }}
	for format, want := range map[string]string{JSON: `"findings": []`, SARIF: `"results": []`, GitLab: "[]", JUnit: `name="3 relations hold"`,
		Text: "✓ no findings; chain calm", Markdown: "✓ no findings"} {
		var b bytes.Buffer
		if err := Write(&b, format, d); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v, and no %q in\n%s", format, err, want, b.String())
		}
	}
}
