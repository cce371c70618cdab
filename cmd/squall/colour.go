package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// The values of --color.
const (
	colourAuto   = "auto"
	colourAlways = "always"
	colourNever  = "never"
)

func colourModes() []string { return []string{colourAuto, colourAlways, colourNever} }

// coloured tells whether what is written to w has colours: the flag settles it; then NO_COLOR (no-color.org) and
// CLICOLOR_FORCE (bixense.com/clicolors); then whether w is a terminal.
func coloured(mode string, w io.Writer) bool {
	switch mode {
	case colourAlways:
		return true
	case colourNever:
		return false
	}
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return isTerminal(w) && os.Getenv("TERM") != "dumb"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// ink writes text in colours, or plainly. Colour never says anything that the words do not.
type ink bool

func (i ink) paint(code, text string) string {
	if !i || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (i ink) bold(text string) string  { return i.paint("1", text) }
func (i ink) faint(text string) string { return i.paint("2", text) }
func (i ink) good(text string) string  { return i.paint("32", text) }
func (i ink) bad(text string) string   { return i.paint("1;31", text) }
func (i ink) warn(text string) string  { return i.paint("33", text) }
