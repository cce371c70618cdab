package planted

import (
	"context"

	"github.com/squall-chaos/squall/dispatcher"
)

// witness makes a hook of what a look is taken for.
func witness(judge func(dispatcher.Task, dispatcher.Evidence) dispatcher.Evidence) func(dispatcher.Witness) dispatcher.Witness {
	return func(w dispatcher.Witness) dispatcher.Witness { return judging{w, judge} }
}

type judging struct {
	dispatcher.Witness
	judge func(dispatcher.Task, dispatcher.Evidence) dispatcher.Evidence
}

func (j judging) Look(ctx context.Context, t dispatcher.Task) (dispatcher.Evidence, error) {
	ev, err := j.Witness.Look(ctx, t)
	if err != nil {
		return ev, err
	}
	return j.judge(t, ev), nil
}

// cachedAbsence: what a cache does not show is not there.
func cachedAbsence() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "cached-absence",
			Summary: "a pod that a cache does not show is taken for gone",
			Ports:   ports(func(w dispatcher.Workloads) dispatcher.Workloads { return cached{w} }),
			Witness: func(w dispatcher.Witness) dispatcher.Witness { return goneOnAbsence{w} },
		},
		Incident: "A4", Breaks: []string{"I5-false-death"}, Scenario: "stale-reads", Seeds: 20,
		Witness: also("grace-at-the-deadline", "I5-false-death", 5),
	}
}

type cached struct{ dispatcher.Workloads }

func (c cached) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	return newest(ctx, c.Workloads, name, true)
}

// replacedWhileTerminating: what is being deleted counts as gone.
func replacedWhileTerminating() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "replaced-while-terminating",
			Summary: "a pod that is being deleted is replaced before its container has ended",
			Witness: witness(func(_ dispatcher.Task, ev dispatcher.Evidence) dispatcher.Evidence {
				if ev.Sighting == dispatcher.SightAlive && ev.Workload.Deleting {
					ev.Sighting = dispatcher.SightNodeGone
				}
				return ev
			}),
		},
		Incident: "F1", Breaks: []string{"I5-false-death"}, Scenario: "evicted-and-killed", Seeds: 20,
		Witness: also("swarm-standard", "I5-false-death", 40),
	}
}

// deadlineIsLoss: that the kubelet ended a container at its deadline is read as any other death.
func deadlineIsLoss() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "deadline-is-loss",
			Summary: "work that its deadline ended is requeued as lost, and overruns it again",
			Witness: witness(func(_ dispatcher.Task, ev dispatcher.Evidence) dispatcher.Evidence {
				if ev.Workload.Failure == dispatcher.FailureDeadline {
					ev.Workload.Failure = dispatcher.FailureUnknown
				}
				return ev
			}),
		},
		Incident: "C3", Breaks: []string{"I5-false-death"}, Scenario: "deadline-overrun", Seeds: 20,
		Witness: also("grace-at-the-deadline", "I5-false-death", 5),
	}
}

// goneIsNoNews: the end of a pod is only seen in the exit code of its container, and one that was evicted or removed has none.
func goneIsNoNews() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "gone-is-no-news",
			Summary: "a pod that goes without an exit code of its own is not seen to go",
			Witness: witness(func(t dispatcher.Task, ev dispatcher.Evidence) dispatcher.Evidence {
				ended := ev.Sighting == dispatcher.SightEnded && ev.Workload.Failure == dispatcher.FailureEvicted
				if t.Phase == dispatcher.Running && (ended || ev.Sighting == dispatcher.SightAbsent && !ev.Foreign) {
					return dispatcher.Evidence{}
				}
				return ev
			}),
		},
		Incident: "H1", Breaks: []string{"I2-stranded"}, Scenario: "evicted-and-killed", Seeds: 20,
		Witness: also("spot-taken-for-good", "I2-stranded", 5),
	}
}

// unstartedUnwatched: the one who watches for lost work counts from the first sign of life, and the one who watches for slow starts
// looks at pods that are there.
func unstartedUnwatched() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "unstarted-unwatched",
			Summary: "a pod that is lost before its work began is nobody's to watch",
			Witness: witness(func(t dispatcher.Task, ev dispatcher.Evidence) dispatcher.Evidence {
				there := ev.Sighting == dispatcher.SightPending || ev.Sighting == dispatcher.SightAlive
				if t.Phase == dispatcher.Running && t.Attempt.StartedAt.IsZero() && !there {
					return dispatcher.Evidence{}
				}
				return ev
			}),
		},
		Incident: "H3", Breaks: []string{"I2-stranded"}, Scenario: "lost-before-it-began", Seeds: 20,
		Witness: also("pending-past-its-timeout", "I2-stranded", 5),
	}
}

// reading makes a hook of what becomes of a page of rows.
func reading(change func(dispatcher.Clock, *dispatcher.Page)) func(dispatcher.Ports) dispatcher.Ports {
	return func(p dispatcher.Ports) dispatcher.Ports {
		p.Store = pages{p.Store, p.Clock, change}
		return p
	}
}

type pages struct {
	dispatcher.Store
	clock  dispatcher.Clock
	change func(dispatcher.Clock, *dispatcher.Page)
}

func (r pages) Scan(ctx context.Context, s dispatcher.Scan) (dispatcher.Page, error) {
	page, err := r.Store.Scan(ctx, s)
	r.change(r.clock, &page)
	return page, err
}

// hostClockSilence: how long nothing was heard of a worker is the difference of two clocks.
func hostClockSilence() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "host-clock-silence",
			Summary: "the reconciler compares the database's stamps with its own clock, so a fast one takes live workers for dead",
			Ports:   reading(func(c dispatcher.Clock, page *dispatcher.Page) { page.Now = c.Now() }),
		},
		Incident: "D4", Breaks: []string{"I5-false-death"}, Scenario: "reconciler-clock-fast", Seeds: 20,
		Witness: also("reconciler-clock-fast", "I1-overlap", 20),
	}
}

// staleScan: rows are read from a replica, and what they say is acted on where no condition would refuse it: in a delete.
func staleScan() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "stale-scan",
			Summary: "the reconciler reads rows from a replica that lags, and deletes pods by what they say",
			Ports:   scansReplica,
		},
		Incident: "A1", Breaks: []string{"I5-false-death"}, Scenario: "started-just-in-time", Seeds: 20,
		Witness: also("cancelled-in-a-frozen-cache", "I5-false-death", 5),
	}
}

func scansReplica(p dispatcher.Ports) dispatcher.Ports {
	p.Store = replica{p.Store}
	return p
}

type replica struct{ dispatcher.Store }

func (r replica) Scan(ctx context.Context, s dispatcher.Scan) (dispatcher.Page, error) {
	s.Stale = true
	return r.Store.Scan(ctx, s)
}

// thresholdEqualsInterval: an operator raised the heartbeat interval to what the grace already was.
func thresholdEqualsInterval() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "threshold-equals-interval",
			Summary: "workers are taken for dead after exactly the time between two of their heartbeats",
			Settings: func(s dispatcher.Settings) dispatcher.Settings {
				if s.Heartbeats() {
					s.HeartbeatInterval, s.WorkerLease = s.RecoveryGrace, 3*s.RecoveryGrace
				}
				return s
			},
		},
		Incident: "C3", Breaks: []string{"I5-false-death"}, Scenario: "heartbeats-throttled", Seeds: 20,
		Witness: also("cut-off-and-replaced", "I1-overlap", 5),
	}
}
