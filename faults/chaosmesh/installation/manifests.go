package installation

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/squall-chaos/squall/clusters/kind/images"
)

//go:embed manifests/*.yaml
var manifests embed.FS

// kinds are those whose objects go past the webhooks.
var kinds = []struct{ Kind, Resource string }{
	{"podchaos", "podchaos"}, {"iochaos", "iochaos"}, {"timechaos", "timechaos"}, {"networkchaos", "networkchaos"}, {"stresschaos", "stresschaos"},
	{"dnschaos", "dnschaos"}, {"httpchaos", "httpchaos"}, {"schedule", "schedules"}, {"workflow", "workflows"},
}

// values fill the manifests.
type values struct {
	CA, Stamp                      string
	Webhook, Daemon, Client        identity
	Controller, DaemonImage, Pause string
	Kinds                          any
	Webhooks                       []struct{ Kind, Verb string }
}

// The names that certificates are for: those of the webhooks' Service, and what the controllers call a daemon.
const (
	webhookName = "chaos-mesh-controller-manager." + Namespace + ".svc"
	daemonName  = "chaos-daemon.chaos-mesh.org"
)

func newValues(manager, daemons images.Image, pause string) (values, error) {
	v := values{Controller: manager.Ref, DaemonImage: daemons.Ref, Pause: pause, Kinds: kinds, Webhooks: []struct{ Kind, Verb string }{
		{"MutatingWebhookConfiguration", "mutate"}, {"ValidatingWebhookConfiguration", "validate"}}}
	a, err := newAuthority()
	if err != nil {
		return v, err
	}
	v.CA, v.Stamp = a.text, fmt.Sprintf("%x", sha256.Sum256([]byte(a.text)))
	for i, x := range []struct {
		to   *identity
		name string
	}{{&v.Webhook, webhookName}, {&v.Daemon, daemonName}, {&v.Client, controller}} {
		if *x.to, err = a.sign(int64(i+2), x.name); err != nil {
			return v, err
		}
	}
	return v, nil
}

// render are the objects of the manifests, in the order in which they are to be made.
func render(v values) ([]*unstructured.Unstructured, error) {
	all, err := template.ParseFS(manifests, "manifests/*.yaml")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	files, err := manifests.ReadDir("manifests")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text.WriteString("---\n")
		if err := all.ExecuteTemplate(&text, f.Name(), v); err != nil {
			return nil, err
		}
	}
	return decode(&text)
}

func decode(text io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for in := yaml.NewYAMLOrJSONDecoder(text, 4096); ; {
		o := &unstructured.Unstructured{}
		err := in.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}

// definitions are the CRDs of the module, made to know a field that is younger than they are: the only version of Chaos Mesh's API that is published
// sets it in a webhook, the server would drop it, and refuse every later update of the object ("Cannot update chaos spec").
func definitions(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there are no CRDs in %s", dir)
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		f, openErr := os.Open(file)
		if openErr != nil {
			return nil, openErr
		}
		objects, decodeErr := decode(f)
		_ = f.Close()
		if decodeErr != nil {
			return nil, fmt.Errorf("read %s: %w", file, decodeErr)
		}
		for _, o := range objects {
			teach(o.Object)
		}
		all = append(all, objects...)
	}
	return all, err
}

// teach adds the field to every schema of a NetworkChaos.
func teach(node any) {
	switch n := node.(type) {
	case map[string]any:
		if n["externalTargets"] != nil && n["targetDevice"] != nil {
			n["partitionBehavior"] = map[string]any{"type": "string", "enum": []any{"drop", "reject"}, "default": "drop"}
		}
		// The order does not matter: each is changed by itself.
		for _, inner := range n {
			teach(inner)
		}
	case []any:
		for _, inner := range n {
			teach(inner)
		}
	}
}
