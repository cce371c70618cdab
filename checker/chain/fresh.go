package chain

import (
	"context"
	"path/filepath"

	"github.com/squall-chaos/squall/checker/chain/origin"
)

// OpenAt is Open as it would have been at a reference of the repository that the chain file is in. Other repositories are read as
// they are now.
func OpenAt(ctx context.Context, file, ref string, o Options) (*Chain, error) {
	tree, err := origin.Open(ctx, "", filepath.Dir(file)+"#"+ref)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(file)
	data, err := tree.Read(name)
	if err != nil {
		problem := Problem{Code: CodeFile, Place: Place{File: tree.Show(name), Line: 1, Col: 1, Elsewhere: true}, Message: "there is no such file"}
		_ = tree.Close() // nothing was read from it
		return nil, &InputError{Problems: []Problem{problem}}
	}
	return resolve(ctx, tree.Show(name), data, tree, openings{base: filepath.Dir(file), inputs: o.Inputs, at: ref})
}

// Since takes out the findings that an earlier report has as well, unless their margin has got smaller.
func (r *Report) Since(before Report) {
	old := map[string]Finding{}
	for _, f := range before.Findings {
		old[f.Fingerprint] = f
	}
	var fresh []Finding
	for _, f := range r.Findings {
		was, known := old[f.Fingerprint]
		if known && (f.margin.value == nil || was.margin.value == nil || f.margin.cmp(was.margin) >= 0) {
			r.Known++
			continue
		}
		fresh = append(fresh, f)
	}
	r.Findings = fresh
}
