package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

func newCompareCommand(c *console) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare SETTINGS.yaml...",
		Short: "Compare settings on the same seeds, and recommend one",
		Long: `Compare settings: each is run under the same seeds, with the same tasks and the same faults, and measured against a baseline.
Settings come from files (kind: Settings), from a sweep over ranges, or both; without files the scenario's own are the baseline.
What was run is kept and not run again, so an interrupted comparison goes on where it was.

Exit status: 0 there is a setting to recommend, 1 there is none, 2 wrong usage or bad input, 3 unknown,
4 Squall itself failed, 130 interrupted.`,
		Example: "  squall compare grace-240s.yaml grace-360s.yaml --seeds 1000 --baseline grace-240s\n" +
			"  squall compare --sweep recovery_grace=240s..600s:30s --scenario grace-at-the-deadline --seeds 200\n" +
			"  squall compare a.yaml --price-on-demand 1 --price-spot 0.3 -o html=report.html -o json=report.json",
		RunE: func(cmd *cobra.Command, args []string) error { return runCompare(cmd, c, &f, args) },
	}
	f.add(cmd)
	addOutputFlag(cmd, &f.outputs)
	clusterFlags(cmd.Flags(), &f.cluster)
	cmd.Flags().StringVar(&f.confirm, "confirm", "", "run the recommended setting and the nearest unsafe one in this `world` as well: kind")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be run, and run nothing")
	cmd.Flags().BoolVar(&f.afresh, "afresh", false, "run everything, whatever was kept of earlier runs")
	return cmd
}

func runCompare(cmd *cobra.Command, c *console, f *compareFlags, args []string) error {
	study, err := f.study(cmd, args)
	if err != nil {
		return err
	}
	outputs, err := comparisonOutputs(f.outputs)
	if err != nil {
		return err
	}
	if study.places, err = chainPlaces(cmd.Context(), f.chain); err != nil {
		return err
	}
	if f.dryRun {
		return study.print(c.out)
	}
	if err := writable(c.dir); err != nil {
		return usage("--dir: %w", err)
	}
	if !f.afresh {
		identity, err := programIdentity()
		if err != nil {
			return broken(err)
		}
		study.experiment.Build = identity
		study.experiment.Store = &experiment.Store{Dir: filepath.Join(c.dir, "results")}
	}
	var confirm *worldEntry
	if f.confirm != "" {
		w, err := f.confirmIn(cmd)
		if err != nil {
			return err
		}
		confirm = &w
	}
	return study.perform(cmd.Context(), c, outputs, confirm, f.cluster)
}

// perform runs the comparison and tells what it came to.
func (s *study) perform(ctx context.Context, c *console, outputs []output, confirm *worldEntry, cluster worldOptions) error {
	began := time.Now()
	result, err := s.compare(ctx, c)
	switch {
	case ctx.Err() != nil:
		c.note("squall: interrupted; what was run is kept: the same command goes on from there")
		return ended(exitInterrupted)
	case errors.Is(err, errKeeping):
		return err
	case err != nil:
		return broken(err)
	}
	k := &reports.Comparison{Result: result, Command: s.command, Cases: map[int]reports.Case{}, Places: s.places}
	if err := s.keepCases(ctx, c, k); err != nil {
		return err
	}
	if err := s.shrinkCase(ctx, c, k); err != nil {
		return err
	}
	if confirm != nil {
		if err := s.confirm(ctx, c, k, *confirm, cluster); err != nil {
			return err
		}
	}
	k.Wall = time.Since(began)
	return c.publishComparison(k, outputs)
}

// errKeeping tells that results could not be kept, which is the machine's failure and not Squall's.
var errKeeping = errors.New("keep results")

// compare runs all settings, telling how far it is.
func (s *study) compare(ctx context.Context, c *console) (*experiment.Result, error) {
	e := *s.experiment
	p := c.begin("runs", 0)
	defer func() { p.end() }()
	e.Step = func(n, bad int, kept bool) {
		if kept {
			p.skip(n)
			return
		}
		for i := range n {
			p.step(i < bad)
		}
	}
	more := func(runs int) {
		p.end()
		p = c.begin("runs", runs)
	}
	return experiment.Compare(ctx, &e, s.cells, s.baseline, s.prices, s.sweep, more)
}

// keepCases keeps, of every unsafe setting, the smallest run that shows it.
func (s *study) keepCases(ctx context.Context, c *console, k *reports.Comparison) error {
	var unsafe []int
	for i, cell := range k.Cells {
		if cell.Smallest >= 0 {
			unsafe = append(unsafe, i)
		}
	}
	p := performance{console: c, workers: 1, keepAll: true, progress: c.begin("counterexamples", len(unsafe))}
	defer p.progress.end()
	for n, i := range unsafe {
		if ctx.Err() != nil {
			return ended(exitInterrupted)
		}
		cell := k.Cells[i]
		workload, seed := s.experiment.Block(cell.Smallest)
		seen := cell.Seen[cell.Smallest]
		one := reports.Case{Scenario: k.Workloads[workload], Seed: seed, Violated: seen.Violated}
		if n >= s.cases {
			one.Note = fmt.Sprintf("not kept as a bundle, because of --cases %d", s.cases)
			k.Cases[i] = one
			continue
		}
		j, err := s.jobOf(cell.Cell, workload, seed)
		if err != nil {
			return broken(err)
		}
		o := outcome{job: j, tally: tallyOf(seen)}
		o.keep(p, seed, seen.Trace, nil)
		if o.failed != nil {
			return broken(o.failed)
		}
		if err := pointLatest(c.dir, o.bundle); err != nil {
			return broken(err)
		}
		one.Story, one.Bundle, one.Report = o.run().Story(), o.bundle, reportIn(o.bundle)
		one.Replay = "squall replay " + shellWord(o.bundle)
		k.Cases[i] = one
		p.progress.step(false)
	}
	return nil
}

// publishComparison writes the report, the formats that were asked for, and the last lines.
func (c *console) publishComparison(k *reports.Comparison, outputs []output) error {
	dir, err := newFolder(filepath.Join(c.dir, "comparisons"), time.Now().UTC().Format("20060102-150405"))
	if err != nil {
		return broken(err)
	}
	for _, file := range []output{{formatJSON, filepath.Join(dir, "results.json")}, {formatHTML, filepath.Join(dir, "report.html")}} {
		if err := c.writeComparison(k, file); err != nil {
			return broken(err)
		}
	}
	for _, o := range outputs {
		if o.path != "" {
			if _, err := makeDirs(filepath.Dir(o.path)); err != nil {
				return usage("-o: %w", err)
			}
		}
		if err := c.writeComparison(k, o); err != nil {
			return broken(err)
		}
	}
	to := c.lines("") // the logs of a pod hold both streams: what is quiet leaves stdout's document alone
	if textOnStdout(outputs) {
		to = c.out
	}
	fmt.Fprintf(to, "report: %s\n", filepath.Join(dir, "report.html"))
	return endedWith(k.Verdict())
}

func (c *console) writeComparison(k *reports.Comparison, o output) error {
	write := func(w io.Writer, dir string) error {
		switch o.format {
		case formatJSON:
			return k.WriteJSON(w)
		case formatMarkdown:
			return k.WriteMarkdown(w)
		case formatHTML:
			return linkedComparison(dir, k).WriteHTML(w, thisBuild().recorded())
		}
		return k.WriteText(w, c.verbose)
	}
	if o.path == "" {
		return write(c.out, ".")
	}
	return writeFile(o.path, func(f *os.File) error { return write(f, filepath.Dir(o.path)) })
}

// linkedComparison makes the links of a comparison relative to the directory.
func linkedComparison(dir string, k *reports.Comparison) *reports.Comparison {
	linked := *k
	linked.Cases = map[int]reports.Case{}
	for i, one := range k.Cases {
		one.Report = relative(dir, one.Report)
		linked.Cases[i] = one
	}
	linked.Confirmed = nil
	for _, one := range k.Confirmed {
		one.Report = relative(dir, one.Report)
		linked.Confirmed = append(linked.Confirmed, one)
	}
	return &linked
}

// comparisonOutputs are the formats that a comparison has.
func comparisonOutputs(texts []string) ([]output, error) {
	for _, text := range texts {
		if format, _, _ := strings.Cut(text, "="); format == formatJUnit {
			return nil, usage("-o %s: a comparison is no list of tests; it has text, json, markdown and html", text)
		}
	}
	return parseOutputs(texts)
}

// confirmIn is the world in which the recommendation is to be confirmed.
func (f *compareFlags) confirmIn(cmd *cobra.Command) (worldEntry, error) {
	w, err := findWorld(f.confirm)
	if err != nil {
		return w, err
	}
	if !w.live {
		return w, usage("--confirm %s: the comparison runs in %s already; a world in which everything is real confirms it", f.confirm, w.name)
	}
	return w, f.cluster.check(cmd, w)
}

// confirm runs the recommended setting and the nearest unsafe one where everything is real, under the scenario and the seed of the
// latter's counterexample.
func (s *study) confirm(ctx context.Context, c *console, k *reports.Comparison, w worldEntry, cluster worldOptions) error {
	unsafe := k.NearestUnsafe()
	workload, seed := 0, s.experiment.From
	if unsafe >= 0 && k.Cells[unsafe].Smallest >= 0 {
		workload, seed = s.experiment.Block(k.Cells[unsafe].Smallest)
	}
	var jobs []*job
	var cells []int
	for _, i := range []int{k.Winner, unsafe} {
		if i < 0 {
			continue
		}
		j, err := s.liveJob(k.Cells[i].Cell, workload, seed, w)
		if err != nil {
			k.Confirmed = append(k.Confirmed, reports.Confirmation{Cell: i, World: w.name, Note: headOf(err)})
			continue
		}
		j.tell = c.teller(j)
		jobs, cells = append(jobs, &j), append(cells, i)
	}
	if len(jobs) == 0 {
		return nil
	}
	closeAll, err := openWorlds(ctx, c, jobs, cluster)
	if err != nil {
		return errors.Join(notReady(ctx, err), closeAll())
	}
	p := performance{console: c, workers: 1, keepAll: true, progress: c.begin("runs in "+w.name, len(jobs))}
	for n, j := range jobs {
		o := p.perform(ctx, *j)
		one := reports.Confirmation{Cell: cells[n], World: w.name, Verdict: o.verdict(), Report: reportIn(o.bundle)}
		if o.shown != nil {
			for _, v := range o.shown.Fatal() {
				one.Violated = appendNew(one.Violated, v.Invariant)
			}
		}
		if o.failed != nil {
			one.Note = headOf(o.failed)
		}
		k.Confirmed = append(k.Confirmed, one)
	}
	p.progress.end()
	return closeAll()
}

func appendNew(all []string, name string) []string {
	for _, one := range all {
		if one == name {
			return all
		}
	}
	return append(all, name)
}

func headOf(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func tallyOf(o experiment.Observation) (t scenarios.Tally) {
	t.Seeds, t.Verdict = 1, o.Verdict
	if o.Verdict == checker.Invalid {
		t.Invalid = []uint64{o.Seed}
	}
	return t
}
