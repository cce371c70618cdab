//go:build e2e

package kind_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

// TestASweepRunsInACluster runs the shards of a comparison as an Indexed Job, kills one half-way, and wants what one machine gives.
func TestASweepRunsInACluster(t *testing.T) {
	world.Test(t, features.New("sweep").Assess("four shards, one of them killed, give what one machine gives", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		s := newSweep(ctx, t)
		defer s.remove()
		s.apply()
		s.killHalfWay()
		s.complete()
		merged := s.kubectl("", "logs", "--namespace", s.namespace, "job/"+s.job+"-merge", "--container", "merge")
		if got, want := butPaths(merged), butPaths(s.whole()); got != want {
			t.Errorf("the merged result is another than that of one machine:\n%s\n\nwant\n%s", got, want)
		}
		return ctx
	}).Feature())
}

// sweep is one comparison on its way through the cluster. Its volume is a directory of one node, where all its pods go by that.
type sweep struct {
	ctx                  context.Context
	t                    *testing.T
	node                 *testbed.Node
	dir, namespace, plan string
	job                  string
}

// compared are the arguments of the comparison.
var compared = []string{"--scenario", "swarm-standard", "--sweep", "recovery_grace=240s..360s:60s", "--seeds", "600", "--refine", "0", "--cases", "0"}

// volume is a PersistentVolume in a directory of a node, kept for one claim.
const volume = `
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  storageClassName: standard
  claimRef: {namespace: %[1]s, name: %[2]s}
  hostPath: {path: %[3]s}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%[4]s]}]}]}}
`

const results = "/var/lib/squall-sweep"

func newSweep(ctx context.Context, t *testing.T) *sweep {
	s := &sweep{ctx: ctx, t: t, dir: t.TempDir(), namespace: "sweep", node: bed.Nodes()[0]}
	s.plan = filepath.Join(s.dir, "plan.json")
	s.squall(append([]string{"sweep", "plan", "--shards", "4", "--to", s.plan}, compared...)...)
	return s
}

// apply installs the volume, and what squall manifests prints as it is, with an image that was built and loaded by squall.
func (s *sweep) apply() {
	image := strings.TrimSpace(s.squall("image", "squall", "--cluster", cluster, "--quiet"))
	manifests := s.squall("manifests", "--sweep", s.plan, "--namespace", s.namespace, "--image", image, "--parallelism", "1")
	s.job = regexp.MustCompile(`job/(squall-sweep-[0-9a-f]+)`).FindStringSubmatch(manifests)[1]
	if _, err := s.node.Exec(s.ctx, "install", "-d", "-m", "0777", results); err != nil {
		s.t.Fatal(err)
	}
	s.kubectl(fmt.Sprintf(volume, s.namespace, s.job, results, s.node.Name()), "apply", "--filename", "-")
	s.kubectl(manifests, "apply", "--validate=strict", "--filename", "-")
}

// assassin kills a shard as soon as there are results, which it is not done with: it lies in wait in the node, as a look from outside takes
// longer than a shard. It says whom it killed.
const assassin = `
shopt -s globstar nullglob
exec {nap}<> <(:)
for ((tries = 0; tries < 400; tries++)); do
	for result in "$0"/**/*.jsonl; do
		for process in /proc/[0-9]*; do
			mapfile -d '' args <"$process/cmdline" || continue
			[[ ${args[*]} == */squall\ sweep\ run* ]] || continue
			kill -KILL "${process#/proc/}" && echo "${args[*]}" && exit
		done
		break
	done 2>/dev/null
	read -rt 0.1 -u "$nap"
done
`

// killHalfWay kills a shard that has results, and not all of them. Shards run one after the other, so the results are its own.
func (s *sweep) killHalfWay() {
	for range 4 {
		killed, err := s.node.Script(s.ctx, assassin, "", results)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(killed) > 0 {
			s.t.Logf("killed: %s", killed)
			return
		}
	}
	s.t.Fatalf("no shard was ever seen half-way: none was killed\n%s", s.kubectl("", "get", "pods,events", "--namespace", s.namespace))
}

func (s *sweep) complete() {
	var err error
	for range 8 { // no command in a node has more than a minute
		_, err = s.tryKubectl("", "wait", "--namespace", s.namespace, "--for=condition=complete", "--timeout=40s", "job/"+s.job, "job/"+s.job+"-merge")
		if err == nil {
			break
		}
	}
	if err != nil {
		s.t.Fatalf("the jobs never completed: %v\n%s", err, s.kubectl("", "get", "pods,events", "--namespace", s.namespace))
	}
	if failed := s.kubectl("", "get", "job", s.job, "--namespace", s.namespace, "--output", "jsonpath={.status.failed}"); failed != "1" {
		s.t.Errorf("the job counts %q failed pods, want that of the shard that was killed", failed)
	}
}

// whole is the comparison on one machine.
func (s *sweep) whole() string {
	return s.squall(append([]string{"compare", "--quiet", "--dir", s.dir, "--output", "json"}, compared...)...)
}

func (s *sweep) remove() {
	s.kubectl("", "delete", "namespace/"+s.namespace, "persistentvolume/"+s.namespace, "--ignore-not-found", "--wait")
	if _, err := s.node.Exec(context.WithoutCancel(s.ctx), "rm", "-rf", results); err != nil {
		s.t.Error(err)
	}
}

func (s *sweep) kubectl(input string, args ...string) string {
	s.t.Helper()
	text, err := s.tryKubectl(input, args...)
	if err != nil {
		s.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return text
}

// tryKubectl runs on the control plane, where the image has one.
func (s *sweep) tryKubectl(input string, args ...string) (string, error) {
	text, err := bed.ControlPlane().Script(s.ctx, `exec kubectl --kubeconfig /etc/kubernetes/admin.conf "$@"`, input, append([]string{"kubectl"}, args...)...)
	return string(text), err
}

// squall returns what the command prints; 1 says that no setting is safe, which is a result.
func (s *sweep) squall(args ...string) string {
	s.t.Helper()
	command := exec.CommandContext(s.ctx, squall, args...)
	command.Stderr = os.Stderr
	text, err := command.Output()
	if code := command.ProcessState.ExitCode(); code != 0 && code != 1 {
		s.t.Fatalf("squall %s: %v", strings.Join(args, " "), err)
	}
	return string(text)
}

// butPaths leaves the names of bundles out, which have the time in them.
func butPaths(text string) string {
	return regexp.MustCompile(`runs/[-a-z0-9]+`).ReplaceAllString(text, "runs/-")
}
