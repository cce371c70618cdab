package testbed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cuts are tables of their own in the node's nftables, so that joining means deleting exactly what the cut had made, and
// nothing of kube-proxy's or the CNI's. Both the added and the deleted table may be there already or be gone: nft applies
// the whole input or nothing.
const (
	apiTable  = "squall_api"
	apiPort   = 6443
	kubelet   = 10250
	podsTable = "squall_pods_" // and the port
)

// CutAPI drops what goes between the node itself and the API server, without a reply to either: the kubelet and whatever
// uses the node's network. Its containers run on, and the traffic of its pods, which the node forwards, flows.
func (n *Node) CutAPI(ctx context.Context) error {
	if n == n.cluster.ControlPlane() {
		return fmt.Errorf("node %s: the API server cannot be cut off from itself; cut the other nodes", n.name)
	}
	address, err := n.cluster.ControlPlane().address(ctx)
	if err != nil {
		return err
	}
	return n.nft(ctx, apiCut(address))
}

// apiCut matches behind the translation of the service address (priority filter comes after dstnat in both hooks).
func apiCut(address string) string {
	return fresh("ip", apiTable) + fmt.Sprintf(`table ip %[1]s {
	chain out {
		type filter hook output priority filter; policy accept;
		ip daddr %[2]s tcp dport %[3]d drop
		ip daddr %[2]s tcp sport %[4]d drop
	}
	chain in {
		type filter hook input priority filter; policy accept;
		ip saddr %[2]s tcp sport %[3]d drop
		ip saddr %[2]s tcp dport %[4]d drop
	}
}
`, apiTable, address, apiPort, kubelet)
}

// JoinAPI undoes CutAPI.
func (n *Node) JoinAPI(ctx context.Context) error { return n.nft(ctx, gone("ip", apiTable)) }

// CutPods drops the traffic between the node's pods and a TCP port of other pods, wherever they run. The port is that of the
// pod, not of a service before it. Pods on other nodes still reach a pod on this one.
func (n *Node) CutPods(ctx context.Context, port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("node %s: no TCP port: %d", n.name, port)
	}
	pods, err := n.podCIDR(ctx)
	if err != nil {
		return err
	}
	return n.nft(ctx, podsCut(pods, port))
}

func podsCut(pods string, port int) string {
	table := fmt.Sprint(podsTable, port)
	return fresh("ip", table) + fmt.Sprintf(`table ip %[1]s {
	chain forward {
		type filter hook forward priority filter; policy accept;
		ip saddr %[2]s tcp dport %[3]d drop
		ip daddr %[2]s tcp sport %[3]d drop
	}
}
`, table, pods, port)
}

// JoinPods undoes CutPods.
func (n *Node) JoinPods(ctx context.Context, port int) error {
	return n.nft(ctx, gone("ip", fmt.Sprint(podsTable, port)))
}

// gone deletes a table that need not exist: it is created first.
func gone(family, table string) string {
	return fmt.Sprintf("table %[1]s %[2]s {}\ndelete table %[1]s %[2]s\n", family, table)
}

// fresh makes room for the table anew.
func fresh(family, table string) string { return gone(family, table) }

func (n *Node) nft(ctx context.Context, rules string) error {
	args := []string{"exec", "--privileged", "--interactive", n.name, "nft", "--file", "-"}
	_, err := command{args: args, node: n.name, stdin: strings.NewReader(rules)}.run(ctx)
	return err
}

// address is the node's address in the cluster's network. Docker may give another one at every start.
func (n *Node) address(ctx context.Context) (string, error) {
	args := []string{"inspect", "--type", "container", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", n.name}
	out, err := command{args: args, node: n.name}.run(ctx)
	if err != nil {
		return "", err
	}
	address := strings.TrimSpace(string(out))
	if address == "" {
		return "", fmt.Errorf("node %s: has no address: it does not run; start it", n.name)
	}
	return address, nil
}

// podCIDR is the range of the node's pods. It never changes.
func (n *Node) podCIDR(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pods != "" {
		return n.pods, nil
	}
	node, err := n.cluster.core.Nodes().Get(ctx, n.name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("node %s: the range of its pods: %w", n.name, err)
	}
	if node.Spec.PodCIDR == "" {
		return "", fmt.Errorf("node %s: has no range of pod addresses yet", n.name)
	}
	n.pods = node.Spec.PodCIDR
	return n.pods, nil
}

// restoreRoutes puts back the routes between the pods of a node that has started and those of the others. A node's own died
// with it, and those of the others lead to its old address if Docker gave it another. kindnet does the same within some
// seconds; a node image without it does not.
func (c *Cluster) restoreRoutes(ctx context.Context, started *Node) error {
	pods, err := started.podCIDR(ctx)
	if err != nil {
		return err
	}
	address, err := started.address(ctx)
	if err != nil {
		return err
	}
	var routes []string // of the started node
	var todo []func() error
	for _, other := range c.nodes {
		if other == started {
			continue
		}
		theirs, err := other.podCIDR(ctx)
		if err != nil {
			return err
		}
		state, err := other.state(ctx)
		if err != nil {
			return err
		}
		if state != "running" {
			continue // its turn comes when it starts
		}
		via, err := other.address(ctx)
		if err != nil {
			return err
		}
		routes = append(routes, theirs, via)
		todo = append(todo, func() error { return other.route(ctx, pods, address) })
	}
	todo = append(todo, func() error { return started.route(ctx, routes...) })
	return AtOnce(todo)
}

// route takes pairs of a range and the address behind which it lies.
func (n *Node) route(ctx context.Context, pairs ...string) error {
	_, err := n.script(ctx, `set -e; while [ $# -gt 1 ]; do ip route replace "$1" via "$2"; shift 2; done`, append([]string{"routes"}, pairs...)...)
	return err
}

// reachesServices waits until the rules of kube-proxy are back, which its pod writes anew after a start of the node.
func (n *Node) reachesServices(ctx context.Context) error {
	service, err := n.cluster.core.Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("node %s: the address of the API server's service: %w", n.name, err)
	}
	return until(ctx, "services on node "+n.name, func(ctx context.Context) (string, bool) {
		_, err := n.Exec(ctx, "timeout", "2", "bash", "-c", `exec 3<>"/dev/tcp/$0/443"`, service.Spec.ClusterIP)
		return fmt.Sprint(err), err == nil
	})
}

// AtOnce does everything at the same time and returns all errors.
func AtOnce(todo []func() error) error {
	errs := make([]error, len(todo))
	var wg sync.WaitGroup
	for i, do := range todo {
		wg.Go(func() { errs[i] = do() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
