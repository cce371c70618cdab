package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/scenarios"
)

// console is where a command writes, and how.
type console struct {
	out, err       io.Writer
	color          string
	quiet, verbose bool
	dir            string
}

// garbage is the GC percentage: runs are many and short, and live on little memory, so that their garbage is cheaper
// to keep for a while.
const garbage = 1600

func (c *console) outInk() ink { return ink(coloured(c.color, c.out)) }
func (c *console) errInk() ink { return ink(coloured(c.color, c.err)) }

// note tells the user something on stderr, unless told to be quiet.
func (c *console) note(format string, args ...any) {
	if !c.quiet {
		fmt.Fprintf(c.err, format+"\n", args...)
	}
}

// execute runs one command line and returns the exit status.
func execute(args []string, out, err io.Writer) (code int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	c := &console{out: out, err: err, color: colourAuto}
	defer func() {
		if p := recover(); p != nil {
			c.explain(broken(fmt.Errorf("panic: %v\n%s", p, debug.Stack())))
			code = exitHarness
		}
	}()
	ctx, stop := interruptible(context.Background(), c)
	defer stop()
	root := newRoot(c)
	root.SetArgs(args)
	failed := root.ExecuteContext(ctx)
	c.explain(failed)
	return statusOf(failed)
}

func newRoot(c *console) *cobra.Command {
	root := &cobra.Command{
		Use:   "squall",
		Short: "Find out whether a job dispatcher loses work or does it twice, before production does",
		Long: `Squall runs a Kubernetes job dispatcher and its reconciler against injected faults, records what
really happened, and checks that no task ran twice and none was left behind.

Every flag can be set in the environment as well: SQUALL_DIR=/tmp/squall is --dir /tmp/squall.

` + exitHelp,
		Example: "  squall demo                 a failure on purpose, explained\n" +
			"  squall chaos                the whole suite\n" +
			"  squall run swarm-standard --seeds 100",
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.prepare(cmd) },
	}
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(badFlag)
	flags := root.PersistentFlags()
	flags.StringVar(&c.color, "color", colourAuto, "colours: "+strings.Join(colourModes(), ", "))
	flags.BoolVarP(&c.quiet, "quiet", "q", false, "no progress, and only the last lines of results")
	flags.BoolVarP(&c.verbose, "verbose", "v", false, "more detail")
	flags.StringVar(&c.dir, "dir", ".squall", "where run bundles are kept")
	root.AddCommand(
		newRunCommand(c), newChaosCommand(c), newExploreCommand(c), newDemoCommand(c), newCompareCommand(c), newSweepCommand(c),
		newShrinkCommand(c), newDiffCommand(c), newReplayCommand(c), newCheckCommand(c), newShowCommand(c), newCalibrateCommand(c),
		newLintCommand(c), newInitCommand(c),
		newListCommand(c), newSchemaCommand(c), newExplainCommand(c),
		newDoctorCommand(c), newManifestsCommand(c), newVersionCommand(c),
	)
	root.AddCommand(newClusterCommands(c)...)
	strict(root)
	return root
}

// prepare takes the environment into account and checks the flags that all commands have.
func (c *console) prepare(cmd *cobra.Command) error {
	if err := fromEnvironment(cmd); err != nil {
		return err
	}
	if !slices.Contains(colourModes(), c.color) {
		return unknownName("value of --color", c.color, colourModes(), oneOf(colourModes()))
	}
	if c.quiet && c.verbose {
		return usage("--quiet and --verbose exclude each other")
	}
	return nil
}

// explain prints the error that a command ended with.
func (c *console) explain(err error) {
	var end *ending
	if err == nil || (errors.As(err, &end) && end.err == nil) {
		return
	}
	var input *scenarios.InputError
	var linked *chain.InputError
	if errors.As(err, &input) || errors.As(err, &linked) {
		fmt.Fprintln(c.err, err) // begins with file:line:col, which editors know
		return
	}
	fmt.Fprintln(c.err, c.errInk().bad("squall:"), err)
	if statusOf(err) == exitHarness {
		b := thisBuild()
		fmt.Fprintf(c.err, "This is a failure of Squall, not of the dispatcher. Please report it with the lines above, the command line,\n"+
			"the bundle if there is one, and: squall %s %s %s\n", b.recorded(), b.Go, b.Platform)
	}
}
