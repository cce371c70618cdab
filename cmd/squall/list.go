package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// listing is everything that names on the command line can mean.
type listing struct {
	Scenarios   []listedScenario   `json:"scenarios,omitempty"`
	Dispatchers []listedDispatcher `json:"dispatchers,omitempty"`
	Faults      []listedFault      `json:"faults,omitempty"`
	Profiles    []listedProfile    `json:"profiles,omitempty"`
	Settings    []listedSetting    `json:"settings,omitempty"`
	Worlds      []listedWorld      `json:"worlds,omitempty"`
}

type listedScenario struct {
	Name      string            `json:"name"`
	Family    string            `json:"family,omitempty"`
	Summary   string            `json:"summary"`
	Control   string            `json:"control,omitempty"`
	Incidents []string          `json:"incidents,omitempty"`
	Expect    map[string]string `json:"expect"` // verdict by dispatcher
}

type listedDispatcher struct {
	Name     string   `json:"name"`
	Summary  string   `json:"summary"`
	Scenario string   `json:"shown_by,omitempty"` // the scenario under whose seeds the defect shows
	Seeds    int      `json:"within_seeds,omitempty"`
	Breaks   []string `json:"breaks,omitempty"`
	Incident string   `json:"incident,omitempty"` // the row of the catalogue that the defect comes from
	Witness  string   `json:"second_witness,omitempty"`
	Control  string   `json:"control,omitempty"`  // what else was taken away from it and from its control
	SimOnly  string   `json:"sim_only,omitempty"` // why it cannot run on real servers
}

type listedFault struct {
	Kind   string   `json:"kind"`
	Family string   `json:"family"`
	Does   string   `json:"does"`
	Must   []string `json:"must,omitempty"` // fields that it needs
	May    []string `json:"may,omitempty"`
}

type listedProfile struct {
	Name  string `json:"name"`
	Chain string `json:"chain"`
}

type listedWorld struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Here    bool   `json:"in_this_build"`
}

// listTopics are what `squall list` can be narrowed to.
var listTopics = []string{"scenarios", "dispatchers", "faults", "profiles", "settings", "worlds"}

func newListCommand(c *console) *cobra.Command {
	var asJSON, incidents, chaosMesh bool
	var world string
	cmd := &cobra.Command{
		Use:       "list [" + strings.Join(listTopics, "|") + "]",
		Short:     "List scenarios, dispatchers, faults, profiles, settings and worlds",
		Long:      "List scenarios with the verdict expected of the reference and of the naive dispatcher (-v: what happens in them),\ndispatchers, faults, profiles of settings, the settings with their values in each, and worlds. With --world: which faults\nand scenarios that world can do, and why not the others. With --incidents: the catalogue of public incidents by cause, the\nscenarios that stand for each, their controls, and who fails them (-v: what was reported). With --chaosmesh: which faults\nChaos Mesh can express.",
		Example:   "  squall list scenarios -v\n  squall list --world kind\n  squall list --incidents",
		ValidArgs: listTopics,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one topic, but got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if chaosMesh {
				return c.listChaosMesh(cmd, args, asJSON)
			}
			if incidents {
				return c.listIncidents(cmd, args, asJSON)
			}
			if cmd.Flags().Changed("world") {
				return c.listWorld(world, args, asJSON)
			}
			l, err := list(args)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.out, l)
			}
			return l.write(c.out, c.verbose)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&incidents, "incidents", false, "list the catalogue of public incidents")
	cmd.Flags().BoolVar(&chaosMesh, "chaosmesh", false, "list which faults Chaos Mesh can express, and why not the others")
	cmd.Flags().StringVar(&world, "world", "", "list what this world can do: "+strings.Join(worldNames(), ", "))
	return cmd
}

func (c *console) listWorld(world string, topics []string, asJSON bool) error {
	if len(topics) > 0 {
		return usage("--world lists all that the world can do: leave %s out", topics[0])
	}
	l, err := listWorld(world)
	switch {
	case err != nil:
		return err
	case asJSON:
		return writeJSON(c.out, l)
	}
	return l.write(c.out)
}

func (c *console) listIncidents(cmd *cobra.Command, topics []string, asJSON bool) error {
	switch {
	case len(topics) > 0:
		return usage("--incidents lists the whole catalogue: leave %s out", topics[0])
	case cmd.Flags().Changed("world"):
		return usage("--incidents and --world list different things: give one of them")
	}
	l := listIncidents()
	if asJSON {
		return writeJSON(c.out, l)
	}
	return l.write(c.out, c.verbose)
}

func (c *console) listChaosMesh(cmd *cobra.Command, topics []string, asJSON bool) error {
	for _, other := range []string{"incidents", "world"} {
		if cmd.Flags().Changed(other) {
			return usage("--chaosmesh and --%s list different things: give one of them", other)
		}
	}
	switch l := listChaosMesh(); {
	case len(topics) > 0:
		return usage("--chaosmesh lists all faults: leave %s out", topics[0])
	case asJSON:
		return writeJSON(c.out, l)
	default:
		return l.write(c.out)
	}
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func list(topics []string) (listing, error) {
	var l listing
	if len(topics) == 0 {
		topics = listTopics
	}
	for _, topic := range topics {
		switch topic {
		case "scenarios":
			l.Scenarios = listScenarios()
		case "dispatchers":
			l.Dispatchers = listDispatchers()
		case "faults":
			l.Faults = listFaults()
		case "profiles":
			l.Profiles = listProfiles()
		case "settings":
			l.Settings = listSettings()
		case "worlds":
			for _, w := range worldEntries {
				l.Worlds = append(l.Worlds, listedWorld{w.name, w.summary, w.here()})
			}
		default:
			return listing{}, unknownName("topic", topic, listTopics, oneOf(listTopics))
		}
	}
	return l, nil
}

func listScenarios() []listedScenario {
	var all []listedScenario
	for _, s := range scenarios.Library() {
		one := listedScenario{Name: s.Name, Family: string(s.Family), Summary: s.Summary, Control: s.Control,
			Incidents: s.Incidents, Expect: map[string]string{}}
		for _, name := range planted.Names() {
			if e := s.Expect.Of(name); e != nil {
				one.Expect[name] = verdictWanted(e)
			}
		}
		all = append(all, one)
	}
	return all
}

// verdictWanted is the verdict of an expectation; without one, valid is expected.
func verdictWanted(e *scenarios.Expectation) string {
	if e == nil || e.Verdict == "" {
		return "valid"
	}
	return e.Verdict
}

func listDispatchers() []listedDispatcher {
	ref := planted.Reference()
	all := []listedDispatcher{{Name: ref.Name, Summary: ref.Summary}}
	for _, d := range planted.Defects() {
		one := listedDispatcher{Name: d.System.Name, Summary: d.System.Summary, Scenario: d.Scenario, Seeds: d.Seeds, Breaks: d.Breaks,
			Incident: d.Incident, SimOnly: d.SimOnly}
		if d.Witness != nil {
			one.Witness = fmt.Sprintf("%s in %s", strings.Join(d.Witness.Breaks, " or "), d.Witness.Scenario)
		}
		if d.Bare != nil {
			one.Control = d.Bare.Summary
		}
		all = append(all, one)
	}
	return all
}

func listFaults() []listedFault {
	var all []listedFault
	for _, k := range faults.Kinds() {
		must, may := k.Fields()
		all = append(all, listedFault{Kind: string(k), Family: string(k.Family()), Does: k.Does(), Must: fieldWords(must), May: fieldWords(may)})
	}
	return all
}

func fieldWords(fields []faults.Field) []string {
	var words []string
	for _, f := range fields {
		words = append(words, string(f))
	}
	return words
}

func listProfiles() []listedProfile {
	var all []listedProfile
	for _, name := range dispatcher.Profiles() {
		s, _ := dispatcher.Profile(name)
		all = append(all, listedProfile{Name: name, Chain: fmt.Sprintf("http %s < step %s < workflow %s; tick %s; recovery grace %s",
			short(s.HTTPTimeout), short(s.StepTimeout), short(s.WorkflowDeadline), short(s.Tick), short(s.RecoveryGrace))})
	}
	return all
}

// write prints the listing as tables.
func (l listing) write(w io.Writer, verbose bool) error {
	t := &tables{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	if len(l.Scenarios) > 0 {
		t.scenarios(l.Scenarios, verbose)
	}
	if len(l.Dispatchers) > 0 {
		t.dispatchers(l.Dispatchers, verbose)
	}
	if len(l.Faults) > 0 {
		t.head("FAULT", "FAMILY", "WHAT IT DOES")
		for _, f := range l.Faults {
			t.row(f.Kind, f.Family, f.Does)
		}
	}
	if len(l.Profiles) > 0 {
		t.head("PROFILE", "TIMEOUTS")
		for _, p := range l.Profiles {
			t.row(p.Name, p.Chain)
		}
	}
	if len(l.Settings) > 0 {
		t.settings(l.Settings)
	}
	if len(l.Worlds) > 0 {
		t.head("WORLD", "WHAT IT IS")
		for _, x := range l.Worlds {
			text := x.Summary
			if !x.Here {
				text += " (not in this build)"
			}
			t.row(x.Name, text)
		}
	}
	return t.w.Flush()
}

// tables writes tables one below the other, each with its own columns.
type tables struct {
	w     *tabwriter.Writer
	begun bool
}

// scenarios has the incidents behind them in the last column, or, in detail, what happens in them.
func (t *tables) scenarios(all []listedScenario, verbose bool) {
	last := "INCIDENTS"
	if verbose {
		last = "WHAT HAPPENS"
	}
	t.head("SCENARIO", "FAMILY", "REFERENCE", "NAIVE", last)
	for _, s := range all {
		text := strings.Join(s.Incidents, ", ")
		if verbose {
			text = s.Summary
		}
		t.row(s.Name, either(s.Family, "-"), either(s.Expect["reference"], "-"), either(s.Expect["naive"], "-"), text)
	}
}

// dispatchers has what is wrong with them in the last column, and in detail what else sees it.
func (t *tables) dispatchers(all []listedDispatcher, verbose bool) {
	head := []string{"DISPATCHER", "INCIDENT", "SHOWN BY", "WITHIN"}
	if verbose {
		head = append(head, "BREAKS", "SECOND WITNESS", "WORLD")
	}
	t.head(append(head, "WHAT IT IS")...)
	for _, d := range all {
		within, world := "", "any"
		if d.Seeds > 0 {
			within = count(d.Seeds, "seed", "seeds")
		}
		if d.SimOnly != "" {
			world = "sim only"
		}
		row := []string{d.Name, either(d.Incident, "-"), d.Scenario, within}
		if verbose {
			row = append(row, strings.Join(d.Breaks, ", "), either(d.Witness, "-"), world)
		}
		t.row(append(row, d.Summary)...)
	}
}

func either(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (t *tables) head(cells ...string) {
	if t.begun {
		_ = t.w.Flush() // an error shows again at the end
		fmt.Fprintln(t.w)
	}
	t.begun = true
	t.row(cells...)
}

func (t *tables) row(cells ...string) {
	fmt.Fprintln(t.w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}
