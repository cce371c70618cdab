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

	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/reports/findings"
	"github.com/squall-chaos/squall/scenarios"
)

// chainFile is where a chain is looked for.
const chainFile = "squall.yaml"

type lintFlags struct {
	chain   string
	inputs  []string
	newFrom string
	strict  bool
	prove   bool
	seeds   int
	workers int
	outputs []string
}

func newLintCommand(c *console) *cobra.Command {
	var f lintFlags
	cmd := &cobra.Command{
		Use:   "lint [CHAIN]",
		Short: "Check that timeouts nest, across files and repositories",
		Long: `Check that the timeouts of a chain nest, each strictly inside the next with its margin, although their values live in different
files, formats and repositories. The chain file says where each value stands, whose it is, and what must hold; squall init writes
one to begin with. squall explain says more about a code (SQ521) or a built-in rule (workflow-in-grace).

Exit status: 0 no findings (warnings aside), 1 findings, 2 wrong usage or bad input.`,
		Example: "  squall lint\n" +
			"  squall lint --input platform=../platform-checkout --new-from origin/main\n" +
			"  squall lint --prove -o text -o sarif=squall.sarif",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usage("%s takes one chain file, but got %d", cmd.CommandPath(), len(args))
			case len(args) == 1 && cmd.Flags().Changed("chain"):
				return usage("%s names the chain file as an argument or with --chain, not both", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.chain = args[0]
			}
			return f.run(cmd, c)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.chain, "chain", chainFile, "the chain `file`")
	flags.StringArrayVar(&f.inputs, "input", nil, "take an input from another place, `NAME=PLACE`: a directory or path#ref:subdir; may be repeated")
	flags.StringVar(&f.newFrom, "new-from", "", "only findings that were not there at this git `ref`, or have got worse since")
	flags.BoolVar(&f.strict, "strict", false, "warnings count as findings, too")
	flags.BoolVar(&f.prove, "prove", false, "simulate every finding: show a run in which it does harm, or say that none was found")
	flags.IntVar(&f.seeds, "seeds", proveSeeds, "with --prove: the seeds to try per finding")
	flags.IntVar(&f.workers, "workers", 0, "with --prove: seeds run side by side (default: one per processor)")
	addOutputFlagOf(cmd, &f.outputs, findings.Formats())
	return cmd
}

func (f *lintFlags) run(cmd *cobra.Command, c *console) error {
	outputs, err := parseOutputsOf(f.outputs, findings.Formats())
	if err != nil {
		return err
	}
	inputs, err := f.check(cmd)
	if err != nil {
		return err
	}
	report, opened, err := f.report(cmd.Context(), c, chain.Options{Inputs: inputs})
	if err != nil {
		return lintError(cmd.Context(), err)
	}
	if f.prove {
		if err := f.proveAll(cmd.Context(), c, opened, &report); err != nil {
			return err
		}
	}
	if err := c.writeFindings(outputs, report); err != nil {
		return err
	}
	switch {
	case cmd.Context().Err() != nil:
		return ended(exitInterrupted)
	case report.Errors() > 0, f.strict && len(report.Findings) > 0:
		return ended(exitInvalid)
	}
	return nil
}

// check makes a map of --input, and refuses what contradicts itself.
func (f *lintFlags) check(cmd *cobra.Command) (map[string]string, error) {
	given := cmd.Flags().Changed
	switch {
	case (given("seeds") || given("workers")) && !f.prove:
		return nil, usage("--seeds and --workers are about simulations: add --prove")
	case f.seeds < 1:
		return nil, usage("--seeds %d: at least 1 seed must run", f.seeds)
	case given("workers") && f.workers < 1:
		return nil, usage("--workers %d: at least 1 worker must run", f.workers)
	case given("new-from") && f.newFrom == "":
		return nil, usage("--new-from names a git reference, such as origin/main")
	}
	inputs := map[string]string{}
	for _, text := range f.inputs {
		name, place, ok := strings.Cut(text, "=")
		if !ok || name == "" || place == "" {
			return nil, usage("--input %s: it takes NAME=PLACE, such as platform=../platform-checkout", text)
		}
		if _, twice := inputs[name]; twice {
			return nil, usage("--input %s is given twice", name)
		}
		inputs[name] = place
	}
	return inputs, nil
}

// report checks the chain, and with --new-from leaves out what was there before.
func (f *lintFlags) report(ctx context.Context, c *console, o chain.Options) (chain.Report, *chain.Chain, error) {
	opened, err := chain.Open(ctx, f.chain, o)
	if err != nil {
		return chain.Report{}, nil, err
	}
	report, err := chain.Check(opened, today())
	if err != nil || f.newFrom == "" {
		return report, opened, err
	}
	before, err := chain.OpenAt(ctx, f.chain, f.newFrom, o)
	var old chain.Report
	if err == nil {
		old, err = chain.Check(before, today())
	}
	var input *chain.InputError
	switch {
	case errors.As(err, &input): // there was no such chain, or one that said nothing
		c.note("squall: every finding counts as new: at %s the chain cannot be checked: %s", f.newFrom, input.Problems[0].Message)
		return report, opened, nil
	case err != nil:
		return report, opened, usage("--new-from %s: %w", f.newFrom, err)
	}
	report.Since(old)
	return report, opened, nil
}

// today is the day that suppressions are judged by.
func today() time.Time { return time.Now() }

// lintError is the exit status of what a chain ended with.
func lintError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(exitInterrupted)
	}
	var input *chain.InputError
	var end *ending
	if errors.As(err, &input) || errors.As(err, &end) {
		return err
	}
	return usage("%w", err) // what could not be read
}

// writeFindings writes the report in every format, the text in colours where there is a terminal.
func (c *console) writeFindings(outputs []output, r chain.Report) error {
	d := findings.Document{Report: r, Version: thisBuild().recorded(), Title: scenarios.Title, Relative: fromRoot()}
	return c.writeEach(outputs, true, func(w io.Writer, o output) error {
		if o.path == "" && o.format == findings.Text {
			i := c.outInk()
			text := findings.Plain(r, findings.Ink{Bold: i.bold, Faint: i.faint, Bad: i.bad, Warn: i.warn, Good: i.good}, c.verbose)
			if c.quiet {
				lines := strings.Split(strings.TrimSpace(text), "\n")
				text = lines[len(lines)-1] + "\n"
			}
			_, err := io.WriteString(w, text)
			return err
		}
		return findings.Write(w, o.format, d)
	})
}

// fromRoot makes names of files, which are relative to the working directory, relative to the root of its repository, as CI systems
// know them. Outside of a repository they stay as they are.
func fromRoot() func(string) string {
	here, err := os.Getwd()
	if err != nil {
		return nil
	}
	root := here
	for {
		if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			return nil
		}
		root = filepath.Dir(root)
	}
	return func(file string) string {
		full := file
		if !filepath.IsAbs(full) {
			full = filepath.Join(here, full)
		}
		if rel, err := filepath.Rel(root, full); err == nil && !strings.HasPrefix(rel, "..") {
			return filepath.ToSlash(rel)
		}
		return file
	}
}

// explainRule says what a built-in rule of chains asks for, or what a setting is that only chains have; some names are both.
func explainRule(name string) (string, bool) {
	setting, isSetting := chain.ExplainSetting(strings.ToLower(name))
	rule, isRule := explainBuiltIn(name)
	return strings.TrimSpace(rule + "\n\n" + setting), isRule || isSetting
}

func explainBuiltIn(name string) (string, bool) {
	for _, r := range chain.Rules() {
		if !strings.EqualFold(r.Name, name) {
			continue
		}
		text := fmt.Sprintf("%s (built-in rule of squall lint): %s must be %s %s", r.Name, r.Left, r.Relation, r.Right)
		if r.Margin != "" {
			text += ", by " + r.Margin + " or more"
		}
		if r.Silence != chain.AnySilence {
			text += "; it applies " + string(r.Silence)
		}
		text += fmt.Sprintf(".\n\nBecause: %s.\nOtherwise: %s.", r.Because, r.Harm)
		if r.Equal != "" {
			text += "\nWhen they are equal: " + r.Equal + "."
		}
		return text + "\n\nIt applies where links of the chain say that they are these settings:\n\n    links:\n      - {name: grace, setting: recovery_grace, ...}", true
	}
	return "", false
}

func ruleNames() []string {
	var names []string
	for _, r := range chain.Rules() {
		names = append(names, r.Name)
	}
	for _, name := range chain.SettingNames() {
		if _, ok := chain.ExplainSetting(name); ok {
			names = append(names, name)
		}
	}
	return names
}
