package main

import "fmt"

// goTest is the file of a Go test that fails while the violation is there.
func goTest(dispatcher, invariant string) []byte {
	return fmt.Appendf(nil, minimalTestText, dispatcher, invariant)
}

const minimalTestText = `package minimal

import (
	"context"
	"testing"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// What is put to the test, and what it must keep.
const (
	underTest = %[1]q
	invariant = %[2]q
)

// TestMinimal fails while the dispatcher violates the invariant under minimal.yaml, which lies beside this file.
func TestMinimal(t *testing.T) {
	s, err := scenarios.Load("minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	system, ok := planted.Lookup(underTest) // a dispatcher.System of your own goes here
	if !ok {
		t.Fatalf("there is no dispatcher %%s", underTest)
	}
	world := func(_ context.Context, c clusters.Config) (clusters.Cluster, error) { return sim.New(c) }
	r := scenarios.Run(context.Background(), s, scenarios.Options{System: system, Seed: uint64(max(s.From, 1)), World: world})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	for _, v := range r.Fatal() {
		if v.Invariant == invariant {
			t.Errorf("%%s at %%s: %%s", v.Invariant, v.At, v.Message)
		}
	}
}
`
