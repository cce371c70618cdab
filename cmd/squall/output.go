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

func addOutputFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVarP(to, "output", "o", nil, "results as `FORMAT[=PATH]`: "+strings.Join(formatNames(), ", ")+
		"; may be repeated (default text)")
}

// parseOutputs reads -o and makes sure that every file can be written before anything starts.
func parseOutputs(texts []string) ([]output, error) {
	var all []output
	onStdout := ""
	for _, text := range texts {
		format, path, toFile := strings.Cut(text, "=")
		switch {
		case !slices.Contains(formatNames(), format):
			return nil, unknownName("output format", format, formatNames(), oneOf(formatNames()))
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

// textOnStdout tells whether a person reads stdout.
func textOnStdout(outputs []output) bool {
	return slices.ContainsFunc(outputs, func(o output) bool { return o.path == "" && o.format == formatText })
}

// writeOutputs writes the results in every format but the text on stdout, which commands write as they go.
func (c *console) writeOutputs(outputs []output, d document) error {
	for _, o := range outputs {
		if o.path == "" && o.format == formatText {
			continue
		}
		write := func(w io.Writer) error { return d.write(w, o.format, filepath.Dir(o.path)) }
		if o.path == "" {
			if err := write(c.out); err != nil {
				return broken(err)
			}
			continue
		}
		if _, err := makeDirs(filepath.Dir(o.path)); err != nil {
			return usage("-o: %w", err)
		}
		if err := writeFile(o.path, func(f *os.File) error { return write(f) }); err != nil {
			return broken(err)
		}
	}
	return nil
}
