package planted

import (
	"context"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/dispatcher"
)

// simWatch says why a dispatcher that watches cannot run on real servers.
const simWatch = "it keeps a cache by the port Watch, which only the simulation has"

// watchNotRelisted: objects are read from a cache that a watch keeps. When the watch has expired (410) only a list could tell what
// there is, and none is made: the cache stands still and nobody notices (apache/airflow#21087).
func watchNotRelisted() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "watch-not-relisted",
			Summary: "objects are read from a cache that a watch feeds, and a watch that has expired is not followed by a list",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Workloads = &lister{Workloads: p.Workloads, watch: p.Watch}
				return p
			},
		},
		Incident: "H2", Breaks: []string{"I2-stranded"}, Scenario: "watch-expired", Seeds: 20, SimOnly: simWatch,
		Witness: also("watch-silent", "I2-stranded", 5),
	}
}

// lister answers lists and gets from a cache, as an informer's does.
type lister struct {
	dispatcher.Workloads
	watch   dispatcher.Watch
	listed  bool
	objects []dispatcher.Workload // in order of name
	version uint64
}

// sync brings the cache up to what the watch shows by now. An error leaves it as it is.
func (l *lister) sync(ctx context.Context) error {
	if !l.listed {
		return l.list(ctx)
	}
	changes, err := l.watch.Watch(ctx, l.version)
	if err != nil {
		return nil
	}
	l.version = changes.Version
	for _, c := range changes.Items {
		l.apply(c)
	}
	return nil
}

// list fills the cache. The watch is opened before, so that nothing falls between the two.
func (l *lister) list(ctx context.Context) error {
	opened, err := l.watch.Watch(ctx, 0)
	if err != nil {
		return err
	}
	l.objects = l.objects[:0]
	next := ""
	for {
		page, err := l.Workloads.List(ctx, dispatcher.List{Continue: next})
		if err != nil {
			return err
		}
		l.objects = append(l.objects, page.Items...)
		if next = page.Continue; next == "" {
			break
		}
	}
	l.version, l.listed = opened.Version, true
	return nil
}

func (l *lister) find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.objects, name, func(w dispatcher.Workload, name string) int { return strings.Compare(w.Name, name) })
}

func (l *lister) apply(c dispatcher.Change) {
	i, found := l.find(c.Workload.Name)
	switch {
	case found && c.Workload.Version < l.objects[i].Version: // the list was newer
	case found && c.Gone:
		l.objects = slices.Delete(l.objects, i, i+1)
	case found:
		l.objects[i] = c.Workload
	case !c.Gone:
		l.objects = slices.Insert(l.objects, i, c.Workload)
	}
}

// Get knows what the cache knows.
func (l *lister) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	if err := l.sync(ctx); err != nil {
		return dispatcher.Workload{}, err
	}
	if i, found := l.find(name); found {
		return l.objects[i], nil
	}
	return dispatcher.Workload{}, dispatcher.ErrNotFound
}

// List is one page of the cache.
func (l *lister) List(ctx context.Context, _ dispatcher.List) (dispatcher.WorkloadPage, error) {
	if err := l.sync(ctx); err != nil {
		return dispatcher.WorkloadPage{}, err
	}
	return dispatcher.WorkloadPage{Items: slices.Clone(l.objects)}, nil
}
