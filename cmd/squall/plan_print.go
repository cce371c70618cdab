package main

import (
	"fmt"
	"io"
	"time"
)

// printPlan says what would be run.
func printPlan(w io.Writer, jobs []job) error {
	for i, j := range jobs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := j.print(w); err != nil {
			return err
		}
	}
	return nil
}

func (j job) print(w io.Writer) error {
	s := j.scenario
	settings, err := s.DispatcherSettings()
	if err != nil {
		return err
	}
	plan := j.plan
	if plan == nil {
		if plan, err = s.Plan(j.from); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%s: %s\n", s.Name, s.Summary)
	if which := s.Which(); which.Number > 0 {
		fmt.Fprintf(w, "  variant     %d: %s\n", which.Number, which.Drawn)
	}
	fmt.Fprintf(w, "  dispatcher  %s, in world %s, %s\n", j.system.Name, j.world.name, j.seedWords())
	if text := j.scaleWords(); text != "" {
		fmt.Fprintf(w, "  scale       %s\n", text)
	}
	for _, text := range s.Fitted() {
		fmt.Fprintf(w, "  fitted      %s\n", text)
	}
	fmt.Fprintf(w, "  timeouts    http %s, step %s, workflow %s, tick %s, recovery grace %s\n", short(settings.HTTPTimeout),
		short(settings.StepTimeout), short(settings.WorkflowDeadline), short(settings.Tick), short(settings.RecoveryGrace))
	fmt.Fprintf(w, "  tasks       %d\n", len(s.TaskNames()))
	fmt.Fprintf(w, "  time        faults until %s%s, then everything heals and settles\n", short(s.Horizon), virtually(j.world))
	fmt.Fprintf(w, "  expected    %s\n", verdictWanted(s.Expect.Of(j.system.Name)))
	fmt.Fprintf(w, "  faults      %d under seed %d\n", len(plan), j.from)
	for _, fault := range plan {
		fmt.Fprintf(w, "    %8s  %s\n", short(fault.At), fault)
	}
	return nil
}

func virtually(w worldEntry) string {
	if w.live {
		return ""
	}
	return " (virtual)"
}

func (j job) seedWords() string {
	switch {
	case j.endless():
		return fmt.Sprintf("seeds from %d on", j.from)
	case j.count == 1:
		return fmt.Sprintf("seed %d", j.from)
	}
	return fmt.Sprintf("seeds %d to %d", j.from, j.from+uint64(j.count)-1)
}

// short writes a duration without its zero parts: 5m, not 5m0s; and seconds up to 600, as timeouts are spoken of.
func short(d time.Duration) string {
	if d%time.Second == 0 && d <= 10*time.Minute {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	d = d.Round(time.Millisecond)
	text := d.String()
	if d >= time.Minute && d%time.Minute == 0 {
		text = text[:len(text)-len("0s")]
	}
	if d >= time.Hour && d%time.Hour == 0 {
		text = text[:len(text)-len("0m")]
	}
	return text
}
