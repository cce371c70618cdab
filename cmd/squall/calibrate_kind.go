//go:build kind

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func init() { liveCluster = readCluster }

// page is how many objects are asked for at once, so that the API server is not asked for all of a large cluster.
const page = "500"

// liveReads are what is asked for; what is only wanted may be refused.
var liveReads = []struct {
	name, namespaced, path string
	wanted                 bool
}{
	{"pods", "pods", "/api/v1/pods", false},
	{"events", "events", "/api/v1/events", false},
	{"nodes", "", "/api/v1/nodes", true},
	{"leases", "", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", true},
}

// readCluster reads from the cluster of a kubeconfig. It only ever gets.
func readCluster(ctx context.Context, o liveOptions) (*liveDump, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.context})
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, usage("--live: the kubeconfig cannot be read: %w", err)
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, usage("--live: %w", err)
	}
	config.QPS, config.Burst, config.Timeout = 20, 20, time.Minute
	clients, err := clientset.NewForConfig(config)
	if err != nil {
		return nil, usage("--live: %w", err)
	}
	d := &liveDump{context: nameOr(o.context, nameOr(raw.CurrentContext, "of this pod")), lists: map[string][]byte{}}
	client := clients.CoreV1().RESTClient()
	for _, r := range liveReads {
		path := r.path
		if r.namespaced != "" && o.namespace != "" {
			path = "/api/v1/namespaces/" + o.namespace + "/" + r.namespaced
		}
		text, err := readPages(ctx, client, path)
		switch {
		case err != nil && r.wanted && apierrors.IsForbidden(err):
			o.note("squall: the %s may not be read here: what they tell is not measured", r.name)
			continue
		case err != nil:
			return nil, usage("--live: read the %s of context %s: %w", r.name, d.context, err)
		}
		d.order = append(d.order, r.name)
		d.lists[r.name] = text
	}
	d.latencies = probe(ctx, client, o.probes)
	return d, nil
}

// readPages reads a list, one page after the other.
func readPages(ctx context.Context, client rest.Interface, path string) ([]byte, error) {
	var all bytes.Buffer
	for next := ""; ; {
		request := client.Get().AbsPath(path).Param("limit", page)
		if next != "" {
			request = request.Param("continue", next)
		}
		text, err := request.DoRaw(ctx)
		if err != nil {
			return nil, err
		}
		all.Write(text)
		all.WriteByte('\n')
		var list struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(text, &list); err != nil || list.Metadata.Continue == "" {
			return all.Bytes(), nil // what is no list is found when it is read
		}
		next = list.Metadata.Continue
	}
}

// probe times small reads, a few a second so that nobody minds. Those that fail are left out.
func probe(ctx context.Context, client rest.Interface, times int) []time.Duration {
	const pause = 50 * time.Millisecond
	var took []time.Duration
	for range times {
		start := time.Now()
		if _, err := client.Get().AbsPath("/api/v1/namespaces/default").DoRaw(ctx); err == nil || apierrors.IsForbidden(err) {
			took = append(took, time.Since(start)) // a refusal is an answer, too
		}
		select {
		case <-ctx.Done():
			return took
		case <-time.After(pause):
		}
	}
	return took
}
