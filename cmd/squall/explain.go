package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

func newExplainCommand(c *console) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain BUNDLE|latest|CODE|INVARIANT|FAULT|ACTION|DISPATCHER|SETTING|B",
		Short: "Say what matters about a failing run, or explain a name that Squall prints",
		Long: `Say what matters about a failing run: for each setting and each fault whether it is irrelevant, or the value at which the verdict
flips; from when on the failure was inevitable; and which single change averts it. All of it is searched for in the simulation, with
one thing changed at a time, and added to the report of the bundle.

Or explain the code of an error (SQ104), an invariant of a verdict (I1-overlap), a kind of fault (node-kill), what can become of a
call (cut-reply), a dispatcher (naive), a setting (recovery_grace), a built-in rule of squall lint (workflow-in-grace) or the bound B.

The status is 0 when there was something to explain, and 2 for a bundle in which nothing was violated.`,
		Example: "  squall explain latest\n  squall explain latest -o json=matters.json\n  squall explain I1-overlap",
		Args:    exactly("name", "a bundle (its path, or latest), an error code (SQ104), an invariant (I1-overlap), a fault or a dispatcher"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.isBundleName(args[0]) {
				return explainBundle(cmd, c, &f, args[0])
			}
			if len(f.outputs) > 0 || f.invariant != "" {
				return usage("-o and --invariant are for a bundle, and %q is none: name %s", args[0], bundleHint)
			}
			text, err := explanationOf(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.out, text)
			return err
		},
	}
	cmd.Flags().StringVar(&f.invariant, "invariant", "", "of a bundle: the violation to explain (default: its first)")
	addOutputFlagOf(cmd, &f.outputs, explainFormats)
	f.addWorkers(cmd)
	return cmd
}

func explanationOf(name string) (string, error) {
	for _, explain := range []func(string) (string, bool){scenarios.Explain, explainInvariant,
		explainFault, explainAction, explainDispatcher, explainSetting, explainRule, explainBound} {
		if text, ok := explain(name); ok {
			return text, nil
		}
	}
	var known []string
	for _, k := range faults.Kinds() {
		known = append(known, string(k))
	}
	for _, a := range faults.Actions() {
		known = append(known, string(a))
	}
	known = slices.Concat(scenarios.Codes(), checker.Names(), known, planted.Names(), settingNames(), ruleNames())
	return "", unknownName("name", name, known, "error codes, invariants, and what `squall list` shows can be explained")
}

// explainInvariant says what an invariant promises, and where to see it broken.
func explainInvariant(name string) (string, bool) {
	for _, i := range checker.Invariants() {
		if !strings.EqualFold(i.Name, name) {
			continue
		}
		text := fmt.Sprintf("%s: %s\n\nIt is put to the test by: %s.", i.Name, i.Promise, i.Of)
		if s, ok := planted.ShowingOf(i.Name); !ok {
			text += "\n\nNo planted dispatcher breaks it reliably; the tests of package checker do."
		} else {
			system, _ := planted.Lookup(s.Dispatcher)
			text += fmt.Sprintf("\n\nTo see it broken by %q (%s):\n\n    squall run %s --dispatcher %s --seeds %d",
				s.Dispatcher, system.Summary, s.Scenario, s.Dispatcher, s.Seeds)
		}
		return text, true
	}
	return "", false
}

func explainFault(name string) (string, bool) {
	kind := faults.Kind(strings.ToLower(name))
	if kind.Does() == "" {
		return "", false
	}
	text := fmt.Sprintf("%s (%s): %s", kind, kind.Family(), kind.Does())
	must, may := kind.Fields()
	if len(must) > 0 {
		text += "\n\nIt needs: " + strings.Join(fieldWords(must), ", ") + "."
	}
	if len(may) > 0 {
		text += "\n\nIt may have: " + strings.Join(fieldWords(may), ", ") + "."
	}
	return text, true
}

func explainDispatcher(name string) (string, bool) {
	name = strings.ToLower(name)
	if ref := planted.Reference(); ref.Name == name {
		return ref.Name + ": " + ref.Summary, true
	}
	for _, d := range planted.Defects() {
		if d.System.Name == name {
			return fmt.Sprintf("%s: %s.%s\n\nIt breaks %s, found within %s of scenario %s:\n\n    squall run %s --dispatcher %s --seeds %d%s",
				name, d.System.Summary, comesFrom(d), strings.Join(d.Breaks, ", "), count(d.Seeds, "seed", "seeds"), d.Scenario,
				d.Scenario, name, d.Seeds, seenElsewhere(d)), true
		}
	}
	return "", false
}

// comesFrom says which incident a defect is taken from, and what was taken away for it to matter.
func comesFrom(d planted.Defect) string {
	text := ""
	if d.Incident != "" {
		text = fmt.Sprintf("\n\nIt comes from incident %s (`squall list --incidents`).", d.Incident)
	}
	if d.Bare != nil {
		text += fmt.Sprintf(" A second line of defence would hide it, so both it and its control are %s; the control must pass.", d.Bare.Summary)
	}
	return text
}

// seenElsewhere says what else shows a defect, and where it cannot be.
func seenElsewhere(d planted.Defect) string {
	text := ""
	if w := d.Witness; w != nil {
		text = fmt.Sprintf("\n\nA second witness: %s in scenario %s, within %s.", strings.Join(w.Breaks, " or "), w.Scenario, count(w.Seeds, "seed", "seeds"))
	}
	if d.SimOnly != "" {
		text += "\n\nIn the simulation only: " + d.SimOnly + "."
	}
	return text
}

// promiseOf is what the invariant promises.
func promiseOf(name string) string {
	for _, i := range checker.Invariants() {
		if i.Name == name {
			return i.Promise.Error()
		}
	}
	return name
}
