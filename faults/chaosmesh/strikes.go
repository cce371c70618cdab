package chaosmesh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"

	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh/coverage"
)

// Strikes strikes and heals the faults of one run by objects, while the run goes on. It is for one goroutine.
type Strikes struct {
	Client Client
	Site   Site
	// Limit bounds each wait: until an object is injected, and until it is gone.
	Limit time.Duration
	// Except are the kinds of faults that the world is to strike itself, and why.
	Except map[faults.Kind]string
	// NoNetem says why packets cannot be delayed or lost at random where the run is; empty: they can.
	NoNetem string

	standing map[int][]Object // by index of the fault
}

// Takes tells by what objects a fault, its targets resolved, is struck; or why it is not.
func (s *Strikes) Takes(f faults.Fault) (by, why string) {
	if why := s.Except[f.Kind]; why != "" {
		return "", why
	}
	m := s.Site.Map(0, f)
	switch {
	case !m.Maps():
		return "", m.Why
	case s.NoNetem != "" && slices.ContainsFunc(m.pieces, piece.netem):
		return "", s.NoNetem
	}
	return "Chaos Mesh's " + coverage.Of(f).Object, ""
}

// netem tells whether the experiment needs the kernel's queue discipline of that name.
func (p piece) netem() bool {
	c := p.chaos.NetworkChaos
	return c != nil && c.Action != v1alpha1.PartitionAction
}

// Struck is what became of a strike.
type Struck struct {
	Objects []string
	Victims []string // by Chaos Mesh's records
}

// Strike applies a fault's objects and returns when Chaos Mesh has injected them all. That nobody is there to be struck is no error:
// then there are no victims.
func (s *Strikes) Strike(ctx context.Context, index int, f faults.Fault) (Struck, error) {
	var all Struck
	objects, err := s.Site.Objects(index, f)
	if err != nil {
		return all, err
	}
	if s.standing == nil {
		s.standing = map[int][]Object{}
	}
	for _, o := range objects {
		s.standing[index] = append(s.standing[index], o) // before it is made: so that it is removed whatever happens
		if err := s.Client.Apply(ctx, o); err != nil {
			return all, err
		}
		all.Objects = append(all.Objects, o.name())
	}
	for _, o := range objects {
		st, err := s.Client.AwaitInjected(ctx, o, s.Limit)
		if err != nil && !errors.Is(err, ErrNobody) {
			return all, err
		}
		all.Victims = append(all.Victims, st.struck()...)
	}
	return all, nil
}

// Objects are what one fault of a plan becomes, each an object by itself; whoever applies them decides when.
func (s Site) Objects(index int, f faults.Fault) ([]Object, error) {
	m := s.Map(index, f)
	if !m.Maps() {
		return nil, fmt.Errorf("fault %d, %s: Chaos Mesh has nothing for it: %s", index+1, f, m.Why)
	}
	return s.objects([]series{{first: m, index: []int{index}}})
}

// Heal removes the objects of a fault, and returns when Chaos Mesh has undone them. What is over at once stays until Close, for its
// records.
func (s *Strikes) Heal(ctx context.Context, index int) error {
	var rest, lasting []Object
	for _, o := range s.standing[index] {
		if o.OneShot {
			rest = append(rest, o)
		} else {
			lasting = append(lasting, o)
		}
	}
	s.standing[index] = rest
	return s.remove(ctx, lasting)
}

// Close removes all that is left.
func (s *Strikes) Close(ctx context.Context) error {
	var left []Object
	for _, index := range slices.Sorted(maps.Keys(s.standing)) {
		left = append(left, s.standing[index]...)
	}
	s.standing = nil
	return s.remove(ctx, left)
}

// remove takes objects away. One that had to be freed is an error: what it did may still be in force.
func (s *Strikes) remove(ctx context.Context, objects []Object) error {
	var problems []error
	for _, o := range objects {
		gone, err := s.Client.Remove(ctx, o, s.Limit)
		if gone.Freed {
			err = errors.Join(errors.New(gone.String()), err)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// Check tells whether objects of every kind that Squall makes can be made in a namespace, by dry runs. It changes nothing.
func (c Client) Check(ctx context.Context, namespace string) error {
	s := Site{Namespace: namespace, Name: "squall-check"}
	p := s.pods(v1alpha1.AllMode, map[string]string{LabelScenario: s.Name})
	for _, x := range []piece{
		podChaos(v1alpha1.PodChaosSpec{ContainerSelector: v1alpha1.ContainerSelector{PodSelector: p}, Action: v1alpha1.PodKillAction}),
		{kind: v1alpha1.TypeNetworkChaos, chaos: v1alpha1.EmbedChaos{NetworkChaos: &v1alpha1.NetworkChaosSpec{
			PodSelector: p, Action: v1alpha1.PartitionAction, Direction: v1alpha1.Both, ExternalTargets: []string{"192.0.2.1"}}}},
	} {
		made, err := x.object(s.meta(s.Name))
		if err != nil {
			return err
		}
		o, err := admitted(made)
		if err != nil {
			return err
		}
		if err := c.ask(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
