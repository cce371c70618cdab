package dispatcher

import (
	"context"
	"errors"
	"time"
)

// pageSize is how many rows or objects one page of a scan or list asks for.
const pageSize = 500

// RunReconciler is one reconciler replica: it campaigns for its own lease and, while it leads, sweeps what is
// running, owed or cancelled. judge, when not nil, replaces the witness. It returns when ctx ends.
func RunReconciler(ctx context.Context, id InstanceID, s Settings, p Ports, judge func(Witness) Witness) error {
	var w Witness = liveWitness{ports: p, timeout: s.CreateTimeout}
	if judge != nil {
		w = judge(w)
	}
	r := &reconciler{elector: elector{role: RoleReconciler, id: id, settings: s, ports: p}, witness: w}
	for ctx.Err() == nil {
		if r.hold(ctx) {
			r.work(ctx)
		}
		if err := p.Clock.Sleep(ctx, r.sleep()); err != nil {
			break
		}
	}
	r.release(ctx)
	return ctx.Err()
}

type reconciler struct {
	elector
	witness Witness
	swept   Epoch         // the term of the last complete sweep
	sweptAt time.Duration // own monotonic clock
	budget  int           // requeues that are left in this sweep
	listed  listing       // of this sweep; kept only for its memory
}

// work does a full sweep when one is due, and looks after cancels every time: a person waits for them.
func (r *reconciler) work(ctx context.Context) {
	if r.sweepDue() {
		started := r.ports.Clock.Elapsed()
		due := started
		if r.swept == r.term.Epoch {
			due = r.sweptAt + r.settings.RecoverInterval
		}
		if r.sweep(ctx) {
			r.swept, r.sweptAt = r.term.Epoch, started
			r.watch(ctx, due)
		}
		return
	}
	r.budget = r.settings.RecoverBatch
	r.scan(ctx, Scan{CancelsOnly: true}, nil)
}

func (r *reconciler) sweepDue() bool {
	return r.swept != r.term.Epoch || r.ports.Clock.Elapsed()-r.sweptAt >= r.settings.RecoverInterval
}

func (r *reconciler) sleep() time.Duration {
	wait := min(r.wait(), r.settings.RetryPeriod)
	if r.leading && r.swept == r.term.Epoch {
		if due := r.sweptAt + r.settings.RecoverInterval - r.ports.Clock.Elapsed(); due > 0 {
			wait = min(wait, due)
		}
	}
	return wait
}

// sweep compares every row that needs a look with the objects that really exist, then looks for objects that no row
// stands for. It is level-triggered: it covers every state and remembers nothing.
func (r *reconciler) sweep(ctx context.Context) bool {
	if r.list(ctx) != nil {
		return false // an error is not an empty list
	}
	r.budget = r.settings.RecoverBatch
	return r.scan(ctx, Scan{}, &r.listed) && r.orphans(ctx)
}

// listing is what a list showed.
type listing struct {
	items  []Workload
	byName map[string]int
	owned  []bool // by item: a scanned row stands for it
}

func (l *listing) reset() {
	if l.byName == nil {
		l.byName = map[string]int{}
	}
	clear(l.byName)
	l.items, l.owned = l.items[:0], l.owned[:0]
}

// claim returns the object under a task's name, and notes that it is of the task's current attempt, if it is.
func (l *listing) claim(t Task) (Workload, bool) {
	i, ok := l.byName[WorkloadName(t.Spec.ID)]
	if !ok {
		return Workload{}, false
	}
	l.owned[i] = l.items[i].Token == t.Attempt.Token
	return l.items[i], true
}

// list reads all pages; one page that fails spoils the whole, for what it would have shown is not known to be absent.
func (r *reconciler) list(ctx context.Context) error {
	all := &r.listed
	all.reset()
	next := ""
	for {
		page, err := bounded(ctx, &r.elector, r.settings.CreateTimeout, func(ctx context.Context) (WorkloadPage, error) {
			return r.ports.Workloads.List(ctx, List{Continue: next, Limit: pageSize, Stale: true})
		})
		if err != nil {
			return err
		}
		for _, w := range page.Items {
			all.byName[w.Name] = len(all.items)
			all.items = append(all.items, w)
			all.owned = append(all.owned, false)
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

// scan settles every row that the scan returns. It tells whether it came to the end.
func (r *reconciler) scan(ctx context.Context, s Scan, listed *listing) bool {
	s.Limit = pageSize
	for {
		if !r.ready(ctx) {
			return false
		}
		page, err := bounded(ctx, &r.elector, r.settings.StoreTimeout, func(ctx context.Context) (Page, error) {
			return r.ports.Store.Scan(ctx, s)
		})
		if err != nil {
			return false
		}
		read := r.ports.Clock.Elapsed()
		for _, t := range page.Tasks {
			now := page.Now.Add(r.ports.Clock.Elapsed() - read)
			if listed != nil {
				if w, found := listed.claim(t); !r.settings.suspicious(t, w, found, now) {
					continue
				}
			}
			if !r.settle(ctx, t, page.Now, now) {
				return false
			}
		}
		if !page.More || len(page.Tasks) == 0 {
			return true
		}
		s.After = page.Tasks[len(page.Tasks)-1].Spec.ID
	}
}

// orphans clears listed objects whose attempt was superseded. Only an explicit record counts: an object is cleared
// when its task's row, read after the object was seen, belongs to another attempt or is over with nothing owed. What no
// row knows is somebody else's and left alone.
func (r *reconciler) orphans(ctx context.Context) bool {
	for i, w := range r.listed.items {
		if r.listed.owned[i] || (w.State.Ended() && !w.Held && !w.Deleting) {
			continue // its row sees to it; an ended one without our finalizer is kept for its time
		}
		if !r.ready(ctx) {
			return false
		}
		t, err := bounded(ctx, &r.elector, r.settings.StoreTimeout, func(ctx context.Context) (Task, error) {
			return r.ports.Store.Read(ctx, w.Task)
		})
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return false
		}
		if t.Attempt.Token == w.Token && (t.Phase == Running || !t.CleanupAt.IsZero()) {
			continue
		}
		r.clearOrphan(ctx, w)
	}
	return true
}
