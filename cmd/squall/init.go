package main

import (
	_ "embed" // the chain to begin with
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

//go:embed init_chain.yaml
var firstChain string

func newInitCommand(c *console) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented chain file to begin with",
		Long: "Write a commented chain file, squall.yaml unless named otherwise, for squall lint. It checks itself as it is; then each value is\n" +
			"replaced by the place where it really stands.",
		Example: "  squall init && squall lint",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one file, but got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			path := chainFile
			if len(args) == 1 {
				path = args[0]
			}
			return c.initChain(path, force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite a file that is there")
	return cmd
}

func (c *console) initChain(path string, force bool) error {
	_, err := os.Stat(path)
	switch {
	case err == nil && !force:
		return usage("%s is there already: name another file, or overwrite it with --force", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usage("%s: %w", path, cause(err))
	}
	if err := checkFile(path); err != nil {
		return err
	}
	if err := writeFile(path, func(f *os.File) error { _, err := f.WriteString(firstChain); return err }); err != nil {
		return usage("%w", err)
	}
	word := shellWord(path)
	if path == chainFile {
		word = ""
	} else {
		word = " " + word
	}
	c.note("wrote %s; now: squall lint%s", path, word)
	return nil
}
