package replica

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
	"github.com/squall-chaos/squall/dispatcher/postgres"
)

// program is a running replica.
type program struct {
	*exec.Cmd
	api    *apiServer
	record string
	log    *text
}

// text is written and read at once.
type text struct {
	mu sync.Mutex
	b  strings.Builder
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// start runs a dispatcher; pairs are more of its environment, NAME=value, and arguments if they begin with a hyphen or are
// "migrate".
func start(t *testing.T, url string, api *apiServer, more ...string) *program {
	t.Helper()
	settings, _ := dispatcher.Profile("b0")
	settings.Tick, settings.RetryPeriod = time.Second, 200*time.Millisecond
	settings.RecoverInterval, settings.PodGrace, settings.TerminationTimeout = time.Second, time.Second, time.Second
	value, err := environment.EncodeSettings(settings)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{Cmd: exec.Command(os.Args[0]), api: api, record: t.TempDir(), log: &text{}}
	p.Env = []string{asReplica + "=dispatcher", environment.DatabaseURL + "=" + url, environment.Kubeconfig + "=" + api.kubeconfig(t),
		environment.Process + "=dispatcher-1", environment.Namespace + "=batch", environment.Settings + "=" + value,
		environment.Image + "=programs:v1", environment.DatabaseSecret + "=database", environment.Record + "=" + p.record,
		environment.Listen + "=127.0.0.1:0", environment.RecordClaim + "=journals", environment.Startup + "=1s-2s"}
	for _, m := range more {
		if strings.Contains(m, "=") {
			p.Env = append(p.Env, m)
		} else {
			p.Args = append(p.Args, m)
		}
	}
	p.Stderr = p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		if t.Failed() {
			text := p.log.String()
			t.Log(text[max(0, len(text)-3000):])
		}
	})
	return p
}

// ends waits for the end, and returns the exit status.
func (p *program) ends(t *testing.T) int {
	t.Helper()
	late := time.AfterFunc(40*time.Second, func() { _ = p.Process.Kill() })
	defer late.Stop()
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

func (p *program) stops(t *testing.T) {
	t.Helper()
	_ = p.Process.Signal(syscall.SIGTERM)
	if code := p.ends(t); code != exitDone {
		t.Errorf("exit %d after SIGTERM", code)
	}
}

// await waits until something is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain waited: %s", what)
		}
	}
}

// get asks the replica's own server, whose address is in the log.
func (p *program) get(path string) (int, string) {
	for line := range strings.Lines(p.log.String()) {
		var entry struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "serves" {
			answer, err := http.Get("http://" + entry.Address + path)
			if err != nil {
				return 0, err.Error()
			}
			defer func() { _ = answer.Body.Close() }()
			body, _ := io.ReadAll(answer.Body)
			return answer.StatusCode, string(body)
		}
	}
	return 0, ""
}

func (p *program) calls(t *testing.T) ([]journal.Call, []journal.Event) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.record, "dispatcher-1-*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("journals %v: %v", files, err)
	}
	file, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	calls, events, err := journal.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return calls, events
}

func submitTo(t *testing.T, url string) *postgres.Store {
	t.Helper()
	s, _ := dispatcher.Profile("b0")
	store, err := postgres.Open(t.Context(), url, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	if _, err := store.Submit(t.Context(), dispatcher.Spec{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	return store
}

func TestDispatcherLaunches(t *testing.T) {
	t.Parallel()
	url, api := newDatabase(t), newAPIServer(t)
	p := start(t, url, api, "--migrate")
	await(t, "for the replica to be ready", func() bool { code, _ := p.get("/readyz"); return code == http.StatusOK })
	submitTo(t, url)
	await(t, "for the Pod", func() bool { return api.object(t, podPath) != "" })
	checkPod(t, api.object(t, podPath))
	await(t, "for the count", func() bool {
		_, text := p.get("/metrics")
		return strings.Contains(text, "squall_claims_total 1") && strings.Contains(text, "squall_launches_total 1")
	})
	if code, text := p.get("/healthz"); code != http.StatusOK {
		t.Errorf("%d %s", code, text)
	}
	if holder := api.holder(); !strings.HasPrefix(holder, "dispatcher-1/") {
		t.Errorf("the lease is %q's", holder)
	}
	if callers := api.callers(); callers != "dispatcher-1" {
		t.Errorf("known to the API server as %s", callers)
	}
	p.stops(t)
	if holder := api.holder(); holder != "" {
		t.Errorf("the lease is still %s's", holder)
	}
	calls, events := p.calls(t)
	verbs := map[history.Verb]int{}
	for _, c := range calls {
		verbs[c.Verb]++
	}
	if verbs[history.Create] != 1 || verbs[history.Launched] != 1 || verbs[history.Lead] != 1 {
		t.Errorf("calls: %v", verbs)
	}
	if len(events) != 1 || events[0].Kind != history.ProcessStarted || !strings.HasPrefix(events[0].Detail, "dispatcher-1/") {
		t.Errorf("events: %+v", events)
	}
}

// checkPod looks at what the replica adds to a Pod.
func checkPod(t *testing.T, text string) {
	t.Helper()
	var pod corev1.Pod
	if err := json.Unmarshal([]byte(text), &pod); err != nil {
		t.Fatal(err)
	}
	c := pod.Spec.Containers[0]
	env := map[string]corev1.EnvVar{}
	for _, v := range c.Env {
		env[v.Name] = v
	}
	if v := env[environment.DatabaseURL]; v.Value != "" || v.ValueFrom.SecretKeyRef.Name != "database" || v.ValueFrom.SecretKeyRef.Key != "url" {
		t.Errorf("the database: %+v", v)
	}
	if env[environment.Settings].Value == "" || env[environment.Startup].Value != "1s-2s" || env[environment.Record].Value != "/record" {
		t.Errorf("the worker is told %v", env)
	}
	if c.Image != "programs:v1" || len(c.Command) != 1 || c.Command[0] != "/worker" || c.VolumeMounts[0].MountPath != "/record" ||
		pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != "journals" {
		t.Errorf("the worker: %+v", c)
	}
}

// The outcome of the call that is under way is known, and nothing is begun after it.
func TestAStopLetsTheCallUnderWayEnd(t *testing.T) {
	t.Parallel()
	url, api := newDatabase(t), newAPIServer(t)
	api.with(func() { api.slow = 2 * time.Second })
	p := start(t, url, api, "--migrate")
	await(t, "for the lease", func() bool { return api.holder() != "" })
	store := submitTo(t, url)
	<-api.got
	p.stops(t)
	if api.object(t, podPath) == "" || api.holder() != "" {
		t.Errorf("Pod %q, lease of %q", api.object(t, podPath), api.holder())
	}
	calls, _ := p.calls(t)
	for _, c := range calls {
		if c.Returned.IsZero() || c.Verb == history.Create && c.Outcome != history.OK || c.Outcome == history.Unknown {
			t.Errorf("a call whose outcome nobody knows: %+v", c)
		}
	}
	if row, err := store.Read(context.Background(), "a"); err != nil || row.Activity != dispatcher.Launching {
		t.Errorf("the row is %s, %v: the launch was recorded by a replica that was told to stop", row.Activity, err)
	}
}

func TestAStopLeavesTheLeaseOfOthersAlone(t *testing.T) {
	t.Parallel()
	url, api := newDatabase(t), newAPIServer(t)
	api.with(func() {
		api.objects[leasePath] = map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
			"metadata": map[string]any{"name": "dispatcher", "resourceVersion": "1"},
			"spec":     map[string]any{"holderIdentity": "dispatcher-2/1", "leaseDurationSeconds": 3600, "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")}}
	})
	p := start(t, url, api, "--migrate")
	await(t, "for the standby to be ready", func() bool { code, _ := p.get("/readyz"); return code == http.StatusOK })
	p.stops(t)
	if holder := api.holder(); holder != "dispatcher-2/1" {
		t.Errorf("the lease is %q's", holder)
	}
}

func TestReplicaWaitsForItsTables(t *testing.T) {
	t.Parallel()
	url, api := newDatabase(t), newAPIServer(t)
	p := start(t, url, api)
	await(t, "for a word about the schema", func() bool { return strings.Contains(p.log.String(), "run Migrate") })
	if code, _ := p.get("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("ready without tables: %d", code)
	}
	if code := start(t, url, api, "migrate").ends(t); code != exitDone {
		t.Errorf("migrate: exit %d", code)
	}
	await(t, "for the lease", func() bool { return api.holder() != "" })
	p.stops(t)
}

func TestReplicaStopsWhileItWaits(t *testing.T) {
	t.Parallel()
	p := start(t, "postgres://u:topsecret@127.0.0.1:1/x", newAPIServer(t))
	await(t, "for a word about the database", func() bool { return strings.Contains(p.log.String(), "waits for the database") })
	p.stops(t)
	if strings.Contains(p.log.String(), "topsecret") {
		t.Error("the log holds the password")
	}
}

func TestBadEnvironment(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // after the cases, which run later than this function
	for _, c := range []struct {
		name string
		more []string
		says []string
	}{
		{"everything at once", []string{environment.DatabaseURL + "=postgres://u:topsecret@:x", environment.Kubeconfig + "=/absent", environment.Namespace + "=Batch",
			environment.Settings + "=b1", environment.Image + "=", environment.DatabaseSecret + "=", environment.Listen + "=8080", environment.Startup + "=x",
			environment.System + "=naive"},
			[]string{environment.DatabaseURL, environment.Kubeconfig, environment.Namespace, environment.Settings, environment.Image,
				environment.DatabaseSecret, environment.Listen, environment.Startup, environment.System}},
		{"no folder for the record", []string{environment.Record + "=/absent"}, []string{environment.Record, "is the directory there"}},
		{"address taken", []string{environment.Listen + "=" + taken.Addr().String()}, []string{environment.Listen, "address already in use"}},
		{"unknown flag", []string{"--migrat"}, []string{"flag provided but not defined"}},
		{"unknown argument", []string{"run"}, []string{"migrate"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "postgres://u:topsecret@127.0.0.1:1/x", newAPIServer(t), c.more...)
			if code := p.ends(t); code != exitUsage {
				t.Errorf("exit %d", code)
			}
			for _, word := range c.says {
				if !strings.Contains(p.log.String(), word) {
					t.Errorf("the log does not say %s", word)
				}
			}
			if strings.Contains(p.log.String(), "topsecret") {
				t.Error("the log holds the password")
			}
		})
	}
}
