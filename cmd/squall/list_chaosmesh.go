package main

import (
	"io"
	"text/tabwriter"

	"github.com/squall-chaos/squall/faults/chaosmesh/coverage"
)

// chaosMeshListing is what Chaos Mesh can express of the faults.
type chaosMeshListing struct {
	Faults  []chaosMeshFault  `json:"faults"`
	Targets []chaosMeshTarget `json:"targets"`
}

type chaosMeshFault struct {
	Fault  string          `json:"fault"`
	Extent coverage.Extent `json:"covered"`
	Object string          `json:"object,omitempty"`
	Why    string          `json:"why"`
}

type chaosMeshTarget struct {
	Target string `json:"target"`
	Why    string `json:"why"`
}

func listChaosMesh() chaosMeshListing {
	var l chaosMeshListing
	for _, r := range coverage.Rows() {
		l.Faults = append(l.Faults, chaosMeshFault{r.String(), r.Extent, r.Object, r.Why})
	}
	for _, w := range coverage.Targets() {
		l.Targets = append(l.Targets, chaosMeshTarget{w.Target, w.Why})
	}
	return l
}

func (l chaosMeshListing) write(out io.Writer) error {
	t := &tables{w: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.head("FAULT", "COVERED", "OBJECT OF CHAOS MESH", "WHAT IT COMES TO, WHAT DIFFERS, OR WHY NOT")
	for _, f := range l.Faults {
		t.row(f.Fault, string(f.Extent), either(f.Object, "-"), f.Why)
	}
	t.head("AIM", "WHAT BECOMES OF IT")
	for _, x := range l.Targets {
		t.row(x.Target, x.Why)
	}
	return t.w.Flush()
}
