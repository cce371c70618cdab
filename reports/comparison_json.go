package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

// jsonComparison is the shape that programs rely on. Intervals are of 95 %; low and high are absent where one run says nothing of
// them. Differences are to the baseline, within runs; shown tells whether one is more than chance.
type jsonComparison struct {
	Scenarios      []string           `json:"scenarios"`
	Dispatcher     string             `json:"dispatcher"`
	FirstSeed      uint64             `json:"first_seed"`
	Seeds          int                `json:"seeds"`
	Baseline       string             `json:"baseline"`
	Prices         experiment.Prices  `json:"prices"`
	Recommendation jsonRecommendation `json:"recommendation"`
	Settings       []jsonCell         `json:"settings"`
	Cliffs         []jsonCliff        `json:"cliffs,omitempty"`
	Confirmed      []jsonConfirmation `json:"confirmed,omitempty"`
}

type jsonRecommendation struct {
	Setting       string   `json:"setting,omitempty"` // absent: none
	Headline      string   `json:"headline"`
	Remarks       []string `json:"remarks"`
	NoDifference  bool     `json:"no_difference_shown"`
	Like          []string `json:"like"`
	FastestUnsafe string   `json:"fastest_unsafe,omitempty"`
}

type jsonCell struct {
	Name           string                 `json:"name"`
	Source         string                 `json:"source,omitempty"`
	Point          map[string]float64     `json:"point,omitempty"`
	Refined        bool                   `json:"refined,omitempty"`
	SpotShare      float64                `json:"spot_share"`
	Verdict        Verdict                `json:"verdict"`
	Unsafe         experiment.Share       `json:"unsafe"`
	Unknown        int                    `json:"unknown"`
	Violations     []experiment.Violation `json:"violations"`
	BrokenRules    []string               `json:"broken_rules"`
	BoundSeconds   float64                `json:"bound_seconds"`
	Recovery       jsonRecovery           `json:"recovery"`
	Measures       map[string]jsonMeasure `json:"measures"`
	Worse          []jsonBlock            `json:"unsafe_where_baseline_is_not"`
	Better         []jsonBlock            `json:"safe_where_baseline_is_not"`
	Counterexample *jsonCase              `json:"counterexample,omitempty"`
	// Verdicts has one letter per run, in order of scenarios and seeds: . valid, x invalid, ? unknown.
	Verdicts string `json:"verdicts"`
}

type jsonBlock struct {
	Scenario string `json:"scenario"`
	Seed     uint64 `json:"seed"`
}

type jsonCase struct {
	jsonBlock
	Violated []string `json:"violated"`
	Bundle   string   `json:"bundle,omitempty"`
	Replay   string   `json:"replay,omitempty"`
}

type jsonRecovery struct {
	Losses int          `json:"losses"`
	P50    jsonInterval `json:"p50_seconds"`
	P95    jsonInterval `json:"p95_seconds"`
	P99    jsonInterval `json:"p99_seconds"`
	Worst  float64      `json:"worst_seconds"`
}

type jsonInterval struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	N     int      `json:"n"`
}

type jsonMeasure struct {
	Unit       string            `json:"unit"`
	Mean       jsonInterval      `json:"mean"`
	Runs       *experiment.Share `json:"runs_with_any,omitempty"`
	Difference *jsonInterval     `json:"difference,omitempty"`
	P          *float64          `json:"p,omitempty"`
	Shown      bool              `json:"shown"`
}

type jsonCliff struct {
	Setting string     `json:"setting"`
	Unsafe  float64    `json:"unsafe"`
	Safe    float64    `json:"safe"`
	Derived []jsonRule `json:"derived"`
	Enough  bool       `json:"derived_is_enough"`
	Bound   float64    `json:"bound_seconds"`
	Worst   float64    `json:"worst_recovery_seconds"`
}

type jsonRule struct {
	Rule  string  `json:"rule"`
	Holds float64 `json:"holds_from"`
}

type jsonConfirmation struct {
	Setting  string   `json:"setting"`
	World    string   `json:"world"`
	Verdict  Verdict  `json:"verdict,omitempty"`
	Violated []string `json:"violated,omitempty"`
	Note     string   `json:"note,omitempty"`
}

// WriteJSON writes the comparison for programs.
func (c *Comparison) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(c.json()); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

func (c *Comparison) json() jsonComparison {
	out := jsonComparison{Scenarios: c.Workloads, Dispatcher: c.System, FirstSeed: c.From, Seeds: c.Count, Baseline: c.name(c.Baseline), Prices: c.Prices,
		Recommendation: jsonRecommendation{Headline: c.Headline(), Remarks: notNil(c.Remarks()), NoDifference: c.NoDifference, Like: []string{}}}
	if c.Winner >= 0 {
		out.Recommendation.Setting = c.name(c.Winner)
	}
	if c.Fastest >= 0 {
		out.Recommendation.FastestUnsafe = c.name(c.Fastest)
	}
	for _, i := range c.Like {
		out.Recommendation.Like = append(out.Recommendation.Like, c.name(i))
	}
	for i := range c.Cells {
		out.Settings = append(out.Settings, c.jsonCell(i))
	}
	for _, l := range c.Lines {
		a := c.Axes[l.Axis]
		for _, k := range l.Cliffs {
			j := jsonCliff{Setting: a.Name, Unsafe: a.Float(c.Cells[k.Unsafe].Point[l.Axis]), Safe: a.Float(c.Cells[k.Safe].Point[l.Axis]),
				Derived: []jsonRule{}, Enough: k.Enough, Bound: k.B.Seconds(), Worst: k.Worst.Seconds()}
			for _, r := range k.Rules {
				j.Derived = append(j.Derived, jsonRule{r.Finding.Rule, a.Float(r.Holds)})
			}
			out.Cliffs = append(out.Cliffs, j)
		}
	}
	for _, f := range c.Confirmed {
		out.Confirmed = append(out.Confirmed, jsonConfirmation{c.name(f.Cell), f.World, f.Verdict, f.Violated, f.Note})
	}
	return out
}

func (c *Comparison) jsonCell(i int) jsonCell {
	cell := c.Cells[i]
	j := jsonCell{Name: cell.Name, Source: cell.Source, Refined: cell.Refined, SpotShare: cell.SpotShare, Verdict: verdictOfCell(cell), Unsafe: cell.Unsafe, Unknown: cell.Unknown,
		Violations: append([]experiment.Violation{}, cell.Violations...), BrokenRules: []string{}, BoundSeconds: cell.B.Seconds(),
		Recovery: jsonRecovery{cell.Recoveries, jsonOf(cell.Percentile[0]), jsonOf(cell.Percentile[1]), jsonOf(cell.Percentile[2]), cell.Worst.Seconds()},
		Measures: map[string]jsonMeasure{}, Worse: c.jsonBlocks(cell.Gained), Better: c.jsonBlocks(cell.Healed), Verdicts: letters(cell)}
	if cell.Point != nil {
		j.Point = map[string]float64{}
		for k, a := range c.Axes {
			j.Point[a.Name] = a.Float(cell.Point[k])
		}
	}
	for _, f := range cell.Broken() {
		j.BrokenRules = append(j.BrokenRules, f.String())
	}
	for k, m := range experiment.Measures() {
		e := cell.Estimates[k]
		one := jsonMeasure{Unit: m.Unit, Mean: jsonOf(e.Mean), Runs: e.Runs, P: e.P, Shown: e.Shown()}
		if e.Difference != nil {
			d := jsonOf(*e.Difference)
			one.Difference = &d
		}
		j.Measures[m.Key] = one
	}
	if k, ok := c.Cases[i]; ok {
		j.Counterexample = &jsonCase{jsonBlock{k.Scenario, k.Seed}, k.Violated, k.Bundle, k.Replay}
	}
	return j
}

func (c *Comparison) jsonBlocks(blocks []int) []jsonBlock {
	out := []jsonBlock{}
	for _, b := range blocks {
		out = append(out, jsonBlock{c.Workloads[b/c.Count], c.From + uint64(b%c.Count)})
	}
	return out
}

func jsonOf(i experiment.Interval) jsonInterval {
	j := jsonInterval{Value: i.Value, N: i.N}
	if !math.IsInf(i.Low, 0) && i.N > 0 {
		j.Low, j.High = &i.Low, &i.High
	}
	return j
}

// letters has one letter per run.
func letters(c experiment.CellResult) string {
	text := make([]byte, len(c.Seen))
	for i := range c.Seen {
		switch c.Seen[i].Verdict {
		case checker.Valid:
			text[i] = '.'
		case checker.Invalid:
			text[i] = 'x'
		default:
			text[i] = '?'
		}
	}
	return string(text)
}
