package dispatchertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// World is a cluster to be exercised: an API server without workloads, and at least one ready node for spot and
// for on-demand work each. How pods get along differs between worlds; the suite only waits for it.
type World interface {
	Workloads() dispatcher.Workloads
	// Until lets the world go on until the condition holds, which is asked now and then. False: it gave up.
	Until(holds func() bool) bool
	// Exit ends the container of the running workload with the code.
	Exit(name string, code int)
}

// ExerciseWorkloads runs the conformance suite. open returns an empty world.
func ExerciseWorkloads(t *testing.T, open func(t *testing.T) World) {
	for _, c := range workloadCases {
		t.Run(c.name, func(t *testing.T) { c.run(newCluster(t, open(t))) })
	}
}

// workloadCase is one promise of the API as dispatchers need it.
type workloadCase struct {
	name string
	run  func(*cluster)
}

// cluster is a world with what cases say and do.
type cluster struct {
	reporter
	ctx   context.Context
	world World
	api   dispatcher.Workloads
}

func newCluster(r reporter, w World) *cluster {
	return &cluster{reporter: r, ctx: context.Background(), world: w, api: w.Workloads()}
}

// request is what a dispatcher asks for.
func request(id dispatcher.TaskID) dispatcher.Workload {
	return dispatcher.Workload{
		Name: dispatcher.WorkloadName(id), Task: id, Attempt: 2, Token: 7,
		Deadline: 10 * time.Minute, Grace: time.Second, Held: true,
		Work: dispatcher.Work{Run: time.Hour},
	}
}

func (c *cluster) create(w dispatcher.Workload) dispatcher.Workload {
	c.Helper()
	made, err := c.api.Create(c.ctx, w)
	c.ok(err)
	return made
}

func (c *cluster) get(name string) dispatcher.Workload {
	c.Helper()
	w, err := c.api.Get(c.ctx, name)
	c.ok(err)
	return w
}

func (c *cluster) delete(w dispatcher.Workload, force bool) {
	c.Helper()
	c.ok(c.api.Delete(c.ctx, w.Name, w.UID, force))
}

func (c *cluster) release(w dispatcher.Workload) {
	c.Helper()
	c.ok(c.api.Release(c.ctx, w.Name, w.UID))
}

func (c *cluster) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatalf("refused: %v", err)
	}
}

func (c *cluster) is(err, want error) {
	c.Helper()
	if !errors.Is(err, want) {
		c.Fatalf("got error %v, want %v", err, want)
	}
}

func (c *cluster) equal(what string, got, want any) {
	c.Helper()
	if got != want {
		c.Fatalf("%s is %v, want %v", what, got, want)
	}
}

// absent demands proof that no object has the name.
func (c *cluster) absent(name string) {
	c.Helper()
	_, err := c.api.Get(c.ctx, name)
	c.is(err, dispatcher.ErrNotFound)
}

// becomes waits until the object is as wanted and returns it.
func (c *cluster) becomes(what, name string, wanted func(dispatcher.Workload) bool) dispatcher.Workload {
	c.Helper()
	var last dispatcher.Workload
	if !c.world.Until(func() bool {
		w, err := c.api.Get(c.ctx, name)
		if err == nil {
			last = w
		}
		return err == nil && wanted(w)
	}) {
		c.Fatalf("%s did not become %s; last seen: %+v", name, what, last)
	}
	return last
}

// vanishes waits until the object is gone.
func (c *cluster) vanishes(name string) {
	c.Helper()
	if !c.world.Until(func() bool {
		_, err := c.api.Get(c.ctx, name)
		return errors.Is(err, dispatcher.ErrNotFound)
	}) {
		c.Fatalf("%s did not vanish", name)
	}
}

// running creates the workload and waits until its container runs.
func (c *cluster) running(w dispatcher.Workload) dispatcher.Workload {
	c.Helper()
	c.create(w)
	return c.becomes("running", w.Name, isRunning)
}

func isRunning(w dispatcher.Workload) bool { return w.State == dispatcher.WorkloadRunning }

func hasEnded(w dispatcher.Workload) bool { return w.State.Ended() }

// names lists everything, page by page.
func (c *cluster) names(limit int) []string {
	c.Helper()
	var names []string
	list := dispatcher.List{Limit: limit}
	for {
		page, err := c.api.List(c.ctx, list)
		c.ok(err)
		if limit > 0 && len(page.Items) > limit {
			c.Fatalf("a page of %d, with a limit of %d", len(page.Items), limit)
		}
		for _, w := range page.Items {
			names = append(names, w.Name)
		}
		if page.Continue == "" {
			slices.Sort(names)
			return names
		}
		list.Continue = page.Continue
	}
}

// fill creates n workloads and returns their names.
func (c *cluster) fill(n int) []string {
	c.Helper()
	var names []string
	for i := range n {
		names = append(names, c.create(request(dispatcher.TaskID(fmt.Sprintf("w%d", i)))).Name)
	}
	return names
}
