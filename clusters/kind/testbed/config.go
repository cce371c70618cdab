package testbed

import (
	"fmt"
	"strconv"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"

	"github.com/squall-chaos/squall/clusters"
)

// capacityLabel and its taint are Karpenter's, which workloads in the field select by.
const capacityLabel = "karpenter.sh/capacity-type"

// The kubelet renews its node lease four times per duration (k8s.io/kubernetes, pkg/kubelet: nodeLeaseRenewIntervalFraction
// 0.25), so a node that lives has renewed it about eight times before NodeGrace is over: a busy machine is not taken for a
// dead node.
const (
	leaseDuration    = 4 * time.Second
	statusUpdate     = 4 * time.Second
	maxPods          = 200 // the nodes' pod ranges are /24
	nodeEvictionRate = 100 // nodes per second: the default of one in ten seconds would make a second dead node wait
)

type fields = map[string]any

// configuration is the cluster in kind's words. The names of its nodes follow from the order: kind numbers the workers.
func configuration(o Options) *v1alpha4.Cluster {
	config := &v1alpha4.Cluster{
		TypeMeta: v1alpha4.TypeMeta{Kind: "Cluster", APIVersion: "kind.x-k8s.io/v1alpha4"},
		Name:     Prefix + o.Name,
		Nodes:    []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole, Image: o.Image}},
		Networking: v1alpha4.Networking{
			IPFamily:      v1alpha4.IPv4Family,
			KubeProxyMode: v1alpha4.NFTablesProxyMode,
		},
		KubeadmConfigPatches: []string{patch(controlPlanePatch()), patch(kubeletPatch()), patch(patienceOf("InitConfiguration")), patch(patienceOf("JoinConfiguration"))},
	}
	for range o.OnDemand {
		config.Nodes = append(config.Nodes, worker(o.Image, clusters.OnDemand))
	}
	for range o.Spot {
		config.Nodes = append(config.Nodes, worker(o.Image, clusters.Spot))
	}
	return config
}

// nodeRecords are the nodes of the configuration by the names that kind gives them.
func nodeRecords(config *v1alpha4.Cluster) []nodeRecord {
	records := make([]nodeRecord, 0, len(config.Nodes))
	for i, n := range config.Nodes {
		name := config.Name + "-" + string(n.Role)
		if i > 1 { // the first worker has no number, the second is 2
			name += strconv.Itoa(i)
		}
		records = append(records, nodeRecord{Name: name, Capacity: clusters.CapacityType(n.Labels[capacityLabel])})
	}
	return records
}

func worker(image string, capacity clusters.CapacityType) v1alpha4.Node {
	node := v1alpha4.Node{
		Role: v1alpha4.WorkerRole, Image: image, Labels: map[string]string{capacityLabel: string(capacity)},
	}
	if capacity == clusters.Spot { // kind has no field for taints
		node.KubeadmConfigPatches = []string{patch(fields{
			"kind": "JoinConfiguration",
			"nodeRegistration": fields{"taints": []fields{
				{"key": capacityLabel, "value": string(clusters.Spot), "effect": "NoSchedule"},
			}},
		})}
	}
	return node
}

// controlPlanePatch notices a dead node within seconds and drops what a single, short-lived control plane has no use for:
// leader election, which would end the controllers when the API server is frozen, and syncing etcd to disk, which guards
// against a loss of power alone. Without an apiVersion kind fits the arguments to the version that the image needs.
func controlPlanePatch() fields {
	return fields{
		"kind": "ClusterConfiguration",
		"apiServer": fields{"extraArgs": fields{
			"default-not-ready-toleration-seconds":   seconds(UnreachableToleration),
			"default-unreachable-toleration-seconds": seconds(UnreachableToleration),
		}},
		"controllerManager": fields{"extraArgs": fields{
			"node-monitor-period":          NodeMonitor.String(),
			"node-monitor-grace-period":    NodeGrace.String(),
			"node-eviction-rate":           strconv.Itoa(nodeEvictionRate),
			"secondary-node-eviction-rate": strconv.Itoa(nodeEvictionRate),
			// A small cluster would stop evicting once more than half of its nodes are away.
			"large-cluster-size-threshold": "0",
			"leader-elect":                 "false",
		}},
		"scheduler": fields{"extraArgs": fields{"leader-elect": "false"}},
		"etcd":      fields{"local": fields{"extraArgs": fields{"unsafe-no-fsync": "true"}}},
	}
}

// kubeletPatch sends signs of life every second. kubelet 1.35 and later refuse cgroup v1 unless told not to; kind does not.
func kubeletPatch() fields {
	return fields{
		"kind":                      "KubeletConfiguration",
		"failCgroupV1":              false,
		"nodeLeaseDurationSeconds":  int(leaseDuration.Seconds()),
		"nodeStatusUpdateFrequency": statusUpdate.String(),
		"maxPods":                   maxPods,
		"serializeImagePulls":       false,
	}
}

// patienceOf makes kubeadm wait longer than the minute that it gives an API call: a machine that also compiles or runs other
// clusters needs it. The field came with kubeadm's v1beta4, which kind uses from Kubernetes 1.36 on.
func patienceOf(kind string) fields {
	return fields{
		"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": kind,
		"timeouts": fields{
			"kubernetesAPICall": "5m", "etcdAPICall": "5m", "kubeletHealthCheck": "8m", "controlPlaneComponentHealthCheck": "8m",
			"tlsBootstrap": "8m", "discovery": "8m",
		},
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

func patch(f fields) string {
	text, err := yaml.Marshal(f)
	if err != nil {
		panic(fmt.Sprintf("literal fields: %v", err)) // they are all above
	}
	return string(text)
}
