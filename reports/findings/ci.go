package findings

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/dispatcher"
)

// writeJUnit writes one case per finding, and one that passes when there is none: a file without cases is taken for a broken run.
func writeJUnit(w io.Writer, d Document) error {
	suite := junit.Testsuite{Name: "squall lint: " + printable(d.Chain), Time: "0"}
	for _, f := range d.Findings {
		c := junit.Testcase{Name: printable(f.Relation + " at " + f.Place.String()), Classname: "squall.lint." + printable(d.Chain), Time: "0"}
		if f.Severity == dispatcher.SeverityWarning {
			c.SystemOut = &junit.Output{Data: printable("warning " + f.Code + ": " + One(f, Ink{}))}
		} else {
			c.Failure = &junit.Result{Message: printable(f.Message), Type: f.Code, Data: printable("\n" + One(f, Ink{}))}
		}
		suite.AddTestcase(c)
	}
	for _, f := range d.Silent {
		suite.AddTestcase(junit.Testcase{Name: printable(f.Relation + " at " + f.Place.String()), Classname: "squall.lint." + printable(d.Chain), Time: "0",
			Skipped: &junit.Result{Message: printable(fmt.Sprintf("suppressed until %s by %s: %s", f.Suppressed.Until, f.Suppressed.Owner, f.Suppressed.Reason))}})
	}
	if d.Errors() == 0 {
		suite.AddTestcase(junit.Testcase{Name: count(d.Relations, "relation holds", "relations hold"), Classname: "squall.lint." + printable(d.Chain), Time: "0"})
	}
	suites := junit.Testsuites{Name: "squall", Time: "0"}
	suites.AddSuite(suite)
	return suites.WriteXML(w)
}

// printable removes what XML 1.0 cannot hold.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == '\uFFFE' || r == '\uFFFF' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// mostAnnotations is how many of them GitHub shows of one step; the last one says that there are more.
const mostAnnotations = 10

// writeGitHub writes workflow commands, which a run of GitHub Actions shows beside the lines.
func writeGitHub(w io.Writer, d Document) error {
	var b strings.Builder
	for i, f := range d.Findings {
		if i == mostAnnotations-1 && len(d.Findings) > mostAnnotations {
			fmt.Fprintf(&b, "::error title=squall lint::%d more findings: see the log\n", len(d.Findings)-i)
			break
		}
		level := "error"
		if f.Severity == dispatcher.SeverityWarning {
			level = "warning"
		}
		at := ""
		if !f.Place.Elsewhere {
			at = fmt.Sprintf("file=%s,line=%d,col=%d,", property(d.relative(f.Place.File)), f.Place.Line, f.Place.Col)
		}
		fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", level, at, property(f.Code+" "+f.Relation), data(sentence(f)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d Document) relative(file string) string {
	if d.Relative == nil {
		return file
	}
	return d.Relative(file)
}

// data and property escape what a workflow command would take for its own.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}

// writeGitLab writes a code quality report.
func writeGitLab(w io.Writer, d Document) error {
	type lines struct {
		Begin int `json:"begin"`
	}
	type location struct {
		Path  string `json:"path"`
		Lines lines  `json:"lines"`
	}
	type issue struct {
		Description string   `json:"description"`
		Check       string   `json:"check_name"`
		Fingerprint string   `json:"fingerprint"`
		Severity    string   `json:"severity"`
		Location    location `json:"location"`
	}
	issues := []issue{}
	for _, f := range d.Findings {
		severity := "major"
		if f.Severity == dispatcher.SeverityWarning {
			severity = "minor"
		}
		issues = append(issues, issue{sentence(f), f.Code + " " + f.Relation, f.Fingerprint, severity,
			location{d.relative(f.Place.File), lines{f.Place.Line}}})
	}
	return indented(w, issues)
}

// mostMarkdown is how many findings a summary tells of.
const mostMarkdown = 50

// writeMarkdown writes a summary for a CI's step.
func writeMarkdown(w io.Writer, d Document) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", cell(lastLine(d.Report, Ink{})))
	if len(d.Findings) > 0 {
		b.WriteString("| | relation | what is wrong | margin | needed | where | owner |\n|---|---|---|---:|---:|---|---|\n")
	}
	for i, f := range d.Findings {
		if i == mostMarkdown {
			fmt.Fprintf(&b, "\n%d more.\n", len(d.Findings)-i)
			break
		}
		var places, owners []string
		for _, p := range partsOf(f) {
			places, owners = append(places, code(p.Link+" "+p.Place.String())), append(owners, cell(either(p.Owner, "derived")))
		}
		if len(places) == 0 {
			places = []string{code(f.Place.String())}
		}
		fmt.Fprintf(&b, "| %s %s | %s | %s | %s | %s | %s | %s |\n", map[bool]string{true: "❌", false: "⚠️"}[f.Severity == dispatcher.SeverityError], f.Code,
			code(f.Relation), cell(f.Message+". "+f.Harm), cell(f.Margin), cell(f.Need), strings.Join(places, "<br>"), strings.Join(owners, "<br>"))
	}
	for i, f := range d.Findings {
		if i == mostMarkdown {
			break
		}
		writeFixes(&b, f)
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// writeFixes writes what to do about a finding, and what its simulation came to.
func writeFixes(b *strings.Builder, f chain.Finding) {
	fixes := fixWords(f)
	if fixes == "" && f.Proof == nil {
		return
	}
	fmt.Fprintf(b, "\n- %s: %s", code(f.Relation), cell(either(fixes, f.Message)))
	if f.Proof == nil {
		return
	}
	for _, text := range proofWords(f) {
		text, _, _ = strings.Cut(text, " Replay: ")
		fmt.Fprintf(b, "\n  - %s", cell(text))
	}
	if f.Proof.Replay != "" {
		fmt.Fprintf(b, " Replay: %s", code(f.Proof.Replay))
	}
}

// cell keeps text from being read as Markdown or HTML.
func cell(text string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "\n", " ", "\r", " ").Replace(text)
}

// code is text as it is, in a table's cell.
func code(text string) string {
	return "`" + strings.NewReplacer("`", "'", "|", "\\|", "\n", " ", "\r", " ").Replace(text) + "`"
}
