package scenarios

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

// calm is the shortest scenario that says everything; tests change one line of it.
const calm = `apiVersion: squall/v1alpha1
kind: Scenario
name: calm
summary: Nothing goes wrong.
nodes:
  - {name: od, capacity_type: on-demand, count: 1, pods: 10}
tasks:
  - {name: task, count: 3, run: 60s}
horizon: 10m
`

func TestParseReadsWhatTheFileSays(t *testing.T) {
	s, err := Parse("calm.yaml", []byte(calm))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "calm" || len(s.Nodes) != 1 || s.Nodes[0].Pods != 10 || s.Tasks[0].Count != 3 || s.Horizon.Minutes() != 10 {
		t.Errorf("read %+v", s)
	}
	if s.dispatchers() != 2 || s.reconcilers() != 2 {
		t.Error("two replicas of each role are the default")
	}
}

// brief is each problem in one line: place, code and message.
func inBrief(err error) []string {
	var bad *InputError
	if !errors.As(err, &bad) {
		return []string{fmt.Sprint(err)}
	}
	var lines []string
	for _, p := range bad.Problems {
		lines = append(lines, fmt.Sprintf("%d:%d %s %s", p.Line, p.Col, p.Code, p.Message))
	}
	return lines
}

// refused is calm with one mistake, and what is said about it.
var refused = []struct {
	name string
	old  string // a part of calm; "" means the whole
	new  string
	want string // line:col code message, or its beginning
}{
	{"empty file", "", "", "1:1 SQ113 the file is empty"},
	{"only comments", "", "# nothing\n", "1:1 SQ113 the file holds no scenario"},
	{"open bracket", "count: 1, pods: 10}", "count: 1, pods: 10", "7:1 SQ101"},
	{"tab", "  - {name: od", "\t- {name: od", "6:1 SQ101 a tab in the indentation"},
	{"not UTF-8", "Nothing", "N\xff", "4:1 SQ101 the line is not UTF-8"},
	{"control character", "Nothing", "N\x01", "4:11 SQ101 a control character"},
	{"two documents", "horizon: 10m\n", "horizon: 10m\n---\nname: other\n", "11:1 SQ114 a second document"},
	{"anchor", "60s}", "&a 60s}", "8:33 SQ115 anchors (&)"},
	{"alias", "60s}", "*a}", "8:33 SQ115 aliases (*)"},
	{"tag", "60s}", "!!str 60s}", "8:33 SQ115 tags (!)"},
	{"merge key", "nodes:", "<<: {}\nnodes:", "5:1 SQ115 merge keys (<<)"},
	{"complex key", "nodes:", "? a\n: b\nnodes:", "5:1 SQ115 complex keys (?)"},
	{"too many keys", "horizon: 10m", strings.Repeat("a: 1\n", strictyaml.MaxKeys+1), "9996:2 SQ102 more than 10000 keys"},
	{"too deep", "60s}", strings.Repeat("[", 40) + "}", "8:"},
	{"wrong version", "v1alpha1", "v1", `1:13 SQ103 unknown apiVersion "squall/v1"`},
	{"wrong kind", "kind: Scenario", "kind: Pod", `2:7 SQ103 unknown kind "Pod"`},
	{"unknown field", "summary:", "sumary:", `4:1 SQ104 unknown field "sumary"`},
	{"unknown field inside", "pods: 10", "pod: 10", `6:52 SQ104 unknown field "pod" in nodes[0]`},
	{"missing field", "summary: Nothing goes wrong.\n", "", `1:1 SQ107 missing: "summary"`},
	{"wrong type", "pods: 10", "pods: many", `6:58 SQ105 expected a whole number, found the text "many"`},
	{"list for mapping", "horizon: 10m", "horizon: 10m\nplatform: []", "10:11 SQ105 expected a mapping, found a list"},
	{"mapping for list", "tasks:\n  - {name: task, count: 3, run: 60s}", "tasks: {name: task}", "7:8 SQ105 expected a list, found a mapping"},
	{"nothing", "summary: Nothing goes wrong.", "summary:", "4:9 SQ105 expected text"},
	{"number for text", "name: calm", "name: 4", "3:7 SQ105 expected text"},
	{"key twice", "kind: Scenario", "kind: Scenario\nkind: Scenario", `3:1 SQ106 "kind" is given twice, first in line 2`},
	{"no unit", "horizon: 10m", "horizon: 10", "9:10 SQ108 a duration needs a unit, found 10"},
	{"negative", "horizon: 10m", "horizon: -10m", "9:10 SQ108 the duration -10m is negative"},
	{"endless", "horizon: 10m", "horizon: 100000h", "9:10 SQ108 the duration 100000h is longer than a year"},
	{"not a duration", "horizon: 10m", "horizon: soon", `9:10 SQ108 expected a duration such as 90s or 2m30s, found "soon"`},
	{"zero horizon", "horizon: 10m", "horizon: 0s", "9:10 SQ110 the horizon must be above 0"},
	{"unknown distribution", "run: 60s", "run: {normal: 60s}", `8:34 SQ109 unknown distribution "normal"`},
	{"half a range", "run: 60s", "run: {uniform: [60s]}", "8:43 SQ109 uniform is from a list of two durations"},
	{"range backwards", "run: 60s", "run: {uniform: [60s, 5s]}", "8:49 SQ109 uniform ends at 5s, before it begins at 1m0s"},
	{"weibull", "run: 60s", "run: {weibull: {median: 0s, p99: 5s}}", "8:43 SQ109 a weibull distribution"},
	{"percentiles without an end", "run: 60s", "run: {percentiles: {0: 1s, 50: 5s}}", "8:47 SQ109 percentiles begin with 0, the shortest, and end with 100"},
	{"percentiles that fall", "run: 60s", "run: {percentiles: {0: 1s, 50: 5s, 100: 4s}}", "8:68 SQ109 percentile 100 is 4s, less than the 5s of percentile 50"},
	{"percentiles out of order", "run: 60s", "run: {percentiles: {0: 1s, 100: 5s, 50: 4s}}", "8:64 SQ109 percentile 50 stands after 100"},
	{"no percentile", "run: 60s", "run: {percentiles: {0: 1s, p50: 5s}}", "8:55 SQ109 expected a percentile"},
	{"a single percentile", "run: 60s", "run: {percentiles: {0: 1s}}", "8:47 SQ109 expected from 2 to 1000 percentiles"},
	{"lognormal", "run: 60s", "run: {lognormal: {median: 60s, p99: 5s}}", "8:45 SQ109 a lognormal distribution"},
	{"name", "name: calm", "name: Calm Sea", `3:7 SQ111 "Calm Sea" is no name`},
	{"capacity type", "on-demand", "ondemand", `6:31 SQ111 unknown capacity type "ondemand"`},
	{"family", "horizon: 10m", "horizon: 10m\nfamily: node kil", `10:9 SQ111 unknown family "node kil"`},
	{"dispatcher", "horizon: 10m", "horizon: 10m\ndispatcher: nave", `10:13 SQ111 unknown dispatcher "nave"`},
	{"replicas", "horizon: 10m", "horizon: 10m\nreplicas: {dispatchers: 0}", "10:25 SQ110 expected a number from 1 to 64, found 0"},
	{"no nodes", "count: 1, pods", "pods", `6:5 SQ107 node group "od" will never have a node`},
	{"max below count", "count: 1, pods", "count: 3, max: 2, pods", "6:57 SQ110 max 2 is below count 3"},
	{"task twice", "run: 60s}", "run: 60s}\n  - {name: task-2, run: 5s}", `9:12 SQ106 there is a task "task-2" already`},
	{"too many tasks", "count: 3", "count: 200000", "8:25 SQ110 expected a number from 1 to 100000, found 200000"},
	{"profile", "horizon: 10m", "horizon: 10m\nprofile: b1", `10:10 SQ203 unknown profile "b1"`},
	{"setting", "horizon: 10m", "horizon: 10m\nsettings: {recover_grace: 6m}", `10:12 SQ201 unknown setting "recover_grace"`},
	{"misspelt expectation", "horizon: 10m", "horizon: 10m\nexpect: {refrence: {verdict: valid}}", `10:10 SQ104 unknown field "refrence" in expect`},
	{"setting's type", "horizon: 10m", "horizon: 10m\nsettings: {claim_batch: 5s}", `10:25 SQ105 expected a whole number, found the text "5s"`},
	{"nesting", "horizon: 10m", "horizon: 10m\nsettings: {recovery_grace: 240s}", "10:28 SQ202 "},
	{"excuse for nothing", "horizon: 10m", "horizon: 10m\nunsafe_settings: because", "10:18 SQ204 the settings nest"},
	{"deadline of a task", "run: 60s", "run: 60s, deadline: 20m", "8:48 SQ202 "},
	{"client without verb", "horizon: 10m", "horizon: 10m\nclients:\n  - {at: 5s}", "11:5 SQ107 a client step does one of"},
	{"client with two verbs", "horizon: 10m", "horizon: 10m\nclients:\n  - {at: 5s, read: task-1, cancel: task-1}", "11:5 SQ107 a client step does one of"},
	{"client's task", "horizon: 10m", "horizon: 10m\nclients:\n  - {at: 5s, read: task-4}", `11:20 SQ112 there is no task "task-4"`},
	{"client too late", "horizon: 10m", "horizon: 10m\nclients:\n  - {at: 11m, read: task-1}", "11:10 SQ116 acts at 11m0s"},
	{"arrival too late", "run: 60s", "run: 60s, arrive: {at: 1h}", "8:51 SQ116 arrives at 1h0m0s"},
	{"times without every", "horizon: 10m", "horizon: 10m\nclients:\n  - {at: 5s, times: 3, read: task-1}", "11:21 SQ107 times needs `every`"},
	{"no on-demand nodes", "on-demand, count: 1, pods: 10}\ntasks:\n  - {name: task, count: 3, run: 60s}", "spot, count: 1, pods: 10}\ntasks:\n  - {name: task, count: 3, run: 60s, start_deadline: 5m}", "8:54 SQ120 work with a start deadline"},
	{"swarm", "horizon: 10m", "horizon: 10m\nswarm: hostile", `10:8 SQ111 unknown swarm "hostile"`},
	{"fault kind", "horizon: 10m", "horizon: 10m\nfaults:\n  - {at: 5s, kind: node-kil, target: {node: od-1}}", `11:20 SQ301 unknown kind of fault "node-kil"`},
	{"fault's node", "horizon: 10m", "horizon: 10m\nfaults:\n  - {at: 5s, kind: node-kill, target: {node: od-2}}", `11:46 SQ306 unknown node "od-2"`},
	{"fault past the horizon", "horizon: 10m", "horizon: 10m\nfaults:\n  - {at: {uniform: [5m, 15m]}, kind: api-outage}", "11:10 SQ307 strikes at 15m"},
	{"series past the horizon", "horizon: 10m", "horizon: 10m\nfaults:\n  - {at: 5m, every: 1m, times: 9, kind: api-outage, for: 5s}", "11:10 SQ307 strikes at 13m"},
	{"call that matches none", "horizon: 10m", "horizon: 10m\nfaults:\n  - {at: 5s, kind: call, action: drop, target: {port: store, verb: create}}", "11:68 SQ309"},
	{"unknown invariant", "horizon: 10m", "horizon: 10m\nexpect: {reference: {exercised: [I9-luck]}}", `10:34 SQ117 unknown invariant "I9-luck"`},
	{"empty expectation", "horizon: 10m", "horizon: 10m\nexpect: {reference: {}}", "10:21 SQ117 nothing is expected here"},
	{"no expectation", "horizon: 10m", "horizon: 10m\nexpect: {}", "10:9 SQ117 nothing is expected here"},
	{"contradiction", "horizon: 10m", "horizon: 10m\nexpect: {reference: {verdict: valid, violates: [I1-overlap]}}", "10:49 SQ117 a valid run cannot violate I1-overlap"},
	{"verdict", "horizon: 10m", "horizon: 10m\nexpect: {reference: {verdict: unknown}}", `10:31 SQ117 unknown verdict "unknown"`},
	{"expected task", "horizon: 10m", "horizon: 10m\nexpect: {reference: {tasks: [{task: job-1, phase: failed}]}}", `10:37 SQ112 there is no task "job-1"`},
	{"expected phase", "horizon: 10m", "horizon: 10m\nexpect: {reference: {tasks: [{task: task-1, phase: done}]}}", `10:52 SQ117 unknown phase "done"`},
	{"calls of nothing", "horizon: 10m", "horizon: 10m\nexpect: {reference: {calls: [{verb: create}]}}", "10:30 SQ117 nothing is expected of the calls"},
	{"defect", "horizon: 10m", "horizon: 10m\nexpect: {planted: [{defect: age, verdict: invalid}]}", `10:29 SQ117 unknown dispatcher "age"`},
	{"no control", "horizon: 10m", "horizon: 10m\nexpect: {naive: {verdict: invalid}}", "10:17 SQ118 a scenario that must fail needs a control"},
	{"own control", "horizon: 10m", "horizon: 10m\ncontrol: calm", "10:10 SQ118 a scenario cannot be its own control"},
}

func TestParseRefuses(t *testing.T) {
	for _, c := range refused {
		text := c.new
		if c.old != "" {
			if !strings.Contains(calm, c.old) {
				t.Fatalf("%s: calm has no %q", c.name, c.old)
			}
			text = strings.Replace(calm, c.old, c.new, 1)
		}
		_, err := Parse("calm.yaml", []byte(text))
		got := inBrief(err)
		one := len(got) == 1 || strings.HasSuffix(c.want, CodeNesting+" ") // one setting may break several rules
		if !one || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(got, "\n     "), c.want)
		}
	}
}

func TestAnUnknownSettingIsAnsweredWithTheRightOne(t *testing.T) {
	for name, want := range map[string]string{
		"claim_batch_limit":    `did you mean "claim_batch"?`,
		"CLAIM_BATCH_LIMIT":    `did you mean "claim_batch"?`,
		"recovery_batch_limit": `did you mean "recover_batch"?`,
		"RECOVERY_BATCH_LIMIT": `did you mean "recover_batch"?`,
		"RECOVERY_GRACE":       `did you mean "recovery_grace"?`,
		"worker_leas":          `did you mean "worker_lease"?`,
		"foo":                  "the settings are http_timeout, step_timeout, ",
	} {
		_, err := Parse("calm.yaml", []byte(calm+"settings: {"+name+": 1}\n"))
		var bad *InputError
		if !errors.As(err, &bad) || len(bad.Problems) != 1 || bad.Problems[0].Code != CodeSetting || !strings.HasPrefix(bad.Problems[0].Fix, want) {
			t.Errorf("%s in a file: %v", name, err)
		}
		if _, err := ParseOverride(name + "=1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--set %s=1: %v", name, err)
		}
	}
}

func TestAllIndependentProblemsAreReportedAtOnceInOrder(t *testing.T) {
	text := strings.NewReplacer("kind: Scenario", "kind: Scenari", "pods: 10", "pods: many", "run: 60s", "run: 60", "horizon", "horizn").Replace(calm)
	_, err := Parse("calm.yaml", []byte(text))
	want := []string{"2:7 SQ103", "6:58 SQ105", "8:33 SQ108", "9:1 SQ104"}
	got := inBrief(err)
	if len(got) != len(want) {
		t.Fatalf("got %s", strings.Join(got, "\n    "))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %s, want %s", got[i], want[i])
		}
	}
}

func TestAtMostTenProblemsAreShown(t *testing.T) {
	var b strings.Builder
	b.WriteString(calm)
	for i := range 15 {
		fmt.Fprintf(&b, "field%d: 1\n", i)
	}
	_, err := Parse("calm.yaml", []byte(b.String()))
	var bad *InputError
	if !errors.As(err, &bad) || len(bad.Problems) != MaxProblems || bad.More != 5 {
		t.Errorf("got %v", err)
	}
}

func TestProblemsReadLikeThoseOfACompiler(t *testing.T) {
	text := strings.Replace(calm, "pods: 10", "pod: 10", 1)
	_, err := Parse("calm.yaml", []byte(text))
	const want = `calm.yaml:6:52: SQ104 unknown field "pod" in nodes[0]
    6 |   - {name: od, capacity_type: on-demand, count: 1, pod: 10}
      |                                                    ^^^
  fix: did you mean "pods"?
` + "`squall explain SQ104` says more"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if s, err := Load(write("calm.yaml", strings.ReplaceAll(calm, "\n", "\r\n"))); err != nil || s.Name != "calm" {
		t.Errorf("a file with Windows line ends: %v", err)
	}
	for name, path := range map[string]string{
		"SQ119 there is no such file": filepath.Join(dir, "none.yaml"),
		"SQ119 is a directory":        dir,
		"SQ102 the file has":          write("big.yaml", strings.Repeat("#", strictyaml.MaxBytes+1)),
		"SQ118 there is no scenario":  write("lonely.yaml", calm+"control: calm-control\n"),
	} {
		_, err := Load(path)
		if got := inBrief(err); len(got) != 1 || !strings.Contains(got[0], name) {
			t.Errorf("want %s, got %v", name, got)
		}
	}
	write("calm-control.yaml", strings.Replace(calm, "name: calm", "name: calm-control", 1))
	s, err := Load(filepath.Join(dir, "lonely.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if control, err := s.LoadControl(); err != nil || control.Name != "calm-control" {
		t.Errorf("the control beside the file: %v", err)
	}
}

func TestFindSuggestsTheNearestName(t *testing.T) {
	if _, err := Find("dmeo"); err == nil || !strings.Contains(err.Error(), `did you mean "demo"?`) {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(calm))
	for _, s := range Library() {
		data, _ := LibraryFile(s.Name)
		f.Add(data)
	}
	for _, text := range []string{"", "\x00", "a: [", "- - -", "? a", "&a *a", "a: !!x b", "{{{", "a: |\n  b\n c", "'", "\"\\u", "---\n---", "a: b: c", "tasks: [,]", "%YAML 1.2\n---\n", "a:\r\tb", "- {name: \xff}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("fuzz.yaml", data)
		if err != nil {
			var bad *InputError
			if !errors.As(err, &bad) || len(bad.Problems) == 0 {
				t.Fatalf("not an *InputError: %v", err)
			}
			for _, p := range bad.Problems {
				if p.Line < 1 || p.Col < 1 || p.Code == "" || p.Message == "" {
					t.Fatalf("a problem without a place: %+v", p)
				}
			}
			return
		}
		if _, err := s.Plan(1); err != nil {
			t.Fatalf("a valid scenario without a plan: %v", err)
		}
		_, _ = s.Varied(3) // which may make no sense
		s.Arrivals(1)
		s.ClientSteps(1)
	})
}
