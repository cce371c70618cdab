package figure

// span is an interval on the x axis.
type span struct{ from, to float64 }

// Tracks keeps things that must not overlap on parallel tracks, first come first served.
type Tracks struct {
	taken [][]span
	limit int
	gap   float64
}

// NewTracks returns up to limit tracks (0: any number) whose members stay gap apart.
func NewTracks(limit int, gap float64) *Tracks { return &Tracks{limit: limit, gap: gap} }

// Place finds the first track on which [from, to] is free and takes it.
func (t *Tracks) Place(from, to float64) (track int, ok bool) {
	for i := range t.taken {
		if t.free(i, from, to) {
			t.taken[i] = append(t.taken[i], span{from, to})
			return i, true
		}
	}
	if t.limit > 0 && len(t.taken) == t.limit {
		return 0, false
	}
	t.taken = append(t.taken, []span{{from, to}})
	return len(t.taken) - 1, true
}

// PlaceFlag is Place for a label on a pole: the pole at x runs down from the first track, so it may
// cross no label on the way, and no later label may cross it.
func (t *Tracks) PlaceFlag(x, from, to float64) (track int, ok bool) {
	for i := 0; t.limit == 0 || i < t.limit; i++ {
		if i == len(t.taken) {
			t.taken = append(t.taken, nil)
		}
		if t.free(i, from, to) {
			t.taken[i] = append(t.taken[i], span{from, to})
			t.pole(i, x)
			return i, true
		}
		if !t.freeExactly(i, x) {
			return 0, false
		}
	}
	return 0, false
}

// pole keeps later labels off the pole of a flag that hangs on the given track.
func (t *Tracks) pole(track int, x float64) {
	for above := range track {
		t.taken[above] = append(t.taken[above], span{x, x})
	}
}

// freeExactly tells whether a pole at x misses the labels of a track; it may touch their margins.
func (t *Tracks) freeExactly(track int, x float64) bool {
	for _, s := range t.taken[track] {
		if x >= s.from-1 && x <= s.to+1 {
			return false
		}
	}
	return true
}

// Used is how many tracks hold something.
func (t *Tracks) Used() int { return len(t.taken) }

func (t *Tracks) free(track int, from, to float64) bool {
	for _, s := range t.taken[track] {
		if from < s.to+t.gap && s.from < to+t.gap {
			return false
		}
	}
	return true
}
