package reports

import (
	"encoding/json"
	"fmt"
	"io"
)

// jsonResults is the shape that programs rely on. Of each result:
//
// verdict is that of what ran: invalid, if any seed is; else broken, if the harness failed; else unknown, if a seed could not
// be decided or somebody interrupted it; else valid. as_expected tells whether it is the verdict that the scenario expects of
// the dispatcher (valid, where it says nothing) and whether all else came out as the scenario says; unmet lists what did not.
// flaky: in how many of several runs in a real cluster, all of them valid, all was as expected, and the others. known: it is not as expected, and the baseline says so. interrupted: not all seeds were run, or not to the end. A result passes when the verdict is valid and as_expected is true.
type jsonResults struct {
	Results  []jsonResult  `json:"results"`
	Coverage *jsonCoverage `json:"coverage,omitempty"` // of a suite
}

type jsonResult struct {
	Scenario         string         `json:"scenario"`
	Dispatcher       string         `json:"dispatcher"`
	World            string         `json:"world"`
	Seeds            int            `json:"seeds"`
	Verdict          Verdict        `json:"verdict"`
	AsExpected       bool           `json:"as_expected"`
	Unmet            []string       `json:"unmet"`
	Flaky            *jsonFlaky     `json:"flaky,omitempty"`
	Known            bool           `json:"known,omitempty"`
	Interrupted      bool           `json:"interrupted"`
	InvalidSeeds     int            `json:"invalid_seeds"`
	UnknownSeeds     int            `json:"unknown_seeds"`
	FirstInvalidSeed *uint64        `json:"first_invalid_seed"`
	Violations       map[string]int `json:"violations"`
	Exercised        map[string]int `json:"exercised"`
	TraceHash        string         `json:"trace_hash"` // as text: JSON readers lose digits of large numbers
	VirtualSeconds   float64        `json:"virtual_seconds"`
	WallSeconds      float64        `json:"wall_seconds"`
	// InvalidAtMost is what so many valid seeds and none else prove: a share of all seeds, with 95 % confidence (Clopper and Pearson).
	InvalidAtMost *float64 `json:"invalid_at_most,omitempty"`
	Kill          *Kill    `json:"planted_defect,omitempty"`
}

// WriteJSON writes summaries for programs.
func WriteJSON(w io.Writer, all []Summary) error { return Suite{}.WriteJSON(w, all) }

// WriteJSON is WriteJSON with what the suite covered.
func (x Suite) WriteJSON(w io.Writer, all []Summary) error {
	file := jsonResults{Results: []jsonResult{}, Coverage: x.Coverage.json()}
	for _, s := range all {
		file.Results = append(file.Results, jsonResult{Scenario: s.Scenario, Dispatcher: s.Dispatcher, World: s.World, Seeds: s.Seeds,
			Verdict: s.Verdict(), AsExpected: s.AsExpected(), Unmet: notNil(s.Unmet), Flaky: s.jsonFlaky(), Known: s.Known, Interrupted: s.Interrupted, InvalidSeeds: s.Invalid, UnknownSeeds: s.Unknown, FirstInvalidSeed: s.FirstInvalid,
			Violations: added(nil, s.Violations), Exercised: added(nil, s.Exercised), TraceHash: hash(s.TraceHash),
			VirtualSeconds: s.Virtual.Seconds(), WallSeconds: s.Wall.Seconds(), InvalidAtMost: s.atMost(), Kill: s.Kill})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(file); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
