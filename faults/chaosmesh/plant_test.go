package chaosmesh

import (
	"time"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
)

// goldenKill kills a container that it does not name.
func goldenKill() v1alpha1.PodChaosSpec {
	s := everything()
	m := s.Map(0, sample(faults.ContainerKill, ""))
	spec := *m.pieces[0].chaos.PodChaos.DeepCopy()
	spec.ContainerNames = nil
	return spec
}

// sampleTime is off by what it is told, a number or not.
func sampleTime(offset string) piece {
	s := everything()
	p := s.Map(0, sample(faults.ClockSkew, "")).pieces[0].duration(time.Second)
	p.chaos.TimeChaos.TimeOffset = offset
	return p
}

// sampleDelay delays what comes from an address outside, which Chaos Mesh cannot.
func sampleDelay() piece {
	s := everything()
	p := s.Map(0, faults.Fault{Kind: faults.APISlow, Delay: clusters.Fixed(time.Second)}).pieces[0].duration(time.Second)
	p.chaos.NetworkChaos.Direction = v1alpha1.Both
	return p
}
