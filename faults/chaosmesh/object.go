package chaosmesh

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Refused is an object that Chaos Mesh's own validation does not take.
type Refused struct {
	Index  int // of the fault in the plan; -1: no single one
	Object string
	Err    error // in the module's words
}

func (r *Refused) Error() string {
	return fmt.Sprintf("Chaos Mesh would refuse %s: %v", r.Object, r.Err)
}

func (r *Refused) Unwrap() error { return r.Err }

// object is one of Chaos Mesh's, with what its webhooks would call.
type object interface {
	v1alpha1.WebhookObject
	metav1.Object
}

// silence keeps controller-runtime, whose logger the module's validation uses, from complaining after half a minute that it was given none.
var silence = sync.OnceFunc(func() { log.SetLogger(logr.Discard()) })

// check lets the module judge a copy with its defaults, as the webhooks of a cluster would. The object itself is left as it is.
func check(o object) error {
	silence()
	ctx := context.Background()
	c := o.DeepCopyObject().(object)
	if err := c.Default(ctx, c); err != nil {
		return err
	}
	_, err := c.ValidateCreate(ctx, c)
	return err
}

// sent is what of an object goes to a cluster: what was set, and nothing else. Go's types print a status and null timestamps too.
func sent(o object) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	delete(u.Object, "status")
	prune(u.Object)
	return u, nil
}

// prune takes away nulls.
func prune(m map[string]any) {
	for key, value := range m {
		switch v := value.(type) {
		case nil:
			delete(m, key)
		case map[string]any:
			prune(v)
		case []any:
			for _, item := range v {
				if inner, ok := item.(map[string]any); ok {
					prune(inner)
				}
			}
		}
	}
}

func (s Site) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: s.Namespace, Labels: map[string]string{
		LabelManagedBy: "squall", LabelScenario: s.Name}}
}

func typed(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: kind}
}

// duration sets how long the experiment lasts by itself. A kill is over at once, and has none.
func (p piece) duration(d time.Duration) piece {
	p.chaos = *p.chaos.DeepCopy()
	text := new(single(d))
	switch c := p.chaos; {
	case p.oneShot():
	case c.PodChaos != nil:
		c.PodChaos.Duration = text
	case c.NetworkChaos != nil:
		c.NetworkChaos.Duration = text
	case c.TimeChaos != nil:
		c.TimeChaos.Duration = text
	case c.HTTPChaos != nil:
		c.HTTPChaos.Duration = text
	case c.StressChaos != nil:
		c.StressChaos.Duration = text
	}
	return p
}

// oneShot tells whether the experiment is over as soon as it is injected.
func (p piece) oneShot() bool {
	c := p.chaos.PodChaos
	return c != nil && (c.Action == v1alpha1.PodKillAction || c.Action == v1alpha1.ContainerKillAction)
}

// object is the experiment on its own.
func (p piece) object(meta metav1.ObjectMeta) (object, error) {
	made, err := p.chaos.SpawnNewObject(p.kind)
	if err != nil {
		return nil, err
	}
	o, ok := made.(object)
	if !ok {
		return nil, fmt.Errorf("%s of this version of Chaos Mesh's API has no webhook", p.kind)
	}
	o.GetObjectKind().SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(string(p.kind)))
	o.SetName(meta.Name)
	o.SetNamespace(meta.Namespace)
	o.SetLabels(meta.Labels)
	return o, nil
}

var _ runtime.Object = object(nil)
