package explore

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// Races are the pairs that could be reversed, by index.
func Races(all []clusters.Access, window time.Duration) [][2]int {
	var pairs [][2]int
	for _, r := range races(all, 0, len(all), window) {
		pairs = append(pairs, [2]int{r.first, r.second})
	}
	return pairs
}

// Twins are two runs that came into one state: the search follows the first only.
type Twins struct {
	First, Second     *Path
	AtFirst, AtSecond int // index of the access with the state
}

// TwinsOf searches, and tells for which runs a known state was the reason not to follow them further.
func TwinsOf(ctx context.Context, s Search) []Twins {
	type meeting struct {
		path *Path
		at   int
	}
	met := map[uint64]meeting{}
	var twins []Twins
	x := &search{Search: s, known: map[uint64]uint8{}}
	x.learned = func(p *Path, accesses []clusters.Access, end int) {
		for i := p.position; i < end; i++ {
			if _, known := met[accesses[i].State]; !known {
				met[accesses[i].State] = meeting{p, i}
			}
		}
		if end < len(accesses) {
			m := met[accesses[end].State]
			twins = append(twins, Twins{m.path, p, m.at, end})
		}
	}
	x.run(ctx)
	return twins
}
