package planted

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// The defects of this file are what a dispatcher gets that leaves leadership and repetition to client-go v0.37.2 and has no
// fence of its own behind it.

// leadershipInABoolean: tools/leaderelection's IsLeader compares identities only. It stays true when the lease has lapsed, until
// the renewal loop gives up; a process that goes on after a pause asks it first.
func leadershipInABoolean() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "leadership-in-a-boolean",
			Summary: "whoever once won the lease goes on leading when it has lapsed, and nothing fences its writes",
			Settings: func(s dispatcher.Settings) dispatcher.Settings {
				s.RenewDeadline = 24 * time.Hour // nobody looks at the time
				return s
			},
			Store: noEpoch().System.Store,
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Leases, p.Store = onceLeader{p.Leases}, onceLed{p.Store}
				return p
			},
		},
		Incident: "E1", Breaks: []string{"I6-fence"}, Scenario: "lease-lapsed-unnoticed", Seeds: 20, Bare: withoutEpoch(),
		Witness: also("lease-unreachable", "I6-fence", 5),
	}
}

// releaseOnCancel: with ReleaseOnCancel a replica whose renewals failed gives its lease up, for as long as it can: it reads the
// lease anew, but remembers that it is the holder (leaderelection.go, release and tryRelease), so it empties its successor's.
func releaseOnCancel() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "release-on-cancel",
			Summary: "a replica that lost its lease gives it up late, whoever holds it by then, and nothing fences the writes of that one",
			Store:   noEpoch().System.Store,
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Leases = &parting{Leases: p.Leases, clock: p.Clock}
				return p
			},
		},
		Incident: "E1", Breaks: []string{"I6-fence"}, Scenario: "lease-released-late", Seeds: 20, Bare: withoutEpoch(),
		Witness: also("swarm-b0", "L2-leadership", 20),
	}
}

// parting releases the lease at the first look at it after its renewals have failed for too long.
type parting struct {
	dispatcher.Leases
	clock     dispatcher.Clock
	held      bool
	renewedAt time.Duration
}

func (p *parting) PutLease(ctx context.Context, l dispatcher.Lease) (dispatcher.Lease, error) {
	put, err := p.Leases.PutLease(ctx, l)
	if err == nil {
		p.held, p.renewedAt = l.Holder != "", p.clock.Elapsed()
	}
	return put, err
}

func (p *parting) GetLease(ctx context.Context, name string) (dispatcher.Lease, error) {
	l, err := p.Leases.GetLease(ctx, name)
	// client-go's own proportion: renewals may fail for 10 s of a lease of 15 s.
	if err != nil || !p.held || p.clock.Elapsed()-p.renewedAt < l.TTL*2/3 {
		return l, err
	}
	l.Holder = ""
	if _, err := p.Leases.PutLease(ctx, l); err != nil {
		return l, err
	}
	p.held = false
	return l, fmt.Errorf("the lease was just given up: %w", dispatcher.ErrUnavailable) // whoever looks next may have it
}

// resendOnRetryAfter: client-go sends any request again that was answered with 429, or with 5xx and Retry-After; the server may
// have obeyed all the same, when the answer is that of something in between. The caller sees one create. All else is done
// as it should be with names that the server makes up: the pod is looked for by its labels, with a live read.
func resendOnRetryAfter() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "resend-on-retry-after",
			Summary: "the HTTP client sends a create again by itself, and the server makes up the names (generateName)",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Workloads = &resending{Workloads: p.Workloads, clock: p.Clock}
				p.Store = unbound{p.Store}
				return p
			},
			Workers: func(w dispatcher.Workers) dispatcher.Workers { return byLabel{w} },
		},
		Incident: "B1", Breaks: []string{"I1-overlap"}, Scenario: "create-sent-again", Seeds: 20,
		Witness: also("create-applied-late", "I1-overlap", 5),
	}
}

type resending struct {
	dispatcher.Workloads
	clock dispatcher.Clock
}

// Create is one call to its caller. The port has the same word, unknown, for a bad answer and for none; the time is up
// when there was none.
func (r *resending) Create(ctx context.Context, w dispatcher.Workload) (made dispatcher.Workload, err error) {
	base := w.Name
	for {
		w.Name = fmt.Sprintf("%s-%x", base, r.clock.Elapsed().Nanoseconds()) // the server's
		made, err = r.Workloads.Create(ctx, w)
		if err == nil || !errors.Is(err, dispatcher.ErrThrottled) && !dispatcher.Unknown(err) {
			return made, err
		}
		if r.clock.Sleep(ctx, time.Second) != nil || ctx.Err() != nil {
			return made, err
		}
	}
}

// Get finds the newest object that carries the task's label.
func (r *resending) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	return newest(ctx, r.Workloads, name, false)
}

// newest finds the newest object that has the name or carries the label of its task, in a list that a cache may answer.
func newest(ctx context.Context, in dispatcher.Workloads, name string, stale bool) (found dispatcher.Workload, err error) {
	err = dispatcher.ErrNotFound
	next := ""
	for {
		page, failed := in.List(ctx, dispatcher.List{Continue: next, Stale: stale})
		if failed != nil {
			return dispatcher.Workload{}, failed
		}
		for _, w := range page.Items {
			if (dispatcher.WorkloadName(w.Task) == name || w.Name == name) && (err != nil || w.Token > found.Token) {
				found, err = w, nil
			}
		}
		if next = page.Continue; next == "" {
			return found, err
		}
	}
}
