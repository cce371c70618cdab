//go:build kind

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters/calibration/dumps/synthetic"
)

// TestALiveClusterIsOnlyRead: a server that answers like an API server, pages and a refusal included, and minds everything but GET.
func TestALiveClusterIsOnlyRead(t *testing.T) {
	var whole bytes.Buffer
	if err := synthetic.Write(&whole, synthetic.Standard(), synthetic.Options{Seed: 2, Pods: 40, New: 25, Deadline: 150 * time.Second}); err != nil {
		t.Fatal(err)
	}
	items := map[string][]json.RawMessage{}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(whole.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		var head struct{ Kind string }
		_ = json.Unmarshal(item, &head)
		items[head.Kind] = append(items[head.Kind], item)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		w.Header().Set("Content-Type", "application/json")
		kind := map[string]string{"/api/v1/pods": "Pod", "/api/v1/events": "Event", "/api/v1/nodes": "Node"}[r.URL.Path]
		switch {
		case kind == "" && strings.Contains(r.URL.Path, "leases"):
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
		case kind == "":
			fmt.Fprint(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default"}}`)
		default: // two pages
			all, next := items[kind], ""
			half := len(all) / 2
			if r.URL.Query().Get("continue") == "" {
				all, next = all[:half], "more"
			} else {
				all = all[half:]
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": kind + "List", "apiVersion": "v1", "metadata": map[string]string{"continue": next}, "items": all})
		}
	}))
	defer server.Close()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: far\nclusters: [{name: c, cluster: {server: %s}}]\n"+
		"users: [{name: u, user: {}}]\ncontexts: [{name: far, context: {cluster: c, user: u}}]\n", server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := execute([]string{"calibrate", "--live", "--kubeconfig", config, "--probes", "25"}, &out, &errs); code != exitValid {
		t.Fatalf("exit status %d\n%s%s", code, &out, &errs)
	}
	for _, needed := range []string{"measured on context far: 130 pods, 58 nodes", "25 timed reads", "api_latency ", "provisioning "} {
		if !strings.Contains(out.String(), needed) {
			t.Errorf("it does not say %q:\n%s", needed, &out)
		}
	}
	if !strings.Contains(errs.String(), "the leases may not be read here") {
		t.Errorf("the refusal is not told: %s", &errs)
	}
	if _, err := readCluster(context.Background(), liveOptions{kubeconfig: config, context: "nowhere"}); statusOf(err) != exitUsage {
		t.Errorf("a context that is not there: %v", err)
	}
}
