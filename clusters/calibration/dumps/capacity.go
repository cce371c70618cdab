package dumps

import (
	"strings"

	"github.com/squall-chaos/squall/clusters"
)

// capacityLabels are how the clouds and the common provisioners mark their machines; values are compared in lower case.
var capacityLabels = []struct {
	key            string
	spot, onDemand []string
}{
	{"karpenter.sh/capacity-type", []string{"spot"}, []string{"on-demand", "reserved"}},
	{"eks.amazonaws.com/capacityType", []string{"spot"}, []string{"on_demand", "capacity_block"}},
	{"cloud.google.com/gke-spot", []string{"true"}, nil},
	{"cloud.google.com/gke-preemptible", []string{"true"}, nil},
	{"cloud.google.com/gke-provisioning", []string{"spot", "preemptible"}, []string{"standard", "reservation"}},
	{"kubernetes.azure.com/scalesetpriority", []string{"spot"}, []string{"regular"}},
	{"spotinst.io/node-lifecycle", []string{"spot"}, []string{"od"}},
	{"node.kubernetes.io/lifecycle", []string{"spot"}, []string{"on-demand", "normal", "ondemand"}},
	{"node-role.kubernetes.io/spot-worker", []string{"", "true"}, nil},
}

// markedClouds mark every spot machine that they make for a cluster, so one without a mark is on demand.
var markedClouds = []string{"gce://", "azure://"}

// capacityType is what the labels, and the cloud that a machine comes from, say of it; empty when they do not.
func (c *Cluster) capacityType(labels map[string]string, providerID string) clusters.CapacityType {
	if key, value := c.spotMark[0], c.spotMark[1]; key != "" {
		if has, ok := labels[key]; ok && (value == "" || has == value) {
			return clusters.Spot
		}
	}
	for _, l := range capacityLabels {
		value, ok := labels[l.key]
		if !ok {
			continue
		}
		value = strings.ToLower(value)
		for _, v := range l.spot {
			if v == value {
				return clusters.Spot
			}
		}
		for _, v := range l.onDemand {
			if v == value {
				return clusters.OnDemand
			}
		}
	}
	if c.spotMark[0] != "" && len(labels) > 0 {
		return clusters.OnDemand
	}
	for _, cloud := range markedClouds {
		if strings.HasPrefix(providerID, cloud) {
			return clusters.OnDemand
		}
	}
	return ""
}
