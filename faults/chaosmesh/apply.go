package chaosmesh

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"

	"github.com/squall-chaos/squall/checker/history"
)

// Resource is what is asked of a client for one resource in a namespace; client-go's dynamic.ResourceInterface has it.
type Resource interface {
	Create(ctx context.Context, o *unstructured.Unstructured, opts metav1.CreateOptions, subresources ...string) (*unstructured.Unstructured, error)
	Get(ctx context.Context, name string, opts metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions, subresources ...string) error
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*unstructured.Unstructured, error)
}

// Client applies objects, waits for them and removes them.
type Client struct {
	// Resource returns what speaks for a resource in a namespace.
	Resource func(r schema.GroupVersionResource, namespace string) Resource
	// Every is how often a status is read; 0: every 250 ms. Chaos Mesh takes about a second to inject.
	Every time.Duration
}

// NewClient applies objects with a dynamic client.
func NewClient(d dynamic.Interface) Client {
	return Client{Resource: func(r schema.GroupVersionResource, namespace string) Resource {
		return d.Resource(r).Namespace(namespace)
	}}
}

// manager is the field manager of what Squall makes.
const manager = "squall"

func resourceOf(u *unstructured.Unstructured) schema.GroupVersionResource {
	return v1alpha1.SchemeGroupVersion.WithResource(plurals[u.GetKind()])
}

// plurals are the CRDs' names. Kinds that end in s keep it.
var plurals = map[string]string{"PodChaos": "podchaos", "NetworkChaos": "networkchaos", "TimeChaos": "timechaos", "HTTPChaos": "httpchaos",
	"StressChaos": "stresschaos", v1alpha1.KindSchedule: "schedules", v1alpha1.KindWorkflow: "workflows"}

func (c Client) resource(o Object) Resource {
	return c.Resource(resourceOf(o.Sent), o.Sent.GetNamespace())
}

// name is the object as messages have it, with its namespace.
func (o Object) name() string {
	return fmt.Sprintf("%s %s/%s", o.Sent.GetKind(), o.Sent.GetNamespace(), o.Sent.GetName())
}

// Apply creates an object. Before that the server is asked in a dry run whether it would take it, whole: a CRD older than a field that
// is sent would drop it in silence, and the experiment would be another.
func (c Client) Apply(ctx context.Context, o Object) error {
	if err := c.ask(ctx, o); err != nil {
		return err
	}
	if _, err := c.resource(o).Create(ctx, o.Sent.DeepCopy(), strict()); err != nil {
		return o.refusal(err)
	}
	return nil
}

func strict() metav1.CreateOptions {
	return metav1.CreateOptions{FieldManager: manager, FieldValidation: metav1.FieldValidationStrict}
}

// ask has the server say in a dry run whether it would take the object, whole.
func (c Client) ask(ctx context.Context, o Object) error {
	dry := strict()
	dry.DryRun = []string{metav1.DryRunAll}
	answer, err := c.resource(o).Create(ctx, o.Sent.DeepCopy(), dry)
	if err != nil {
		return o.refusal(err)
	}
	if lost := missing("spec", o.Sent.Object["spec"], answer.Object["spec"]); len(lost) > 0 {
		return fmt.Errorf("%s: the cluster's CRD does not keep %s: its Chaos Mesh is older than what is sent. "+
			"Install the CRDs of its release anew, or leave the fault out", o.name(), strings.Join(lost, ", "))
	}
	return nil
}

// refusal says what to do about a server's refusal.
func (o Object) refusal(err error) error {
	remedy := ""
	switch {
	case apierrors.IsNotFound(err) && kindOf(err) == "namespaces":
		remedy = "there is no namespace " + o.Sent.GetNamespace() + ": make it, or name another"
	case apierrors.IsNotFound(err):
		remedy = "Chaos Mesh is not installed, or too old to know " + o.Sent.GetKind() + ": install it, or leave the fault out"
	case apierrors.IsAlreadyExists(err):
		remedy = fmt.Sprintf("the spec of what is there cannot be changed: kubectl delete %s -n %s %s",
			resourceOf(o.Sent).Resource, o.Sent.GetNamespace(), o.Sent.GetName())
	case strings.Contains(err.Error(), "admission webhook"):
		remedy = "a webhook of the cluster does not take it: change what it names, or leave the fault out"
	case apierrors.IsForbidden(err):
		remedy = fmt.Sprintf("grant it: verbs create, get, delete and patch on %s.%s in namespace %s",
			resourceOf(o.Sent).Resource, v1alpha1.SchemeGroupVersion.Group, o.Sent.GetNamespace())
	case apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "unknown field"):
		remedy = "its CRD is older than what is sent: install the CRDs of a newer release, or leave the fault out"
	case apierrors.IsInternalError(err) && strings.Contains(err.Error(), "webhook"):
		remedy = "Chaos Mesh's webhook does not answer: is chaos-controller-manager ready?"
	default:
		return fmt.Errorf("%s: refused by the cluster: %w", o.name(), err)
	}
	return fmt.Errorf("%s: refused by the cluster: %w; %s", o.name(), err, remedy)
}

// kindOf is the resource that an answer of the server is about.
func kindOf(err error) string {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) && answer.Status().Details != nil {
		return answer.Status().Details.Kind
	}
	return ""
}

// missing are the paths of what was sent and is not in the answer as it was. What the server added is its own affair.
func missing(path string, sent, got any) []string {
	switch s := sent.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok && len(s) > 0 {
			return []string{path}
		}
		var lost []string
		for key, value := range s {
			if _, kept := g[key]; !kept && empty(value) {
				continue
			}
			lost = append(lost, missing(path+"."+key, value, g[key])...)
		}
		slices.Sort(lost)
		return lost
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(s) {
			return []string{path}
		}
		var lost []string
		for i, value := range s {
			lost = append(lost, missing(fmt.Sprintf("%s[%d]", path, i), value, g[i])...)
		}
		return lost
	}
	if !reflect.DeepEqual(sent, got) {
		return []string{path}
	}
	return nil
}

func empty(value any) bool {
	m, ok := value.(map[string]any)
	return value == nil || ok && len(m) == 0
}

// ErrLimit tells that something was not reached in time.
var ErrLimit = errors.New("not within its limit")

// ErrNobody tells that an object's selector matches no Pod. Chaos Mesh selects once and does not look again.
var ErrNobody = errors.New("no Pod matches its selector")

// nobodyFor is for how many reads an object may be without a victim before that counts: its conditions are written before its records.
const nobodyFor = 10

// AwaitInjected returns when Chaos Mesh says that all victims are injected (AllInjected), or when a Schedule or a Workflow has begun.
func (c Client) AwaitInjected(ctx context.Context, o Object, limit time.Duration) (Standing, error) {
	return c.await(ctx, o, limit, "injected", func(st Standing) bool {
		begun := o.Sent.GetKind() == v1alpha1.KindSchedule || o.Sent.GetKind() == v1alpha1.KindWorkflow
		return st.Stage == history.FaultObserved || st.Stage == history.FaultHealed || begun && st.Stage == history.FaultStruck
	})
}

// AwaitRecovered returns when Chaos Mesh says that all victims are recovered (AllRecovered), or a Workflow is accomplished. A Schedule
// has no end of its own: it is removed.
func (c Client) AwaitRecovered(ctx context.Context, o Object, limit time.Duration) (Standing, error) {
	return c.await(ctx, o, limit, "recovered", func(st Standing) bool { return st.Stage == history.FaultHealed })
}

func (c Client) await(ctx context.Context, o Object, limit time.Duration, what string, done func(Standing) bool) (Standing, error) {
	var st Standing
	nobody := 0
	err := c.poll(ctx, limit, func() (bool, error) {
		got, err := c.resource(o).Get(ctx, o.Sent.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, fmt.Errorf("%s is gone: somebody else removed it", o.name())
		}
		if err != nil {
			return false, fmt.Errorf("%s: read it: %w", o.name(), err)
		}
		if st, err = Stand(got); err != nil {
			return false, err
		}
		if nobody++; !st.Nobody {
			nobody = 0
		}
		if nobody > nobodyFor {
			return false, fmt.Errorf("%s: %w: is the dispatcher installed in that namespace, with the labels of squall manifests?", o.name(), ErrNobody)
		}
		return done(st), nil
	})
	if errors.Is(err, ErrLimit) {
		return st, fmt.Errorf("%s is %w of %s: expected it to be %s; %s", o.name(), err, limit, what, st.remedy())
	}
	return st, err
}

// remedy says what an object waits for, as far as its records tell.
func (st Standing) remedy() string {
	switch {
	case st.Failure != "":
		return "Chaos Mesh says: " + st.Failure
	case st.Paused:
		return "it is paused: take the annotation " + v1alpha1.PauseAnnotationKey + " away"
	case !st.Judged:
		return "its status is empty: no controller has looked at it, or each of its updates is refused, which the log of chaos-controller-manager shows " +
			"(\"Cannot update chaos spec\": its CRDs are older than its webhook; install those of its release)"
	}
	return "it is " + st.String()
}

// poll asks until it is done, or the limit is over.
func (c Client) poll(ctx context.Context, limit time.Duration, ask func() (bool, error)) error {
	every := c.Every
	if every <= 0 {
		every = 250 * time.Millisecond
	}
	over := time.NewTimer(limit)
	defer over.Stop()
	for {
		done, err := ask()
		if done || err != nil {
			return err
		}
		pause := time.NewTimer(every)
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-over.C:
			pause.Stop()
			return ErrLimit
		case <-pause.C:
		}
	}
}
