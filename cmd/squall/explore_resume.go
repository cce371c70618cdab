package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/squall-chaos/squall/scenarios/explore"
)

// comparisonFile is what a comparison of strategies has come to, defect by defect, to go on from.
type comparisonFile struct {
	path   string
	Format int                 `json:"squall_comparison"`
	Made   string              `json:"made"` // a hash over what was compared, and within what bounds
	Found  []explore.Detection `json:"found"`
}

// comparisonFormat is the version of the file; a reader takes no other.
const comparisonFormat = 1

// openComparison reads the file, if it is there, and lets the comparison go on from it. No path is no file.
func openComparison(path string, x *explore.Comparison) (*comparisonFile, error) {
	if path == "" {
		return nil, nil
	}
	w := &comparisonFile{path: path, Format: comparisonFormat, Made: madeOf(x)}
	var before comparisonFile
	if there, err := readState(path, "a comparison", &before); err != nil || !there {
		return w, err
	}
	if before.Format != comparisonFormat {
		return nil, usage("--resume %s: written in format %d, this squall reads format %d; name another file, and one is begun", path, before.Format, comparisonFormat)
	}
	if before.Made != w.Made {
		return nil, usage("--resume %s: of other scenarios or within other bounds: two comparisons do not add up; name another file, and one is begun", path)
	}
	w.Found, x.Known = before.Found, before.Found
	return w, nil
}

// madeOf tells whether two comparisons are of the same.
func madeOf(x *explore.Comparison) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %+v %+v %d\n", x.Most, x.PCT, x.Bounds, x.MostEach)
	for _, s := range x.Swarms {
		fmt.Fprintf(sum, "%s\n", s.Text())
	}
	for _, s := range x.Small {
		fmt.Fprintf(sum, "%s\n", s.Text())
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// add keeps one more defect, in a file that is written whole or not at all. A nil file keeps nothing.
func (w *comparisonFile) add(d explore.Detection) error {
	if w == nil || d.Failed() != nil || w.has(d.System) {
		return nil
	}
	w.Found = append(w.Found, d)
	return writeFile(w.path, func(f *os.File) error { return json.NewEncoder(f).Encode(w) })
}

func (w *comparisonFile) has(system string) bool {
	for i := range w.Found {
		if w.Found[i].System == system {
			return true
		}
	}
	return false
}
