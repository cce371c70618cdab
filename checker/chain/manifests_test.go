package chain

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// extracted are links into the manifests below testdata, which have the shapes that public ones have, and what is found: the value
// and its place, or the beginning of a message.
var extracted = []struct{ link, want string }{
	{"file: 01-cronjob.yaml, extract: {field: activeDeadlineSeconds, object: {kind: CronJob, name: ledger-rollup}}", "540s 01-cronjob.yaml:13:30"},
	{"file: 01-cronjob.yaml, extract: {field: terminationGracePeriodSeconds, object: {kind: CronJob, name: ledger-rollup}}", "45s 01-cronjob.yaml:18:42"},
	{"file: 01-cronjob.yaml, extract: {field: schedule, object: {kind: CronJob, name: ledger-rollup}}", "600s 01-cronjob.yaml:8:13"},
	{"file: 01-cronjob.yaml, extract: {field: startingDeadlineSeconds, object: {kind: CronJob}}", "120s 01-cronjob.yaml:10:28"},
	{"file: 01-cronjob.yaml, extract: {field: backoffLimit, object: {kind: CronJob}}", "0 01-cronjob.yaml:14:21"},
	{"file: 01-cronjob.yaml, unit: s, extract: {env: HTTP_TIMEOUT, object: {kind: CronJob, name: ledger-rollup}, container: rollup}", "180s 01-cronjob.yaml:23:47"},
	{"file: 01-cronjob.yaml, unit: s, extract: {env: DATABASE_URL, object: {kind: CronJob, name: ledger-rollup}}", "SQ511 the value of DATABASE_URL is not here"},
	{"file: 02-argo-workflow.yaml, extract: {field: activeDeadlineSeconds, object: {kind: Workflow, name: thumbnails}}", "240s 02-argo-workflow.yaml:9:26"},
	{"file: 02-argo-workflow.yaml, extract: {field: terminationGracePeriodSeconds, object: {kind: Workflow, name: thumbnails}}", "20s 02-argo-workflow.yaml:11:36"},
	{"file: 02-argo-workflow.yaml, extract: {field: activeDeadlineSeconds, template: resize, object: {kind: Workflow, name: thumbnails}}", "200s 02-argo-workflow.yaml:19:30"},
	{"file: 02-argo-workflow.yaml, extract: {field: timeout, template: resize, object: {kind: Workflow, name: thumbnails}}", "210s 02-argo-workflow.yaml:20:16"},
	{"file: 02-argo-workflow.yaml, unit: duration, extract: {env: STEP_TIMEOUT, template: resize, object: {kind: Workflow}}", "190s 02-argo-workflow.yaml:24:41"},
	{"file: 03-argo-cronworkflow.yaml, extract: {field: activeDeadlineSeconds, object: {kind: CronWorkflow, name: reindex}}", "13m20s 03-argo-cronworkflow.yaml:12:28"},
	{"file: 03-argo-cronworkflow.yaml, extract: {field: schedule, object: {kind: CronWorkflow, name: reindex}}", "15m 03-argo-cronworkflow.yaml:6:13"},
	{"file: 03-argo-cronworkflow.yaml, unit: s, extract: {env: REINDEX_TIMEOUT, container: run, object: {kind: CronWorkflow}}", "11m40s 03-argo-cronworkflow.yaml:22:22"},
	{"file: 03-argo-cronworkflow.yaml, unit: s, extract: {regex: 'reindex --timeout (?P<value>[0-9]+)'}", "11m40s 03-argo-cronworkflow.yaml:19:36"},
	{"file: 04-argo-cronworkflow-schedules.yaml, extract: {field: schedule, object: {kind: CronWorkflow, name: nightly-export}}", "24h 04-argo-cronworkflow-schedules.yaml:8:7"},
	{"file: 05-argo-workflowtemplate.yaml, extract: {field: terminationGracePeriodSeconds, object: {kind: WorkflowTemplate}}", "90s 05-argo-workflowtemplate.yaml:8:52"},
	{"file: 05-argo-workflowtemplate.yaml, unit: duration, extract: {env: CALL_TIMEOUT, container: load, object: {kind: WorkflowTemplate}}", "40s 05-argo-workflowtemplate.yaml:18:47"},
	{"file: 05-argo-workflowtemplate.yaml, unit: duration, extract: {env: CALL_TIMEOUT, object: {kind: WorkflowTemplate}}", "SQ506 link a: found 2 values: 25s at"},
	{"file: 06-multi-document.yaml, unit: s, extract: {env: RECOVERY_GRACE, container: main, object: {kind: Deployment, name: reconciler}}", "360s 06-multi-document.yaml:29:22"},
	{"file: 06-multi-document.yaml, unit: s, extract: {path: data.RECOVERY_GRACE, object: {kind: ConfigMap, name: reconciler}}", "360s 06-multi-document.yaml:7:19"},
	{"file: 06-multi-document.yaml, unit: count, extract: {env: CLAIM_BATCH_LIMIT, object: {kind: Deployment, name: dispatcher}}", "20 06-multi-document.yaml:45:22"},
	{"file: 06-multi-document.yaml, unit: s, extract: {env: RECOVERY_GRACE, object: {kind: Deployment, name: reconciler}}", "SQ506"},
	{"file: 07-list.json, extract: {field: activeDeadlineSeconds, object: {kind: Job, name: backfill}}", "1h 07-list.json:10:30"},
	{"file: 07-list.json, extract: {field: leaseDurationSeconds, object: {kind: Lease, name: dispatcher}}", "15s 07-list.json:19:37"},
	{"file: 08-helm-values.yaml, unit: duration, extract: {helm: dispatcher.recovery.grace}", "360s 08-helm-values.yaml:9:12"},
	{"file: [08-helm-values.yaml, 09-helm-values-production.yaml], unit: duration, extract: {helm: dispatcher.recovery.grace}", "240s 09-helm-values-production.yaml:4:12"},
	{"file: [08-helm-values.yaml, 09-helm-values-production.yaml], unit: duration, extract: {helm: dispatcher.tick}", "300s 08-helm-values.yaml:7:9"},
	{"file: \"*helm*.yaml\", unit: duration, extract: {helm: dispatcher.recovery.grace}", "SQ506 link a: *helm*.yaml means 2 files"},
	{"file: 08-helm-values.yaml, unit: duration, extract: {helm: dispatcher.timeout}", "30s 08-helm-values.yaml:3:12"}, // merged in
	{"file: 08-helm-values.yaml, unit: duration, extract: {helm: worker.timeout}", "180s 08-helm-values.yaml:13:12"},   // its own
	{"file: 08-helm-values.yaml, unit: count, extract: {helm: 'dispatcher.recovery.\"batch.limit\"'}", "50 08-helm-values.yaml:10:20"},
	{"file: 10-chart/templates/cronjob.yaml, unit: s, extract: {path: spec.jobTemplate.spec.activeDeadlineSeconds}", "SQ511 the file is a template"},
	{"file: 11-dag-workflow.yaml, extract: {field: activeDeadlineSeconds, object: {kind: Workflow, name: train-small}}", "30m 11-dag-workflow.yaml:6:26"},
	{"file: 11-dag-workflow.yaml, extract: {field: activeDeadlineSeconds, template: fit, object: {kind: Workflow, name: train-small}}", "20m 11-dag-workflow.yaml:15:30"},
	{"file: 11-dag-workflow.yaml, unit: duration, extract: {env: PUSH_TIMEOUT, container: metrics, object: {kind: Workflow, name: train-small}}", "5s 11-dag-workflow.yaml:18:91"},
	{"file: 11-dag-workflow.yaml, extract: {field: activeDeadlineSeconds, object: {kind: Workflow}}, each: true", "30m 11-dag-workflow.yaml:6:26, 2h 11-dag-workflow.yaml:24:26"},
	{"file: 12-kustomize-patch.yaml, extract: {field: activeDeadlineSeconds, object: {kind: CronJob, name: ledger-rollup}}", "50m 12-kustomize-patch.yaml:13:34"},
	{"file: 12-kustomize-patch.yaml, extract: {field: schedule, object: {kind: CronJob}}", "1h 12-kustomize-patch.yaml:8:13"},
	{"file: \"*.yaml\", extract: {field: startingDeadlineSeconds, object: {kind: CronJob, name: ledger-rollup, namespace: billing}}", "120s 01-cronjob.yaml:10:28"},
	{"file: ., extract: {field: activeDeadlineSeconds, object: {kind: CronJob, name: ledger-rollup, namespace: reporting}}", "50m 12-kustomize-patch.yaml:13:34"},
	{"file: 13-statefulset.yaml, unit: iso8601, extract: {env: VISIBILITY_TIMEOUT, object: {kind: StatefulSet, name: queue}}", "12m 13-statefulset.yaml:14:22"},
	{"file: 13-statefulset.yaml, unit: duration, extract: {regex: '--renew-deadline=(?P<value>[0-9a-z]+)'}", "10s 13-statefulset.yaml:11:55"},
	{"file: 14-settings.toml, unit: s, extract: {path: client.timeout}", "180s 14-settings.toml:5:11"},
	{"file: 14-settings.toml, unit: duration, extract: {path: client.retry.max_wait}", "150s 14-settings.toml:6:18"},
	{"file: 14-settings.toml, unit: s, extract: {path: \"queue[1].limits.visibility\"}", "15m 14-settings.toml:14:25"},
	{"file: 14-settings.toml, unit: s, extract: {path: \"queue[*].visibility\"}", "60s 14-settings.toml:10:14"},
	{"file: 15-worker.env, unit: s, extract: {dotenv: HTTP_TIMEOUT}", "180s 15-worker.env:2:14"},
	{"file: 15-worker.env, unit: s, extract: {dotenv: STEP_TIMEOUT}", "200s 15-worker.env:3:22"},
	{"file: 15-worker.env, unit: duration, extract: {dotenv: HEARTBEAT}", "15s 15-worker.env:5:12"},
	{"file: 15-worker.env, unit: s, extract: {dotenv: EMPTY}", "SQ505"},
	{"file: 15-worker.env, unit: s, extract: {dotenv: EMPTY}, default: 30s", "30s squall.yaml:5:90"},
	{"file: 16-worker.go.txt, unit: s, extract: {regex: 'Timeout: (?P<value>[0-9]+) \\* time\\.Second'}", "180s 16-worker.go.txt:8:35"},
	{"file: 16-worker.go.txt, unit: m, extract: {regex: '^\\s*callTimeout = (?P<value>[0-9]+) \\* time\\.Minute'}", "180s 16-worker.go.txt:5:16"},
	{"file: 17-client.py.txt, unit: ms, extract: {regex: 'TIMEOUT_MS = (?P<value>.*)$'}", "180s 17-client.py.txt:2:14"},
}

func TestManifests(t *testing.T) {
	dir := files(t, nil)
	if err := os.CopyFS(dir, os.DirFS("testdata/manifests")); err != nil {
		t.Fatal(err)
	}
	for _, c := range extracted {
		if err := os.WriteFile(filepath.Join(dir, "squall.yaml"), []byte(one(c.link)), 0o644); err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(found(t, dir), dir+string(filepath.Separator), "")
		if got != c.want && (!strings.HasPrefix(c.want, "SQ") || !strings.Contains(got, c.want)) {
			t.Errorf("%s\n\tfound %s\n\twant  %s", c.link, got, c.want)
		}
	}
}

// found is what the one link of a chain is, or what is wrong with it.
func found(t *testing.T, dir string) string {
	t.Helper()
	c, err := Open(t.Context(), filepath.Join(dir, "squall.yaml"), Options{})
	var input *InputError
	if errors.As(err, &input) {
		return input.Problems[0].String()
	}
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, v := range c.Links[0].Values {
		values = append(values, v.String()+" "+v.Place.String())
		if data, err := os.ReadFile(v.Place.File); err != nil || !standsAt(data, v) {
			t.Errorf("%q does not stand at %s (%v)", v.Text, v.Place, err)
		}
	}
	return strings.Join(values, ", ")
}

// standsAt tells whether the value's text is at its place.
func standsAt(data []byte, v Value) bool {
	lines := strings.Split(string(data), "\n")
	if v.Place.Line > len(lines) {
		return false
	}
	line := []rune(lines[v.Place.Line-1])
	return v.Place.Col <= len(line) && strings.HasPrefix(strings.TrimLeft(string(line[v.Place.Col-1:]), `"'`), v.Text)
}
