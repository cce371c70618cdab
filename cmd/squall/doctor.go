package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

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

func newDoctorCommand(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check what this machine can run, and say what is missing",
		Long: "Check what this machine can run, and say what is missing and how to get it.\n" +
			"The status is 2 only when not even the simulation can run.",
		Example: "  squall doctor",
		Args:    none,
		RunE: func(*cobra.Command, []string) error {
			code, i := exitValid, c.outInk()
			for _, f := range diagnose(c) {
				mark := i.good("ok     ")
				switch {
				case !f.ok && f.needed:
					mark, code = i.bad("FAILED "), exitUsage
				case !f.ok:
					mark = i.warn("missing")
				}
				fmt.Fprintf(c.out, "%s  %-13s %s\n", mark, f.what, f.detail)
				if !f.ok {
					fmt.Fprintf(c.out, "%23s remedy: %s\n", "", f.remedy)
				}
			}
			return ended(code)
		},
	}
}

func diagnose(c *console) []finding {
	b := thisBuild()
	found := []finding{
		{what: "squall", ok: true, detail: fmt.Sprintf("%s, %s, %s, %s", b.Version, b.Go, b.Platform, count(runtime.GOMAXPROCS(0), "processor", "processors"))},
		checkDirectory(c.dir),
	}
	for _, w := range worldEntries {
		found = append(found, w.check()...)
	}
	for _, name := range plannedWorlds {
		found = append(found, finding{what: "world " + name, detail: "not in this version of squall", remedy: "use --world sim"})
	}
	return append(found, checkBrowser())
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
