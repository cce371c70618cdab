package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/squall-chaos/squall/dispatcher"
)

// Options say what Pods are like.
type Options struct {
	Namespace string
	Image     string // of the one container
	// AnyName takes a Pod for a workload by what it tells its container alone. The reference gives each task one name, and what bears that
	// name and tells otherwise, or tells so under another name, is none of its own.
	AnyName bool
	// Adjust sees every Pod before it is created, to add what a cluster needs. May be nil.
	Adjust func(*corev1.Pod, dispatcher.Workload)
}

// Workloads are the Pods of one namespace. It is safe for concurrent use.
type Workloads struct {
	options Options
	api     rest.Interface
}

var _ dispatcher.Workloads = (*Workloads)(nil)

// NewWorkloads prepares the adapter; nothing is sent.
func NewWorkloads(config *rest.Config, o Options) (*Workloads, error) {
	if o.Namespace == "" || o.Image == "" {
		return nil, errors.New("workloads need a namespace and an image")
	}
	api, _, err := connect(config)
	if err != nil {
		return nil, err
	}
	return &Workloads{options: o, api: api}, nil
}

// Create makes the Pod.
func (k *Workloads) Create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	made, err := k.create(ctx, w)
	if err != nil {
		return dispatcher.Workload{}, fmt.Errorf("create pod %s: %w", w.Name, err)
	}
	return made, nil
}

func (k *Workloads) create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	if err := checkName(w.Name); err != nil {
		return dispatcher.Workload{}, fmt.Errorf("%w: %w", dispatcher.ErrRejected, err)
	}
	p, err := k.options.pod(w)
	if err != nil {
		return dispatcher.Workload{}, err
	}
	var made corev1.Pod
	if err := send(ctx, k.pods(k.api.Post()).VersionedParams(&metav1.CreateOptions{}, scheme.ParameterCodec).Body(p), &made); err != nil {
		return dispatcher.Workload{}, err
	}
	return k.options.workload(&made)
}

// Get reads the Pod from etcd, not from a cache: no resourceVersion is sent.
func (k *Workloads) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	w, err := k.get(ctx, name)
	if err != nil {
		return dispatcher.Workload{}, fmt.Errorf("get pod %s: %w", name, err)
	}
	return w, nil
}

func (k *Workloads) get(ctx context.Context, name string) (dispatcher.Workload, error) {
	if err := checkName(name); err != nil {
		return dispatcher.Workload{}, fmt.Errorf("%w: %w", dispatcher.ErrNotFound, err)
	}
	var found corev1.Pod
	if err := send(ctx, k.pods(k.api.Get()).Name(name), &found); err != nil {
		return dispatcher.Workload{}, err
	}
	return k.options.workload(&found)
}

// List returns a page of our Pods. One whose labels were edited may be missing: only a live read of its name proves absence.
func (k *Workloads) List(ctx context.Context, l dispatcher.List) (dispatcher.WorkloadPage, error) {
	o := &metav1.ListOptions{LabelSelector: LabelTask, Limit: int64(max(0, l.Limit)), Continue: l.Continue}
	if l.Stale && l.Continue == "" {
		o.ResourceVersion = "0"
	}
	var found corev1.PodList
	if err := send(ctx, k.pods(k.api.Get()).VersionedParams(o, scheme.ParameterCodec), &found); err != nil {
		return dispatcher.WorkloadPage{}, fmt.Errorf("list pods: %w", err)
	}
	page := dispatcher.WorkloadPage{Items: make([]dispatcher.Workload, 0, len(found.Items)), Continue: found.Continue}
	for i := range found.Items {
		if w, err := k.options.workload(&found.Items[i]); err == nil {
			page.Items = append(page.Items, w)
		}
	}
	return page, nil
}

// Delete asks for the deletion of the Pod that has the UID.
func (k *Workloads) Delete(ctx context.Context, name string, uid dispatcher.UID, force bool) error {
	if err := k.delete(ctx, name, uid, force); err != nil {
		return fmt.Errorf("delete pod %s: %w", name, err)
	}
	return nil
}

func (k *Workloads) delete(ctx context.Context, name string, uid dispatcher.UID, force bool) error {
	if err := checkName(name); err != nil {
		return fmt.Errorf("%w: %w", dispatcher.ErrNotFound, err)
	}
	var o metav1.DeleteOptions
	if uid != "" {
		o.Preconditions = &metav1.Preconditions{UID: new(types.UID(uid))}
	}
	if force { // not even what it owns is waited for
		o.GracePeriodSeconds, o.PropagationPolicy = new(int64(0)), new(metav1.DeletePropagationBackground)
	}
	return send(ctx, k.pods(k.api.Delete()).Name(name).Body(&o), nil)
}

// Release removes our finalizer from the Pod that has the UID.
func (k *Workloads) Release(ctx context.Context, name string, uid dispatcher.UID) error {
	if err := k.release(ctx, name, uid); err != nil {
		return fmt.Errorf("release pod %s: %w", name, err)
	}
	return nil
}

func (k *Workloads) release(ctx context.Context, name string, uid dispatcher.UID) error {
	if err := checkName(name); err != nil {
		return fmt.Errorf("%w: %w", dispatcher.ErrNotFound, err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": uid, "$deleteFromPrimitiveList/finalizers": []string{Finalizer},
	}})
	if err != nil {
		return fmt.Errorf("%w: %w", dispatcher.ErrRejected, err)
	}
	return send(ctx, k.pods(k.api.Patch(types.StrategicMergePatchType)).Name(name).Body(patch), nil)
}

// NodeExists reads the Node object from etcd.
func (k *Workloads) NodeExists(ctx context.Context, node string) (bool, error) {
	if err := checkName(node); err != nil {
		return false, nil // no such object can be made
	}
	err := send(ctx, k.api.Get().Resource("nodes").Name(node), &corev1.Node{})
	switch {
	case errors.Is(err, dispatcher.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("get node %s: %w", node, err)
	}
	return true, nil
}

func (k *Workloads) pods(r *rest.Request) *rest.Request {
	return r.Namespace(k.options.Namespace).Resource("pods")
}

// checkName refuses what the API server would refuse as a name, before it becomes part of a path.
func checkName(name string) error {
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return fmt.Errorf("%q is no name: %s", name, strings.Join(problems, "; "))
	}
	return nil
}
