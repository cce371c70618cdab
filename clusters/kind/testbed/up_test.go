package testbed

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	kindexec "sigs.k8s.io/kind/pkg/exec"
)

func TestWhatKindKeepsToItselfIsTold(t *testing.T) {
	fakeDocker(t, `
case "$*" in
*"ps --all"*) echo "squall-a|squall-a-control-plane|control-plane|exited"; echo "squall-a|squall-a-worker|worker|running" ;;
logs*control-plane) echo "exec /usr/local/bin/entrypoint: exec format error" >&2 ;;
esac`)
	failed := &kindexec.RunError{Command: []string{"docker", "exec"}, Output: []byte("one more\n\nerror: no two\n\ngithub.com/spf13/cobra.(*Command).Execute\n\tgithub.com/spf13/cobra@v1.10.2/command.go:1071\n"), Inner: errors.New("exit status 1")}
	err := explain(t.Context(), "a", failed)
	for _, want := range []string{"no two", "squall-a-control-plane is exited", "exec format error", "squall node-image build"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "cobra") {
		t.Errorf("a stack trace helps nobody: %v", err)
	}
	if strings.Contains(err.Error(), "worker is") {
		t.Errorf("a node that runs is blamed: %v", err)
	}
}

func TestProgressHasEachStepOnceAndNoPictures(t *testing.T) {
	var b bytes.Buffer
	l := newLogger(&b)
	l.V(0).Infof(" • %s  ...\n", "Preparing nodes 📦 📦 ")
	l.V(0).Infof(" ✓ %s\n", "Preparing nodes 📦 📦 ")
	l.V(1).Info("for kind's authors")
	l.Warn("WARNING: Overriding docker network due to KIND_EXPERIMENTAL_DOCKER_NETWORK")
	l.Warn("cgroup v1 is deprecated")
	if want := "kind: Preparing nodes ...\nkind: warning: cgroup v1 is deprecated\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

func TestTheNetworkOfACreationIsNotLeftInTheEnvironment(t *testing.T) {
	t.Setenv(networkVariable, "of the user")
	err := withNetwork("squall-a", func() error {
		if got := os.Getenv(networkVariable); got != "squall-a" {
			t.Errorf("during the creation: %q", got)
		}
		return errors.New("failed")
	})
	if err == nil || os.Getenv(networkVariable) != "of the user" {
		t.Errorf("%v; after it: %q", err, os.Getenv(networkVariable))
	}
	_ = os.Unsetenv(networkVariable)
	_ = withNetwork("squall-a", func() error { return nil })
	if _, set := os.LookupEnv(networkVariable); set {
		t.Error("the variable is set after it")
	}
}
