package kernel

import "time"

// Digest is many values as one number, for telling states of a world apart. Order counts.
type Digest uint64

// Grain is what a Digest rounds times to. Settings are whole seconds, and what a strategy delays is less.
const Grain = time.Second

// Add takes a number in.
func (d *Digest) Add(v uint64) { *d = Digest(Mix(uint64(*d), v)) }

// Text takes a string in.
func (d *Digest) Text(s string) { d.Add(Word(s)) }

// Flags takes booleans in.
func (d *Digest) Flags(all ...bool) {
	v := uint64(1)
	for _, b := range all {
		v <<= 1
		if b {
			v |= 1
		}
	}
	d.Add(v)
}

// Moment takes a time in, in grains.
func (d *Digest) Moment(t time.Duration) { d.Add(Grains(t)) }

// Timer takes in when a timer is due, and that it is not.
func (d *Digest) Timer(t Timer) {
	if at, ok := t.due(); ok {
		d.Add(Grains(at) + 1)
		return
	}
	d.Add(0)
}

// Grains is a time in steps of the Grain.
func Grains(t time.Duration) uint64 { return uint64((t + Grain/2) / Grain) }

// due is when the event is to happen. It walks over the whole queue: entries do not know where they are.
func (t Timer) due() (time.Duration, bool) {
	if !t.Active() {
		return 0, false
	}
	for i := range t.queue.heap {
		if e := &t.queue.heap[i]; e.slot == t.slot && e.generation == t.generation {
			return e.at, true
		}
	}
	return 0, false
}

// Pending calls fn with every event that is to come, in no order that means anything. Only under a Strategy.
func (k *Kernel) Pending(fn func(d Due)) {
	for i := range k.queue.heap {
		e := &k.queue.heap[i]
		if k.queue.slots[e.slot].generation == e.generation {
			fn(k.dueAt(e))
		}
	}
}

// Mix makes one number of two, so that no simple relation between pairs makes them the same.
func Mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Word is a string as a number (FNV-1a).
func Word(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
