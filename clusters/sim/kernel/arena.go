package kernel

// Arena hands out memory that lasts as long as a run. Nobody tells when what a model shows or a caller was given is no longer referred
// to, so that none is used twice in a run; but once the run is over nothing of it is, and the next one has it again. The zero Arena is
// ready for use.
type Arena[T any] struct {
	chunks [][]T
	next   []T // what is left of the last chunk taken
	taken  int
}

const (
	arenaChunk = 256
	arenaKept  = 16 // chunks; what a long run needs beyond them the garbage collector may have
)

// Take returns n zero values.
func (a *Arena[T]) Take(n int) []T {
	if n > arenaChunk {
		return make([]T, n)
	}
	if n > len(a.next) {
		a.next = a.more()
	}
	taken := a.next[:n:n]
	a.next = a.next[n:]
	return taken
}

// New returns one zero value.
func (a *Arena[T]) New() *T { return &a.Take(1)[0] }

func (a *Arena[T]) more() []T {
	if a.taken == len(a.chunks) {
		c := make([]T, arenaChunk)
		if len(a.chunks) == arenaKept {
			return c
		}
		a.chunks = append(a.chunks, c)
	}
	a.taken++
	return a.chunks[a.taken-1]
}

// Again takes everything back: nobody may look at it any more.
func (a *Arena[T]) Again() {
	for _, c := range a.chunks[:a.taken] {
		clear(c)
	}
	a.next, a.taken = nil, 0
}
