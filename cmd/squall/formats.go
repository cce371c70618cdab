package main

import (
	"fmt"
	"io"
)

const formatText = "text"

func formatNames() []string { return []string{formatText, "json", "junit", "markdown", "html"} }

func (r results) write(w io.Writer, format string) error {
	return fmt.Errorf("format %s: to do", format)
}
