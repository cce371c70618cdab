package coverage

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/faults"
)

var update = flag.Bool("update", false, "write the golden files anew")

// wanted are the faults that there must be a row for, in order.
func wanted() []faults.Fault {
	var all []faults.Fault
	for _, k := range faults.Kinds() {
		if k != faults.Call {
			all = append(all, faults.Fault{Kind: k})
			continue
		}
		for _, a := range faults.Actions() {
			all = append(all, faults.Fault{Kind: k, Action: a})
		}
	}
	return all
}

// missing are the faults without a row in the table, and the rows out of place.
func missing(table []Row, all []faults.Fault) []string {
	var problems []string
	for i, f := range all {
		want := Row{Kind: f.Kind, Action: f.Action}.String()
		if i >= len(table) || table[i].String() != want {
			problems = append(problems, want)
		}
	}
	if len(table) > len(all) {
		problems = append(problems, "rows of nothing: "+table[len(all)].String())
	}
	return problems
}

func TestEveryFaultHasItsRow(t *testing.T) {
	for _, name := range missing(Rows(), wanted()) {
		t.Errorf("%s has no row in its place: say whether Chaos Mesh can express it", name)
	}
	if len(missing(Rows(), append(wanted(), faults.Fault{Kind: "meteor"}))) != 1 {
		t.Error("a new kind without a row was not noticed")
	}
}

func TestEveryRowSaysWhy(t *testing.T) {
	for _, r := range Rows() {
		if r.Why == "" || strings.HasSuffix(r.Why, ".") {
			t.Errorf("%s: the reason is %q; expected words without a full stop at the end", r, r.Why)
		}
		if (r.Extent == None) != (r.Object == "") {
			t.Errorf("%s: covered %s by object %q", r, r.Extent, r.Object)
		}
	}
}

func TestAFaultInNoTableIsNotCovered(t *testing.T) {
	if r := Of(faults.Fault{Kind: "meteor"}); r.Extent != None || r.Why == "" {
		t.Errorf("got %+v", r)
	}
}

// TestTableIsInTheDocumentation holds TABLE.md to the data.
func TestTableIsInTheDocumentation(t *testing.T) {
	want := "# Which faults Chaos Mesh can express\n\nMade from coverage.go; `squall list --chaosmesh` prints it too.\n\n" + Markdown()
	if *update {
		if err := os.WriteFile("TABLE.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("TABLE.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("TABLE.md is not what the table says; write it anew: go test ./faults/chaosmesh/coverage -update")
	}
}
