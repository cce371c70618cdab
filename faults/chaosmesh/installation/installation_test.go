package installation

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/squall-chaos/squall/clusters/kind/images"
)

func rendered(t *testing.T) (values, []*unstructured.Unstructured) {
	t.Helper()
	v, err := newValues(images.Image{Ref: "squall.local/controller:1"}, images.Image{Ref: "squall.local/daemon:1"}, "registry.k8s.io/pause:3")
	if err != nil {
		t.Fatal(err)
	}
	all, err := render(v)
	if err != nil {
		t.Fatal(err)
	}
	return v, all
}

func TestManifestsAreWhole(t *testing.T) {
	_, all := rendered(t)
	count := map[string]int{}
	for _, o := range all {
		count[o.GetKind()]++
		if o.GetName() == "" || o.GetAPIVersion() == "" {
			t.Errorf("%v has no name or version", o.Object)
		}
	}
	if count["Namespace"] != 1 || all[0].GetKind() != "Namespace" || count["Secret"] != 3 || count["Deployment"] != 1 || count["DaemonSet"] != 1 {
		t.Errorf("got %v, the first %s", count, all[0].GetKind())
	}
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		i := slices.IndexFunc(all, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })
		if hooks, _, _ := unstructured.NestedSlice(all[i].Object, "webhooks"); len(hooks) != len(kinds) {
			t.Errorf("%s has %d webhooks, want %d", kind, len(hooks), len(kinds))
		}
	}
}

// TestCertificatesAreForWhoShowsThem: the API server and the controllers check these names.
func TestCertificatesAreForWhoShowsThem(t *testing.T) {
	v, _ := rendered(t)
	roots := x509.NewCertPool()
	roots.AddCert(parsed(t, v.CA))
	for name, id := range map[string]identity{webhookName: v.Webhook, daemonName: v.Daemon, controller: v.Client} {
		c := parsed(t, id.Certificate)
		for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
			if _, err := c.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func parsed(t *testing.T, text string) *x509.Certificate {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDefinitionsLearnTheFieldThatTheWebhookSets wherever a NetworkChaos is in them.
func TestDefinitionsLearnTheFieldThatTheWebhookSets(t *testing.T) {
	dir := t.TempDir()
	text := "kind: CustomResourceDefinition\nspec:\n  a: [{properties: {externalTargets: {type: array}, targetDevice: {type: string}}}]\n"
	if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	all, err := definitions(dir)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	a, _, _ := unstructured.NestedSlice(all[0].Object, "spec", "a")
	if _, found, _ := unstructured.NestedMap(a[0].(map[string]any), "properties", "partitionBehavior"); !found {
		t.Errorf("got %v", a)
	}
	if _, err := definitions(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no CRDs") {
		t.Errorf("an empty directory: %v", err)
	}
}

// TestWhatASetIsBuiltFrom: the programs do not depend on files of others, nor on tests.
func TestWhatASetIsBuiltFrom(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"go.mod", "go.sum", "daemon/main.go", "daemon/main_test.go", "standins/main.go"} {
		files[name] = &fstest.MapFile{}
	}
	var found []string
	err := fs.WalkDir(part{files, []string{"go.mod", "daemon"}}, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			found = append(found, name)
		}
		return err
	})
	if want := []string{"daemon/main.go", "go.mod"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("got %v, %v; want %v", found, err, want)
	}
}
