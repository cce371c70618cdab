package shared

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// ours selects what a run of Squall made itself. Workloads are made by the dispatcher under test, and are told by the label of their task.
const (
	ours      = deployed.RunLabel
	workloads = kube.LabelTask
	meshed    = "app.kubernetes.io/managed-by=squall" // of Chaos Mesh's objects, see faults/chaosmesh
)

const meshGroup = "chaos-mesh.org"

// sort is one sort of objects that a run makes.
type sort struct {
	resource schema.GroupVersionResource
	selector string
}

func of(group, version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}

// sorts are in the order of removal: first those who act, workloads after the replicas that might make new ones.
var sorts = []sort{
	{of(meshGroup, "v1alpha1", "podchaos"), meshed},
	{of(meshGroup, "v1alpha1", "networkchaos"), meshed},
	{of(meshGroup, "v1alpha1", "timechaos"), meshed},
	{of(meshGroup, "v1alpha1", "httpchaos"), meshed},
	{of(meshGroup, "v1alpha1", "stresschaos"), meshed},
	{of("", "v1", "pods"), ours},
	{of("", "v1", "pods"), workloads},
	{of("", "v1", "services"), ours},
	{of("", "v1", "secrets"), ours},
	{of("rbac.authorization.k8s.io", "v1", "rolebindings"), ours},
	{of("rbac.authorization.k8s.io", "v1", "roles"), ours},
	{of("", "v1", "serviceaccounts"), ours},
	{of("coordination.k8s.io", "v1", "leases"), ours},
}

// Remains are the objects in the namespace that a run made, as kind/name. Those of a run that goes on are among them.
func (s *Site) Remains(ctx context.Context) ([]string, error) {
	var all []string
	for _, x := range sorts {
		list, err := s.objects.Resource(x.resource).Namespace(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: x.selector})
		if absent(x, err) {
			continue
		}
		if err != nil {
			return all, fmt.Errorf("%w: list %s in namespace %s: %w", rightsOr(err), x.resource.Resource, s.Namespace, err)
		}
		for i := range list.Items {
			all = append(all, x.resource.Resource+"/"+list.Items[i].GetName())
		}
	}
	return all, nil
}

// absent tells of a resource that the cluster does not have, or that nobody could have used: those of Chaos Mesh.
func absent(x sort, err error) bool {
	return x.resource.Group == meshGroup && (apierrors.IsNotFound(err) || apierrors.IsForbidden(err))
}

// rightsOr is what a refusal is about.
func rightsOr(err error) error {
	if apierrors.IsForbidden(err) {
		return ErrRights
	}
	return ErrNamespace
}

// Clean removes all that runs made in the namespace, and returns when it is gone, with the names of what there was. Finalizers of workloads
// are taken away, since the dispatcher that owed them a cleanup is gone too.
func (s *Site) Clean(ctx context.Context) ([]string, error) {
	var removed []string
	var problems []error
	for _, x := range sorts {
		names, err := s.remove(ctx, x)
		removed, problems = append(removed, names...), append(problems, err)
	}
	return removed, errors.Join(problems...)
}

func (s *Site) remove(ctx context.Context, x sort) ([]string, error) {
	objects := s.objects.Resource(x.resource).Namespace(s.Namespace)
	list, err := objects.List(ctx, metav1.ListOptions{LabelSelector: x.selector})
	if absent(x, err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: list %s in namespace %s: %w", rightsOr(err), x.resource.Resource, s.Namespace, err)
	}
	var names []string
	var problems []error
	for i := range list.Items {
		o := &list.Items[i]
		names = append(names, x.resource.Resource+"/"+o.GetName())
		problems = append(problems, s.removeOne(ctx, x, o))
	}
	if len(names) == 0 {
		return nil, nil
	}
	err = s.awaitNone(ctx, x)
	if err != nil && x.selector == meshed {
		err = s.free(ctx, x, names)
	}
	return names, errors.Join(append(problems, err)...)
}

// free takes the finalizers of objects away that Chaos Mesh does not let go, and says so: what they did may still be in force.
func (s *Site) free(ctx context.Context, x sort, names []string) error {
	var problems []error
	for _, name := range names {
		_, bare, _ := strings.Cut(name, "/")
		_, err := s.objects.Resource(x.resource).Namespace(s.Namespace).Patch(ctx, bare, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			problems = append(problems, fmt.Errorf("take the finalizers of %s away: %w", name, err))
		default:
			problems = append(problems, fmt.Errorf("%s did not go by itself and was freed of its finalizer: its fault may still be in force in the pods that it selected; delete them to be rid of it", name))
		}
	}
	return errors.Join(problems...)
}

func (s *Site) removeOne(ctx context.Context, x sort, o *unstructured.Unstructured) error {
	objects := s.objects.Resource(x.resource).Namespace(s.Namespace)
	if x.selector == workloads && len(o.GetFinalizers()) > 0 {
		_, err := objects.Patch(ctx, o.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if deployed.UnlessGone(err) != nil {
			return fmt.Errorf("take the finalizers of %s/%s away: %w", x.resource.Resource, o.GetName(), err)
		}
	}
	// A second is what a kubelet makes of less: so that the object is there until its containers are gone.
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(1)), Preconditions: metav1.NewUIDPreconditions(string(o.GetUID()))}
	if err := objects.Delete(ctx, o.GetName(), now); deployed.UnlessGone(err) != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete %s/%s: %w", x.resource.Resource, o.GetName(), err)
	}
	return nil
}

// leaving is how long what is deleted may take to go.
const leaving = time.Minute

func (s *Site) awaitNone(ctx context.Context, x sort) error {
	var left []string
	err := wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, leaving, true, func(ctx context.Context) (bool, error) {
		list, err := s.objects.Resource(x.resource).Namespace(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: x.selector})
		if err != nil {
			return false, err
		}
		left = left[:0]
		for i := range list.Items {
			left = append(left, list.Items[i].GetName())
		}
		return len(left) == 0, nil
	})
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s in namespace %s are still there: %w; something holds them: kubectl --context %s -n %s get %s -o yaml",
		x.resource.Resource, strings.Join(left, ", "), s.Namespace, err, s.Context, s.Namespace, x.resource.Resource)
}
