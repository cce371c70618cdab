package proxy

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// The figures with and without the proxy; what it adds is to stay below a millisecond.

func BenchmarkAPIGet(b *testing.B) {
	s := newStand(b)
	through := s.workloads("dispatcher-1")
	config := s.config("dispatcher-1")
	config.Host = s.cluster.URL
	direct, err := kube.NewWorkloads(config, kube.Options{Namespace: "batch", Image: "worker"})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := direct.Create(b.Context(), task("a")); err != nil {
		b.Fatal(err)
	}
	for name, k := range map[string]*kube.Workloads{"direct": direct, "proxy": through} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := k.Get(b.Context(), "task-a"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStoreTransaction(b *testing.B) {
	r := newRows(b)
	for name, s := range map[string]dispatcher.Store{"direct": r.direct, "proxy": r.through} {
		b.Run(name, func(b *testing.B) {
			t := r.launching(dispatcher.TaskID("bench-" + strings.ToLower(rand.Text())))
			k := dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: "uid"}
			if _, err := r.direct.Start(b.Context(), k); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := s.Heartbeat(b.Context(), k); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
