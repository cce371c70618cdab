package main

import (
	"os"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/squall-chaos/squall/clusters/calibration/dumps/synthetic"
)

// writeDump is the scripts' command dump FILE PODS: what kubectl would print of a cluster that never was, with so many pods on nodes of
// each capacity type.
func writeDump(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: dump FILE PODS")
	}
	pods, err := strconv.Atoi(args[1])
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(synthetic.Write(f, synthetic.Standard(), synthetic.Options{Seed: 11, Pods: pods, New: pods / 4, Lost: pods / 10, Deadline: 150 * time.Second}))
	ts.Check(f.Close())
}
