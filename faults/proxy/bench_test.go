package proxy

import (
	"crypto/rand"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// What the proxy adds to a call is to stay below a millisecond. Each benchmark makes the same call directly and through the proxy, in turn, so
// that whatever else the machine does befalls both alike. The processor time, of client, proxy and what stands for the API server together,
// says more than the clock on a machine that is busy with other things.

// path is one way to make a call, and what it took.
type path struct {
	call func() error
	took []time.Duration
	cpu  time.Duration
}

func (p *path) once(b *testing.B) {
	cpu, begin := processorTime(b), time.Now()
	err := p.call()
	p.took = append(p.took, time.Since(begin))
	p.cpu += processorTime(b) - cpu
	if err != nil {
		b.Fatal(err)
	}
}

// percentile is the least time that the share of the calls did not exceed, in microseconds.
func (p *path) percentile(share float64) float64 {
	slices.Sort(p.took)
	at := min(int(share*float64(len(p.took))), len(p.took)-1)
	return float64(p.took[at]) / float64(time.Microsecond)
}

// compare reports what a call takes, and how much of it is the proxy's.
func compare(b *testing.B, direct, through func() error) {
	paths := []*path{{call: direct}, {call: through}}
	for _, p := range paths {
		p.once(b) // connects
		p.took, p.cpu = nil, 0
	}
	for b.Loop() {
		for _, p := range paths {
			p.once(b)
		}
	}
	d, t := paths[0], paths[1]
	for _, m := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		b.ReportMetric(d.percentile(m.share), m.name+"-direct-µs")
		b.ReportMetric(t.percentile(m.share)-d.percentile(m.share), m.name+"-added-µs")
	}
	b.ReportMetric(float64((t.cpu-d.cpu).Microseconds())/float64(len(t.took)), "cpu-added-µs")
	b.ReportMetric(0, "ns/op") // two calls of two kinds: says nothing
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAPI is a get over TLS of a pod of the reference's, and a create.
func BenchmarkAPI(b *testing.B) {
	s := newStand(b)
	through := s.workloads("dispatcher-1")
	config := s.config("dispatcher-1")
	config.Host = s.cluster.URL
	direct, err := kube.NewWorkloads(config, kube.Options{Namespace: "batch", Image: "worker"})
	if err != nil {
		b.Fatal(err)
	}
	create := func(k *kube.Workloads) func() error {
		return func() error { _, err := k.Create(b.Context(), task("a")); return err }
	}
	get := func(k *kube.Workloads) func() error {
		return func() error { _, err := k.Get(b.Context(), "task-a"); return err }
	}
	b.Run("create", func(b *testing.B) { compare(b, create(direct), create(through)) })
	b.Run("get", func(b *testing.B) { compare(b, get(direct), get(through)) })
}

// BenchmarkStore is a heartbeat on a real Postgres, one statement, and a start, a transaction of several.
func BenchmarkStore(b *testing.B) {
	r := newRows(b)
	ticket := func() dispatcher.Ticket {
		t := r.launching(dispatcher.TaskID("bench-" + strings.ToLower(rand.Text())))
		k := dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: "uid"}
		if _, err := r.direct.Start(b.Context(), k); err != nil {
			b.Fatal(err)
		}
		return k
	}
	one, other := ticket(), ticket()
	heartbeat := func(s dispatcher.Store, k dispatcher.Ticket) func() error {
		return func() error { return s.Heartbeat(b.Context(), k) }
	}
	start := func(s dispatcher.Store, k dispatcher.Ticket) func() error {
		return func() error { _, err := s.Start(b.Context(), k); return err } // asked again, which is idempotent
	}
	read := func(s dispatcher.Store, k dispatcher.Ticket) func() error {
		return func() error { _, err := s.Read(b.Context(), k.ID); return err }
	}
	b.Run("read", func(b *testing.B) { compare(b, read(r.direct, one), read(r.through, other)) })
	b.Run("heartbeat", func(b *testing.B) { compare(b, heartbeat(r.direct, one), heartbeat(r.through, other)) })
	b.Run("start", func(b *testing.B) { compare(b, start(r.direct, one), start(r.through, other)) })
}
