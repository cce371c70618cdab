package proxy

import (
	"fmt"
	"strconv"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// percentiles begins a delay that was measured.
const percentiles = "percentiles"

func (d Delay) marshalCurve() []byte {
	text := []byte(percentiles)
	for _, p := range *d.Curve {
		text = fmt.Appendf(text, " %s %s", strconv.FormatFloat(p.Percent, 'f', -1, 64), p.At)
	}
	return text
}

func (d *Delay) unmarshalCurve(words []string) error {
	if len(words) < 4 || len(words)%2 != 0 {
		return fmt.Errorf("percentiles come with their durations: %s 0 1s 50 2s 100 9s", percentiles)
	}
	var c clusters.Curve
	for i := 0; i < len(words); i += 2 {
		percent, err := strconv.ParseFloat(words[i], 64)
		if err != nil {
			return fmt.Errorf("%q is no percentile; write a number from 0 to 100", words[i])
		}
		at, err := time.ParseDuration(words[i+1])
		if err != nil || at < 0 {
			return fmt.Errorf("%q is no delay; write 1.5s", words[i+1])
		}
		if n := len(c); n > 0 && (!(percent > c[n-1].Percent) || at < c[n-1].At) {
			return fmt.Errorf("percentiles rise, and so do their durations: %s %s does not", words[i], words[i+1])
		}
		c = append(c, clusters.Percentile{Percent: percent, At: at})
	}
	if c[0].Percent != 0 || c[len(c)-1].Percent != 100 {
		return fmt.Errorf("percentiles go from 0 to 100")
	}
	*d = Delay(clusters.Empirical(c))
	return nil
}
