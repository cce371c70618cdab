package main

import (
	"context"

	"github.com/squall-chaos/squall/checker/chain"
)

// proveSeeds is how many seeds are tried for a finding, unless somebody says otherwise.
const proveSeeds = 200

func (f *lintFlags) proveAll(context.Context, *console, *chain.Chain, *chain.Report) error {
	return usage("--prove is not built yet")
}
