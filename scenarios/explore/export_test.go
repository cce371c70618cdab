package explore

import (
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
