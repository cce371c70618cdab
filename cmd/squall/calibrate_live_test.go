package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters/calibration/dumps/synthetic"
)

// clusterStandIn answers like an API server, pages and a refusal included, and minds everything but GET.
type clusterStandIn struct {
	items map[string][]json.RawMessage
	minds func(*http.Request)
}

func newClusterStandIn(pods int, minds func(*http.Request)) (*clusterStandIn, error) {
	var whole bytes.Buffer
	if err := synthetic.Write(&whole, synthetic.Standard(), synthetic.Options{Seed: 2, Pods: pods, New: pods * 5 / 8, Deadline: 150 * time.Second}); err != nil {
		return nil, err
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(whole.Bytes(), &list); err != nil {
		return nil, err
	}
	s := &clusterStandIn{items: map[string][]json.RawMessage{}, minds: minds}
	for _, item := range list.Items {
		var head struct{ Kind string }
		_ = json.Unmarshal(item, &head)
		s.items[head.Kind] = append(s.items[head.Kind], item)
	}
	return s, nil
}

func (s *clusterStandIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		s.minds(r)
	}
	w.Header().Set("Content-Type", "application/json")
	kind := map[string]string{"/api/v1/pods": "Pod", "/api/v1/events": "Event", "/api/v1/nodes": "Node"}[r.URL.Path]
	switch {
	case kind == "" && strings.Contains(r.URL.Path, "leases"):
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"leases is forbidden","code":403}`)
	case kind == "":
		fmt.Fprint(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default"}}`)
	default: // two pages
		all, next := s.items[kind], ""
		half := len(all) / 2
		if r.URL.Query().Get("continue") == "" {
			all, next = all[:half], "more"
		} else {
			all = all[half:]
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": kind + "List", "apiVersion": "v1", "metadata": map[string]string{"continue": next}, "items": all})
	}
}

// kubectlStandIn is the scripts' kubectl: it knows the contexts far, small (hardly a pod in it) and down (nobody answers).
func kubectlStandIn() {
	args := os.Args[1:]
	name := "far"
	if i := slices.Index(args, "--context"); i >= 0 {
		name = args[i+1]
	}
	socket := ""
	for _, arg := range args {
		if after, ok := strings.CutPrefix(arg, "--unix-socket="); ok {
			socket = after
		}
	}
	pods, known := map[string]int{"far": 40, "small": 2, "down": 0}[name]
	switch {
	case slices.Contains(args, "current-context"):
		fmt.Println(name)
		return
	case !known:
		fmt.Fprintf(os.Stderr, "error: context %q does not exist\nmore words\n", name)
		os.Exit(1)
	case socket == "" || !slices.Contains(args, "proxy"):
		fmt.Fprintf(os.Stderr, "error: unknown command %q\n", args)
		os.Exit(1)
	}
	cluster, err := newClusterStandIn(max(pods, 1), func(r *http.Request) { panic(r.Method + " " + r.URL.Path) })
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	fmt.Println("Starting to serve on", socket)
	_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name == "down" {
			http.Error(w, "dial tcp 10.0.0.1:6443: connect: connection refused", http.StatusBadGateway)
			return
		}
		cluster.ServeHTTP(w, r)
	}))
}

func TestWithoutKubectlThereIsNoLiveCluster(t *testing.T) {
	before := withoutKubectl
	withoutKubectl = nil
	t.Cleanup(func() { withoutKubectl = before })
	t.Setenv("PATH", t.TempDir())
	var out, errs bytes.Buffer
	if code := execute([]string{"calibrate", "--live"}, &out, &errs); code != exitUsage {
		t.Errorf("exit status %d", code)
	}
	for _, needed := range []string{"there is none on the PATH", "kubectl get events,pods,nodes -A -o json"} {
		if !strings.Contains(errs.String(), needed) {
			t.Errorf("it does not say %q: %s", needed, &errs)
		}
	}
}
