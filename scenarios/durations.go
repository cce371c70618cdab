package scenarios

import (
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/squall-chaos/squall/checker/strictyaml"
	"github.com/squall-chaos/squall/clusters"
)

// maxDuration keeps sums of durations from overflowing; no timeout is a year.
const maxDuration = 365 * 24 * time.Hour

// duration reads a length of time as Go and Kubernetes write it.
func (s *source) duration(n ast.Node, signed bool) time.Duration {
	text, ok := strictyaml.Text(n)
	if number, isNumber := n.(*ast.IntegerNode); isNumber {
		if text = number.Token.Value; text != "0" {
			s.add(strictyaml.Of(n), CodeDuration, "did you mean "+brief(text)+"s?", "a duration needs a unit, found %s", brief(text))
			return 0
		}
		ok = true
	}
	if !ok {
		strictyaml.Wrong(n, "a duration such as 90s or 2m30s", s.sink)
		return 0
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		s.add(strictyaml.Of(n), CodeDuration, durationFix(text), "expected a duration such as 90s or 2m30s, found %q", brief(text))
		return 0
	case d < 0 && !signed:
		s.add(strictyaml.Of(n), CodeDuration, "", "the duration %s is negative", brief(text))
		return 0
	case d > maxDuration || d < -maxDuration:
		s.add(strictyaml.Of(n), CodeDuration, "", "the duration %s is longer than a year", brief(text))
		return 0
	}
	return d
}

func durationFix(text string) string {
	for _, unit := range []struct{ wrong, right string }{
		{" ", ""}, {"seconds", "s"}, {"second", "s"}, {"secs", "s"}, {"sec", "s"}, {"minutes", "m"}, {"minute", "m"}, {"mins", "m"}, {"min", "m"},
		{"hours", "h"}, {"hour", "h"}, {"days", "d"}, {"day", "d"},
	} {
		text = strings.ReplaceAll(text, unit.wrong, unit.right)
	}
	if _, err := time.ParseDuration(text); err == nil {
		return "did you mean " + text + "?"
	}
	return "the units are ms, s, m and h"
}

const distForm = "a duration, or one of {uniform: [5s, 30s]}, {exponential: 5s}, {lognormal: {median: 5s, p99: 30s}}, " +
	"{weibull: {median: 5s, p99: 30s}}, {percentiles: {0: 1s, 50: 5s, 100: 40s}}"

// distNames are the distributions of the language.
var distNames = []string{"uniform", "exponential", "lognormal", "weibull", "percentiles"}

// dist reads a plain duration or a distribution of durations.
func (s *source) dist(n ast.Node) clusters.Dist {
	values, ok := strictyaml.Entries(n)
	if !ok {
		if _, list := n.(*ast.SequenceNode); list {
			strictyaml.Wrong(n, distForm, s.sink)
			return clusters.Fixed(0)
		}
		return clusters.Fixed(s.duration(n, false))
	}
	if len(values) != 1 || values[0].Key == nil {
		s.add(strictyaml.Of(n), CodeDistribution, "", "expected %s", distForm)
		return clusters.Fixed(0)
	}
	name := values[0].Key.GetToken().Value
	switch name {
	case "uniform":
		return s.uniform(values[0].Value)
	case "exponential":
		return s.exponential(values[0].Value)
	case "lognormal":
		return s.skewed(values[0].Value, name, clusters.LogNormalShape)
	case "weibull":
		return s.skewed(values[0].Value, name, clusters.WeibullShape)
	case "percentiles":
		return s.percentiles(values[0].Value)
	}
	s.add(strictyaml.At(values[0].Key.GetToken()), CodeDistribution, nearest(name, distNames, "there are "),
		"unknown distribution %q", brief(name))
	return clusters.Fixed(0)
}

func (s *source) uniform(n ast.Node) clusters.Dist {
	seq, ok := n.(*ast.SequenceNode)
	if !ok || len(seq.Values) != 2 {
		s.add(strictyaml.Of(n), CodeDistribution, "", "uniform is from a list of two durations: {uniform: [5s, 30s]}")
		return clusters.Fixed(0)
	}
	lo, hi := s.duration(seq.Values[0], false), s.duration(seq.Values[1], false)
	if hi < lo {
		s.add(strictyaml.Of(seq.Values[1]), CodeDistribution, "swap the two", "uniform ends at %s, before it begins at %s", hi, lo)
	}
	return clusters.Uniform(lo, hi)
}

func (s *source) exponential(n ast.Node) clusters.Dist {
	d := clusters.Dist{Shape: clusters.ExponentialShape}
	if values, ok := strictyaml.Entries(n); ok {
		d.A, d.B = s.pair(values, "mean", "max")
	} else {
		d.A = s.duration(n, false)
	}
	if d.A == 0 {
		s.add(strictyaml.Of(n), CodeDistribution, "", "an exponential distribution needs a mean above 0")
	}
	return d
}

// skewed reads a distribution that is given by its median and its 99th percentile.
func (s *source) skewed(n ast.Node, name string, shape clusters.Shape) clusters.Dist {
	d := clusters.Dist{Shape: shape}
	values, ok := strictyaml.Entries(n)
	if !ok {
		s.add(strictyaml.Of(n), CodeDistribution, "", "expected {%s: {median: 5s, p99: 30s}}", name)
		return d
	}
	d.A, d.B = s.pair(values, "median", "p99")
	if d.A == 0 || d.B < d.A {
		s.add(strictyaml.Of(n), CodeDistribution, "", "a %s distribution needs a median above 0 and a p99 that is not below it", name)
	}
	return d
}

// maxPercentiles is more than any measurement supports.
const maxPercentiles = 1000

// percentiles reads a measured distribution.
func (s *source) percentiles(n ast.Node) clusters.Dist {
	const form = "{percentiles: {0: 1s, 50: 5s, 99: 30s, 100: 40s}}"
	values, ok := strictyaml.Entries(n)
	if !ok || len(values) < 2 || len(values) > maxPercentiles {
		s.add(strictyaml.Of(n), CodeDistribution, "", "expected from 2 to %d percentiles with their durations: %s", maxPercentiles, form)
		return clusters.Fixed(0)
	}
	names := strictyaml.Keys(values, s.sink)
	before := len(s.problems)
	var c clusters.Curve
	for _, e := range values {
		name, ok := names[e]
		if !ok {
			continue
		}
		where := strictyaml.At(e.Key.GetToken())
		percent, err := strconv.ParseFloat(name, 64)
		p := clusters.Percentile{Percent: percent, At: s.duration(e.Value, false)}
		last := len(c) - 1
		switch {
		case err != nil || !(percent >= 0 && percent <= 100):
			s.add(where, CodeDistribution, "", "expected a percentile, a number from 0 to 100, found %q", brief(name))
			return clusters.Fixed(0)
		case last >= 0 && percent <= c[last].Percent:
			s.add(where, CodeDistribution, "put them in order", "percentile %s stands after %g", brief(name), c[last].Percent)
		case last >= 0 && p.At < c[last].At:
			s.add(strictyaml.Of(e.Value), CodeDistribution, "", "percentile %s is %s, less than the %s of percentile %g", brief(name), p.At, c[last].At, c[last].Percent)
		}
		c = append(c, p)
	}
	if len(s.problems) > before || s.full() {
		return clusters.Fixed(0)
	}
	if len(c) == 0 || c[0].Percent != 0 || c[len(c)-1].Percent != 100 {
		s.add(strictyaml.Of(n), CodeDistribution, "", "percentiles begin with 0, the shortest, and end with 100, the longest: %s", form)
		return clusters.Fixed(0)
	}
	return clusters.Empirical(c)
}

// pair reads a mapping of two named durations.
func (s *source) pair(values []*ast.MappingValueNode, first, second string) (a, b time.Duration) {
	names := strictyaml.Keys(values, s.sink)
	for _, e := range values {
		switch name, ok := names[e]; {
		case !ok:
		case name == first:
			a = s.duration(e.Value, false)
		case name == second:
			b = s.duration(e.Value, false)
		default:
			strictyaml.Unknown(e, name, []string{first, second}, "", s.sink)
		}
	}
	return a, b
}
