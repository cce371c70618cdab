package chaosmesh

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/squall-chaos/squall/checker/history"
)

// parsed is an object as a cluster would answer.
func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

const conditions = `{type: Selected, status: "%s"}, {type: AllInjected, status: "%s"}, {type: AllRecovered, status: "%s"}, {type: Paused, status: "%s"}`

// state writes the four conditions: T or F each, in the order Selected, AllInjected, AllRecovered, Paused.
func state(letters string) string {
	text := conditions
	for _, l := range letters {
		word := "False"
		if l == 'T' {
			word = "True"
		}
		text = strings.Replace(text, "%s", word, 1)
	}
	return "conditions: [" + text + "]"
}

const (
	network = "kind: NetworkChaos\nmetadata: {name: x, namespace: batch}\nspec: {action: partition}\n"
	kill    = "kind: PodChaos\nmetadata: {name: x, namespace: batch}\nspec: {action: pod-kill}\n"
)

// TestWhatAStatusSays has statuses as Chaos Mesh was seen to write them.
func TestWhatAStatusSays(t *testing.T) {
	for _, c := range []struct {
		name, object string
		stage        history.Kind
		text         string
	}{
		{"just created", network, history.FaultPlanned, "planned, not looked at by a controller"},
		{"updates refused by the webhook", network + "status: {experiment: {}}", history.FaultPlanned, "planned, not looked at by a controller"},
		{"nobody there", network + "status: {" + state("FFTF") + ", experiment: {desiredPhase: Run}}", history.FaultPlanned, "planned, no Pod was selected"},
		{"about to be injected", network + "status: {" + state("TFTF") + `, experiment: {desiredPhase: Run, containerRecords: [
			{id: batch/a, selectorKey: ., phase: Not Injected, injectedCount: 0, recoveredCount: 0}]}}`,
			history.FaultPlanned, "planned"},
		{"cannot be injected", network + "status: {" + state("TFFF") + `, experiment: {desiredPhase: Run, containerRecords: [
			{id: batch/a, selectorKey: ., phase: Not Injected/Wait, injectedCount: 0, recoveredCount: 0, events: [
			{type: Failed, operation: Apply, timestamp: "2026-11-29T10:00:01Z", message: "rpc error: code = Unknown desc = Specified qdisc kind\n is unknown."},
			{type: Failed, operation: Apply, timestamp: "2026-11-29T10:00:03Z", message: "rpc error: once more"}]}]}}`,
			history.FaultPlanned, "planned; failed: batch/a: inject: rpc error: once more"},
		{"one of two injected", network + "status: {" + state("TFFF") + `, experiment: {desiredPhase: Run, containerRecords: [
			{id: batch/a, selectorKey: ., phase: Injected, injectedCount: 1, recoveredCount: 0, events: [{type: Succeeded, operation: Apply, timestamp: "2026-11-29T10:00:01Z"}]},
			{id: batch/b, selectorKey: ., phase: Not Injected/Wait, injectedCount: 0, recoveredCount: 0, events: [
			{type: Failed, operation: Apply, timestamp: "2026-11-29T10:00:01Z", message: "no daemon on the node"}]}]}}`,
			history.FaultStruck, "struck, 1 of 2 struck: batch/a; failed: batch/b: inject: no daemon on the node"},
		{"injected at the second attempt", network + "status: {" + state("TTFF") + `, experiment: {desiredPhase: Run, containerRecords: [
			{id: batch/a, selectorKey: ., phase: Injected, injectedCount: 1, recoveredCount: 0, events: [
			{type: Failed, operation: Apply, timestamp: "2026-11-29T10:00:01Z", message: "busy"}, {type: Succeeded, operation: Apply, timestamp: "2026-11-29T10:00:02Z"}]}]}}`,
			history.FaultObserved, "observed, 1 of 1 struck: batch/a"},
		{"recovered", network + "status: {" + state("TFTF") + `, experiment: {desiredPhase: Stop, containerRecords: [
			{id: batch/a, selectorKey: ., phase: Not Injected, injectedCount: 1, recoveredCount: 1, events: [
			{type: Succeeded, operation: Apply, timestamp: "2026-11-29T10:00:01Z"}, {type: Succeeded, operation: Recover, timestamp: "2026-11-29T10:00:21Z"}]}]}}`,
			history.FaultHealed, "healed, 1 of 1 struck: batch/a"},
		{"cannot be recovered", network + "status: {" + state("TFFF") + `, experiment: {desiredPhase: Stop, containerRecords: [
			{id: batch/a, selectorKey: ., phase: Injected/Wait, injectedCount: 1, recoveredCount: 0, events: [
			{type: Succeeded, operation: Apply, timestamp: "2026-11-29T10:00:01Z"}, {type: Failed, operation: Recover, timestamp: "2026-11-29T10:00:21Z", message: gone}]}]}}`,
			history.FaultStruck, "struck, 1 of 1 struck: batch/a; failed: batch/a: recover: gone"},
		{"a kill is over at once", kill + "status: {" + state("TTFF") + `, experiment: {desiredPhase: Run, containerRecords: [
			{id: batch/d-1, selectorKey: ., phase: Injected, injectedCount: 1, recoveredCount: 0, events: [{type: Succeeded, operation: Apply, timestamp: "2026-11-29T10:00:01Z"}]}]}}`,
			history.FaultHealed, "healed, 1 of 1 struck: batch/d-1"},
		{"paused", network + "status: {" + state("TFTT") + ", experiment: {desiredPhase: Stop}}", history.FaultPlanned, "planned, paused"},
		{"a schedule that waits", "kind: Schedule\nmetadata: {name: x}\nstatus: {time: null}", history.FaultPlanned, "planned, not looked at by a controller"},
		{"a schedule", "kind: Schedule\nmetadata: {name: x}\nstatus: {time: \"2026-11-29T10:00:01Z\", active: [{namespace: batch, name: x-1, kind: PodChaos}]}",
			history.FaultStruck, "struck, 1 of 1 struck: batch/x-1"},
		{"a workflow", "kind: Workflow\nmetadata: {name: x}\nstatus: {startTime: \"2026-11-29T10:00:01Z\", conditions: [{type: Scheduled, status: \"True\", reason: \"\"}]}",
			history.FaultStruck, "struck"},
		{"a workflow at its end", "kind: Workflow\nmetadata: {name: x}\nstatus: {startTime: \"2026-11-29T10:00:01Z\", conditions: [{type: Accomplished, status: \"True\", reason: \"\"}]}",
			history.FaultHealed, "healed"},
	} {
		st, err := Stand(parsed(t, strings.ReplaceAll(c.object, "\t", " ")))
		if err != nil || st.Stage != c.stage || st.String() != c.text {
			t.Errorf("%s: %v %q, %v; expected %v %q", c.name, st.Stage, st, err, c.stage, c.text)
		}
	}
}

func TestVictimsHaveTheirTimes(t *testing.T) {
	st, err := Stand(parsed(t, network+"status: {"+state("TFTF")+`, experiment: {desiredPhase: Stop, containerRecords: [
  {id: batch/a/work, selectorKey: ., phase: Not Injected, injectedCount: 1, recoveredCount: 1, events: [
  {type: Succeeded, operation: Apply, timestamp: "2026-11-29T10:00:01Z"}, {type: Succeeded, operation: Recover, timestamp: "2026-11-29T10:00:21Z"}]}]}}`))
	if err != nil || len(st.Victims) != 1 {
		t.Fatal(st, err)
	}
	if v := st.Victims[0]; v.Over.Sub(v.At) != 20*time.Second || !v.Healed || v.ID != "batch/a/work" {
		t.Errorf("%+v", v)
	}
}

func TestAStatusOfAnotherVersionIsAnError(t *testing.T) {
	for _, text := range []string{"status: {experiment: {containerRecords: 7}}", "status: text"} {
		if _, err := Stand(parsed(t, network+text)); err == nil || !strings.Contains(err.Error(), "NetworkChaos x") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
