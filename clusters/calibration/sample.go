package calibration

import (
	"cmp"
	"slices"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// Measure names something that is measured. What a scenario's platform has a field for is named like the field.
type Measure string

// The measures, in the order of a pod's life.
const (
	Scheduling   Measure = "scheduling"
	Provisioning Measure = "provisioning"
	ImagePull    Measure = "image_pull"
	Startup      Measure = "startup"
	Run          Measure = "run"
	Shutdown     Measure = "shutdown"
	NotReady     Measure = "not_ready"
	APILatency   Measure = "api_latency"
	StoreLatency Measure = "store_latency"
)

// Measures lists all.
func Measures() []Measure {
	return []Measure{Scheduling, Provisioning, ImagePull, Startup, Run, Shutdown, NotReady, APILatency, StoreLatency}
}

// abouts say from when to when.
var abouts = map[Measure]string{
	Scheduling:   "from a pod's creation to its node, when it fits somewhere",
	Provisioning: "from a pod that fits nowhere to the new node being ready",
	ImagePull:    "image pull on a node that has not run the image yet",
	Startup:      "from a pod with node and image to its running container",
	Run:          "from the container's start to its end, where it ended by itself and well",
	Shutdown:     "from SIGTERM to exit, where the container heeded it",
	NotReady:     "from a kubelet's last sign of life to its node being NotReady",
	APILatency:   "one call to the API server, both ways",
	StoreLatency: "one call to the database, both ways",
}

// About says from when to when the measure goes.
func (m Measure) About() string { return abouts[m] }

// ByMachine tells whether a scenario can have another distribution for each capacity type.
func (m Measure) ByMachine() bool {
	return m == ImagePull || m == Startup || m == Shutdown || m == Provisioning
}

// Rounding is what whole seconds left of a duration.
type Rounding uint8

// The roundings. Of a duration between two stamps of which one is a whole second, Value is the middle of the second in which
// it lies; between two, it lies within a second to either side. A middle below 0 is 0.
const (
	Exact Rounding = iota
	Once
	Twice
)

// Sample is one duration that was seen.
type Sample struct {
	Value    time.Duration
	Rounding Rounding
	// AtLeast: it went on for longer. The dump ends before it, or somebody put an end to it.
	AtLeast bool
	Of      Subject
}

// Subject is what a sample is of.
type Subject struct {
	Namespace string            `json:"namespace,omitempty"`
	Pod       string            `json:"pod,omitempty"`
	Node      string            `json:"node,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// Between is the duration between two stamps, which may be whole seconds; false when the clock ran backwards.
func Between(from, to time.Time, fromWhole, toWhole bool) (Sample, bool) {
	s := Sample{Value: to.Sub(from)}
	switch {
	case fromWhole && toWhole:
		s.Rounding = Twice
	case fromWhole:
		s.Rounding, s.Value = Once, s.Value-time.Second/2
	case toWhole:
		s.Rounding, s.Value = Once, s.Value+time.Second/2
	}
	if s.Rounding == Once && s.Value < 0 && s.Value >= -time.Second/2 {
		s.Value = 0
	}
	return s, s.Value >= 0
}

// Samples are what was seen, by measure and capacity type; the empty type is that of nodes which nobody knows.
type Samples struct {
	sets map[key][]Sample
	left map[leftKey]int
}

type key struct {
	measure Measure
	kind    clusters.CapacityType
}

type leftKey struct {
	measure Measure
	reason  string
}

// NewSamples are none.
func NewSamples() *Samples {
	return &Samples{sets: map[key][]Sample{}, left: map[leftKey]int{}}
}

// Add adds a sample.
func (s *Samples) Add(m Measure, kind clusters.CapacityType, sample Sample) {
	k := key{m, kind}
	s.sets[k] = append(s.sets[k], sample)
}

// Leave counts what was seen and is no sample, and why.
func (s *Samples) Leave(m Measure, reason string) { s.left[leftKey{m, reason}]++ }

// LeftOut is what was seen and is no sample.
type LeftOut struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Left lists what of the measure was left out, in order of the reasons.
func (s *Samples) Left(m Measure) []LeftOut {
	var all []LeftOut
	for k, n := range s.left { // order does not matter: sorted below
		if k.measure == m {
			all = append(all, LeftOut{k.reason, n})
		}
	}
	slices.SortFunc(all, func(a, b LeftOut) int { return cmp.Compare(a.Reason, b.Reason) })
	return all
}

// Of returns the samples of one capacity type, in order of their values.
func (s *Samples) Of(m Measure, kind clusters.CapacityType) []Sample {
	return ordered(s.sets[key{m, kind}])
}

// All returns the samples of all types.
func (s *Samples) All(m Measure) []Sample {
	var all []Sample
	for _, kind := range Types() {
		all = append(all, s.sets[key{m, kind}]...)
	}
	return ordered(all)
}

// Count is how many samples there are.
func (s *Samples) Count() int {
	n := 0
	for _, set := range s.sets { // order does not matter
		n += len(set)
	}
	return n
}

// Types are the capacity types that samples come by, the unknown one last.
func Types() []clusters.CapacityType {
	return []clusters.CapacityType{clusters.OnDemand, clusters.Spot, ""}
}

// ordered sorts by value; what ended comes before what went on from there.
func ordered(samples []Sample) []Sample {
	all := slices.Clone(samples)
	slices.SortStableFunc(all, func(a, b Sample) int {
		if c := cmp.Compare(a.Value, b.Value); c != 0 || a.AtLeast == b.AtLeast {
			return c
		}
		if b.AtLeast {
			return -1
		}
		return 1
	})
	return all
}

func ended(samples []Sample) int {
	n := 0
	for _, s := range samples {
		if !s.AtLeast {
			n++
		}
	}
	return n
}
