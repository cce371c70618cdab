package scenarios

import (
	"errors"
	"strings"
	"testing"
)

const varying = `apiVersion: squall/v1alpha1
kind: Scenario
name: varying
summary: Much may be otherwise.
profile: tick-300s
settings: {tick: 300s, claim_batch: 50}
nodes:
  - {name: od, capacity_type: 'on-demand', count: 2, pods: 20}   # two of them
tasks:
  - {name: task, count: 3, arrive: {at: 5s}, run: 60s}
clients:
  - {at: 40s, cancel: "task-1"}
faults:
  - {at: 20s, kind: node-kill, target: {node: od-1}, for: 2m}
horizon: 10m
variants:
  - {fields: ["tasks[0].count", settings.claim_batch], between: [3, 40]}
  - {fields: ["faults[0].at", "clients[0].at"], shift: [-30s, 1m]}
  - {fields: ["faults[0].for"], between: [10s, 5m]}
  - {fields: ["clients[0].cancel"], of: [task-1, "task-*"]}
  - {fields: ["nodes[0].capacity_type"], of: [spot, on-demand]}
`

func TestVariants(t *testing.T) {
	s := parsed(t, varying)
	for number, want := range map[int][]string{
		0: {"count: 3, arrive", "{at: 20s, kind", "for: 2m}", "claim_batch: 50}"},
		1: {"count: 3, arrive", "claim_batch: 3}", "{at: 0s, kind", "{at: 10s, cancel: task-1}", "for: 10s}", "capacity_type: spot, count: 2, pods: 20}   # two of them"},
		2: {"count: 40, arrive", "claim_batch: 40}", "{at: 1m20s, kind", "{at: 1m40s, cancel: \"task-*\"}", "for: 5m}", "capacity_type: on-demand, count"},
	} {
		v, err := s.Varied(number)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(string(v.Text()), text) {
				t.Errorf("variant %d lacks %q:\n%s", number, text, v.Text())
			}
		}
	}
	seen := map[string]bool{}
	for number := 3; number < 40; number++ {
		one, err := s.Varied(number)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := s.Varied(number)
		if again.Which() != one.Which() || string(again.Text()) != string(one.Text()) {
			t.Errorf("variant %d is %s, and then %s", number, one.Which(), again.Which())
		}
		if n := one.Tasks[0].Count; n < 3 || n > 40 || one.Faults[0].At.A > one.Clients[0].At.A {
			t.Errorf("%s is out of bounds", one.Which())
		}
		seen[one.Which().Drawn] = true
		replayed, err := Parse("kept.yaml", one.Text())
		if err != nil || replayed.Tasks[0].Count != one.Tasks[0].Count {
			t.Errorf("what is kept of %s is another: %v", one.Which(), err)
		}
	}
	if len(seen) < 30 {
		t.Errorf("37 variants are %d", len(seen))
	}
}

func TestAVariantThatMakesNoSenseSaysWhichItIs(t *testing.T) {
	s := parsed(t, strings.Replace(varying, "between: [10s, 5m]", "between: [10s, 20m]", 1))
	_, err := s.Varied(2)
	var bad *InputError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "variant 2 of varying (tasks[0].count 40, ") {
		t.Errorf("got %v", err)
	}
}

func TestVariationsThatCannotBeMade(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{`"faults[0].for"`, `"faults[1].for"`, "19:15 SQ121 this file does not set faults[1].for"},
		{`"faults[0].for"`, `"faults[0].at"`, "19:15 SQ106 \"faults[0].at\" is varied already"},
		{`"faults[0].for"`, `name`, "19:15 SQ121 name makes the scenario what it is"},
		{`"faults[0].for"`, `"faults[0].target"`, "19:15 SQ121 faults[0].target has no plain value"},
		{`["faults[0].for"], between`, `["faults[0].for"], above`, "19:33 SQ104 unknown field"},
		{`["faults[0].for"], between: [10s, 5m]`, `["faults[0].for"]`, "19:5 SQ121 expected one way to draw a value, found 0"},
		{"between: [10s, 5m]", "between: [10s, 5m], of: [1s, 2s]", "19:5 SQ121 expected one way to draw a value, found 2"},
		{"between: [10s, 5m]", "between: [5m, 10s]", "SQ121 from 5m to 10s is no range"},
		{"between: [10s, 5m]", "between: [10s]", "SQ121 expected the least and the greatest value, found 1 values"},
		{"between: [10s, 5m]", "between: [10s, 5]", "SQ121 from 10s to 5 is no range"},
		{"between: [10s, 5m]", "between: [10s, soon]", "SQ121 expected a duration or a whole number above 0, found \"soon\""},
		{"between: [10s, 5m]", "between: [10s, [5m]]", "SQ105 expected a plain value, found a list"},
		{"between: [10s, 5m]", "of: [10s]", "SQ121 of 1 values none can be another one"},
		{`fields: ["faults[0].for"]`, `fields: []`, "SQ121 no field is varied"},
		{`["clients[0].cancel"], of: [task-1, "task-*"]`, `["clients[0].cancel"], shift: [1s, 2s]`, "SQ121 clients[0].cancel is \"task-1\": only a time can be moved"},
		{"shift: [-30s, 1m]", "shift: [1, 2]", "SQ105 expected text"},
	} {
		if !strings.Contains(varying, c.was) {
			t.Fatalf("nothing is %s", c.was)
		}
		_, err := Parse("test.yaml", []byte(strings.Replace(varying, c.was, c.is, 1)))
		if got := strings.Join(inBrief(err), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s\nwant %s", c.is, got, c.want)
		}
	}
}
