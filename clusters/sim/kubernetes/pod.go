package kubernetes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// pod is a Pod object.
type pod struct {
	w      dispatcher.Workload // as the API server shows it
	task   history.ID
	number uint64 // of the objects made, from 1
	node   *node  // bound to
	// container is what the kubelet made of the pod; nil until it saw it.
	container *Container
	immediate bool // deletionGracePeriodSeconds is 0: the object leaves with its last finalizer
	disrupted bool // condition DisruptionTarget
	gone      bool
	// unselected: no selector finds it, any more or, of a part, at all.
	unselected bool
	seen       func() // its kubelet sees a change: made once
	owner      kernel.Owner
	parts      []*pod     // what its container made, and it owns
	whole      *pod       // of a part: who owns it; nil: nobody
	launcher   *Container // of a part: what made it, and waits for its end
}

// Create makes the object, unless its name is taken (also by one that is terminating), the quota is spent or
// the object is invalid. The status and the deletion of what is passed in are ignored.
func (s *Server) Create(w dispatcher.Workload) (dispatcher.Workload, error) {
	p, err := s.create(w, nil)
	if err != nil {
		return dispatcher.Workload{}, err
	}
	return p.w, nil
}

// create makes an object, which is a part when a launcher made it.
func (s *Server) create(w dispatcher.Workload, launcher *Container) (*pod, error) {
	if err := valid(w); err != nil {
		return nil, fmt.Errorf("create workload %s: %w", w.Name, err)
	}
	// Admission comes before storage, so a spent quota hides that the name is taken
	// (kubernetes.io/docs/concepts/policy/resource-quotas).
	if s.quota > 0 && s.live >= s.quota {
		return nil, fmt.Errorf("create workload %s: quota of %d pods: %w", w.Name, s.quota, dispatcher.ErrThrottled)
	}
	if s.pods[w.Name] != nil {
		return nil, &refusal{"create", w.Name, dispatcher.ErrExists}
	}
	s.uids++
	w.UID = dispatcher.UID("uid-" + strconv.FormatUint(s.uids, 10))
	w.State, w.Failure, w.Node, w.Deleting, w.DeletedAt = dispatcher.WorkloadPending, dispatcher.FailureNone, "", false, time.Time{}
	// The object has whole seconds; dispatcher/kube asks for no longer a deadline and no shorter a grace than it was told.
	w.Deadline, w.Grace = w.Deadline.Truncate(time.Second), ceil(w.Grace, time.Second)
	p := s.memory.pods.New()
	p.w, p.task, p.number = w, s.host.Tasks().ID(string(w.Task)), s.uids
	if s.k.Ordered() {
		p.owner = s.k.Owner("pod " + w.Name)
	}
	p.seen = func() { s.sync(p) }
	if launcher != nil {
		s.belong(p, launcher)
	}
	s.pods[w.Name] = p
	i, _ := s.find(w.Name)
	s.byName = slices.Insert(s.byName, i, p)
	s.live++
	s.changed(p, Added)
	s.observe(p, history.ObjectCreated, w.Name)
	s.enqueue(p)
	return p, nil
}

// refusal explains an error that dispatchers meet every day. Its text is made when somebody reads it.
type refusal struct {
	verb, name string
	err        error
}

func (r *refusal) Error() string { return fmt.Sprintf("%s workload %s: %v", r.verb, r.name, r.err) }

func (r *refusal) Unwrap() error { return r.err }

// valid is the part of validation that a dispatcher can fail (pkg/apis/core/validation, ValidatePodCreate): the name is a DNS
// subdomain, the task a label value, activeDeadlineSeconds at least 1 when set, the grace period not negative.
func valid(w dispatcher.Workload) error {
	switch {
	case !subdomain(w.Name):
		return fmt.Errorf("the name is no DNS subdomain: %w", dispatcher.ErrRejected)
	case !labelValue(string(w.Task)):
		return fmt.Errorf("task %q is no label value: %w", w.Task, dispatcher.ErrRejected)
	case w.Deadline < 0 || w.Deadline > 0 && w.Deadline < time.Second:
		return fmt.Errorf("activeDeadlineSeconds must be at least 1: %w", dispatcher.ErrRejected)
	case w.Grace < 0:
		return fmt.Errorf("terminationGracePeriodSeconds must not be negative: %w", dispatcher.ErrRejected)
	}
	return nil
}

// subdomain tells whether an object may have the name (RFC 1123, kubernetes.io/docs/concepts/overview/working-with-objects/names).
func subdomain(name string) bool {
	if len(name) == 0 || len(name) > 253 || !alphanumeric(name[0]) || !alphanumeric(name[len(name)-1]) {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !alphanumeric(c) && (c != '-' || name[i-1] == '.') && (c != '.' || name[i-1] == '.' || name[i-1] == '-') {
			return false
		}
	}
	return true
}

// labelValue tells whether a label may have the value (kubernetes.io/docs/concepts/overview/working-with-objects/labels).
func labelValue(v string) bool {
	if v == "" {
		return true
	}
	letter := func(c byte) bool { return alphanumeric(c) || c >= 'A' && c <= 'Z' }
	if len(v) > 63 || !letter(v[0]) || !letter(v[len(v)-1]) {
		return false
	}
	for i := 0; i < len(v); i++ {
		if c := v[i]; !letter(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// Get returns the object as it is now.
func (s *Server) Get(name string) (dispatcher.Workload, error) {
	p := s.pods[name]
	if p == nil {
		return dispatcher.Workload{}, &refusal{"get", name, dispatcher.ErrNotFound}
	}
	return p.w, nil
}

// Delete asks for the deletion of the object that has the UID (any object when it is empty): with its
// grace period or, by force, without waiting for the kubelet. Asking again changes nothing, except that force shortens a wait.
func (s *Server) Delete(name string, uid dispatcher.UID, force bool) error {
	p, err := s.precondition(name, uid)
	if err != nil {
		return &refusal{"delete", name, err}
	}
	if force {
		p.w.Owns = false // by force means that nothing is waited for
	}
	s.delete(p, force)
	return nil
}

// Release removes our finalizer from the object that has the UID.
func (s *Server) Release(name string, uid dispatcher.UID) error {
	p, err := s.precondition(name, uid)
	if err != nil {
		return &refusal{"release", name, err}
	}
	if p.w.Held {
		p.w.Held = false
		if !s.leave(p) {
			s.changed(p, Modified)
		}
	}
	return nil
}

func (s *Server) precondition(name string, uid dispatcher.UID) (*pod, error) {
	p := s.pods[name]
	if p == nil {
		return nil, dispatcher.ErrNotFound
	}
	if uid != "" && p.w.UID != uid {
		return nil, fmt.Errorf("precondition: it has UID %s: %w", p.w.UID, dispatcher.ErrConflict)
	}
	return p, nil
}

// delete starts a deletion, or shortens the grace of one to zero.
func (s *Server) delete(p *pod, force bool) {
	// CheckGracefulDelete: no grace for a pod that is not bound or has ended. A grace period of zero in the
	// spec is deletion by force (concepts/workloads/pods/pod-lifecycle, forced termination).
	immediate := force || p.node == nil || p.w.State.Ended() || p.w.Grace == 0
	if p.w.Deleting {
		// BeforeDelete: "if we are already being deleted, we may only shorten the deletion grace period"; without
		// an explicit grace period nothing changes.
		if !force || p.immediate {
			return
		}
		s.shorten(p)
		if !s.leave(p) {
			s.changed(p, Modified)
		}
		return
	}
	p.immediate = immediate
	p.w.Deleting, p.w.DeletedAt = true, s.k.Time().Truncate(time.Second) // metav1.Time is written as RFC 3339
	if s.leave(p) {
		return
	}
	s.changed(p, Modified)
	s.observe(p, history.ObjectDeleting, p.w.Name)
	if p.w.Owns {
		s.collectLater(p)
	}
	if p.node != nil {
		s.notify(p)
	} else {
		s.armCollection() // podgc sets the phase of a terminating pod that was never bound
	}
}

// shorten takes the rest of a deletion's grace away. Its stamp becomes that of now (BeforeDelete: never in the past), so that
// nobody can tell any more when the deletion was asked for.
func (s *Server) shorten(p *pod) {
	p.immediate, p.w.DeletedAt = true, s.k.Time().Truncate(time.Second)
}

// leave removes the object if nothing holds it any more, and tells whether it did.
func (s *Server) leave(p *pod) bool {
	if !p.immediate || p.w.Held || p.w.Owns {
		return false
	}
	i, _ := s.find(p.w.Name)
	s.byName = slices.Delete(s.byName, i, i+1)
	delete(s.pods, p.w.Name)
	p.gone = true
	if p.unselected {
		s.unselected--
	}
	if !p.w.State.Ended() {
		s.release(p)
	}
	s.changed(p, Deleted)
	s.observe(p, history.ObjectGone, p.w.Name)
	s.partsAfter(p)
	switch c := p.container; {
	case p.node == nil:
	case c != nil && c.stage == ended:
		p.node.forget(c)
	default:
		s.notify(p)
	}
	return true
}

// outcome is what a status says of a pod.
type outcome struct {
	state   dispatcher.WorkloadState
	failure dispatcher.Failure
	code    int // exit code, once its container ended
}

// setState writes the status of the pod. A terminal phase is final.
func (s *Server) setState(p *pod, o outcome) {
	if p.gone || p.w.State == o.state || p.w.State.Ended() {
		return
	}
	p.w.State, p.w.Failure, p.w.ExitCode = o.state, o.failure, o.code
	if o.state.Ended() {
		s.release(p)
	}
	s.changed(p, Modified)
	s.observe(p, history.ObjectPhase, phaseDetail(o.state, o.failure))
	if o.state.Ended() && p.launcher != nil {
		s.tell(p)
	}
}

// release gives back what an unended pod takes: its place on the node, and in the quota.
func (s *Server) release(p *pod) {
	s.live--
	if p.node != nil {
		p.node.bound--
		s.reschedule()
	}
}

// changed stamps a change with the next resourceVersion and shows it to caches and watches.
func (s *Server) changed(p *pod, t WatchType) {
	s.version++
	p.w.Version = s.version
	s.k.Note(s.labels.change, s.version, uint64(t)<<32|uint64(p.task))
	if s.journal.on && !p.unselected {
		s.record(t, &p.w)
	}
	if s.OnChange != nil {
		if p.unselected {
			t = Deleted // to all who select
		}
		s.OnChange(&p.w, t)
	}
}

func (s *Server) observe(p *pod, kind history.Kind, detail string) {
	e := history.Event{Kind: kind, Task: p.task, Token: uint64(p.w.Token), Object: string(p.w.UID), Detail: detail}
	if p.node != nil {
		e.Node = p.node.id
	}
	s.host.Observe(e)
}

// find is where the name is, or belongs, in byName.
func (s *Server) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.byName, name, func(p *pod, name string) int { return strings.Compare(p.w.Name, name) })
}

// phaseDetail is the Detail of an ObjectPhase event.
func phaseDetail(state dispatcher.WorkloadState, failure dispatcher.Failure) string {
	if state != dispatcher.WorkloadFailed {
		return string(state)
	}
	switch failure { // constants: this runs once per pod, and need not allocate
	case dispatcher.FailureError:
		return "failed Error"
	case dispatcher.FailureDeadline:
		return "failed DeadlineExceeded"
	case dispatcher.FailureEvicted:
		return "failed Evicted"
	case dispatcher.FailureUnknown:
		return "failed ContainerStatusUnknown"
	}
	return "failed"
}
