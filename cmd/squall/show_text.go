package main

import (
	"io"

	"github.com/squall-chaos/squall/reports"
)

func printTimeline(w io.Writer, run *reports.Run) {}

func printRun(w io.Writer, c *console, run *reports.Run) {}
