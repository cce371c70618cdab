package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// proveSeeds is how many seeds of each scenario are tried for a finding, unless somebody says otherwise.
const proveSeeds = 200

// What became of a proof.
const (
	proofFound = "found"
	proofNone  = "none"
	proofNot   = "not simulated"
)

// prover looks for counterexamples: runs that break a promise with the chain's values and keep it when the finding is put right.
type prover struct {
	performance
	chain *chain.Chain
	// right are the settings with every finding put right.
	right scenarios.Overrides
	seeds int
}

func (f *lintFlags) proveAll(ctx context.Context, c *console, opened *chain.Chain, r *chain.Report) error {
	if len(r.Findings) == 0 {
		return nil
	}
	if err := writable(c.dir); err != nil {
		return usage("--dir: %w", err)
	}
	p := prover{performance{console: c, workers: (&runFlags{workers: f.workers}).workerCount(), progress: c.begin("seeds", 0)}, opened, nil, f.seeds}
	defer p.progress.end()
	p.right = overrides(opened.Repaired(r.Findings))
	for i := range r.Findings {
		proof, err := p.prove(ctx, r.Findings[i])
		if err != nil {
			return err
		}
		r.Findings[i].Proof = &proof
	}
	return nil
}

// overrides are those of the values that are settings of the reference dispatcher.
func overrides(values map[string]chain.Quantity) scenarios.Overrides {
	var all scenarios.Overrides
	for _, name := range scenarios.SettingNames() {
		q, ok := values[name]
		switch {
		case !ok:
		case q.IsDuration():
			all = append(all, scenarios.Override{Name: name, Duration: q.Duration()})
		default:
			all = append(all, scenarios.Override{Name: name, Number: q.Number()})
		}
	}
	return all
}

// pair is a finding that can be simulated: the settings that have it, and those that differ from them only in that it is put right.
type pair struct {
	finding       chain.Finding
	profile       string
	wrong, right  dispatcher.Settings
	wrongly, well scenarios.Overrides
	compared      scenarios.Overrides // what the finding compares
}

func (p prover) prove(ctx context.Context, f chain.Finding) (chain.Proof, error) {
	x, why := p.pair(f)
	if why != "" {
		return chain.Proof{Status: proofNot, Reason: why}, nil
	}
	none := chain.Proof{Status: proofNone}
	for _, candidate := range x.candidates() {
		if ctx.Err() != nil {
			return chain.Proof{Status: proofNot, Reason: "interrupted"}, nil
		}
		j, err := x.job(candidate)
		var input *scenarios.InputError
		if errors.As(err, &input) { // times that no scenario can have
			return chain.Proof{Status: proofNot, Reason: "no scenario can be made of these values: " + input.Problems[0].Message}, nil
		}
		if err != nil {
			return chain.Proof{}, broken(err)
		}
		proof, tried, err := p.hunt(ctx, j, x)
		if err != nil || proof != nil {
			if proof == nil {
				proof = &none
			}
			return *proof, err
		}
		none.Seeds += tried
		none.Scenario += ", " + j.scenario.Name
	}
	none.Scenario = none.Scenario[len(", "):]
	none.Bound = fmt.Sprintf("with 95 %% confidence fewer than %.2g %% of such runs fail because of it", 100*upperBound(none.Seeds))
	return none, nil
}

// upperBound is the exact one-sided 95 % bound of a share of which nothing was seen in n.
func upperBound(n int) float64 { return 1 - math.Pow(0.05, 1/float64(n)) }

// pair makes settings of the chain's values; what the chain does not name is the profile's. It says why a finding cannot be
// simulated.
func (p prover) pair(f chain.Finding) (pair, string) {
	if f.Left == nil {
		return pair{}, "it is about the chain file"
	}
	compared := overrides(p.chain.Compared(f))
	if len(compared) == 0 {
		return pair{}, "no link that it compares is a setting of the simulated dispatcher"
	}
	x := pair{finding: f, compared: compared, profile: scenarios.DefaultProfile}
	if slices.ContainsFunc(p.right, func(o scenarios.Override) bool { return o.Name == "heartbeat_interval" && o.Duration > 0 }) {
		x.profile = "b0"
	}
	profile, _ := dispatcher.Profile(x.profile)
	x.well = p.right
	x.wrongly = append(slices.Clone(p.right), compared...) // the later one of a name counts
	x.right, x.wrong = x.well.Apply(profile), x.wrongly.Apply(profile)
	if x.right == x.wrong {
		return x, "nobody knows what would put it right"
	}
	for _, s := range []dispatcher.Settings{x.wrong, x.right} {
		for _, problem := range s.Check() {
			if problem.Rule == "range" {
				return x, "the simulated dispatcher refuses it: " + problem.String()
			}
		}
		if why := tooWide(s); why != "" {
			return x, why
		}
	}
	return x, ""
}

// mostPeriods is how many rounds of its quickest loop a simulation of the longest timeout may take.
const mostPeriods = 20_000

// tooWide says why a simulation of the settings would take hours: a loop of milliseconds beside a timeout of days.
func tooWide(s dispatcher.Settings) string {
	quickest := min(s.Tick, s.RecoverInterval, s.RetryPeriod)
	if s.Heartbeats() {
		quickest = min(quickest, s.HeartbeatInterval)
	}
	longest := max(s.WorkflowDeadline, s.RecoveryGrace, s.Tick, s.RecoverInterval, s.StartTimeout, s.NodeProvisioning, s.ColdPull, s.LeaseTTL)
	if longest/mostPeriods > quickest {
		return fmt.Sprintf("a loop of %s beside a timeout of %s would take hours", short(quickest), short(longest))
	}
	return ""
}

// job is the candidate with the settings that have the finding.
func (x pair) job(c candidate) (job, error) {
	s, err := scenarios.Parse(c.name+".yaml", c.text)
	if err != nil {
		return job{}, fmt.Errorf("the scenario made for %s: %w", x.finding.Relation, err)
	}
	as := *s
	as.Profile, as.Settings, as.UnsafeSettings = x.profile, x.wrongly, "a finding of squall lint"
	return job{scenario: &as, text: c.text, system: planted.Reference(), world: simulation(), from: 1, count: 1}, nil
}

// hunt runs seeds until one is invalid that is valid once the finding is put right. It returns the proof, or how many seeds it tried.
func (p prover) hunt(ctx context.Context, j job, x pair) (*chain.Proof, int, error) {
	control := j
	well := *j.scenario
	well.Settings = x.well
	control.scenario = &well
	tried := 0
	for from := uint64(1); from <= uint64(p.seeds); {
		t := scenarios.Seeds(ctx, j.scenario, scenarios.Many{Options: j.options(), Workers: p.workers, UntilInvalid: true, From: from,
			Count: p.seeds - int(from) + 1, Each: func(scenarios.Result) { p.progress.step(false) }})
		tried += t.Seeds
		switch {
		case len(t.Failed) > 0:
			return nil, tried, broken(t.Failed[0])
		case t.FirstInvalid == nil || ctx.Err() != nil:
			return nil, tried, nil
		}
		from = t.FirstInvalid.Seed + 1
		options := control.options()
		options.Seed = t.FirstInvalid.Seed
		if passes := scenarios.Run(ctx, control.scenario, options); passes.Err == nil && passes.Verdict == checker.Valid {
			proof, err := p.found(j, *t.FirstInvalid, passes)
			return proof, tried, err
		}
	}
	return nil, tried, nil
}

// found keeps a counterexample, with what passes beside it.
func (p prover) found(j job, r, control scenarios.Result) (*chain.Proof, error) {
	j.from = r.Seed
	kept, err := gather(p.console.dir, j, r.Seed)
	if err != nil {
		return nil, broken(err)
	}
	options := j.options()
	options.Seed, options.Record = r.Seed, kept.record
	again := scenarios.Run(context.Background(), j.scenario, options)
	o := outcome{job: j, shown: &again, contrast: &control}
	switch {
	case again.Err != nil:
		kept.discard()
		return nil, broken(again.Err)
	case again.History.Meta.TraceHash != r.History.Meta.TraceHash:
		kept.discard()
		return nil, broken(undetermined(again.History, r.History.Meta.TraceHash, r.History))
	}
	run := o.run()
	bundle, err := kept.finish(run)
	if err != nil {
		return nil, broken(err)
	}
	return &chain.Proof{Status: proofFound, Scenario: j.scenario.Name, Seed: r.Seed, Violated: again.Fatal()[0].Invariant, Story: run.Story(),
		Bundle: bundle, Replay: "squall replay " + shellWord(bundle),
		Control: "with the finding put right the same seed is valid"}, nil
}
