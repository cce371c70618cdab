package chaosmesh

import (
	"strconv"
	"time"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
)

// Defaults of Chaos Mesh's webhook that the controllers cannot do without.
const (
	noJitter      = "0ms"
	noCorrelation = "0"
)

// between is what befalls the packets of the Pods to a server.
func (s Site) between(m *Mapped, c crowd, port clusters.Port) (piece, bool) {
	spec := v1alpha1.NetworkChaosSpec{PodSelector: c.selector, Action: v1alpha1.PartitionAction, Direction: v1alpha1.Both}
	switch f := m.Fault; {
	case f.Kind == faults.APISlow || f.Kind == faults.StoreSlow || f.Action == clusters.Slow:
		delay, ok := delaySpec(m, f.Delay)
		if !ok {
			return piece{}, false
		}
		spec.Action, spec.Direction, spec.Delay = v1alpha1.DelayAction, v1alpha1.To, delay
	case f.Action == clusters.Drop && f.Target.Share > 0 && f.Target.Share < 1:
		spec.Action, spec.Direction = v1alpha1.LossAction, v1alpha1.To
		spec.Loss = &v1alpha1.LossSpec{Loss: strconv.FormatFloat(100*f.Target.Share, 'f', -1, 64), Correlation: noCorrelation}
	}
	s.aim(&spec, port)
	return piece{kind: v1alpha1.TypeNetworkChaos, chaos: v1alpha1.EmbedChaos{NetworkChaos: &spec}}, true
}

// aim sets the other end.
func (s Site) aim(spec *v1alpha1.NetworkChaosSpec, port clusters.Port) {
	if port == clusters.Store && len(s.Database.Pods) > 0 {
		target := s.pods(v1alpha1.AllMode, s.Database.Pods)
		spec.Target = &target
		return
	}
	spec.ExternalTargets = s.APIServer
	if port == clusters.Store {
		spec.ExternalTargets = s.Database.Hosts
	}
}

// delaySpec is a distribution as the kernel's netem has it: a latency, and evenly spread jitter around it.
func delaySpec(m *Mapped, d clusters.Dist) (*v1alpha1.DelaySpec, bool) {
	spec := &v1alpha1.DelaySpec{Jitter: noJitter, Correlation: noCorrelation}
	latency := d.Median()
	switch d.Shape {
	case clusters.FixedShape:
	case clusters.UniformShape:
		spec.Jitter = single((d.B - d.A) / 2)
	default:
		latency = latency.Round(time.Millisecond)
		m.remark("every packet takes the median of the distribution")
	}
	if latency <= 0 {
		m.refuse("a delay of nothing is no fault")
		return nil, false
	}
	spec.Latency = single(latency)
	return spec, true
}

// single prints a duration as a whole number of one unit. The CRD of NetworkChaos takes no other: 90s, not 1m30s.
func single(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d%unit.of == 0 {
			return strconv.FormatInt(int64(d/unit.of), 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + "ns"
}
