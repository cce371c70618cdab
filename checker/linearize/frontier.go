package linearize

// config is one way to have placed the operations so far.
type config[S comparable] struct {
	done  uint64 // the open operations, by slot, that have happened
	state S
	last  int32 // the operation that made the state, for explanations; no part of its identity
}

// frontier is a set of configurations in which none makes another one pointless.
type frontier[S comparable] struct {
	items []config[S]
	// Beyond a few items, table finds the items of one key (state, and what had to happen) and link chains them.
	table []int32
	link  []int32
}

// few is up to how many items a scan beats the table.
const few = 24

func (f *frontier[S]) reset() {
	f.items = f.items[:0]
	f.table = f.table[:0]
}

// insert adds c unless a configuration in the set is as good: the same state, the same required operations, and no more of
// those that may not have happened. Items before keep stay where they are.
func (f *frontier[S]) insert(c config[S], optional uint64, hash func(S) uint64, keep int) {
	if len(f.items) < few {
		for i := range f.items {
			if f.settles(i, c, optional, keep) {
				return
			}
		}
		f.items = append(f.items, c)
		return
	}
	if len(f.table) < 2*len(f.items)+2 {
		f.rehash(optional, hash)
	}
	slot := f.slot(c, optional, hash)
	for i := f.table[slot]; i >= 0; i = f.link[i] {
		if f.settles(int(i), c, optional, keep) {
			return
		}
	}
	f.items = append(f.items, c)
	f.link = append(f.link, f.table[slot])
	f.table[slot] = int32(len(f.items) - 1)
}

// settles tells whether c needs no place of its own: item i is as good, or c took its place.
func (f *frontier[S]) settles(i int, c config[S], optional uint64, keep int) bool {
	it := &f.items[i]
	if it.state != c.state || (it.done^c.done)&^optional != 0 {
		return false
	}
	if it.done&^c.done == 0 {
		return true
	}
	if c.done&^it.done == 0 && i >= keep {
		*it = c
		return true
	}
	return false
}

func (f *frontier[S]) slot(c config[S], optional uint64, hash func(S) uint64) int {
	h := (hash(c.state) ^ c.done&^optional*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	return int(h >> 32 & uint64(len(f.table)-1))
}

func (f *frontier[S]) rehash(optional uint64, hash func(S) uint64) {
	size := 128
	for size < 4*len(f.items) {
		size *= 2
	}
	if cap(f.table) < size {
		f.table = make([]int32, size)
	}
	f.table = f.table[:size]
	for i := range f.table {
		f.table[i] = -1
	}
	f.link = f.link[:0]
	for i := range f.items {
		slot := f.slot(f.items[i], optional, hash)
		f.link = append(f.link, f.table[slot])
		f.table[slot] = int32(i)
	}
}
