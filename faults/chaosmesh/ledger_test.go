package chaosmesh

import (
	"fmt"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/checker/history"
)

// TestTheLedger: planned, struck, observed and healed with the times and the victims of the records, and what failed.
func TestTheLedger(t *testing.T) {
	record := func(id, phase string, recovered int, events string) string {
		return fmt.Sprintf("{id: %s, selectorKey: ., phase: %s, injectedCount: 1, recoveredCount: %d, events: [%s]}", id, phase, recovered, events)
	}
	event := func(operation, second string) string {
		return fmt.Sprintf(`{type: Succeeded, operation: %s, timestamp: "2026-11-29T10:00:%sZ"}`, operation, second)
	}
	for _, c := range []struct{ name, status, want string }{
		{"nothing yet", "", "planned - NetworkChaos batch/sample-fault-1"},
		{"cannot be injected", "status: {" + state("TFFF") + `, experiment: {containerRecords: [{id: batch/a, selectorKey: ., phase: Not Injected/Wait, injectedCount: 0,
  recoveredCount: 0, events: [{type: Failed, operation: Apply, timestamp: null, message: no daemon}]}]}}`,
			"planned - NetworkChaos batch/sample-fault-1; failed: batch/a: inject: no daemon"},
		{"one of two", "status: {" + state("TFFF") + ", experiment: {containerRecords: [" + record("batch/a", "Injected", 0, event("Apply", "05")) +
			", {id: batch/b, selectorKey: ., phase: Not Injected, injectedCount: 0, recoveredCount: 0}]}}",
			"planned - NetworkChaos batch/sample-fault-1 | struck 05 batch/a"},
		{"both", "status: {" + state("TTFF") + ", experiment: {containerRecords: [" + record("batch/a", "Injected", 0, event("Apply", "05")) + ", " +
			record("batch/b", "Injected", 0, event("Apply", "04")) + "]}}",
			"planned - NetworkChaos batch/sample-fault-1 | struck 04 batch/a, batch/b | observed 05 all 2, by Chaos Mesh's records"},
		{"over", "status: {" + state("TFTF") + ", experiment: {containerRecords: [" +
			record("batch/a", "Not Injected", 1, event("Apply", "05")+", "+event("Recover", "25")) + "]}}",
			"planned - NetworkChaos batch/sample-fault-1 | struck 05 batch/a | observed 05 all 1, by Chaos Mesh's records | healed 25"},
		{"over before all were struck", "status: {" + state("TFTF") + ", experiment: {containerRecords: [" +
			record("batch/a", "Not Injected", 1, event("Apply", "05")+", "+event("Recover", "25")) + ", " +
			"{id: batch/b, selectorKey: ., phase: Not Injected, injectedCount: 0, recoveredCount: 0}]}}",
			"planned - NetworkChaos batch/sample-fault-1 | struck 05 batch/a | healed 25"},
	} {
		o := partition(t)
		u := o.Sent.DeepCopy()
		if c.status != "" {
			u.Object["status"] = parsed(t, c.status).Object["status"]
		}
		st, err := Stand(u)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, e := range Ledger(o, st) {
			at := "-"
			if !e.At.IsZero() {
				at = e.At.UTC().Format("05")
			}
			lines = append(lines, strings.TrimSpace(stages[e.Stage]+" "+at+" "+e.Detail))
		}
		if got := strings.Join(lines, " | "); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

// TestTheLedgerOfMany: an object that is several faults has lines of each.
func TestTheLedgerOfMany(t *testing.T) {
	g := goldens()["workflow"]
	r, err := everything().Render(g.plan, g.form)
	if err != nil {
		t.Fatal(err)
	}
	o := r.Objects[0]
	entries := Ledger(o, Standing{Stage: history.FaultHealed, Judged: true})
	if len(entries) != 3*len(o.Faults) { // planned, struck, healed: no victims of its own to vouch for
		t.Errorf("%d lines for %d faults", len(entries), len(o.Faults))
	}
}
