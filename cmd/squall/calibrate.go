package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/clusters/calibration"
	"github.com/squall-chaos/squall/reports"
)

// calibrateFlags are the flags of calibrate.
type calibrateFlags struct {
	namespace, selector, spotLabel string
	anonymise                      bool
	salt                           string
	live                           bool
	context, kubeconfig            string
	probes                         int
	outputs                        []string
}

// formatYAML is the file that scenarios take.
const formatYAML = "yaml"

func calibrationFormats() []string {
	return []string{formatText, formatYAML, formatHTML, formatJSON}
}

func newCalibrateCommand(c *console) *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate DUMP|BUNDLE...",
		Short: "Measure a cluster, so that scenarios are as fast and as slow as it is",
		Long: `Measure a cluster: how long scheduling, image pulls, starts, runs, terminations, new nodes and the detection of dead ones take,
by capacity type. From dumps (files, or - for stdin), from a cluster itself, of which it only reads, through kubectl (--live), or from bundles of
runs. What comes out is a file that scenarios take (-o yaml), with sample sizes, and a page that shows measured against fitted
(-o html). Where there is too little data it is said, and nothing is written for it.

Make a dump:  kubectl get events,pods,nodes -A -o json > dump.json
              kubectl get leases -n kube-node-lease -o json > leases.json
              kubectl get pods -A -w -o json > watch.json     whole lives, for as long as it runs

` + exitHelp,
		Example: "  squall calibrate dump.json leases.json -o yaml=measured.yaml -o html=measured.html\n" +
			"  squall calibrate watch.json -n jobs -l app=worker --anonymise\n" +
			"  squall run swarm-standard --calibration measured.yaml",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !f.live {
				return usage("%s: which dumps? Make one: kubectl get events,pods,nodes -A -o json > dump.json; or --live", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runCalibrate(cmd, c, &f, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.namespace, "namespace", "n", "", "only pods of this `namespace`")
	flags.StringVarP(&f.selector, "selector", "l", "", "only pods with these labels, `key=value,...`")
	flags.StringVar(&f.spotLabel, "spot-label", "", "a label that marks spot nodes, `key[=value]`, besides those of Karpenter and the clouds")
	flags.BoolVar(&f.anonymise, "anonymise", false, "hash the names and labels of whatever is reported")
	flags.StringVar(&f.salt, "salt", "", "with --anonymise: hash with this `salt`, so that two reports can be compared (default: a random one, not kept)")
	flags.BoolVar(&f.live, "live", false, "read from the cluster of the kubeconfig; nothing in it is changed")
	flags.StringVar(&f.context, "context", "", "with --live: the `context` of the kubeconfig")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "with --live: the `path` of the kubeconfig (default: as kubectl has it)")
	flags.IntVar(&f.probes, "probes", 100, "with --live: so many small reads measure the latency of the API server")
	addOutputFlagOf(cmd, &f.outputs, calibrationFormats())
	return cmd
}

// check finds what is wrong before anything is read.
func (f *calibrateFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case given("salt") && !f.anonymise:
		return usage("--salt is for --anonymise")
	case f.anonymise && given("salt") && f.salt == "":
		return usage("--salt is empty: anybody could try names until one fits")
	case !f.live && (given("context") || given("kubeconfig") || given("probes")):
		return usage("--context, --kubeconfig and --probes are for --live")
	case f.probes < 0 || f.probes > 10_000:
		return usage("--probes %d: from 0 to 10000 reads", f.probes)
	}
	return nil
}

func runCalibrate(cmd *cobra.Command, c *console, f *calibrateFlags, args []string) error {
	outputs, err := parseOutputsOf(f.outputs, calibrationFormats())
	if err != nil {
		return err
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	g, err := f.gathering(c)
	if err != nil {
		return err
	}
	if err := g.all(cmd.Context(), args); err != nil {
		return err
	}
	report, err := g.report(f)
	if err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return ended(exitInterrupted)
	}
	return c.publishCalibration(report, outputs)
}

// publishCalibration writes what was asked for. Where nothing can be taken there is no file for scenarios, and the status is unknown.
func (c *console) publishCalibration(report *reports.Calibration, outputs []output) error {
	var left []output
	for _, o := range outputs {
		if o.format == formatYAML && !report.Usable() {
			c.note("squall: too little data: %s is not written", nameOr(o.path, "the file for scenarios"))
			continue
		}
		left = append(left, o)
	}
	if err := c.writeEach(left, true, func(w io.Writer, o output) error {
		switch o.format {
		case formatYAML:
			return report.WriteProfile(w)
		case formatHTML:
			return report.WriteHTML(w)
		case formatJSON:
			return report.WriteJSON(w)
		}
		return report.WriteText(w)
	}); err != nil {
		return err
	}
	c.calibrationLines(report, left)
	if !report.Usable() {
		return ended(exitUnknown)
	}
	return nil
}

func nameOr(path, otherwise string) string {
	if path == "" {
		return otherwise
	}
	return path
}

// calibrationLines are the last lines: what to do with what was written.
func (c *console) calibrationLines(report *reports.Calibration, outputs []output) {
	if !textOnStdout(outputs) {
		return
	}
	fmt.Fprintln(c.out)
	profile := ""
	for _, o := range outputs {
		switch {
		case o.path == "":
		case o.format == formatYAML:
			profile = o.path
		case o.format == formatHTML:
			fmt.Fprintf(c.out, "report: %s\n", o.path)
		}
	}
	switch {
	case profile != "":
		fmt.Fprintf(c.out, "use it: squall run SCENARIO --calibration %s\n", shellWord(profile))
	case report.Usable():
		fmt.Fprintln(c.out, "keep it: -o yaml=measured.yaml -o html=measured.html")
	}
}

// gathering is what has been read so far.
type gathering struct {
	*calibrationInput
	console *console
	flags   *calibrateFlags
}

func (g *gathering) all(ctx context.Context, args []string) error {
	for _, arg := range args {
		if err := g.add(arg); err != nil {
			return err
		}
	}
	if g.flags.live {
		if err := g.addLive(ctx); err != nil {
			return err
		}
	}
	return nil
}

// report judges what was read.
func (g *gathering) report(f *calibrateFlags) (*reports.Calibration, error) {
	if !g.cluster.Empty() {
		g.cluster.Measure(g.samples, g.selection)
	}
	if g.samples.Count() == 0 {
		return nil, g.nothing()
	}
	report := &reports.Calibration{Version: thisBuild().recorded(), Sources: g.sources, Read: g.read(), Nodes: g.nodes(), Until: g.cluster.Latest(),
		Runs: g.runs, Anonymised: f.anonymise}
	if f.anonymise {
		salt := []byte(f.salt)
		if len(salt) == 0 {
			salt = make([]byte, 32)
			_, _ = rand.Read(salt) // never fails
			g.console.note("squall: the salt is random and not kept: give --salt to compare two reports by their hashes")
		}
		g.samples.Hide(calibration.NewMask(salt))
		for i := range report.Sources {
			report.Sources[i] = fmt.Sprintf("source %d", i+1)
		}
	} else {
		for i, s := range report.Sources {
			report.Sources[i] = filepath.Base(s)
		}
	}
	report.Findings = calibration.Survey(g.samples)
	return report, nil
}

// labelsOf reads key=value,key=value.
func labelsOf(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	labels := map[string]string{}
	for _, part := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(part, "=")
		value = strings.TrimPrefix(value, "=") // kubectl's == is =
		if !ok || key == "" || strings.ContainsAny(key, "!() ") {
			return nil, usage("-l %s: expected key=value,key=value; other selectors are kubectl's: kubectl get pods -l ... -o json", text)
		}
		labels[key] = value
	}
	return labels, nil
}
