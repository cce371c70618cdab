package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// finding is what the doctor found about one thing.
type finding struct {
	what   string
	ok     bool
	needed bool // without it nothing works; else it is a limitation
	detail string
	remedy string
}

// ward is a group of findings.
type ward struct {
	name  string
	found []finding
}

func newDoctorCommand(c *console) *cobra.Command {
	var fix bool
	var world string
	var o worldOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what this machine can run, and say what is missing",
		Long: "Check what this machine can run, world by world, and say what is missing and how to get it.\n" +
			"The status is 2 only when not even the simulation can run; with --world, when anything is missing for that one.",
		Example: "  squall doctor\n  squall doctor --world cluster --context staging -n chaos",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fix {
				if err := c.fixAll(cmd.Context()); err != nil {
					return err
				}
			}
			if world != "" {
				return c.examine(cmd.Context(), world, o)
			}
			if o.context != "" || o.namespace != "" {
				return usage("--context and --namespace are for a cluster that Squall did not make: add --world %s", sharedWorld)
			}
			return ended(c.report(diagnose(cmd.Context(), c)))
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "get what is missing, as far as Squall can: a Docker engine on a bare Debian machine, as root")
	cmd.Flags().StringVar(&world, "world", "", "look at this one only: "+strings.Join(worldNames(), ", "))
	namespaceFlags(cmd.Flags(), &o)
	return cmd
}

// examine is a preflight for one world: whatever is missing counts.
func (c *console) examine(ctx context.Context, name string, o worldOptions) error {
	w, err := findWorld(name)
	if err != nil {
		return err
	}
	if o.context+o.namespace != "" && name != sharedWorld {
		return usage("--context and --namespace are for a cluster that Squall did not make: --world %s", sharedWorld)
	}
	var found []finding
	if w.check != nil {
		found = w.check(ctx, o)
	}
	code := c.report([]ward{{"world " + name, found}})
	if slices.ContainsFunc(found, func(f finding) bool { return !f.ok }) {
		code = exitUsage
	}
	return ended(code)
}

// report prints what was found, and returns the exit status.
func (c *console) report(wards []ward) int {
	code, i := exitValid, c.outInk()
	for n, w := range wards {
		if n > 0 {
			fmt.Fprintln(c.out)
		}
		fmt.Fprintln(c.out, i.bold(w.name))
		for _, f := range w.found {
			mark := i.good("ok     ")
			switch {
			case !f.ok && f.needed:
				mark, code = i.bad("FAILED "), exitUsage
			case !f.ok:
				mark = i.warn("missing")
			}
			fmt.Fprintf(c.out, "  %s  %-13s %s\n", mark, f.what, f.detail)
			if !f.ok && f.remedy != "" {
				fmt.Fprintf(c.out, "%25s remedy: %s\n", "", f.remedy)
			}
		}
	}
	return code
}

// fixAll has every world get what it lacks. A build without such worlds has nothing to get, and says so.
func (c *console) fixAll(ctx context.Context) error {
	done := false
	for _, w := range worldEntries {
		if w.fix == nil {
			continue
		}
		done = true
		if err := w.fix(ctx, c.lines("squall: ")); err != nil {
			return usage("world %s: %w", w.name, err)
		}
	}
	if !done {
		return usage("there is nothing to fix for the worlds of this build; one with kind is got by: make build WITH=kind")
	}
	return nil
}

func diagnose(ctx context.Context, c *console) []ward {
	b := thisBuild()
	wards := []ward{{"squall", []finding{
		{what: "build", ok: true, detail: fmt.Sprintf("%s, %s, %s, %s", b.Version, b.Go, b.Platform, count(runtime.GOMAXPROCS(0), "processor", "processors"))},
		checkDirectory(c.dir),
	}}}
	for _, w := range simulatedFirst(worldEntries) {
		found := []finding{{what: "build", detail: "this build has no world " + w.name, remedy: w.get}}
		if w.here() && w.check != nil {
			found = w.check(ctx, worldOptions{})
		}
		wards = append(wards, ward{"world " + w.name, found})
	}
	for _, name := range plannedWorlds {
		wards = append(wards, ward{"world " + name, []finding{{what: "build", detail: "not in this version of squall", remedy: "use --world sim, kind or cluster"}}})
	}
	return append(wards, ward{"tests", []finding{checkBrowser()}})
}

func checkDirectory(dir string) finding {
	f := finding{what: "bundles", needed: true, ok: true, detail: dir + " can be written"}
	if err := writable(dir); err != nil {
		f.ok, f.detail, f.remedy = false, err.Error(), "name another directory with --dir or SQUALL_DIR"
	}
	return f
}

// browsers are the names that Chromium goes by; the tests of the HTML report need one.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"}

func checkBrowser() finding {
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return finding{what: "browser", ok: true, detail: path + " (for the tests of reports)"}
		}
	}
	return finding{what: "browser", detail: "no Chromium on the PATH; only the tests of reports need it",
		remedy: "apt-get install chromium, or any Chrome"}
}

// writable tells whether files can be made in the directory, which need not exist yet. It leaves nothing behind.
func writable(dir string) error {
	made, err := makeDirs(dir)
	if err != nil {
		return err
	}
	defer func() {
		for _, d := range made {
			_ = os.Remove(d) // innermost first; one in use by now stays
		}
	}()
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return fmt.Errorf("cannot write in %s: %w", dir, cause(err))
	}
	err = probe.Close()
	if gone := os.Remove(probe.Name()); err == nil {
		err = gone
	}
	return err
}
