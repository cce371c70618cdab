package chaosmesh

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
)

// Removal is how an object went.
type Removal struct {
	Object string
	// Freed tells that its finalizer was taken away, because Chaos Mesh did not let it go within its limit: what it did to Left may
	// still be in force.
	Freed bool
	Left  []string // Pods and containers
	Why   string   // what Chaos Mesh said
}

// String is for reports; empty when all went well.
func (r Removal) String() string {
	if !r.Freed {
		return ""
	}
	text := r.Object + " did not go by itself and was freed of its finalizer"
	if r.Why != "" {
		text += " (" + r.Why + ")"
	}
	if len(r.Left) > 0 {
		text += ": the fault may still be in force in " + strings.Join(r.Left, ", ") + "; delete these Pods to be rid of it"
	}
	return text
}

// Remove deletes an object and waits until it is gone: Chaos Mesh recovers what it did before it lets go. An object that could never be
// injected is never let go either; after the limit it is freed of its finalizers, and the removal says so.
func (c Client) Remove(ctx context.Context, o Object, limit time.Duration) (Removal, error) {
	r := Removal{Object: o.name()}
	err := c.resource(o).Delete(ctx, o.Sent.GetName(), deletion(o))
	if apierrors.IsNotFound(err) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("%s: delete it: %w", o.name(), err)
	}
	var st Standing
	gone := func() (bool, error) {
		got, err := c.resource(o).Get(ctx, o.Sent.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("%s: read it: %w", o.name(), err)
		}
		st, _ = Stand(got) // a status that cannot be read keeps nothing from going
		return false, nil
	}
	if err = c.poll(ctx, limit, gone); err == nil || !errors.Is(err, ErrLimit) {
		return r, err
	}
	r.Freed, r.Why = true, st.Failure
	for _, v := range st.Victims {
		if !v.Healed {
			r.Left = append(r.Left, v.ID)
		}
	}
	return r, c.free(ctx, o, limit, gone)
}

// deletion has the objects of a Schedule or a Workflow go before it. An experiment has none, and need not wait for the garbage collector, which may
// not know so young a kind.
func deletion(o Object) metav1.DeleteOptions {
	first := metav1.DeletePropagationBackground
	if kind := o.Sent.GetKind(); kind == v1alpha1.KindSchedule || kind == v1alpha1.KindWorkflow {
		first = metav1.DeletePropagationForeground
	}
	return metav1.DeleteOptions{PropagationPolicy: &first}
}

// free takes the finalizers away. The records that Chaos Mesh keeps per Pod are left alone: a proxy that still runs is known by them.
func (c Client) free(ctx context.Context, o Object, limit time.Duration, gone func() (bool, error)) error {
	_, err := c.resource(o).Patch(ctx, o.Sent.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{FieldManager: manager})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: take its finalizers away: %w; do it by hand: kubectl patch %s -n %s %s --type merge -p '{\"metadata\":{\"finalizers\":null}}'",
			o.name(), err, resourceOf(o.Sent).Resource, o.Sent.GetNamespace(), o.Sent.GetName())
	}
	if err := c.poll(ctx, limit, gone); err != nil {
		return fmt.Errorf("%s: without finalizers it is still there: %w", o.name(), err)
	}
	return nil
}
