package faults

import (
	"slices"

	"github.com/squall-chaos/squall/clusters"
)

// Capability is what a world must be able to do for a fault.
type Capability string

// The capabilities, one per interface of package clusters.
const (
	Nodes     Capability = "nodes"     // clusters.NodeFaults
	Pods      Capability = "pods"      // clusters.PodFaults
	Labels    Capability = "labels"    // clusters.LabelFaults
	Processes Capability = "processes" // clusters.ProcessFaults
	Calls     Capability = "calls"     // clusters.CallFaults
	Platform  Capability = "platform"  // clusters.PlatformFaults
	Servers   Capability = "servers"   // clusters.ServerFaults
)

// Capabilities are what one world can do.
type Capabilities []Capability

// Has tells whether c is among them.
func (cs Capabilities) Has(c Capability) bool { return slices.Contains(cs, c) }

// CapabilitiesOf asks a world what it can do.
func CapabilitiesOf(c clusters.Cluster) Capabilities {
	var can Capabilities
	if _, ok := c.(clusters.NodeFaults); ok {
		can = append(can, Nodes)
	}
	if _, ok := c.(clusters.PodFaults); ok {
		can = append(can, Pods)
	}
	if _, ok := c.(clusters.LabelFaults); ok {
		can = append(can, Labels)
	}
	if _, ok := c.(clusters.ProcessFaults); ok {
		can = append(can, Processes)
	}
	if _, ok := c.(clusters.CallFaults); ok {
		can = append(can, Calls)
	}
	if _, ok := c.(clusters.PlatformFaults); ok {
		can = append(can, Platform)
	}
	if _, ok := c.(clusters.ServerFaults); ok {
		can = append(can, Servers)
	}
	return can
}
