package faults

import (
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// Until is how long after the fault healed it may still delay the system: the "detect" of
// the bound B. Each kind has its reason (see Why).
func Until(f Fault, s dispatcher.Settings) time.Duration {
	form, ok := f.Kind.form()
	if !ok {
		return 0
	}
	return form.until(f, s)
}

// Why says what Until counts.
func Why(k Kind) string {
	form, _ := k.form()
	return form.why
}

func none(Fault, dispatcher.Settings) time.Duration { return 0 }

const unreachableWhy = "a silent node is NotReady after node_grace, its pods are deleted after the unreachable toleration, " +
	"and a deletion that nobody confirms is stuck only after pod_grace and termination_timeout"

// unreachable: kube-controller-manager's --node-monitor-grace-period, the default NoExecute toleration that
// the DefaultTolerationSeconds admission plugin adds, and then incident G3, where nobody is left to report the end.
func unreachable(_ Fault, s dispatcher.Settings) time.Duration {
	return s.NodeGrace + s.UnreachableToleration + s.PodGrace + s.TerminationTimeout
}

const orphanedWhy = "the pods of a node that is gone are collected within a minute (the pod garbage collector's " +
	"20 s period and 40 s quarantine), after their own grace period"

// orphanCollection is pkg/controller/podgc's gcCheckPeriod (20 s) and quarantineTime (40 s) of Kubernetes; incident G1.
const orphanCollection = 60 * time.Second

func orphaned(_ Fault, s dispatcher.Settings) time.Duration { return orphanCollection + s.PodGrace }

func leaving(_ Fault, s dispatcher.Settings) time.Duration { return s.PodGrace }

func unstarted(_ Fault, s dispatcher.Settings) time.Duration { return s.StartTimeout }

const handoverWhy = "the old leader's lease must lapse, the next one must look twice, and a call may still be on its way"

func handover(_ Fault, s dispatcher.Settings) time.Duration {
	return s.LeaseTTL + 2*s.RetryPeriod + max(s.CreateTimeout, s.StoreTimeout)
}

// defaultDown is how long a process that crashed in a call stays down, when the fault does not say: the first
// step of the kubelet's CrashLoopBackOff.
const defaultDown = 10 * time.Second

func called(f Fault, s dispatcher.Settings) time.Duration {
	delay := f.Delay.Max()
	if f.Action == clusters.CrashCaller {
		delay = f.Delay.Or(clusters.Fixed(defaultDown)).Max()
	}
	return delay + handover(f, s)
}

func lagging(f Fault, _ dispatcher.Settings) time.Duration { return f.Lag }
