package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters/calibration"
)

type liveOptions struct {
	context, kubeconfig, namespace string
	probes                         int
	note                           func(format string, args ...any)
}

// connection is a way to an API server, as the user of a kubeconfig.
type connection struct {
	context string // what people call it
	base    string // of its URLs
	client  *http.Client
	close   func()
}

// liveDump is what a cluster answered.
type liveDump struct {
	context   string
	lists     map[string][]byte // by what was asked for
	order     []string
	latencies []time.Duration
}

// mostAtOnce is how many objects are asked for at once, so that the API server is not asked for all of a large cluster.
const mostAtOnce = "500"

// liveReads are what is asked for; what is only wanted may be refused.
var liveReads = []struct {
	name, path string
	namespaced bool
	wanted     bool
}{
	{"pods", "/api/v1/pods", true, false},
	{"events", "/api/v1/events", true, false},
	{"nodes", "/api/v1/nodes", false, true},
	{"leases", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", false, true},
}

// readCluster reads from the cluster of a kubeconfig. It only ever gets.
func readCluster(ctx context.Context, o liveOptions) (*liveDump, error) {
	c, err := throughKubectl(ctx, o)
	if err != nil {
		return nil, err
	}
	defer c.close()
	d := &liveDump{context: c.context, lists: map[string][]byte{}}
	for _, r := range liveReads {
		path := r.path
		if r.namespaced && o.namespace != "" {
			path = "/api/v1/namespaces/" + url.PathEscape(o.namespace) + "/" + r.name
		}
		text, status, err := c.pages(ctx, path)
		switch {
		case status == http.StatusForbidden && r.wanted:
			o.note("squall: the %s may not be read here: what they tell is not measured", r.name)
			continue
		case err != nil:
			return nil, usage("--live: read the %s of context %s: %w", r.name, d.context, err)
		}
		d.order = append(d.order, r.name)
		d.lists[r.name] = text
	}
	d.latencies = c.probe(ctx, o.probes)
	return d, nil
}

// pages reads a list, one page after the other.
func (c *connection) pages(ctx context.Context, path string) (all []byte, status int, err error) {
	var b bytes.Buffer
	for next := ""; ; {
		text, status, err := c.get(ctx, path+"?"+url.Values{"limit": {mostAtOnce}, "continue": {next}}.Encode())
		if err != nil {
			return nil, status, err
		}
		b.Write(text)
		b.WriteByte('\n')
		var list struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(text, &list); err != nil || list.Metadata.Continue == "" {
			return b.Bytes(), status, nil // what is no list is found when it is read
		}
		next = list.Metadata.Continue
	}
}

// get is one request; what is no answer but a refusal is an error, in the server's words.
func (c *connection) get(ctx context.Context, path string) (text []byte, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Accept", "application/json")
	answer, err := c.client.Do(request)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, 0, err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		return nil, answer.StatusCode, err
	}
	if answer.StatusCode == http.StatusOK {
		return text, answer.StatusCode, nil
	}
	var said struct{ Message string }
	if json.Unmarshal(text, &said) != nil || said.Message == "" {
		said.Message, _, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
	}
	return nil, answer.StatusCode, fmt.Errorf("%s: %s", answer.Status, nameOr(said.Message, "no more was said"))
}

// probe times small reads, a few a second so that nobody minds. Those that fail are left out.
func (c *connection) probe(ctx context.Context, times int) []time.Duration {
	const pause = 50 * time.Millisecond
	var took []time.Duration
	for range times {
		start := time.Now()
		if _, status, err := c.get(ctx, "/api/v1/namespaces/default"); err == nil || status == http.StatusForbidden {
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

func (g *gathering) addLive(ctx context.Context) error {
	f := g.flags
	live, err := readCluster(ctx, liveOptions{context: f.context, kubeconfig: f.kubeconfig, namespace: f.namespace, probes: f.probes, note: g.console.note})
	if err != nil {
		return err
	}
	g.sources = append(g.sources, "context "+live.context)
	if g.first == "" {
		g.first = "context " + live.context
	}
	for _, name := range live.order {
		if err := inputError(g.cluster.Read(name, live.lists[name])); err != nil {
			return err
		}
	}
	for _, d := range live.latencies {
		g.calls++
		g.samples.Add(calibration.APILatency, "", calibration.Sample{Value: d})
	}
	return nil
}
