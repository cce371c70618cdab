package kind

import (
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

func TestTheStateOfATask(t *testing.T) {
	const table = "TASK    PID     STATUS    \nab12    812     RUNNING\nab1    9021    PAUSED\n"
	for id, want := range map[string]string{"ab12": "RUNNING", "ab1": "PAUSED", "gone": "", "TASK": "STATUS"} {
		if got := stateOf(table, id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}

// TestWhatNeedsTheAPIServerWaitsForIt: the loop must not wait for what only the loop can bring back.
func TestWhatNeedsTheAPIServerWaitsForIt(t *testing.T) {
	w := &World{servers: servers{frozen: map[string][]string{apiComponent: {"ab12"}}}}
	done := 0
	w.WhenAPI(func() { done++ })
	if done != 0 || len(w.servers.waiting) != 1 {
		t.Errorf("done %d times while the API server is frozen, %d wait", done, len(w.servers.waiting))
	}
	w.servers.frozen[apiComponent] = nil
	w.WhenAPI(func() { done++ })
	if done != 1 {
		t.Errorf("done %d times afterwards, want once", done)
	}
}

// TestANodeGoesWithoutTheAPIServer: a machine is taken whether or not anybody can be told. What has to be told waits, and a notice that
// nobody could get in time is dropped.
func TestANodeGoesWithoutTheAPIServer(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(w *World)
		taken bool // the notice is over before the API server goes on
		want  []string
	}{
		"removed":             {func(w *World) { w.RemoveNode("spot-1") }, false, []string{"delete nodes"}},
		"reclaimed, in time":  {func(w *World) { w.ReclaimNode("spot-1", time.Hour) }, false, []string{"patch nodes", "list pods"}},
		"reclaimed, too late": {func(w *World) { w.ReclaimNode("spot-1", 0) }, true, []string{"delete nodes"}},
	} {
		api := fake.NewClientset()
		w := &World{
			servers:  servers{frozen: map[string][]string{apiComponent: {"ab12"}}},
			machines: machines{{name: "spot-1", node: &testbed.Node{}, off: true}}, // no engine is needed to switch it off once more
		}
		w.World = deployed.New(t.Context(), api, w, clusters.Config{}, deployed.Options{Namespace: "run"})
		w.Start(time.Now())
		c.do(w)
		if c.taken {
			if err := w.World.Run(t.Context(), 20*time.Millisecond, nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := api.Actions(); len(got) > 0 || w.Hindrance(clusters.API) == "" || w.Hindrance(clusters.Store) != "" {
			t.Errorf("%s: the frozen API server is asked %v", name, got)
		}
		w.servers.frozen[apiComponent] = nil
		w.catchUp()
		var got []string
		for _, a := range api.Actions() {
			got = append(got, a.GetVerb()+" "+a.GetResource().Resource)
		}
		if !slices.Equal(got, c.want) || len(w.servers.waiting) > 0 {
			t.Errorf("%s: afterwards it is asked %s, want %s; %d wait", name, got, c.want, len(w.servers.waiting))
		}
	}
}

// TestADatabaseThatIsToBeDownAgainIsNotStarted, although it was to be when the API server was frozen.
func TestADatabaseThatIsToBeDownAgainIsNotStarted(t *testing.T) {
	api := fake.NewClientset()
	w := &World{servers: servers{stopped: true, frozen: map[string][]string{apiComponent: {"ab12"}}}}
	w.World = deployed.New(t.Context(), api, w, clusters.Config{}, deployed.Options{Namespace: "run"})
	felt := false
	w.StartServer(clusters.Store)
	w.StopServer(clusters.Store, func() { felt = true })
	w.servers.frozen[apiComponent] = nil
	w.catchUp()
	if got := api.Actions(); len(got) > 0 || !w.servers.stopped || !felt {
		t.Errorf("the API server is asked %v; stopped: %t, felt: %t", got, w.servers.stopped, felt)
	}
}
