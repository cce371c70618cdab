package linearize

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// toy is a random model: a few states, and operations that are random partial functions of them. It has every pattern that
// a real model may lack: several ways to one state, operations that undo each other, choices.
type toy struct {
	next [][4][2]int8 // by operation's number, state and choice; -1: not possible
}

func (m *toy) step(s int8, o *op, choice int) (int8, bool) {
	n := m.next[o.number][s][choice]
	return n, n >= 0
}

func hashToy(s int8) uint64 { return uint64(s) }

func drawToy(r *rand.Rand) (*toy, []op) {
	m := &toy{next: make([][4][2]int8, 1+r.IntN(5))}
	looks := make([]bool, len(m.next))
	for i := range m.next {
		looks[i] = r.IntN(3) == 0
		for s := range int8(4) {
			for choice := range 2 {
				switch n := int8(r.IntN(7)) - 3; {
				case looks[i] && n >= 0:
					m.next[i][s][choice] = s
				case looks[i] || n < 0:
					m.next[i][s][choice] = -1
				default:
					m.next[i][s][choice] = n
				}
			}
		}
	}
	ops := make([]op, 2+r.IntN(6))
	stamps := r.Perm(4 * len(ops))
	for i := range ops {
		n := r.IntN(len(m.next))
		o := op{number: uint64(n), index: int32(i), choices: uint16(1 + r.IntN(2)), looks: looks[n]}
		o.call, o.ret = uint64(stamps[2*i]), uint64(stamps[2*i+1])
		if o.call > o.ret {
			o.call, o.ret = o.ret, o.call
		}
		o.optional = !o.looks && r.IntN(3) == 0
		if r.IntN(4) == 0 {
			o.ret = never
		}
		ops[i] = o
	}
	slices.SortFunc(ops, func(a, b op) int { return cmp.Compare(a.call, b.call) })
	return m, ops
}

// The search must agree with a trial of all orders on models that it was not made for.
func TestSearchOnRandomModels(t *testing.T) {
	illegal, total := 0, partitionsOf(t, 100_000)
	search := search[int8]{hash: hashToy, meter: unbounded()}
	for n := range total {
		m, ops := drawToy(rand.New(rand.NewPCG(uint64(n), 5)))
		search.step = m.step
		p := search.run(ops, 0)
		if p == stuck {
			illegal++
		}
		if want := bruteForce(0, pointers(ops), m.step); want != (p == going) {
			t.Fatalf("model %d: the search says %v, a trial of all orders %v:\n%+v\n%+v", n, p == going, want, m, ops)
		}
	}
	if illegal < total/10 || illegal > total*9/10 {
		t.Errorf("%d of %d illegal: too one-sided", illegal, total)
	}
}

// A large frontier finds its configurations by hash; it must keep the same ones as a small one does by looking at all.
func TestFrontierKeepsTheBest(t *testing.T) {
	const optional = 0xff
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var f frontier[int8]
		var all []config[int8]
		for range 10 + r.IntN(300) {
			c := config[int8]{done: uint64(r.IntN(1 << 10)), state: int8(r.IntN(3))}
			all = append(all, c)
			f.insert(c, optional, hashToy, 0)
		}
		beaten := func(c config[int8], by []config[int8]) bool {
			return slices.ContainsFunc(by, func(b config[int8]) bool {
				return b.state == c.state && (b.done^c.done)&^optional == 0 && b.done&^c.done == 0
			})
		}
		for _, c := range all {
			if !beaten(c, f.items) {
				t.Fatalf("%+v was lost: nothing kept is as good", c)
			}
		}
		for _, c := range f.items {
			if !slices.Contains(all, c) {
				t.Fatalf("%+v was never inserted", c)
			}
		}
	}
}

// What was extended already stays in its place, even when something better turns up.
func TestFrontierKeepsWhatWasExtended(t *testing.T) {
	const optional = 0xff
	for _, keep := range []int{0, 1} {
		var f frontier[int8]
		f.insert(config[int8]{done: 3}, optional, hashToy, 0)
		f.insert(config[int8]{done: 1}, optional, hashToy, keep)
		if len(f.items) != 1+keep || f.items[keep].done != 1 {
			t.Errorf("the first %d extended: %+v", keep, f.items)
		}
	}
}
