package chain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

var today = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// files writes files to a directory of the test's own.
func files(t *testing.T, all map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const head = "apiVersion: squall/v1alpha1\nkind: Chain\nname: test\n"

// lint checks a chain that stands in squall.yaml.
func lint(t *testing.T, dir string) (Report, error) {
	t.Helper()
	c, err := Open(context.Background(), filepath.Join(dir, "squall.yaml"), Options{})
	if err != nil {
		return Report{}, err
	}
	return Check(c, today)
}

// lintText checks a chain whose links are all given in it.
func lintText(t *testing.T, text string) (Report, error) {
	t.Helper()
	return lint(t, files(t, map[string]string{"squall.yaml": head + text}))
}

// said is a report in short: code and relation of every finding.
func said(r Report) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.Code+" "+f.Relation)
	}
	return strings.Join(all, ", ")
}

// links writes links with constant values, each of a setting of that name.
func links(values ...string) string {
	text := "links:\n"
	for _, v := range values {
		name, value, _ := strings.Cut(v, "=")
		text += fmt.Sprintf("  - {name: %s, setting: %s, owner: team, value: %s}\n", name, name, value)
	}
	return text
}

func TestRelations(t *testing.T) {
	const pair = "links:\n  - {name: a, owner: x, value: %s, %s: b, margin: \"%s\", because: so}\n  - {name: b, owner: y, value: %s}\n"
	for _, c := range []struct{ a, how, margin, b, want string }{
		{"10s", "below", "0", "11s", ""},
		{"10s", "below", "0s", "10s", "SQ521 a-in-b"},
		{"10s", "below", "0s", "9s", "SQ522 a-in-b"},
		{"10s", "below", "5s", "15s", ""},
		{"10s", "below", "5s", "14999ms", "SQ520 a-in-b"},
		{"10s", "at_most", "0", "10s", ""},
		{"10s", "at_most", "0", "9s", "SQ522 a-in-b"},
		{"10", "at_most", "0", "9", "SQ523 a-in-b"},
		{"10", "at_most", "0", "10", ""},
		{"3 * 3.3s", "below", "0s", "9900ms", "SQ521 a-in-b"}, // exact: no rounding makes it unequal
		{"3 * 3.3s", "at_most", "0s", "9900ms", ""},
		{"1m", "below", "a / 2", "90s", ""},
		{"1m", "below", "max(a / 2, 31s)", "90s", "SQ520 a-in-b"},
	} {
		r, err := lintText(t, fmt.Sprintf(pair, c.a, c.how, c.margin, c.b))
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		} else if said(r) != c.want {
			t.Errorf("%+v: found %q", c, said(r))
		}
	}
}

func TestBuiltInRules(t *testing.T) {
	whole := []string{"pod_grace=30s", "recover_interval=30s", "max_clock_skew=5s", "create_timeout=10s", "store_timeout=5s"}
	for _, c := range []struct {
		name, want string
		links      []string
	}{
		{"the profile", "", []string{"http_timeout=180s", "step_timeout=200s", "workflow_deadline=240s", "tick=300s", "recovery_grace=360s"}},
		{"grace at the deadline", "SQ521 workflow-in-grace", []string{"workflow_deadline=240s", "recovery_grace=240s"}},
		{"grace too near", "SQ520 workflow-in-grace", []string{"workflow_deadline=240s", "recovery_grace=304s"}},
		{"grace just enough", "", []string{"workflow_deadline=240s", "recovery_grace=305s"}},
		{"step beyond the workflow", "SQ522 step-in-workflow", []string{"step_timeout=250s", "workflow_deadline=240s"}},
		{"step at the workflow", "SQ521 step-in-workflow", []string{"step_timeout=240s", "workflow_deadline=240s"}},
		{"call beyond the step", "SQ520 http-in-step", []string{"http_timeout=198s", "step_timeout=200s"}},
		{"deadline in the tick", "SQ520 workflow-in-tick", []string{"workflow_deadline=280s", "tick=300s"}},
		{"tick in the grace", "SQ520 tick-in-grace", []string{"tick=300s", "recovery_grace=310s"}},
		{"batches", "SQ523 recover-batch", []string{"claim_batch=50", "recover_batch=20"}},
		{"equal batches", "", []string{"claim_batch=50", "recover_batch=50"}},
		{"rate", "SQ524 recover-rate", []string{"claim_batch=50", "recover_batch=50", "tick=20s"}},
		{"heartbeats", "SQ522 heartbeat-in-lease", []string{"heartbeat_interval=15s", "worker_lease=40s"}},
		{"heartbeats, as rule 1 has it", "", []string{"heartbeat_interval=15s", "worker_lease=45s"}},
		{"lease in the grace", "SQ520 lease-in-grace", []string{"heartbeat_interval=15s", "worker_lease=55s", "recovery_grace=60s"}},
		{"with heartbeats work may outlive the grace", "", []string{"heartbeat_interval=15s", "worker_lease=45s", "recovery_grace=60s", "workflow_deadline=600s", "tick=5s"}},
		{"but not equal it", "SQ521 grace-not-deadline", []string{"heartbeat_interval=15s", "worker_lease=45s", "recovery_grace=60s", "workflow_deadline=60s"}},
		{"renewal", "SQ521 renew-in-lease", []string{"renew_deadline=15s", "lease_ttl=15s"}},
		{"retries of a renewal", "SQ522 retry-in-renew", []string{"retry_period=5s", "renew_deadline=10s"}},
		{"start", "SQ522 start", []string{"node_provisioning=200s", "cold_pull=60s", "start_timeout=210s"}},
		{"retries", "SQ525 retries", []string{"platform_retries=6", "max_failures=3", "agreed_executions=3"}},
		{"dispatcher's own deadline", "SQ522 workflow-in-dispatcher, SQ520 dispatcher-in-grace", []string{"workflow_deadline=240s", "dispatcher_deadline=230s", "recovery_grace=290s"}},
		{"redelivery", "SQ522 redelivery-in-expiry", []string{"redelivery=720s", "stale_expiry=240s"}},
		{"work beyond redelivery", "SQ522 step-in-redelivery", []string{"step_timeout=60s", "redelivery=50s"}},
		{"start deadline", "SQ522 redelivery", []string{"recovery_grace=360s", "tick=300s", "start_deadline=10m"}},
	} {
		r, err := lintText(t, links(append(whole, c.links...)...))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := said(r)
		if c.name == "dispatcher's own deadline" {
			got = strings.TrimSuffix(got, ", SQ520 workflow-in-grace")
			got = strings.TrimPrefix(got, "SQ520 workflow-in-grace, ")
		}
		if got != c.want {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRulesAgreeWithTheDispatcher: what package dispatcher refuses of its own settings the built-in rules find, and nothing else.
func TestRulesAgreeWithTheDispatcher(t *testing.T) {
	for _, profile := range dispatcher.Profiles() {
		for _, change := range []func(*dispatcher.Settings){
			func(*dispatcher.Settings) {},
			func(s *dispatcher.Settings) { s.RecoveryGrace = s.WorkflowDeadline },
			func(s *dispatcher.Settings) { s.RecoveryGrace = s.WorkflowDeadline + 30*time.Second },
			func(s *dispatcher.Settings) { s.HTTPTimeout = s.StepTimeout },
			func(s *dispatcher.Settings) { s.StepTimeout = s.WorkflowDeadline + time.Second },
			func(s *dispatcher.Settings) { s.Tick = s.WorkflowDeadline },
			func(s *dispatcher.Settings) { s.RenewDeadline = s.LeaseTTL },
			func(s *dispatcher.Settings) { s.RetryPeriod = s.RenewDeadline },
			func(s *dispatcher.Settings) { s.RecoverBatch = s.ClaimBatch - 1 },
			func(s *dispatcher.Settings) { s.RecoverInterval = 20 * s.Tick },
			func(s *dispatcher.Settings) { s.ColdPull = s.StartTimeout },
			func(s *dispatcher.Settings) { s.PlatformRetries, s.AgreedExecutions = 6, s.MaxFailures },
			func(s *dispatcher.Settings) { s.WorkerLease = s.RecoveryGrace },
			func(s *dispatcher.Settings) { s.HeartbeatInterval = s.WorkerLease },
		} {
			s, _ := dispatcher.Profile(profile)
			s.AgreedExecutions = s.MaxFailures
			change(&s)
			want := map[string]bool{}
			for _, f := range s.Check() {
				want[f.Rule] = true
			}
			if want["workflow-in-grace"] {
				delete(want, "grace-not-deadline") // the same values, said once
			}
			r, err := lintText(t, settingsLinks(s))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				if !want[f.Relation] {
					t.Errorf("%s: the dispatcher does not find %s: %s", profile, f.Relation, f.Message)
				}
				delete(want, f.Relation)
			}
			for rule := range want {
				t.Errorf("%s: %s was not found", profile, rule)
			}
		}
	}
}

// settingsLinks are links for all settings.
func settingsLinks(s dispatcher.Settings) string {
	var all []string
	v := reflectSettings(s)
	for _, name := range SettingNames() {
		if value, ok := v[name]; ok {
			all = append(all, name+"="+value)
		}
	}
	return links(all...)
}

func TestFindingSaysAll(t *testing.T) {
	dir := files(t, map[string]string{
		"squall.yaml": head + `links:
  - {name: workflow, setting: workflow_deadline, owner: ingest, file: deploy/cron.yaml, extract: {field: activeDeadlineSeconds, object: {kind: CronJob, name: nightly}}}
  - {name: grace, setting: recovery_grace, owner: platform, file: reconciler.env, extract: {dotenv: RECOVERY_GRACE}, unit: duration}
  - {name: pod_grace, setting: pod_grace, owner: ingest, value: 30s}
  - {name: sweep, setting: recover_interval, owner: platform, value: 30s}
  - {name: skew, setting: max_clock_skew, owner: platform, value: 5s}
`,
		"deploy/cron.yaml": "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: nightly\nspec:\n  schedule: \"*/5 * * * *\"\n  jobTemplate:\n    spec:\n      activeDeadlineSeconds: 240\n",
		"reconciler.env":   "# how long silence is suffered\nexport RECOVERY_GRACE=\"4m\" # minutes\n",
	})
	r, err := lint(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if said(r) != "SQ521 workflow-in-grace" {
		t.Fatalf("found %q", said(r))
	}
	f := r.Findings[0]
	for what, got := range map[string][2]string{
		"message": {f.Message, "workflow and grace are both 240s; 65s must lie between them"},
		"harm":    {f.Harm, equalGrace},
		"margin":  {f.Margin + " of " + f.Need + " = " + f.Formula, "0s of 65s = pod_grace + sweep + skew"},
		"left":    {f.Left.Parts[0].Place.String(), filepath.Join(dir, "deploy/cron.yaml") + ":9:30"},
		"right":   {f.Right.Parts[0].Place.String(), filepath.Join(dir, "reconciler.env") + ":2:24"},
		"owners":  {f.Left.Parts[0].Owner + " " + f.Right.Parts[0].Owner, "ingest platform"},
		"fix":     {f.Fixes[0].Owner + ": " + f.Fixes[0].Text, "platform: raise grace to at least 305s"},
		"or":      {f.Fixes[1].Owner + ": " + f.Fixes[1].Text, "ingest: lower workflow to at most 175s (where it says 240, write 175)"},
		"object":  {f.Left.Parts[0].In, "CronJob/nightly"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
}

// TestOrderShowsWithoutTheMargin: what no margin could put right is found even if the chain does not name what the margin is made of.
func TestOrderShowsWithoutTheMargin(t *testing.T) {
	r, err := lintText(t, links("workflow_deadline=240s", "recovery_grace=240s"))
	if err != nil || said(r) != "SQ521 workflow-in-grace" || len(r.Unchecked) != 0 {
		t.Errorf("equal: %q, unchecked %v, %v", said(r), r.Unchecked, err)
	}
	r, err = lintText(t, links("workflow_deadline=240s", "recovery_grace=241s"))
	if err != nil || said(r) != "" || len(r.Unchecked) != 1 || len(r.Unchecked[0].Needs) != 3 {
		t.Errorf("in order: %q, unchecked %v, %v", said(r), r.Unchecked, err)
	}
}

func TestSuppressions(t *testing.T) {
	bad := links("workflow_deadline=240s", "recovery_grace=240s")
	for _, c := range []struct{ suppress, want string }{
		{"{relation: workflow-in-grace, reason: r, owner: o, until: \"2026-11-30\"}", ""},
		{"{relation: grace-not-deadline, reason: r, owner: o, until: \"2027-01-01\"}", ""}, // says the same of the same values
		{"{relation: workflow-in-grace, code: SQ521, link: recovery_grace, reason: r, owner: o, until: \"2027-01-01\"}", ""},
		{"{relation: workflow-in-grace, reason: r, owner: o, until: \"2026-11-29\"}", "SQ521 workflow-in-grace, SQ530 workflow-in-grace"},
		{"{relation: workflow-in-grace, code: SQ520, reason: r, owner: o, until: \"2027-01-01\"}", "SQ521 workflow-in-grace, SQ531 workflow-in-grace"},
		{"{relation: recover-batch, reason: r, owner: o, until: \"2020-01-01\"}", "SQ521 workflow-in-grace, SQ531 recover-batch"},
	} {
		r, err := lintText(t, bad+"suppress:\n  - "+c.suppress+"\n")
		if err != nil {
			t.Errorf("%s: %v", c.suppress, err)
		} else if said(r) != c.want || (c.want == "") != (len(r.Silent) == 1) {
			t.Errorf("%s: found %q, %d silent", c.suppress, said(r), len(r.Silent))
		}
	}
}

// TestBadInput: every mistake is named with its place, its code and a remedy where there is one.
func TestBadInput(t *testing.T) {
	for _, c := range badInputs {
		dir := files(t, map[string]string{"squall.yaml": c.text, "a.yaml": "a: 1\nb: [2, 3]\nc: {d: 4}\ne: text\nf: -1\n", "b.yaml": "a: {{ .Values.x }}\n", "c.toml": "a = 1\nb = 2\n", "bad.toml": "a = \n", "near.env": "GRACE=1\n",
			"near.yaml": "kind: Job\nmetadata: {name: nightly}\nspec: {deadlineSeconds: 1, containers: [{name: a, env: [{name: TIMEOUT, value: 1}]}]}\n"})
		_, err := lint(t, dir)
		var input *InputError
		if !errors.As(err, &input) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestEach: every value that is found is compared by itself; of the other side the worst counts.
func TestEach(t *testing.T) {
	dir := files(t, map[string]string{
		"squall.yaml": head + `links:
  - {name: work, owner: teams, file: jobs, unit: s, each: true, extract: {path: deadline}, below: grace, margin: sweep, because: so}
  - {name: grace, owner: platform, file: "grace-*.env", unit: s, each: true, extract: {dotenv: GRACE}}
  - {name: sweep, owner: platform, value: 10s}
suppress:
  - {relation: work-in-grace, link: grace, reason: r, owner: o, until: "2020-01-01"}
`,
		"jobs/a.yaml": "deadline: 40\n", "jobs/b.yaml": "deadline: 55\n", "jobs/deep/c.yaml": "deadline: 60\n",
		"grace-1.env": "GRACE=60\n", "grace-2.env": "GRACE=600\n",
	})
	r, err := lint(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if said(r) != "SQ520 work-in-grace, SQ521 work-in-grace, SQ530 work-in-grace" || r.Values != 6 {
		t.Fatalf("found %q of %d values", said(r), r.Values)
	}
	if at := r.Findings[0].Left.Parts[0].Place.File; filepath.Base(at) != "b.yaml" {
		t.Errorf("the first finding is about %s", at)
	}
	if r.Findings[0].Fingerprint == r.Findings[1].Fingerprint {
		t.Error("two findings have one fingerprint")
	}
}
