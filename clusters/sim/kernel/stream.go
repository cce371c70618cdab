package kernel

import (
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the stream of randomness of that name: what it yields depends on the seed, the
// name and the number of earlier draws from it, on nothing else. Look it up once, not per draw.
func (k *Kernel) Stream(name string) *rand.Rand {
	if r, ok := k.streams[name]; ok {
		return r
	}
	r := rand.New(k.source(name))
	k.streams[name] = r
	return r
}

func (k *Kernel) source(name string) *rand.PCG {
	source := &rand.PCG{}
	k.plant(source, name)
	k.sources[name] = source
	return source
}

// plant lets a stream begin anew under the kernel's seed.
func (k *Kernel) plant(source *rand.PCG, name string) {
	h := fnv.New64a()
	h.Write([]byte(name))
	source.Seed(spread(k.seed), spread(h.Sum64()^k.seed))
}

// Fork lets everything that is drawn from now on follow from another seed: the run so far, continued otherwise. What was drawn already,
// such as when events that are scheduled happen, stays.
func (k *Kernel) Fork(seed uint64) {
	k.seed = seed
	// Each stream is its own: order does not matter.
	for name, source := range k.sources {
		k.plant(source, name)
	}
}

// spread is the finalizer of SplitMix64: seeds that differ by one bit start far apart.
func spread(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
