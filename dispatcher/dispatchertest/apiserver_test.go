package dispatchertest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// apiServer is the least that passes the suites, with defects to switch on.
type apiServer struct {
	defect  string
	version uint64
	objects []*dispatcher.Workload // in order of name
	leases  map[string]dispatcher.Lease
	exits   map[dispatcher.UID]int
	forced  map[dispatcher.UID]bool
}

func newAPIServer(defect string) *apiServer {
	return &apiServer{
		defect: defect, leases: map[string]dispatcher.Lease{},
		exits: map[dispatcher.UID]int{}, forced: map[dispatcher.UID]bool{},
	}
}

func (s *apiServer) has(defect string) bool { return s.defect == defect }

func (s *apiServer) find(name string) *dispatcher.Workload {
	for _, w := range s.objects {
		if w.Name == name {
			return w
		}
	}
	return nil
}

func (s *apiServer) change(w *dispatcher.Workload) {
	if s.has("no versions") && w.Version > 0 {
		return
	}
	s.version++
	w.Version = s.version
}

func (s *apiServer) Create(_ context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	if strings.ToLower(w.Name) != w.Name && !s.has("anything goes") {
		return w, dispatcher.ErrRejected
	}
	if (len(w.Task) > 63 || w.Task[0] == '-' || w.Deadline < time.Second) && !s.has("any task") {
		return w, dispatcher.ErrRejected
	}
	if old := s.find(w.Name); old != nil {
		if s.has("create replaces") {
			old.Token = w.Token
		}
		if !s.has("terminating frees the name") || !old.Deleting {
			return w, dispatcher.ErrExists
		}
	}
	s.change(&w)
	w.UID, w.State = dispatcher.UID("uid-"+strconv.FormatUint(w.Version, 10)), dispatcher.WorkloadPending
	if s.has("identity by name") {
		w.UID = dispatcher.UID(w.Name)
	}
	if w.Deadline = w.Deadline.Truncate(time.Second); !s.has("grace cut short") {
		w.Grace += time.Second - 1
	}
	w.Grace = w.Grace.Truncate(time.Second)
	if s.has("work is lost") {
		w.Work.CrashAt = 0
	}
	s.objects = append(s.objects, &w)
	slices.SortFunc(s.objects, func(a, b *dispatcher.Workload) int { return strings.Compare(a.Name, b.Name) })
	return w, nil
}

func (s *apiServer) Get(_ context.Context, name string) (dispatcher.Workload, error) {
	w := s.find(name)
	if w == nil {
		if s.has("absent is unknown") {
			return dispatcher.Workload{}, dispatcher.ErrUnknown
		}
		return dispatcher.Workload{}, dispatcher.ErrNotFound
	}
	return *w, nil
}

func (s *apiServer) List(_ context.Context, l dispatcher.List) (dispatcher.WorkloadPage, error) {
	from, err := 0, error(nil)
	if l.Continue != "" {
		if from, err = strconv.Atoi(l.Continue); err != nil && !s.has("any token") {
			return dispatcher.WorkloadPage{}, dispatcher.ErrRejected
		}
	}
	var page dispatcher.WorkloadPage
	for i := from; i < len(s.objects); i++ {
		if l.Limit > 0 && len(page.Items) == l.Limit {
			page.Continue = strconv.Itoa(i)
			break
		}
		page.Items = append(page.Items, *s.objects[i])
	}
	if s.has("one page only") {
		page.Continue = ""
	}
	return page, nil
}

func (s *apiServer) precondition(name string, uid dispatcher.UID) (*dispatcher.Workload, error) {
	w := s.find(name)
	switch {
	case w == nil:
		return nil, dispatcher.ErrNotFound
	case w.UID != uid && !s.has("no precondition"):
		return nil, dispatcher.ErrConflict
	}
	return w, nil
}

func (s *apiServer) Delete(_ context.Context, name string, uid dispatcher.UID, force bool) error {
	w, err := s.precondition(name, uid)
	if err != nil {
		return err
	}
	s.forced[w.UID] = s.forced[w.UID] || force && !s.has("force waits")
	if !w.Deleting || s.has("deleted anew") {
		w.Deleting, w.DeletedAt = true, time.Unix(int64(s.version), 0)
		if s.has("fine deletion times") {
			w.DeletedAt = w.DeletedAt.Add(1)
		}
		s.change(w)
	}
	s.leave(w)
	return nil
}

func (s *apiServer) Release(_ context.Context, name string, uid dispatcher.UID) error {
	w, err := s.precondition(name, uid)
	if err != nil {
		return err
	}
	if w.Held {
		w.Held = false
		s.change(w)
	}
	s.leave(w)
	return nil
}

// leave removes what is deleted and held by nobody.
func (s *apiServer) leave(w *dispatcher.Workload) {
	held := w.Held && !s.has("finalizers are ignored")
	if w.Deleting && !held && (s.forced[w.UID] || w.State.Ended()) {
		s.objects = slices.DeleteFunc(s.objects, func(o *dispatcher.Workload) bool { return o == w })
	}
}

func (s *apiServer) NodeExists(_ context.Context, node string) (bool, error) {
	return node == "node-1" || s.has("every node"), nil
}

func (s *apiServer) GetLease(_ context.Context, name string) (dispatcher.Lease, error) {
	l, ok := s.leases[name]
	if !ok {
		return l, dispatcher.ErrNotFound
	}
	return l, nil
}

func (s *apiServer) PutLease(_ context.Context, l dispatcher.Lease) (dispatcher.Lease, error) {
	old, ok := s.leases[l.Name]
	if l.RenewedAt = l.RenewedAt.Truncate(time.Microsecond); s.has("stamps are rounded") {
		l.RenewedAt = l.RenewedAt.Add(time.Microsecond)
	}
	switch {
	case (l.TTL < time.Second || l.TTL%time.Second != 0) && !s.has("any length"):
		return l, dispatcher.ErrRejected
	case l.Version == 0 && ok && !s.has("create overwrites"):
		return l, dispatcher.ErrExists
	case l.Version != 0 && !ok && !s.has("update creates"):
		return l, dispatcher.ErrNotFound
	case l.Version != 0 && ok && l.Version != old.Version && !s.has("last write wins"):
		return l, dispatcher.ErrConflict
	}
	if s.has("holder stays") && l.Holder == "" {
		l.Holder = old.Holder
	}
	s.version++
	l.Version = s.version
	s.leases[l.Name] = l
	return l, nil
}

// The world around it: one node, and a kubelet that does one thing at a time.

func (s *apiServer) Workloads() dispatcher.Workloads { return s }

func (s *apiServer) Until(holds func() bool) bool {
	for range 20 {
		if holds() {
			return true
		}
		for _, w := range slices.Clone(s.objects) {
			s.kubelet(w)
		}
	}
	return false
}

func (s *apiServer) Exit(name string, code int) { s.exits[s.find(name).UID] = code }

func (s *apiServer) kubelet(w *dispatcher.Workload) {
	code, exited := s.exits[w.UID]
	before := *w
	switch {
	case w.State.Ended():
	case w.Deleting:
		w.State, w.Failure = dispatcher.WorkloadFailed, dispatcher.FailureError
	case w.State == dispatcher.WorkloadPending:
		w.State, w.Node = dispatcher.WorkloadRunning, "node-1"
	case exited && code == 0:
		w.State = dispatcher.WorkloadSucceeded
	case exited:
		w.State, w.Failure, w.ExitCode = dispatcher.WorkloadFailed, dispatcher.FailureError, code
	case w.Deadline < time.Minute:
		w.State, w.Failure = dispatcher.WorkloadFailed, dispatcher.FailureDeadline
	}
	if *w != before {
		s.change(w)
	}
	s.leave(w)
}

func TestWorkloads(t *testing.T) {
	ExerciseWorkloads(t, func(*testing.T) World { return newAPIServer("") })
}

func TestLeases(t *testing.T) {
	ExerciseLeases(t, func(*testing.T) dispatcher.Leases { return newAPIServer("") })
}

func TestEachDefectOfAnAPIServerIsCaught(t *testing.T) {
	for _, p := range []struct{ defect, caught string }{
		{"no versions", "life/pending, running, succeeded"},
		{"anything goes", "create/an invalid object is rejected for good"},
		{"any task", "create/a task that cannot be a label is rejected for good"},
		{"grace cut short", "create/in whole seconds: no longer a deadline, no shorter a grace"},
		{"fine deletion times", "delete/graceful, of a running workload that we hold"},
		{"any length", "put/lasts whole seconds"},
		{"stamps are rounded", "put/is stamped to the microsecond, never later"},
		{"create replaces", "create/a name is taken once"},
		{"terminating frees the name", "create/a terminating object keeps its name"},
		{"identity by name", "precondition/a successor is another object"},
		{"work is lost", "create/takes over all that the work needs"},
		{"absent is unknown", "get/of an unknown name is proof of absence"},
		{"any token", "list/a token that is none is refused"},
		{"one page only", "list/shows each object once, in pages"},
		{"no precondition", "precondition/another object under the name is left alone"},
		{"force waits", "delete/by force does not wait for the kubelet, but for us"},
		{"deleted anew", "delete/again changes nothing"},
		{"finalizers are ignored", "delete/by force does not wait for the kubelet, but for us"},
		{"every node", "node/exists or not"},
		{"create overwrites", "put/creates once"},
		{"update creates", "put/a version of a lease that is not there is refused"},
		{"last write wins", "put/of two who read the same, one wins"},
		{"holder stays", "put/a lease can be given up and taken"},
	} {
		t.Run(p.defect, func(t *testing.T) {
			if got, found := failureOf(p.caught, newAPIServer(p.defect)); !found {
				t.Fatalf("no case %q", p.caught)
			} else if got == "" {
				t.Fatalf("%q passed", p.caught)
			}
		})
	}
}

// failureOf runs the named case of either suite.
func failureOf(name string, s *apiServer) (got string, found bool) {
	for _, c := range workloadCases {
		if c.name == name {
			return failure(func(r reporter) { c.run(newCluster(r, s)) }), true
		}
	}
	for _, c := range leaseCases {
		if c.name == name {
			return failure(func(r reporter) { c.run(&leases{r, context.Background(), s}) }), true
		}
	}
	return fmt.Sprintf("no case %q", name), false
}
