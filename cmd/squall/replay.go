package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	until   uint64
	tail    int
	outputs []string
}

func newReplayCommand(c *console) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay BUNDLE|latest",
		Short: "Run a bundle again, and check that the same happens",
		Long: `Run a bundle again with its own scenario, settings and seed, and compare the trace hash with the recorded one. A different
trace means that Squall is not deterministic: the first differing event is printed, and the status is 4. A run in a real
cluster cannot be made again by its seed; for its bundle the commands are named that judge it again, or run it in sim.

` + exitHelp,
		Example: "  squall replay latest --until 1234",
		Args:    exactly("bundle", "the path that a run printed, or latest"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runReplay(cmd, c, &f, args[0]) },
	}
	cmd.Flags().Uint64Var(&f.until, "until", 0, "print what happened up to this sequence `number`")
	cmd.Flags().IntVar(&f.tail, "tail", 40, "with --until: print this many events before it; 0: all")
	addOutputFlag(cmd, &f.outputs)
	return cmd
}

func runReplay(cmd *cobra.Command, c *console, f *replayFlags, path string) error {
	outputs, err := parseOutputs(f.outputs)
	if err != nil {
		return err
	}
	if f.tail < 0 {
		return usage("--tail %d: a number of events is not negative", f.tail)
	}
	before, err := c.openBundle(path)
	if err != nil {
		return err
	}
	if isLive(before.History.Meta.World) {
		return refuseReplay(before)
	}
	j, err := jobOf(before)
	if err != nil {
		return recordedBy(before, err)
	}
	if why := elsewhere(before); why != "" {
		c.note("squall: bundle %s %s", before.Bundle, why)
	}
	o := outcome{job: j, bundle: before.Bundle}
	p := c.begin("seeds", 1)
	o.tally = scenarios.Seeds(cmd.Context(), j.scenario, scenarios.Many{Options: j.options(), From: j.from, Count: 1,
		Each: func(r scenarios.Result) { o.shown = &r }})
	p.end()
	r := results{outcomes: []outcome{o}, interrupted: cmd.Context().Err() != nil}
	switch {
	case o.shown == nil:
		c.note("squall: interrupted before anything was replayed")
		return ended(exitInterrupted)
	case o.shown.Err != nil:
		return otherVersion(before, o.shown.Err.Error(), o.shown.Err)
	}
	o.discount(o.shown)
	r.outcomes[0] = o
	if err := c.writeOutputs(outputs, r.document("Squall: replay")); err != nil {
		return err
	}
	if o.shown.Interrupted {
		return c.compareSoFar(before, o, textOnStdout(outputs))
	}
	return c.compareTraces(before, o, f, textOnStdout(outputs))
}

// otherVersion is the failure of a replay: of the harness, or, when another version of Squall recorded the bundle, of whoever
// expects this one to do the same.
func otherVersion(bundle *reports.Run, difference string, failure error) error {
	if now := thisBuild().recorded(); bundle.RecordedBy != now {
		return usage("bundle %s was recorded by squall %s, and this is squall %s, which does something else under the same seed\n%s\n"+
			"judge its record again: squall check %s", bundle.Bundle, bundle.RecordedBy, now, difference, shellWord(bundle.Bundle))
	}
	if why := elsewhere(bundle); why != "" {
		failure = fmt.Errorf("%w\nthe bundle %s", failure, why)
	}
	return broken(failure)
}

// elsewhere says what made the bundle, where that is not this program on such a machine; empty: it is.
func elsewhere(bundle *reports.Run) string {
	now, here := thisBuild().recorded(), reports.ThisMachine()
	switch otherMachine := bundle.RecordedOn != "" && bundle.RecordedOn != here; {
	case bundle.RecordedBy != now && otherMachine:
		return fmt.Sprintf("was recorded by squall %s on %s, and this is squall %s on %s", bundle.RecordedBy, bundle.RecordedOn, now, here)
	case bundle.RecordedBy != now:
		return fmt.Sprintf("was recorded by squall %s, and this is squall %s", bundle.RecordedBy, now)
	case otherMachine:
		return fmt.Sprintf("was recorded on %s, and this is %s", bundle.RecordedOn, here)
	}
	return ""
}

// recordedBy adds to the reason why a bundle cannot be run that another program, or machine, made it.
func recordedBy(bundle *reports.Run, err error) error {
	if why := elsewhere(bundle); why != "" {
		return usage("%w\nthe bundle %s\njudge its record again: squall check %s", err, why, shellWord(bundle.Bundle))
	}
	return err
}

// compareSoFar tells of a replay that was interrupted: whether it was one as far as it came.
func (c *console) compareSoFar(bundle *reports.Run, o outcome, text bool) error {
	now := o.shown.History
	if complete(bundle.History) {
		if difference := sameSoFar(now, bundle.History); difference != "" {
			return otherVersion(bundle, difference, fmt.Errorf("determinism is lost: the replay was interrupted, and even so it differs\n%s", difference))
		}
	}
	if text {
		o.print(c.out, c, true)
		fmt.Fprintf(c.out, "interrupted after %s: the same until then, and not compared any further\n", count(len(now.Events), "event", "events"))
	}
	return ended(exitInterrupted)
}

// compareTraces prints the replay and whether it was one.
func (c *console) compareTraces(bundle *reports.Run, o outcome, f *replayFlags, text bool) error {
	now, before := o.shown.History, bundle.History
	same := fmt.Sprintf("the same as before: trace hash %016x", now.Meta.TraceHash)
	switch {
	case !complete(before):
		if difference := sameSoFar(before, now); difference != "" {
			return otherVersion(bundle, difference, fmt.Errorf("determinism is lost: the recording was interrupted, and even so it differs\n%s", difference))
		}
		same = fmt.Sprintf("the same as far as the recording goes, which was interrupted after %s", count(len(before.Events), "event", "events"))
	case now.Meta.TraceHash != before.Meta.TraceHash:
		return otherVersion(bundle, firstDifference(before, now), undetermined(now, before.Meta.TraceHash, before))
	}
	if text {
		if f.until > 0 {
			printUntil(c.out, now, history.Seq(f.until), f.tail)
		}
		o.print(c.out, c, f.until == 0)
		fmt.Fprintln(c.out, same)
		fmt.Fprintf(c.out, "replay: squall replay %s\n", shellWord(bundle.Bundle))
		fmt.Fprintf(c.out, "report: %s\n", reportIn(bundle.Bundle))
	}
	return endedWith(o.standing())
}

// printUntil prints the records up to a sequence number, the last few of them.
func printUntil(w io.Writer, h *history.History, until history.Seq, most int) {
	all := records(h)
	end := 0
	for end < len(all) && all[end].seq <= until {
		end++
	}
	from := 0
	if most > 0 {
		from = max(0, end-most)
	}
	if from > 0 {
		fmt.Fprintf(w, "... %d earlier\n", from)
	}
	for _, r := range all[from:end] {
		fmt.Fprintln(w, r)
	}
	fmt.Fprintf(w, "... %d later\n\n", len(all)-end)
}
