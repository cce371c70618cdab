package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/squall-chaos/squall/clusters"
)

// DistText is the distribution as a scenario file has it.
func DistText(d clusters.Dist) string {
	switch d.Shape {
	case clusters.UniformShape:
		return fmt.Sprintf("{uniform: [%s, %s]}", d.A, d.B)
	case clusters.ExponentialShape:
		if d.B > 0 {
			return fmt.Sprintf("{exponential: {mean: %s, max: %s}}", d.A, d.B)
		}
		return fmt.Sprintf("{exponential: %s}", d.A)
	case clusters.LogNormalShape:
		return fmt.Sprintf("{lognormal: {median: %s, p99: %s}}", d.A, d.B)
	case clusters.WeibullShape:
		return fmt.Sprintf("{weibull: {median: %s, p99: %s}}", d.A, d.B)
	case clusters.EmpiricalShape:
		points := make([]string, len(*d.Curve))
		for i, p := range *d.Curve {
			points[i] = strconv.FormatFloat(p.Percent, 'f', -1, 64) + ": " + p.At.String()
		}
		return "{percentiles: {" + strings.Join(points, ", ") + "}}"
	}
	return d.A.String()
}
