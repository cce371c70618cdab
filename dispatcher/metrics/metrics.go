// Package metrics shows what a replica does: the figures of rule 12 for Prometheus, and whether its loop is alive and reaches
// what it works on.
//
// The figures about rows come from the leading reconciler, which reads them after every complete sweep. They are shown for as long as
// they are fresh and vanish with the leadership, so that no replica goes on telling how things stood when it last led: alert on
// absent(squall_oldest_running_task_seconds), too. The counters are each replica's own.
package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/squall-chaos/squall/dispatcher"
)

// Meter is a dispatcher.Meter that Prometheus reads. It is safe for concurrent use. Use New.
type Meter struct {
	registry *prometheus.Registry
	clock    dispatcher.Clock
	fresh    time.Duration
	counters map[dispatcher.Counter]prometheus.Counter

	mu     sync.Mutex
	swept  bool
	health dispatcher.Health
	lag    time.Duration
	at     time.Duration // own monotonic clock
}

var _ dispatcher.Meter = (*Meter)(nil)

// counted is every counter with what it counts.
var counted = []struct {
	counter dispatcher.Counter
	help    string
}{
	{dispatcher.CountClaims, "Attempts that this replica claimed or took over."},
	{dispatcher.CountLaunches, "Workloads that this replica created."},
	{dispatcher.CountAdopted, "Workloads that this replica found where it meant to create them."},
	{dispatcher.CountRequeues, "Attempts that this replica gave up for lost."},
	{dispatcher.CountRefused, "Writes of this replica that the store turned down, because somebody else was faster or newer."},
}

// The figures about rows, with the values of one look at them.
var (
	oldest    = figure("oldest_running_task_seconds", "Age of the running attempt that was claimed longest ago; 0 when none runs.")
	lag       = figure("reconcile_lag_seconds", "How far the last sweep of the reconciler was behind its interval.")
	tasks     = figure("tasks", "Tasks that are not over, by state.", "state")
	failing   = figure("tasks_failing_repeatedly", "Tasks that have not stopped and failed more than once.")
	attention = figure("tasks_needing_attention", "Tasks that stopped and wait for a person.")
	cleanup   = figure("tasks_cleanup_owed", "Tasks whose last workload should be gone by now and is not known to be.")
)

const namespace = "squall"

func figure(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

// missedSweeps is how many sweeps may be missed before what the last one found is no longer shown.
const missedSweeps = 3

// New makes a meter with a registry of its own.
func New(c dispatcher.Clock, s dispatcher.Settings) *Meter {
	m := &Meter{registry: prometheus.NewRegistry(), clock: c, fresh: missedSweeps * s.RecoverInterval,
		counters: map[dispatcher.Counter]prometheus.Counter{}}
	for _, c := range counted {
		m.counters[c.counter] = prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: string(c.counter) + "_total", Help: c.help})
		m.registry.MustRegister(m.counters[c.counter])
	}
	m.registry.MustRegister(rows{m}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Registry is where the figures are gathered.
func (m *Meter) Registry() *prometheus.Registry { return m.registry }

// Count implements dispatcher.Meter.
func (m *Meter) Count(c dispatcher.Counter, n int) {
	if counter, known := m.counters[c]; known {
		counter.Add(float64(n))
	}
}

// Watch implements dispatcher.Meter.
func (m *Meter) Watch(h dispatcher.Health, lag time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.swept, m.health, m.lag, m.at = true, h, lag, m.clock.Elapsed()
}

// last is what the last sweep found, unless that was too long ago.
func (m *Meter) last() (dispatcher.Health, time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.health, m.lag, m.swept && m.clock.Elapsed()-m.at <= m.fresh
}

// rows collects the figures about rows.
type rows struct{ meter *Meter }

func (rows) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{oldest, lag, tasks, failing, attention, cleanup} {
		to <- d
	}
}

func (r rows) Collect(to chan<- prometheus.Metric) {
	h, behind, fresh := r.meter.last()
	if !fresh {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(oldest, h.OldestRunning.Seconds())
	gauge(lag, behind.Seconds())
	gauge(tasks, float64(h.Pending), string(dispatcher.Pending))
	gauge(tasks, float64(h.Running), string(dispatcher.Running))
	gauge(failing, float64(h.RepeatedFailures))
	gauge(attention, float64(h.NeedsAttention))
	gauge(cleanup, float64(h.CleanupOwed))
}
