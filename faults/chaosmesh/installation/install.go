package installation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/squall-chaos/squall/clusters/kind/images"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/faults/chaosmesh"
)

// Namespace is where the controllers are.
const Namespace = "chaos-mesh"

// readyWithin bounds the wait for the controllers.
const readyWithin = 3 * time.Minute

// Install builds what is needed, brings it to the nodes and returns when Chaos Mesh takes objects. Progress may be nil. What is there already is left alone.
func Install(ctx context.Context, bed *testbed.Cluster, progress io.Writer) error {
	o := images.Options{Progress: progress}
	p, err := build(ctx, o)
	if err != nil {
		return err
	}
	began := time.Now()
	config := bed.Config()
	config.QPS, config.Burst = -1, 0
	if there, err := runs(ctx, config, p); err != nil || there {
		return err
	}
	for _, image := range []images.Image{p.manager, p.daemons} {
		if err := bed.Load(ctx, image.Archive, image.Ref); err != nil {
			return err
		}
	}
	pause, err := pauseOf(ctx, bed)
	if err != nil {
		return err
	}
	if err := apply(ctx, config, p, pause); err != nil {
		return fmt.Errorf("install Chaos Mesh into cluster %s: %w", bed.Name(), err)
	}
	if err := await(ctx, config); err != nil {
		return fmt.Errorf("install Chaos Mesh into cluster %s: %w", bed.Name(), err)
	}
	if progress != nil {
		fmt.Fprintf(progress, "installed Chaos Mesh into cluster %s in %s\n", bed.Name(), time.Since(began).Round(time.Second))
	}
	return nil
}

// Build makes what Install brings to a cluster, if this machine does not have it. Progress may be nil.
func Build(ctx context.Context, progress io.Writer) error {
	_, err := build(ctx, images.Options{Progress: progress})
	return err
}

// runs tells whether the cluster has these very images as its controllers, and they are ready.
func runs(ctx context.Context, config *rest.Config, p parts) (bool, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return false, err
	}
	for _, x := range []struct{ resource, name, image string }{{"deployments", controller, p.manager.Ref}, {"daemonsets", daemon, p.daemons.Ref}} {
		o, err := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: x.resource}).Namespace(Namespace).Get(ctx, x.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		if c, ok := containers[0].(map[string]any); !ok || c["image"] != x.image {
			return false, nil
		}
	}
	return ready(ctx, client) == nil, nil
}

// Definitions makes Chaos Mesh's CRDs known to an API server, whichever it is. Nothing acts on their objects then.
func Definitions(ctx context.Context, config *rest.Config) error {
	dir, _, err := module(ctx)
	if err != nil {
		return err
	}
	upstream, err := downloaded(ctx, dir)
	if err != nil {
		return err
	}
	crds, err := definitions(bases(upstream))
	if err != nil {
		return err
	}
	a, err := newApplier(config)
	if err != nil {
		return err
	}
	return a.all(ctx, crds)
}

// bases is where the CRDs are in the module.
func bases(module string) string { return filepath.Join(module, "config", "crd", "bases") }

// apply makes the CRDs and the objects.
func apply(ctx context.Context, config *rest.Config, p parts, pause string) error {
	crds, err := definitions(p.crds)
	if err != nil {
		return err
	}
	v, err := newValues(p.manager, p.daemons, pause)
	if err != nil {
		return err
	}
	objects, err := render(v)
	if err != nil {
		return err
	}
	a, err := newApplier(config)
	if err != nil {
		return err
	}
	return a.all(ctx, append(crds, objects...))
}

// pauseOf is an image that the nodes have and that does nothing: that of sandboxes. pod-failure swaps a container's image for it.
func pauseOf(ctx context.Context, bed *testbed.Cluster) (string, error) {
	out, err := bed.ControlPlane().Exec(ctx, "ctr", "--namespace=k8s.io", "images", "ls", "--quiet")
	if err != nil {
		return "", err
	}
	for name := range strings.Lines(string(out)) {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, "registry.k8s.io/pause:") {
			return name, nil
		}
	}
	return "", errors.New("the nodes have no image registry.k8s.io/pause, which pod-failure needs")
}

// applier applies objects of any kind.
type applier struct {
	client dynamic.Interface
	mapper meta.RESTMapper
}

func newApplier(config *rest.Config) (applier, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return applier{}, err
	}
	d, err := discovery.NewDiscoveryClientForConfig(config)
	return applier{client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(d))}, err
}

func (a applier) all(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		if err := a.apply(ctx, o); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func (a applier) apply(ctx context.Context, o *unstructured.Unstructured) error {
	r, err := a.resource(o)
	if err != nil {
		return err
	}
	_, err = r.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "squall-tests", Force: true})
	return err
}

func (a applier) resource(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := o.GroupVersionKind()
	m, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		return a.client.Resource(m.Resource).Namespace(o.GetNamespace()), nil
	}
	return a.client.Resource(m.Resource), nil
}

// await returns when a daemon runs on every node and the webhooks answer: the controllers have no probe that would tell.
func await(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		err := ready(ctx, client)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready within %s: %w; see: kubectl -n %s get pods", readyWithin, err, Namespace)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// ready tells what is not.
func ready(ctx context.Context, client dynamic.Interface) error {
	return errors.Join(
		rolledOut(ctx, client, "deployments", controller, "replicas", "updatedReplicas", "readyReplicas"),
		rolledOut(ctx, client, "daemonsets", daemon, "desiredNumberScheduled", "updatedNumberScheduled", "numberReady"),
		chaosmesh.NewClient(client).Check(ctx, metav1.NamespaceDefault))
}

// rolledOut looks at the Pods of a set: all are to be as its template is now, ready, and there are to be some.
func rolledOut(ctx context.Context, client dynamic.Interface, resource, name, wanted, updated, able string) error {
	o, err := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}).Namespace(Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	field := func(name string) int64 {
		n, _, _ := unstructured.NestedInt64(o.Object, "status", name)
		return n
	}
	all := field(wanted)
	if field("observedGeneration") < o.GetGeneration() || all == 0 || field(updated) < all || field(able) < all {
		return fmt.Errorf("%s: %d of %d Pods are up to date, %d ready", name, field(updated), all, field(able))
	}
	return nil
}
