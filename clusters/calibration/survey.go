package calibration

import (
	"math"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// Finding is what is known of one measure.
type Finding struct {
	Measure Measure
	// Types are the results by capacity type, of those that have samples.
	Types []Result
	// All is of all types together; the only one's, where there is one.
	All  Result
	Left []LeftOut
}

// Survey judges every measure that anything was seen of, and lists the others as None.
func Survey(s *Samples) []Finding {
	var all []Finding
	for _, m := range Measures() {
		f := Finding{Measure: m, Left: s.Left(m)}
		for _, kind := range Types() {
			if samples := s.Of(m, kind); len(samples) > 0 {
				f.Types = append(f.Types, Judge(m, kind, samples))
			}
		}
		if len(f.Types) == 1 {
			f.All = f.Types[0]
		} else {
			f.All = Judge(m, "", s.All(m))
		}
		f.All.All = true
		all = append(all, f)
	}
	return all
}

// Rows are the results to show: by type, and of all together where that is something else.
func (f Finding) Rows() []Result {
	switch len(f.Types) {
	case 0:
		return []Result{f.All}
	case 1:
		return f.Types
	}
	return append(append([]Result{}, f.Types...), f.All)
}

// Usable tells whether any of it can be written.
func (f Finding) Usable() bool {
	for _, r := range f.Rows() {
		if r.Usable() {
			return true
		}
	}
	return false
}

// Of is the result for one capacity type; false where nothing was seen there.
func (f Finding) Of(kind clusters.CapacityType) (Result, bool) {
	for _, r := range f.Types {
		if r.Type == kind {
			return r, true
		}
	}
	return Result{}, false
}

// Worst is the longest 99th percentile of those that can be used, in whole seconds: what settings that describe a cluster are made
// of. False where none can.
func (f Finding) Worst() (time.Duration, bool) {
	var worst time.Duration
	for _, r := range f.Rows() {
		if r.Usable() {
			worst = max(worst, r.TakenQuantile(0.99))
		}
	}
	return (worst + time.Second - 1).Truncate(time.Second), worst > 0
}

// TakenQuantile is a quantile of what is written: of the family, or as it was measured.
func (r *Result) TakenQuantile(p float64) time.Duration {
	switch {
	case r.Status == Fitted && r.model != nil:
		return seconds(math.Min(r.model.Quantile(p), 1e8))
	case r.Status == Fitted:
		return r.Dist.A
	}
	at, _ := r.Quantile(p)
	return at
}

// Slowest are the longest samples, the longest first.
func (r *Result) Slowest(most int) []Sample {
	var slow []Sample
	for i := len(r.Samples) - 1; i >= 0 && len(slow) < most; i-- {
		slow = append(slow, r.Samples[i])
	}
	return slow
}
