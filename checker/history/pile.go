package history

import "slices"

// pile grows by pieces, because a slice of a million large elements that grows by copying costs more time than
// reading them.
type pile[T any] struct {
	full    [][]T
	current []T
	n       int
}

// pieceOf is how many elements a piece has.
const pieceOf = 4096

// add puts v on the pile. What it returns stays where it is until joined.
func (p *pile[T]) add(v T) *T {
	if len(p.current) == cap(p.current) {
		if p.current != nil {
			p.full = append(p.full, p.current)
		}
		p.current = make([]T, 0, pieceOf)
	}
	p.current = append(p.current, v)
	p.n++
	return &p.current[len(p.current)-1]
}

// joined is everything as one slice, nil for nothing.
func (p *pile[T]) joined() []T {
	if p.n == 0 {
		return nil
	}
	return slices.Concat(append(p.full, p.current)...)
}
