package chain

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// FuzzChain: whatever a chain file holds, the answer is a chain that can be checked, or an error with a place in the file.
func FuzzChain(f *testing.F) {
	for _, c := range badInputs {
		f.Add(c.text)
	}
	first, err := os.ReadFile("../../cmd/squall/init_chain.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(first))
	f.Add(head + "links:\n  - {name: a, owner: x, value: \"3 * max(1s, 2m) / 2\", below: b, margin: 1s, because: x}\n  - {name: b, owner: x, value: a + 1s}\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parse("squall.yaml", []byte(text))
		if err == nil {
			for _, r := range p.relations {
				if r.left.root == nil || r.right.root == nil || r.comparison == "" {
					t.Errorf("a relation that compares nothing: %s", r.name)
				}
			}
			return
		}
		var input *InputError
		if !errors.As(err, &input) || len(input.Problems) == 0 {
			t.Fatalf("no InputError: %v", err)
		}
		lines := strings.Count(text, "\n") + 1
		for _, problem := range input.Problems {
			if problem.Line < 1 || problem.Line > lines+1 || problem.Col < 1 || problem.Code == "" || problem.Message == "" {
				t.Errorf("a problem without a place: %+v", problem)
			}
		}
	})
}

// FuzzFormula: a formula is read or refused with the character, and what is read can be written and read again as the same.
func FuzzFormula(f *testing.F) {
	for _, seed := range []string{"1", "a + 5s", "3 * (a - b) / 2", "max(a, min(b, 1m30s))", "-a", "1_000", "((", "a b", "1..2"} {
		f.Add(seed)
	}
	value := func(string) (Quantity, error) { return lasting(7e9), nil }
	f.Fuzz(func(t *testing.T, text string) {
		formula, err := parseFormula(text)
		var bad *formulaError
		if errors.As(err, &bad) {
			if bad.at < 0 || bad.at > len(text) {
				t.Errorf("%q: character %d", text, bad.at)
			}
			return
		}
		again, err := parseFormula(formula.root.text())
		if err != nil {
			if !errors.As(err, &bad) || !strings.Contains(bad.message, "the formula has") && !strings.Contains(bad.message, "nested") {
				t.Errorf("%q is written as %q: %v", text, formula.root.text(), err)
			}
			return
		}
		first, firstErr := formula.root.evaluate(value)
		second, secondErr := again.root.evaluate(value)
		if (firstErr == nil) != (secondErr == nil) || firstErr == nil && first.time == second.time && first.cmp(second) != 0 && len(text) < 40 && !strings.Contains(text, ".") {
			t.Errorf("%q is %s, and written as %q %s", text, first, formula.root.text(), second)
		}
	})
}
