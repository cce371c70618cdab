package kubernetes

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/clusters/sim/kernel/digesttest"
	"github.com/squall-chaos/squall/dispatcher"
)

// idle is a Host in which nothing runs.
type idle struct{ tasks, nodes *history.Table }

func (idle) ContainerStarted(*Container) {}
func (idle) Terminate(*Container)        {}
func (idle) Killed(*Container)           {}
func (idle) Observe(history.Event)       {}
func (h idle) Tasks() *history.Table     { return h.tasks }
func (h idle) Nodes() *history.Table     { return h.nodes }

// TestEveryFieldIsInTheDigest: whatever can become of the cluster depends on what the digest takes in, or it is said here why not.
func TestEveryFieldIsInTheDigest(t *testing.T) {
	k := kernel.New(1)
	settings, _ := dispatcher.Profile("b0")
	second := clusters.Fixed(time.Second)
	s := New(k, clusters.Config{
		Settings: settings, Nodes: []clusters.NodeGroup{{Name: "od", CapacityType: clusters.OnDemand, Count: 1, Pods: 5}},
		Platform: clusters.Platform{APILatency: second, Scheduling: second, ImagePull: second, Startup: second, CacheLag: clusters.Fixed(time.Minute)},
	}, idle{history.NewTable(), history.NewTable()}, &Memory{})
	if _, err := s.Create(dispatcher.Workload{Name: "task-a", Task: "a", Token: 1}); err != nil {
		t.Fatal(err)
	}
	if err := k.Run(10*time.Second, nil); err != nil {
		t.Fatal(err)
	}
	p, n := s.pods["task-a"], s.nodes[0]
	if p.container == nil || !p.container.Alive() {
		t.Fatal("the container does not run")
	}
	timer := k.After(time.Hour, k.Label("test"), func() {})
	digest := func() uint64 {
		var d kernel.Digest
		s.Digest(&d, func(*kernel.Digest, any) {})
		return uint64(d)
	}
	const (
		fixed   = "does not change in a run"
		derived = "follows from what is in it"
	)
	digesttest.Fields(t, p, digest, timer, map[string]string{
		"w.Version": "grows with every change of anything, so no two histories would meet; only watches compare it, and what planted programs watched is part of what they learned",
		"w.Work":    "is the task's, which does not change",
		"task":      derived, "number": "the UID has it", "node": "w.Node is its name", "container": "is among the node's", "seen": fixed, "owner": fixed,
		"parts": "by UID", "whole": "by UID", "launcher": "by its pod's UID",
	})
	digesttest.Fields(t, n, digest, timer, map[string]string{
		"id": derived, "group": fixed, "spot": fixed, "room": fixed, "pullers": "a list: by UID", "containers": "a list: each by itself", "firstBeat": fixed,
		"missedAt": "counts only once the node is gone", "missed": "likewise",
	})
	digesttest.Fields(t, p.container, digest, timer, map[string]string{
		"Workload": "the pod's, as it was when the kubelet first saw it: the UID tells which", "Node": derived, "Ticket": fixed, "Number": "only a name", "Task": derived, "NodeID": derived,
		"Guest": "the Host's part", "server": fixed, "pod": "by UID", "node": "whose list it is in", "index": "running has no order that means anything", "arrives": fixed,
		"made": "by UID",
	})
	digesttest.Fields(t, s, digest, timer, map[string]string{
		"OnChange": fixed, "k": fixed, "host": fixed, "memory": fixed, "platform": fixed, "machines": fixed, "settings": fixed, "labels": fixed,
		"streams": "under Explore every distribution is fixed",
		"version": "as that of objects", "pods": "byName has the same", "byName": "a list: each by itself", "live": derived, "unselected": derived,
		"leases": "their holders' and readers' side is followed by package sim", "snapshots": "only of lists in pages, which small worlds have none of: by their number",
		"journal": "as far as stale lists will show it", "cache.applied": "a position in the journal", "cache.items": "a list: each by itself",
		"cache.lent": "whose memory it is", "cache.copies": fixed,
		"lag": "a distribution: by what is typical of it", "groups": "a list: by how many nodes there are and were", "nodes": "a list: each by itself", "unready": derived,
		"toTaint": "a list: by name", "waiting": "a list: by name", "upcoming": "a list: by group; when they arrive is among the events to come",
		"deferred": "by their number", "running": derived, "containers": "only for names",
	})
}
