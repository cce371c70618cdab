package planted

import (
	"context"
	"errors"
	"fmt"

	"github.com/squall-chaos/squall/dispatcher"
)

// ports makes a hook of something that stands before the API server.
func ports(wrap func(dispatcher.Workloads) dispatcher.Workloads) func(dispatcher.Ports) dispatcher.Ports {
	return func(p dispatcher.Ports) dispatcher.Ports {
		p.Workloads = wrap(p.Workloads)
		return p
	}
}

// deleteWithoutUID: a delete names the object, and falls on whatever has that name when it arrives.
func deleteWithoutUID() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "delete-without-uid",
			Summary: "a delete has no UID as precondition, so one that arrives late falls on the successor's pod",
			Ports:   ports(func(w dispatcher.Workloads) dispatcher.Workloads { return byName{w} }),
		},
		Incident: "F5", Breaks: []string{"I5-false-death"}, Scenario: "delete-applied-late", Seeds: 20,
		Witness: also("killed-and-deleted-late", "I5-false-death", 10),
	}
}

type byName struct{ dispatcher.Workloads }

func (b byName) Delete(ctx context.Context, name string, _ dispatcher.UID, force bool) error {
	return b.Workloads.Delete(ctx, name, "", force)
}

// finalizerNeverReleased: the finalizer is set, and whoever should remove it believes that somebody did.
func finalizerNeverReleased() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "finalizer-never-released",
			Summary: "nobody removes the dispatcher's own finalizer, so no object ever goes",
			Ports:   ports(func(w dispatcher.Workloads) dispatcher.Workloads { return holding{w} }),
		},
		Incident: "G1", Breaks: []string{"I8-leak"}, Scenario: "demo", Seeds: 20,
		Witness: also("spot-taken-for-good", "I8-leak", 5),
	}
}

type holding struct{ dispatcher.Workloads }

func (holding) Release(context.Context, string, dispatcher.UID) error { return nil }

// finalizerLeftToOthers: what somebody else deleted is theirs, finalizer and all (kubernetes/kubernetes#109429: the parent was deleted while
// its pod finished, and the controller of the parent no longer looked at the pod).
func finalizerLeftToOthers() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "finalizer-left-to-others",
			Summary: "the dispatcher's own finalizer is not removed from an object that somebody else deleted",
			Ports: ports(func(w dispatcher.Workloads) dispatcher.Workloads {
				return &handsOff{Workloads: w, own: map[dispatcher.UID]bool{}, others: map[dispatcher.UID]bool{}}
			}),
		},
		Incident: "G2", Breaks: []string{"I8-leak"}, Scenario: "launcher-deleted-while-finishing", Seeds: 20,
		Witness: also("evicted-and-killed", "I3-loss", 5),
	}
}

// handsOff keeps apart what it deleted itself and what it saw being deleted.
type handsOff struct {
	dispatcher.Workloads
	own, others map[dispatcher.UID]bool
}

func (h *handsOff) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	w, err := h.Workloads.Get(ctx, name)
	if err == nil && w.Deleting && !h.own[w.UID] {
		h.others[w.UID] = true
	}
	return w, err
}

func (h *handsOff) Delete(ctx context.Context, name string, uid dispatcher.UID, force bool) error {
	h.own[uid] = true
	return h.Workloads.Delete(ctx, name, uid, force)
}

func (h *handsOff) Release(ctx context.Context, name string, uid dispatcher.UID) error {
	if h.others[uid] {
		return nil
	}
	return h.Workloads.Release(ctx, name, uid)
}

// cleanupByInstanceName: a dispatcher that starts clears away what carries another instance's name: "not mine, so superseded".
func cleanupByInstanceName() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "cleanup-by-instance-name",
			Summary: "a dispatcher that starts under a new name deletes all pods that another name launched",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = &startingAnew{Store: p.Store, workloads: p.Workloads}
				return p
			},
		},
		Incident: "F5", Breaks: []string{"I5-false-death"}, Scenario: "partition-containers-live-on", Seeds: 20,
		Witness: also("database-crash", "I5-false-death", 5),
	}
}

type startingAnew struct {
	dispatcher.Store
	workloads dispatcher.Workloads
	led       bool
}

// Lead has the process look, before its first term, for what it does not know: nothing of what there is was launched by it.
func (s *startingAnew) Lead(ctx context.Context, r dispatcher.Role, i dispatcher.InstanceID) (dispatcher.Term, error) {
	term, err := s.Store.Lead(ctx, r, i)
	if err != nil || s.led || r != dispatcher.RoleDispatcher {
		return term, err
	}
	s.led = true
	page, err := s.workloads.List(ctx, dispatcher.List{})
	for _, w := range page.Items {
		if err == nil && !w.State.Ended() {
			_ = s.workloads.Delete(ctx, w.Name, w.UID, false) // what cannot be deleted now is left
		}
	}
	return term, nil
}

// ownPodTakenForForeign: a name that is taken is somebody else's, and must be freed.
func ownPodTakenForForeign() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "own-pod-taken-for-foreign",
			Summary: "after a create without an answer, or a name that is taken, the pod under the name is deleted as somebody else's",
			Ports: ports(func(w dispatcher.Workloads) dispatcher.Workloads {
				return &distrusting{Workloads: w, taken: map[string]bool{}}
			}),
		},
		Incident: "B2", Breaks: []string{"I5-false-death"}, Scenario: "create-answered-late", Seeds: 20,
		Witness: also("slow-api-short-timeout", "I5-false-death", 10),
	}
}

type distrusting struct {
	dispatcher.Workloads
	taken map[string]bool
}

func (d *distrusting) Create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	made, err := d.Workloads.Create(ctx, w)
	d.taken[w.Name] = err != nil
	return made, err
}

func (d *distrusting) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	w, err := d.Workloads.Get(ctx, name)
	if d.taken[name] {
		w.Token = 0 // of no attempt that is known here
	}
	return w, err
}

// existsIsFailure: a create of a name that is taken has failed.
func existsIsFailure() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "exists-is-failure",
			Summary: "a create that finds its own pod already there is recorded as a failed task",
			Ports:   ports(func(w dispatcher.Workloads) dispatcher.Workloads { return existsFails{w} }),
		},
		Incident: "B5", Breaks: []string{"I3-loss"}, Scenario: "crash-between-create-and-record", Seeds: 20,
		Witness: also("paused-in-mid-batch", "I3-loss", 5),
	}
}

type existsFails struct{ dispatcher.Workloads }

func (e existsFails) Create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	made, err := e.Workloads.Create(ctx, w)
	if errors.Is(err, dispatcher.ErrExists) {
		err = errors.Join(dispatcher.ErrRejected, err)
	}
	return made, err
}

// deleteAskedOnce: whoever asked for a deletion has done its part, whatever the answer was.
func deleteAskedOnce() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "delete-asked-once",
			Summary: "a deletion is asked for once and never again, whether or not the request arrived",
			Ports: ports(func(w dispatcher.Workloads) dispatcher.Workloads {
				return &askingOnce{Workloads: w, asked: map[dispatcher.UID]bool{}}
			}),
		},
		Incident: "J3", Breaks: []string{"I8-leak"}, Scenario: "cancel-with-delete-lost", Seeds: 20,
		Witness: also("swarm-standard", "I8-leak", 40),
	}
}

type askingOnce struct {
	dispatcher.Workloads
	asked map[dispatcher.UID]bool
}

func (a *askingOnce) Delete(ctx context.Context, name string, uid dispatcher.UID, force bool) error {
	if !a.asked[uid] {
		a.asked[uid] = true
		_ = a.Workloads.Delete(ctx, name, uid, force)
	}
	return nil
}

// startTimeoutLeavesPod: an attempt that took too long to begin is given up in its row, and its pod is left to wait on. Names of
// their own and workers that do not ask let it matter: else the name is not free before the pod is gone, or its worker is refused.
func startTimeoutLeavesPod() Defect {
	bare := both(namesOfAttempts(), noWorkerStartGuard().System)
	bare.Name, bare.Summary = "names-of-attempts", "the reference with a pod name for each attempt, and workers that do not ask before they begin"
	all := both(bare, dispatcher.System{Ports: func(p dispatcher.Ports) dispatcher.Ports {
		l := &leaving{Workloads: p.Workloads, rows: map[dispatcher.TaskID]dispatcher.Task{}, left: map[dispatcher.UID]bool{}}
		p.Workloads, p.Store = l, noting{p.Store, l.rows}
		return p
	}})
	all.Name, all.Summary = "start-timeout-leaves-pod", "a start timeout changes the row only; the pod waits on, and may begin beside its successor"
	return Defect{System: all, Incident: "S2", Breaks: []string{"I1-overlap"}, Scenario: "pending-past-its-timeout", Seeds: 20, Witness: also("pending-past-its-timeout", "L1-ledger", 5), Bare: &bare}
}

// namesOfAttempts is the reference with a pod name for each attempt.
func namesOfAttempts() dispatcher.System {
	return dispatcher.System{Ports: ports(func(w dispatcher.Workloads) dispatcher.Workloads { return perAttempt{w} })}
}

type perAttempt struct{ dispatcher.Workloads }

func (p perAttempt) Create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	w.Name = fmt.Sprintf("%s-%d", w.Name, w.Token)
	return p.Workloads.Create(ctx, w)
}

// Get finds the newest object that carries the task's label.
func (p perAttempt) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	return newest(ctx, p.Workloads, name, false)
}

// noting keeps the rows that the reconciler read last.
type noting struct {
	dispatcher.Store
	rows map[dispatcher.TaskID]dispatcher.Task
}

func (n noting) Scan(ctx context.Context, s dispatcher.Scan) (dispatcher.Page, error) {
	page, err := n.Store.Scan(ctx, s)
	for _, t := range page.Tasks {
		n.rows[t.Spec.ID] = t
	}
	return page, err
}

// leaving forgets pods instead of deleting them, of attempts that are wanted and never began.
type leaving struct {
	dispatcher.Workloads
	rows map[dispatcher.TaskID]dispatcher.Task
	left map[dispatcher.UID]bool
}

func (l *leaving) Delete(ctx context.Context, name string, uid dispatcher.UID, force bool) error {
	// At most one has this object: order does not matter.
	for _, t := range l.rows {
		if t.Attempt.Workload == uid && t.Phase == dispatcher.Running && t.Desired == dispatcher.DesiredRun && t.Attempt.StartedAt.IsZero() {
			l.left[uid] = true
			return nil
		}
	}
	return l.Workloads.Delete(ctx, name, uid, force)
}

func (l *leaving) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	w, err := l.Workloads.Get(ctx, name)
	if err == nil && l.left[w.UID] {
		return dispatcher.Workload{}, dispatcher.ErrNotFound
	}
	return w, err
}

func (l *leaving) List(ctx context.Context, q dispatcher.List) (dispatcher.WorkloadPage, error) {
	page, err := l.Workloads.List(ctx, q)
	var kept []dispatcher.Workload
	for _, w := range page.Items {
		if !l.left[w.UID] {
			kept = append(kept, w)
		}
	}
	page.Items = kept
	return page, err
}
