package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

func newDiffCommand(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "diff BUNDLE BUNDLE",
		Short: "Name the first event at which two runs part",
		Long: `Name the first event at which two runs part. Runs of one seed in the simulation are compared record by record: they are the same until
what differs between them first matters. All others, and those too, are compared task by task, by the phases that its row went
through, by its executions and by what became of their results: a failing seed and a passing one, or the simulation and a real cluster.
For the latter, let the same faults strike in the simulation first: squall run --world sim --faults-from BUNDLE.
The status is 0 whether they part or not.`,
		Example: "  squall diff .squall/latest .squall/runs/20260101-120000-demo-naive-1",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("%s: name two bundles, each %s", cmd.CommandPath(), bundleHint)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return runDiff(c, args[0], args[1]) },
	}
}

func runDiff(c *console, first, second string) error {
	a, err := c.openBundle(first)
	if err != nil {
		return err
	}
	b, err := c.openBundle(second)
	if err != nil {
		return err
	}
	for i, r := range []*reports.Run{a, b} {
		m := r.History.Meta
		fmt.Fprintf(c.out, "run %d   %s: %s, dispatcher %s, world %s, seed %d\n", i+1, r.Verdict(), m.Scenario, m.Dispatcher, m.World, m.Seed)
	}
	printMadeOf(c.out, a, b)
	if x, y := a.History.Meta, b.History.Meta; x.Seed == y.Seed && !isLive(x.World) && !isLive(y.World) {
		printFirstRecord(c.out, a, b)
	} else {
		fmt.Fprintln(c.out, "\nrecords  not compared: another seed or a real cluster shifts every time")
	}
	printParting(c.out, reports.PartingOf(a, b), a, b)
	return nil
}

// printMadeOf says in which settings the two differ.
func printMadeOf(w io.Writer, a, b *reports.Run) {
	before := scenarios.OverridesTo(a.Settings)
	for i, o := range scenarios.OverridesTo(b.Settings) {
		if o != before[i] {
			fmt.Fprintf(w, "setting  %s, then %s\n", before[i], o)
		}
	}
}

// printFirstRecord tells the first record that differs, with the one before it.
func printFirstRecord(w io.Writer, a, b *reports.Run) {
	x, y := records(a.History), records(b.History)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	if n == len(x) && n == len(y) {
		fmt.Fprintf(w, "\nrecords  all %d are the same\n", n)
		return
	}
	fmt.Fprintf(w, "\nrecords  the first %d are the same\n", n)
	if n > 0 {
		fmt.Fprintf(w, "  before  %s\n", x[n-1])
	}
	for i, all := range [][]record{x, y} {
		text := "nothing more"
		if n < len(all) {
			text = all[n].String()
		}
		fmt.Fprintf(w, "  run %d   %s\n", i+1, text)
	}
}

// printParting tells the first event at which the abstract traces part, with the records that it is in.
func printParting(w io.Writer, p *reports.Parting, a, b *reports.Run) {
	if p == nil {
		fmt.Fprintln(w, "\ntasks    rows and executions of every task go through the same")
		return
	}
	fmt.Fprintf(w, "\ntasks    %d of %s part; the first is %s\n", p.Parted, count(p.Tasks, "task", "tasks"), p.Task)
	if n := len(p.Common); n > 0 {
		fmt.Fprintf(w, "  before  %s\n", p.Common[n-1])
	}
	for i, next := range []struct {
		what string
		seq  history.Seq
		in   *history.History
	}{{p.Model, p.ModelSeq, a.History}, {p.Real, p.RealSeq, b.History}} {
		if next.what == "" {
			fmt.Fprintf(w, "  run %d   nothing more\n", i+1)
			continue
		}
		fmt.Fprintf(w, "  run %d   %s\n", i+1, next.what)
		for _, e := range next.in.Events {
			if e.Seq == next.seq {
				fmt.Fprintf(w, "          %s\n", record{e.Seq, eventText(next.in, e)})
				break
			}
		}
	}
}
