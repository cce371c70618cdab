package scenarios

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// TestEveryCodeIsExplained reads the codes from the sources, so that a new one cannot be forgotten.
func TestEveryCodeIsExplained(t *testing.T) {
	code := regexp.MustCompile(`^"(SQ[0-9]{3})"$`)
	found := 0
	for _, file := range []string{"codes.go", "../faults/validate.go", "../checker/chain/codes.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok {
				return true
			}
			if m := code.FindStringSubmatch(lit.Value); m != nil {
				found++
				text, ok := Explain(m[1])
				if !ok || strings.Count(text, "\n\n") < 2 {
					t.Errorf("%s is not explained with a paragraph and an example", m[1])
				}
			}
			return true
		})
	}
	if found < 30 {
		t.Errorf("only %d codes found: the test looks in the wrong place", found)
	}
}

func TestExplainTakesAnyCaseAndOnlyCodes(t *testing.T) {
	if text, ok := Explain("sq104"); !ok || !strings.HasPrefix(text, "SQ104: unknown field") {
		t.Errorf("got %q", text)
	}
	if _, ok := Explain("SQ999"); ok {
		t.Error("SQ999 is explained")
	}
	seen := map[string]bool{}
	for _, c := range Codes() {
		if seen[c] {
			t.Errorf("%s is explained twice", c)
		}
		seen[c] = true
	}
}

// TestTheExampleOfAnEmptyFileIsAScenario: whoever copies it must not get the next error.
func TestTheExampleOfAnEmptyFileIsAScenario(t *testing.T) {
	for _, e := range explanations {
		if e.code != CodeEmpty {
			continue
		}
		if _, err := Parse("example.yaml", []byte(e.example)); err != nil {
			t.Error(err)
		}
	}
}
