package explore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/explore"
)

// seedsMost is after how many runs of the swarms a defect counts as not found.
const seedsMost = 200

// BenchmarkDetection prints the table of ARCHITECTURE.md: how many runs it takes until a planted defect is seen, by the seeds of the two
// swarms in turn, by the same with pct, and by a search of the two small worlds with one fault. It takes minutes:
//
//	go test ./scenarios/explore -run '^$' -bench Detection -benchtime 1x -timeout 1h -v
func BenchmarkDetection(b *testing.B) {
	var sums [3][]int
	defects := planted.Defects()
	fmt.Printf("runs until a planted defect is seen\n| defect | random | pct | explore |\n|---|---:|---:|---:|\n")
	for _, d := range defects {
		took := [3]int{swarm(b, d.System, clusters.Order{}),
			swarm(b, d.System, clusters.Order{Strategy: clusters.PCT, Window: 250 * time.Millisecond, Depth: 3, Choices: 10_000}), searched(b, d.System)}
		row := fmt.Sprintf("| %s |", d.System.Name)
		for i, n := range took {
			if n > 0 {
				sums[i] = append(sums[i], n)
				row += fmt.Sprintf(" %d |", n)
			} else {
				row += " – |"
			}
		}
		fmt.Println(row) // as they come: all of them take long
	}
	for i, name := range []string{"random", "pct", "explore"} {
		slices.Sort(sums[i])
		if n := len(sums[i]); n > 0 {
			fmt.Printf("%s: %d of %d found, median %d, worst %d\n", name, n, len(defects), sums[i][n/2], sums[i][n-1])
		}
	}
}

// swarm counts the runs until one is invalid, the two swarms in turn.
func swarm(b *testing.B, system dispatcher.System, order clusters.Order) int {
	for n := range seedsMost {
		s, err := scenarios.Find([]string{"swarm-b0", "swarm-standard"}[n%2])
		if err != nil {
			b.Fatal(err)
		}
		r := scenarios.Run(context.Background(), s, scenarios.Options{System: system, Seed: uint64(n/2 + 1), World: world, Order: order})
		if r.Verdict == checker.Invalid {
			return n + 1
		}
	}
	return 0
}

func searched(b *testing.B, system dispatcher.System) int {
	before := 0
	for _, name := range []string{"two-tasks-control", "two-tasks-slow-control"} {
		s, err := scenarios.Find(name)
		if err != nil {
			b.Fatal(err)
		}
		o := explore.Run(context.Background(), explore.Search{Scenario: s, Options: scenarios.Options{System: system, Seed: 1, World: world},
			Bounds: explore.Bounds{Faults: 1, Kinds: explore.Kinds(), Window: 250 * time.Millisecond}, Workers: 2, Until: time.Now().Add(3 * time.Minute)})
		if o.First != nil {
			return before + o.First.Number
		}
		before += o.Runs
	}
	return 0
}
