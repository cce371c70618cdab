package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// output is one -o: a format, and the file that it goes to.
type output struct {
	format string
	path   string // empty: stdout
}

func addOutputFlag(cmd *cobra.Command, to *[]string) { addOutputFlagOf(cmd, to, formatNames()) }

// addOutputFlagOf is addOutputFlag for a command with formats of its own.
func addOutputFlagOf(cmd *cobra.Command, to *[]string, formats []string) {
	cmd.Flags().StringArrayVarP(to, "output", "o", nil, "results as `FORMAT[=PATH]`: "+strings.Join(formats, ", ")+
		"; may be repeated (default text)")
}

// parseOutputs reads -o and makes sure that every file can be written before anything starts.
func parseOutputs(texts []string) ([]output, error) { return parseOutputsOf(texts, formatNames()) }

func parseOutputsOf(texts, formats []string) ([]output, error) {
	var all []output
	onStdout := ""
	for _, text := range texts {
		format, path, toFile := strings.Cut(text, "=")
		switch {
		case !slices.Contains(formats, format):
			return nil, unknownName("output format", format, formats, oneOf(formats))
		case toFile && path == "":
			return nil, usage("-o %s: a file name must follow the =", text)
		case !toFile && onStdout != "":
			return nil, usage("-o %s and -o %s would both go to stdout: write one to a file, -o %s=PATH", onStdout, format, format)
		case !toFile:
			onStdout = format
		}
		if err := checkFile(path); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(all, func(o output) bool { return sameFile(o.path, path) }); i >= 0 {
			return nil, usage("-o %s=%s and -o %s=%s would overwrite each other: name another file", all[i].format, all[i].path, format, path)
		}
		all = append(all, output{format, path})
	}
	if onStdout == "" {
		all = append(all, output{format: formatText})
	}
	return all, nil
}

// checkFile tells whether a file of that name could be written.
func checkFile(path string) error {
	if path == "" {
		return nil
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return usage("-o: %s is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		return nil // a pipe or a device: whether it can be written shows when it is, and files beside it need not be
	}
	if err := writable(filepath.Dir(path)); err != nil {
		return usage("-o: %w", err)
	}
	return nil
}

// sameFile tells whether both paths name one file, there already or not.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	first, firstErr := os.Stat(a)
	second, secondErr := os.Stat(b)
	if firstErr == nil && secondErr == nil {
		return os.SameFile(first, second) && first.Mode().IsRegular() // pipes and devices take both, one after the other
	}
	x, xErr := filepath.Abs(a)
	y, yErr := filepath.Abs(b)
	return xErr == nil && yErr == nil && x == y
}

// textOnStdout tells whether a person reads stdout.
func textOnStdout(outputs []output) bool {
	return slices.ContainsFunc(outputs, func(o output) bool { return o.path == "" && o.format == formatText })
}

// writeOutputs writes the results in every format but the text on stdout, which commands write as they go.
func (c *console) writeOutputs(outputs []output, d document) error {
	return c.writeEach(outputs, false, func(w io.Writer, o output) error { return d.write(w, o.format, filepath.Dir(o.path)) })
}

// writeEach writes every output; the text on stdout only if it was not written as the command went on.
func (c *console) writeEach(outputs []output, text bool, one func(io.Writer, output) error) error {
	for _, o := range outputs {
		if o.path == "" && o.format == formatText && !text {
			continue
		}
		write := func(w io.Writer) error { return one(w, o) }
		if o.path == "" {
			if err := write(c.out); err != nil {
				return broken(err)
			}
			continue
		}
		made, err := makeDirs(filepath.Dir(o.path))
		if err != nil {
			return usage("-o: %w", err)
		}
		if len(made) > 0 {
			c.note("squall: -o %s=%s: made the directory %s", o.format, o.path, made[0])
		}
		if err := writeFile(o.path, func(f *os.File) error { return write(f) }); err != nil {
			return broken(err)
		}
	}
	return nil
}
