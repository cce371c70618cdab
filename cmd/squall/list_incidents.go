package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// incidentListing is the catalogue of public incidents, with what models each.
type incidentListing struct {
	Classes []listedClass `json:"classes"`
}

type listedClass struct {
	Letter string           `json:"letter"`
	Name   string           `json:"name"`
	Rows   []listedIncident `json:"rows"`
}

type listedIncident struct {
	Row         string        `json:"row"`
	Symptom     string        `json:"symptom"`
	Grade       string        `json:"grade"` // A: seen in production, B: reproduced or confirmed, C: found by reading
	Reports     []string      `json:"reports"`
	Scenarios   []listedModel `json:"scenarios,omitempty"`
	NotModelled string        `json:"not_modelled,omitempty"` // why no scenario stands for it
}

// listedModel is a scenario that stands for an incident, and what is expected there.
type listedModel struct {
	Scenario  string       `json:"scenario"`
	Control   string       `json:"control,omitempty"`
	Reference string       `json:"reference"`
	Naive     string       `json:"naive,omitempty"` // empty: it is not run there, because it passes
	Violates  []string     `json:"naive_violates,omitempty"`
	Planted   []listedFall `json:"planted,omitempty"`
}

// listedFall is a planted dispatcher that fails a scenario.
type listedFall struct {
	Dispatcher string   `json:"dispatcher"`
	Violates   []string `json:"violates"`
}

func listIncidents() incidentListing {
	var l incidentListing
	for _, class := range scenarios.Incidents() {
		c := listedClass{Letter: class.Letter, Name: class.Name}
		for _, i := range class.Rows {
			row := listedIncident{Row: i.Row, Symptom: i.Symptom, Grade: i.Grade, Reports: i.Reports, NotModelled: i.NotModelled}
			for _, s := range i.Scenarios() {
				row.Scenarios = append(row.Scenarios, modelOf(s))
			}
			c.Rows = append(c.Rows, row)
		}
		l.Classes = append(l.Classes, c)
	}
	return l
}

func modelOf(s *scenarios.Scenario) listedModel {
	m := listedModel{Scenario: s.Name, Control: s.Control, Reference: verdictWanted(s.Expect.Reference), Planted: fallsIn(s)}
	if e := s.Expect.Naive; e != nil {
		m.Naive, m.Violates = verdictWanted(e), e.Violates
	}
	return m
}

// fallsIn are the planted dispatchers, naive apart, that must fail the scenario: because it says so, or because they say that
// they show there.
func fallsIn(s *scenarios.Scenario) []listedFall {
	var all []listedFall
	for _, e := range s.Expect.Planted {
		if e.Verdict == "invalid" {
			all = append(all, listedFall{e.Defect, brokenBy(e.Defect, s)})
		}
	}
	for _, d := range planted.Defects() {
		named := slices.ContainsFunc(all, func(f listedFall) bool { return f.Dispatcher == d.System.Name })
		switch {
		case d.System.Name == naiveName || named:
		case d.Scenario == s.Name:
			all = append(all, listedFall{d.System.Name, d.Breaks})
		case d.Witness != nil && d.Witness.Scenario == s.Name:
			all = append(all, listedFall{d.System.Name, d.Witness.Breaks})
		}
	}
	return all
}

// naiveName is the planted dispatcher that has most defects at once.
const naiveName = "naive"

func (f listedFall) String() string { return f.Dispatcher + ": " + strings.Join(f.Violates, ", ") }

// write prints the catalogue; with detail, what each report tells of.
func (l incidentListing) write(w io.Writer, verbose bool) error {
	t := &tables{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	for _, c := range l.Classes {
		t.head(fmt.Sprintf("%s: %s", c.Letter, c.Name))
		_ = t.w.Flush() // the line has no columns; an error shows again at the end
		t.row("ROW", "REPORT", "SCENARIO", "CONTROL", "REFERENCE", "NAIVE", "PLANTED")
		for _, row := range c.Rows {
			row.write(t)
			if verbose {
				_ = t.w.Flush()
				t.row("    " + row.Symptom + ": " + strings.Join(row.Reports, ", "))
			}
		}
	}
	if err := t.w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\nsquall run incidents/... runs all, incidents/C a class, incidents/C3 a row\n", l.sum())
	return err
}

func (i listedIncident) write(t *tables) {
	report := i.Reports[0]
	if len(i.Scenarios) == 0 {
		t.row(i.Row, report, "-", "-", "-", "-", "not modelled yet: "+i.NotModelled)
		return
	}
	label := i.Row
	for _, m := range i.Scenarios {
		falls := m.Planted
		t.row(label, report, m.Scenario, m.control(), m.Reference, m.naive(), fallAt(falls, 0))
		for n := 1; n < len(falls); n++ {
			t.row("", "", "", "", "", "", fallAt(falls, n))
		}
		label, report = "", ""
	}
}

// control leaves out what is the scenario's own name.
func (m listedModel) control() string {
	if m.Control == m.Scenario+"-control" {
		return "…-control"
	}
	return either(m.Control, "-")
}

func (m listedModel) naive() string {
	switch {
	case m.Naive == "":
		return "-"
	case len(m.Violates) > 0:
		return strings.Join(m.Violates, ", ")
	}
	return m.Naive
}

func fallAt(all []listedFall, n int) string {
	if n >= len(all) {
		return "-"
	}
	return all[n].String()
}

// sum says how much of the catalogue is modelled, and which rows nothing fails.
func (l incidentListing) sum() string {
	rows := 0
	var open, safe []string
	models := map[string]bool{}
	for _, c := range l.Classes {
		for _, i := range c.Rows {
			rows++
			falls := false
			for _, m := range i.Scenarios {
				models[m.Scenario] = true
				falls = falls || m.Naive == "invalid" || len(m.Planted) > 0
			}
			switch {
			case len(i.Scenarios) == 0:
				open = append(open, i.Row)
			case !falls:
				safe = append(safe, i.Row)
			}
		}
	}
	text := fmt.Sprintf("%d of %d incidents are modelled, by %d scenarios", rows-len(open), rows, len(models))
	if len(open) > 0 {
		text += "\nnot modelled yet: " + strings.Join(open, ", ")
	}
	if len(safe) > 0 {
		text += "\nno dispatcher fails yet: " + strings.Join(safe, ", ")
	}
	return text
}
