package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

func newCheckCommand(c *console) *cobra.Command {
	var outs []string
	cmd := &cobra.Command{
		Use:   "check FILE|BUNDLE|latest",
		Short: "Judge a history again",
		Long: `Judge a history again, from a bundle or from a file of JSON lines. What the scenario tolerates is tolerated here
too, if the scenario is in the bundle or in the library.

` + exitHelp,
		Example: "  squall check latest",
		Args:    exactly("history", "the path of a history file or of a bundle, or latest"),
		RunE: func(_ *cobra.Command, args []string) error {
			outputs, err := parseOutputs(outs)
			if err != nil {
				return err
			}
			run, err := c.checkAgain(args[0])
			if err != nil {
				return err
			}
			if err := c.writeOutputs(outputs, documentOf(run)); err != nil {
				return err
			}
			if textOnStdout(outputs) {
				c.printRun(run)
			}
			if run.Verdict() == reports.Valid && len(run.Unmet) > 0 {
				return ended(exitInvalid)
			}
			return endedWith(run.Verdict()) // of a run that was interrupted as well: this command was not
		},
	}
	addOutputFlag(cmd, &outs)
	return cmd
}

// checkAgain judges a bundle's history, or a file.
func (c *console) checkAgain(path string) (*reports.Run, error) {
	if info, err := os.Stat(path); path == latestName || err == nil && info.IsDir() {
		run, err := c.openBundle(path)
		if err != nil {
			return nil, err
		}
		before := run.Verdict()
		judge(run)
		if now := run.Verdict(); now != before {
			run.Unmet = verdictUnmet(now, run.Expected)
		}
		return run, nil
	}
	h, err := readHistory(path)
	if err != nil {
		return nil, err
	}
	run := &reports.Run{History: h}
	if s, err := scenarios.Find(h.Meta.Scenario); err == nil {
		run.Tolerated, run.About = s.Expect.Tolerate, s.Summary
		judge(run)
		o := outcome{job: job{scenario: s, system: dispatcher.System{Name: h.Meta.Dispatcher}}, tally: scenarios.Tally{Seeds: 1,
			Verdict: run.Judged, Interrupted: run.Interrupted}}
		run.Expected = o.expected()
		run.Unmet = verdictUnmet(run.Verdict(), run.Expected)
		return run, nil
	}
	judge(run)
	return run, nil
}

// verdictUnmet is what the verdict alone says of an expectation.
func verdictUnmet(got, wanted reports.Verdict) []string {
	if wanted == "" || got == wanted {
		return nil
	}
	return []string{fmt.Sprintf("verdict %s, expected %s", got, wanted)}
}

func readHistory(path string) (*history.History, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usage("there is no file or bundle %s", path)
	case err != nil:
		return nil, usage("%s cannot be read: %w", path, cause(err))
	}
	defer f.Close()
	h, err := history.Decode(bufio.NewReaderSize(f, 1<<20), path)
	if err != nil {
		return nil, usage("%w", err)
	}
	return h, nil
}

// judge gives a run its verdict.
func judge(run *reports.Run) {
	run.Report = checker.Check(run.History, checker.Options{})
	s := scenarios.Scenario{Expect: scenarios.Expect{Tolerate: run.Tolerated}}
	run.Judged = s.Verdict(run.Report)
	run.Interrupted = run.Interrupted || run.Err == nil && !complete(run.History)
	if run.Virtual == 0 {
		run.Virtual = lastMoment(run.History)
	}
}

func verdictOf(v checker.Verdict) reports.Verdict {
	return (&reports.Run{Judged: v}).Verdict()
}

// lastMoment is the offset of the last thing recorded.
func lastMoment(h *history.History) (last time.Duration) {
	for i := range h.Operations {
		last = max(last, h.Operations[i].CalledAt, h.Operations[i].ReturnedAt)
	}
	for i := range h.Events {
		last = max(last, h.Events[i].At)
	}
	return last
}
