package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

func TestDecodeRuleSaysEverythingThatIsWrong(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`[]`, `the body is not a JSON object`},
		{`{"action": "refuse"} {}`, `more follows`},
		{`{"action": "refuse"`, `not JSON`},
		{`{"actoin": "refuse", "action": "drop"}`, `actoin: unknown field "actoin"; did you mean "action"?`},
		{`{"action": "cut-repl"}`, `action: unknown action "cut-repl"; did you mean "cut-reply"?`},
		{`{"action": "drop", "action": "refuse"}`, `action: given twice`},
		{`{"action": "drop", "verb": "creat"}`, `verb: unknown verb "creat"; did you mean "create"?`},
		{`{"action": "drop", "port": "stor"}`, `port: unknown port "stor"; did you mean "store"?`},
		{`{"action": "drop", "nth": "2"}`, `nth: a string is not a whole number`},
		{`{"action": "drop", "nth": -1, "share": 2}`, `nth: -1 is negative; 1 is the first; share: 2 is not between 0 and 1`},
		{`{"action": "drop", "process": "a*b"}`, `process: "a*b": a * stands at the end only`},
		{`{"action": "late"}`, `delay: it goes with`},
		{`{"action": "drop", "delay": "1s"}`, `delay: it goes with`},
		{`{"action": "slow", "delay": "soon"}`, `delay: "soon" is no duration`},
		{`{"action": "slow", "delay": "uniform 3s 1s"}`, `the second duration is the longer one`},
		{`{"action": "slow", "delay": "unform 1s 2s"}`, `did you mean "uniform"?`},
		{`{"action": "slow", "delay": "-1s"}`, `is negative`},
		{`{"action": "drop", "code": "internal"}`, `code: code, status, retryAfter and applied go with the action answer`},
		{`{"action": "answer", "port": "api", "code": "fenced"}`, `the API server has no answer that says fenced; it has conflict, exists,`},
		{`{"action": "answer", "port": "store", "code": "fenced"}`, `Postgres has no error that says fenced; it has conflict,`},
		{`{"action": "answer", "port": "api", "code": "internl"}`, `did you mean "internal"?`},
		{`{"action": "answer", "port": "api", "code": "internal", "status": 200}`, `status: 200 is not between`},
		{`{"action": "answer", "port": "store", "code": "internal", "applied": true}`, `status, retryAfter and applied are of the API`},
	} {
		_, err := DecodeRule([]byte(c.body))
		var p Problems
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.body, err, c.want)
		}
	}
}

// FuzzDecodeRule: what is taken can be written and read again, and means the same.
func FuzzDecodeRule(f *testing.F) {
	for _, seed := range []string{`{"port":"store","process":"dispatcher*","verb":"launched","share":0.5,"seed":7,"action":"late","delay":"uniform 40s 70s"}`,
		`{"action":"answer","port":"api","code":"internal","retryAfter":"1s","applied":true}`, `{"action":"slow","delay":"log-normal 1s 3s"}`, `{"a`, `{"nth":1e9}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := DecodeRule(text)
		if err != nil {
			var p Problems
			if !errors.As(err, &p) || len(p) == 0 {
				t.Fatalf("an error without a problem: %v", err)
			}
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := DecodeRule(again); err != nil || !reflect.DeepEqual(back, r) {
			t.Fatalf("%s became %s: %+v, error %v", text, again, back, err)
		}
	})
}

func TestRuleOf(t *testing.T) {
	r, err := RuleOf(clusters.Rule{Port: clusters.Store, Process: "worker*", Verb: history.Finish, Share: 0.5, Action: clusters.Late,
		Delay: clusters.Uniform(time.Second, 3*time.Second)}, 7)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(r)
	if want := `{"port":"store","process":"worker*","verb":"finish","share":0.5,"seed":7,"action":"late","delay":"uniform 1s 3s"}`; string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	r, err = RuleOf(clusters.Rule{Port: clusters.API, Verb: history.Create, Action: clusters.Answer, Code: history.Internal, Applied: true,
		RetryAfter: 2 * time.Second}, 7)
	if err != nil || !r.Applied || r.RetryAfter != fixed(2*time.Second) || r.Code != "internal" {
		t.Errorf("an answer after the effect is %+v, %v", r, err)
	}
	if r, err := RuleOf(clusters.Rule{Port: clusters.API, Verb: history.Create, Action: clusters.CrashCaller, Delay: clusters.Fixed(time.Second)}, 7); err != nil || !r.Delay.IsZero() {
		t.Errorf("a crash that lasts: %+v, %v", r, err)
	}
	if _, err := RuleOf(clusters.Rule{Node: "spot-1", Action: clusters.Drop}, 7); err == nil {
		t.Error("a rule for a node is taken")
	}
}

// Of a share the same calls are struck with the same seed, and nth counts from when the rule was armed.
func TestJudge(t *testing.T) {
	struck := func(r Rule, n int) (which []int) {
		s := newRules()
		for range 3 {
			s.judge(&call{port: clusters.API, verb: "create"}, all) // before it is armed
		}
		s.arm(r)
		for i := 1; i <= n; i++ {
			if s.judge(&call{port: clusters.API, process: "dispatcher-1", verb: "create"}, all).action != "" {
				which = append(which, i)
			}
			s.judge(&call{port: clusters.API, verb: "get"}, all) // no match
		}
		return which
	}
	share := Rule{Port: clusters.API, Verb: "create", Share: 0.3, Seed: 7, Action: clusters.Drop}
	first := struck(share, 1000)
	if n := len(first); n < 250 || n > 350 {
		t.Errorf("%d of 1000 are struck", n)
	}
	if !reflect.DeepEqual(first, struck(share, 1000)) {
		t.Error("the same seed struck others")
	}
	share.Seed = 8
	if reflect.DeepEqual(first, struck(share, 1000)) {
		t.Error("another seed struck the same")
	}
	if got := struck(Rule{Port: clusters.API, Process: "dispatcher*", Verb: "create", Nth: 3, Action: clusters.Drop}, 10); !reflect.DeepEqual(got, []int{3}) {
		t.Errorf("the third is %v", got)
	}
	s := newRules()
	for _, r := range []Rule{{Action: clusters.Slow, Delay: fixed(time.Second)}, {Action: clusters.Drop}, {Action: clusters.CutCall}, {Action: clusters.Slow, Delay: fixed(time.Second)}} {
		s.arm(r)
	}
	if f := s.judge(&call{}, all); f.slow != 2*time.Second || f.action != clusters.Drop {
		t.Errorf("delays do not add up, or the first action does not win: %+v", f)
	}
}

func all(Rule) bool { return true }

func TestControlKeepsStrangersOut(t *testing.T) {
	s := newStand(t)
	for _, c := range []struct {
		method, path, token, body string
		want                      int
	}{
		{"POST", "/rules", "", `{"action":"drop"}`, 401},
		{"POST", "/rules", secret + "x", `{"action":"drop"}`, 401},
		{"DELETE", "/rules", "", "", 401},
		{"GET", "/hits", "", "", 401},
		{"GET", "/elsewhere", "", "", 401},
		{"GET", "/elsewhere", secret, "", 404},
		{"GET", "/healthz", "", "", 200},
		{"PUT", "/rules", secret, "", 405},
		{"DELETE", "/rules/r9", secret, "", 404},
		{"GET", "/hits?after=x", secret, "", 400},
		{"GET", "/hits?after=-1&wait=1", secret, "", 400},
		{"POST", "/rules", secret, `{"action":"dorp"}`, 400},
		{"POST", "/rules", secret, `{"process":"` + strings.Repeat("a", maxRule) + `"}`, 413},
	} {
		r, _ := http.NewRequestWithContext(t.Context(), c.method, s.client.URL+c.path, strings.NewReader(c.body))
		r.Header.Set("Authorization", "Bearer "+c.token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s %s: got %s %s, want %d", c.method, c.path, answer.Status, text, c.want)
		}
	}
	if armed, err := s.client.Rules(t.Context()); err != nil || len(armed) != 0 {
		t.Errorf("armed: %+v, error %v", armed, err)
	}
	_, err := s.client.Arm(t.Context(), Rule{Action: clusters.Late})
	var p Problems
	if !errors.As(err, &p) || p[0].Field != "delay" {
		t.Errorf("the client does not tell what is wrong: %v", err)
	}
}

// A poll ends when a hit comes, and one for a number that is still to come is set back.
func TestHits(t *testing.T) {
	s := newStand(t)
	id := s.arm(Rule{Port: clusters.API, Verb: "create", Action: clusters.Refuse})
	time.AfterFunc(100*time.Millisecond, func() { _, _ = s.workloads("dispatcher-1").Create(context.Background(), task("a")) })
	began := time.Now()
	hits, next, err := s.client.Hits(t.Context(), 0)
	if err != nil || len(hits) != 1 || next != 1 || hits[0].Rule != id || hits[0].At.Before(began) {
		t.Errorf("got %+v, %d, error %v", hits, next, err)
	}
	if hits, next, err := s.client.Hits(t.Context(), 50); err != nil || len(hits) != 0 || next != 1 {
		t.Errorf("from another life: got %+v, %d, error %v", hits, next, err)
	}
	if armed, err := s.client.Rules(t.Context()); err != nil || len(armed) != 1 || armed[0].Seen != 1 || armed[0].Hits != 1 || armed[0].Rule.Verb != "create" {
		t.Errorf("armed: %+v, error %v", armed, err)
	}
	if err := s.client.DisarmAll(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.workloads("dispatcher-1").Create(t.Context(), task("a")); err != nil {
		t.Errorf("after disarming: %v", err)
	}
}

// client-go as it is out of the box sends a create again that was applied: the path that the reference adapter closes.
func TestHiddenSecondCreate(t *testing.T) {
	s := newStand(t)
	s.arm(Rule{Port: clusters.API, Process: "naive", Verb: "create", Task: "a", Nth: 1, Action: clusters.Answer, Code: "internal",
		RetryAfter: fixed(time.Second), Applied: true})
	naive, err := kubernetes.NewForConfig(s.config("naive"))
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "task-a-x7k2", Labels: map[string]string{taskLabel: "a"}}}
	if _, err := naive.CoreV1().Pods("batch").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Errorf("the caller noticed: %v", err)
	}
	if n := s.cluster.count("POST"); n != 2 {
		t.Errorf("applied %d times", n)
	}
	// Protobuf hides the task no better than JSON.
	config := s.config("naive")
	config.ContentType = "application/vnd.kubernetes.protobuf"
	binary, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	id := s.arm(Rule{Port: clusters.API, Verb: "create", Task: "b", Action: clusters.Refuse})
	pod.Labels[taskLabel] = "b"
	_, err = binary.CoreV1().Pods("batch").Create(t.Context(), pod, metav1.CreateOptions{})
	if err == nil || len(s.hitsOf(id)) != 1 {
		t.Errorf("got error %v, hits %+v", err, s.hitsOf(id))
	}
}
