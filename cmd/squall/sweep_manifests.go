package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"text/template"
)

// sweepJob is what the manifests of a sweep are made from.
type sweepJob struct {
	Name, Namespace, Image string
	Shards, Parallelism    int
	Plan                   string // indented as a block
}

// maxConfigMap is what a ConfigMap may hold.
const maxConfigMap = 1 << 20

var (
	namespaceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	imageName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`)
)

// printSweepManifests prints what runs a plan's shards in a cluster.
func printSweepManifests(w io.Writer, path, namespace, image string, parallelism int) error {
	p, _, err := readPlan(path, 1)
	switch {
	case err != nil:
		return err
	case !namespaceName.MatchString(namespace):
		return usage("namespace %q: expected a name of lower-case letters, digits and hyphens, of 63 characters at most", namespace)
	case !imageName.MatchString(image):
		return usage("image %q: expected a reference like registry.example.com/squall/squall:v1", image)
	case parallelism < 0:
		return usage("--parallelism %d: at least 1 shard must run", parallelism)
	}
	text, err := os.ReadFile(path) // as it is: results are kept under the hash of it
	if err != nil {
		return usage("%s: cannot be read: %v", path, cause(err))
	}
	if len(text) > maxConfigMap-4096 {
		return usage("%s has %d bytes, and a ConfigMap holds 1 MiB: put it into the image, or split the settings", path, len(text))
	}
	sum := sha256.Sum256(text)
	job := sweepJob{Name: "squall-sweep-" + hex.EncodeToString(sum[:4]), Namespace: namespace, Image: image, Shards: p.Shards, Parallelism: parallelism,
		Plan: "    " + strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n    ")}
	if parallelism == 0 {
		job.Parallelism = p.Shards
	}
	if err := sweepManifests.Execute(w, job); err != nil {
		return fmt.Errorf("write the manifests: %w", err)
	}
	return nil
}

var sweepManifests = template.Must(template.New("").Parse(`# A sweep in {{.Shards}} shards. The image needs /squall: the program that made the plan, as others are refused.
#   kubectl apply -f -                                        (this)
#   kubectl -n {{.Namespace}} wait --for=condition=complete --timeout=1h job/{{.Name}} job/{{.Name}}-merge
#   kubectl -n {{.Namespace}} logs job/{{.Name}}-merge > comparison.json
# The results stay on the volume, the report as well, under report/comparisons. A pod that is killed is started again and goes on where it was.
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{.Name}}
  namespace: {{.Namespace}}
  labels: {app.kubernetes.io/name: squall-sweep, app.kubernetes.io/instance: {{.Name}}}
data:
  plan.json: |
{{.Plan}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{.Name}}
  namespace: {{.Namespace}}
  labels: {app.kubernetes.io/name: squall-sweep, app.kubernetes.io/instance: {{.Name}}}
spec:
  # Enough where all pods land on one node; with ReadWriteMany they may run on many.
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Name}}
  namespace: {{.Namespace}}
  labels: {app.kubernetes.io/name: squall-sweep, app.kubernetes.io/instance: {{.Name}}}
spec:
  completionMode: Indexed
  completions: {{.Shards}}
  parallelism: {{.Parallelism}}
  backoffLimitPerIndex: 6
  maxFailedIndexes: 0
  podFailurePolicy:
    rules:
      # 2 is bad input, which no retry mends; a node that is drained is nobody's failure.
      - action: FailIndex
        onExitCodes: {containerName: shard, operator: In, values: [2]}
      - action: Ignore
        onPodConditions: [{type: DisruptionTarget, status: "True"}]
  template:
{{template "pod" "shard"}}          args: [sweep, run, /plan/plan.json, --results, /results]
{{template "rest" .}}---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Name}}-merge
  namespace: {{.Namespace}}
  labels: {app.kubernetes.io/name: squall-sweep, app.kubernetes.io/instance: {{.Name}}}
spec:
  backoffLimit: 6
  podFailurePolicy:
    rules:
      # 1 says that no setting is safe: a result, and no reason to merge once more.
      - action: FailJob
        onExitCodes: {containerName: merge, operator: In, values: [1, 2, 3]}
  template:
{{template "pod" "merge"}}          args: [sweep, merge, /plan/plan.json, --results, /results, --wait, 24h, --dir, /results/report, --quiet, -o, json]
{{template "rest" .}}
{{- define "pod"}}    metadata:
      labels: {app.kubernetes.io/name: squall-sweep, app.kubernetes.io/component: {{.}}}
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: {{.}}
          command: [/squall]
{{end}}
{{- define "rest"}}          image: {{.Image}}
          resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 1Gi}}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
          volumeMounts:
            - {name: plan, mountPath: /plan, readOnly: true}
            - {name: results, mountPath: /results}
      volumes:
        - {name: plan, configMap: {name: {{.Name}}}}
        - {name: results, persistentVolumeClaim: {claimName: {{.Name}}}}
{{end}}`))
