package kernel

import (
	"fmt"
	"math/bits"
	"time"
)

// TraceRecord is one event or note, as far as the trace hash covers it.
type TraceRecord struct {
	At    time.Duration
	Order uint64 // tie-break and sequence of the event; 0 for a note
	Label Label
	Note  bool
	A, B  uint64 // of a note
}

// trace is the running hash over everything that happened, and the records of it when asked for.
type trace struct {
	hash      uint64
	events    uint64
	recording bool
	records   []TraceRecord
}

func (t *trace) event(at time.Duration, order uint64, label Label) {
	t.events++
	t.mix(uint64(at), order^uint64(label)<<32)
	if t.recording {
		t.records = append(t.records, TraceRecord{At: at, Order: order, Label: label})
	}
}

// mix takes two words in. A product's high half depends on all bits of its factors, so that one multiplication does.
func (t *trace) mix(a, b uint64) {
	hi, lo := bits.Mul64(t.hash^a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	t.hash = hi ^ lo ^ bits.RotateLeft64(t.hash, 23) + a
}

// Note mixes a decision of a model into the trace hash.
func (k *Kernel) Note(label Label, a, b uint64) {
	k.trace.mix(a, b)
	k.trace.mix(uint64(label), uint64(k.now))
	if k.trace.recording {
		k.trace.records = append(k.trace.records, TraceRecord{At: k.now, Label: label, Note: true, A: a, B: b})
	}
}

// Hash is the running hash over every event executed and every note so far. Two runs with the
// same hash did the same.
func (k *Kernel) Hash() uint64 { return k.trace.hash }

// Record switches the recording of the trace on or off.
func (k *Kernel) Record(on bool) { k.trace.recording = on }

// Records is the trace since recording was switched on.
func (k *Kernel) Records() []TraceRecord { return k.trace.records }

// FirstDifference describes where two traces of one seed part, naming labels by name; empty
// when they are equal.
func FirstDifference(a, b []TraceRecord, name func(Label) string) string {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return fmt.Sprintf("record %d: the first run ended, the second has %s", i, b[i].describe(name))
		case i >= len(b):
			return fmt.Sprintf("record %d: the first run has %s, the second ended", i, a[i].describe(name))
		case a[i] != b[i]:
			return fmt.Sprintf("record %d: the first run has %s, the second %s", i, a[i].describe(name), b[i].describe(name))
		}
	}
	return ""
}

func (r TraceRecord) describe(name func(Label) string) string {
	if r.Note {
		return fmt.Sprintf("note %q (%d, %d) at %v", name(r.Label), r.A, r.B, r.At)
	}
	return fmt.Sprintf("event %q (order %x) at %v", name(r.Label), r.Order, r.At)
}
