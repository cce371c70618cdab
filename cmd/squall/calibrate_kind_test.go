//go:build kind

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestALiveClusterIsOnlyRead without kubectl.
func TestALiveClusterIsOnlyRead(t *testing.T) {
	cluster, err := newClusterStandIn(40, func(r *http.Request) { t.Errorf("%s %s", r.Method, r.URL) })
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(cluster)
	defer server.Close()
	t.Setenv("PATH", t.TempDir())
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
