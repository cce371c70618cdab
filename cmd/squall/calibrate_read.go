package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/calibration"
	"github.com/squall-chaos/squall/clusters/calibration/dumps"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// calibrationInput is what dumps, runs and a live cluster have said.
type calibrationInput struct {
	cluster   *dumps.Cluster
	samples   *calibration.Samples
	selection dumps.Selection
	sources   []string
	first     string // the first source, for what is wrong with all
	runs      []reports.MeasuredRun
	calls     int // reads that measured the API server
}

func (f *calibrateFlags) gathering(c *console) (*gathering, error) {
	labels, err := labelsOf(f.selector)
	if err != nil {
		return nil, err
	}
	key, value, _ := strings.Cut(f.spotLabel, "=")
	return &gathering{console: c, flags: f, calibrationInput: &calibrationInput{cluster: dumps.NewCluster(key, value), samples: calibration.NewSamples(),
		selection: dumps.Selection{Namespace: f.namespace, Labels: labels}}}, nil
}

// add reads one argument: a bundle, or a dump.
func (g *gathering) add(arg string) error {
	if g.first == "" {
		g.first = arg
	}
	info, err := os.Stat(arg)
	if arg == latestName && err != nil || err == nil && info.IsDir() {
		return g.addRun(arg)
	}
	text, name, err := readDump(arg)
	if err != nil {
		return err
	}
	g.sources = append(g.sources, name)
	return inputError(g.cluster.Read(name, text))
}

func readDump(arg string) (text []byte, name string, err error) {
	if arg == "-" {
		if text, err = io.ReadAll(io.LimitReader(os.Stdin, dumps.Most+1)); err != nil {
			return nil, "stdin", usage("stdin cannot be read: %w", cause(err))
		}
		return text, "stdin", nil
	}
	f, err := os.Open(arg)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, arg, badDump(arg, scenarios.CodeFile, "there is no such file, and no such bundle", "kubectl get events,pods,nodes -A -o json > dump.json")
	}
	if err != nil {
		return nil, arg, badDump(arg, scenarios.CodeFile, fmt.Sprintf("cannot be read: %v", cause(err)), "")
	}
	defer f.Close()
	if text, err = io.ReadAll(io.LimitReader(f, dumps.Most+1)); err != nil {
		return nil, arg, badDump(arg, scenarios.CodeFile, fmt.Sprintf("cannot be read: %v", cause(err)), "")
	}
	return text, arg, nil
}

// badDump is a problem with a file as a whole.
func badDump(file, code, message, fix string) error {
	return &scenarios.InputError{Problems: []scenarios.Problem{{Code: code, File: file, Line: 1, Col: 1, Message: message, Fix: fix}}}
}

// inputError makes what is wrong with a dump look like what is wrong with any other input.
func inputError(err error) error {
	var p *dumps.Problem
	if !errors.As(err, &p) {
		return err
	}
	shown := scenarios.Problem{Code: p.Code, File: p.File, Line: p.Line, Col: p.Col, Message: p.Message, Fix: p.Fix}
	if line := []rune(p.Line1); len(line) > 0 && p.Col <= len(line)+1 {
		number := fmt.Sprintf("%5d | ", p.Line)
		shown.Excerpt = number + strings.ReplaceAll(p.Line1, "\t", " ") + "\n" + strings.Repeat(" ", len(number)-2) + "| " + strings.Repeat(" ", p.Col-1) + "^"
	}
	return &scenarios.InputError{Problems: []scenarios.Problem{shown}}
}

// nothing is what to say when nothing was seen.
func (g *gathering) nothing() error {
	message := "nothing in it can be measured: no pod that was scheduled, started or ended, no node that came or fell silent"
	switch {
	case g.selection.Namespace != "" || len(g.selection.Labels) > 0:
		message = "nothing can be measured in what the selection takes"
	case g.cluster.Counts["Event"] == 0 && len(g.runs) == 0:
		message += "; and no events"
	}
	return badDump(nameOr(g.first, "the cluster"), dumps.CodeNothing, message, "kubectl get events,pods,nodes -A -o json > dump.json, while something runs")
}

// addRun reads the record of a run.
func (g *gathering) addRun(arg string) error {
	run, err := g.console.openBundle(arg)
	if err != nil {
		return err
	}
	if run.History == nil {
		return badDump(arg, dumps.CodeNothing, "the run has no record", "")
	}
	g.sources = append(g.sources, run.Bundle)
	measured := reports.MeasuredRun{World: run.History.Meta.World, Divided: run.Made.Scale.Factor}
	measured.StartsFromCreation = calibration.FromHistory(run.History, machinesOf(run), g.samples)
	g.runs = append(g.runs, measured)
	return nil
}

// machinesOf tells the capacity type of a run's node by the group that it is named after.
func machinesOf(run *reports.Run) func(string) clusters.CapacityType {
	kinds := map[string]clusters.CapacityType{}
	if s, err := scenarios.Parse(reports.ScenarioFile, run.Scenario); err == nil {
		for _, n := range s.Nodes {
			kinds[n.Name] = n.CapacityType
		}
	}
	return func(node string) clusters.CapacityType {
		if i := strings.LastIndexByte(node, '-'); i > 0 {
			return kinds[node[:i]]
		}
		return ""
	}
}

// read says how much was read.
func (g *gathering) read() string {
	var parts []string
	for _, k := range []struct{ kind, one, many string }{{"Pod", "pod", "pods"}, {"Node", "node", "nodes"}, {"Event", "event", "events"}, {"Lease", "lease", "leases"}} {
		if n := g.cluster.Counts[k.kind]; n > 0 {
			parts = append(parts, count(n, k.one, k.many))
		}
	}
	if g.calls > 0 {
		parts = append(parts, count(g.calls, "timed read", "timed reads"))
	}
	if len(g.runs) > 0 {
		parts = append(parts, count(len(g.runs), "run", "runs"))
	}
	return strings.Join(parts, ", ")
}

func (g *gathering) nodes() string {
	counts := g.cluster.Nodes()
	var parts []string
	for _, kind := range calibration.Types() {
		if n := counts[kind]; n > 0 {
			word := string(kind)
			if kind == "" {
				word = "of unknown type (--spot-label tells)"
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(parts, ", ")
}
