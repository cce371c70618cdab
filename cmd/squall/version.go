package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases: -ldflags "-X main.version=v1.2.3".
var version = ""

// build says what was built, from what, by which compiler.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a working tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value[:min(len(s.Value), 12)]
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
		if b.Version == "" && info.Main.Version != "(devel)" {
			b.Version = info.Main.Version
		}
	}
	if b.Version == "" {
		b.Version = "devel"
	}
	return b
}

// recorded is the version as bundles have it: a build between releases is named by its commit.
func (b build) recorded() string {
	text := b.Version
	if b.Version == "devel" && b.Commit != "" {
		text += "-" + b.Commit
	}
	if b.Modified {
		text += "-modified"
	}
	return text
}

func newVersionCommand(c *console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  squall version --json",
		Args:    none,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if asJSON {
				return json.NewEncoder(c.out).Encode(b)
			}
			text := "squall " + b.Version
			if b.Commit != "" {
				text += " (" + b.Commit
				if b.Modified {
					text += ", modified"
				}
				text += ")"
			}
			_, err := fmt.Fprintf(c.out, "%s %s %s\n", text, b.Go, b.Platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
