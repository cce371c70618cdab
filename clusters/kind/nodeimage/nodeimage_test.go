package nodeimage

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/squall-chaos/squall/clusters/binaries"
	"sigs.k8s.io/yaml"
)

// engine puts a docker command into PATH that is a shell script.
func engine(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

func TestFindTakesTheFirstThatFits(t *testing.T) {
	built, err := Ref()
	if err != nil {
		t.Fatal(err)
	}
	// A script's images are in its list; a registry's in another.
	const script = `case "$1 $2" in
"image inspect") for i in %s; do [ "$i" = "$5" ] && { [ "$4" = "{{.Architecture}}" ] && echo amd64 || echo sha256:1; exit 0; }; done; [ -e $0.pulled ] && { echo amd64; exit 0; }; echo "Error: No such image: $5" >&2; exit 1;;
"manifest inspect") [ -n "%s" ] || { echo "no such host" >&2; exit 1; };;
"version "*) echo amd64;;
"pull "*) touch $0.pulled;;
esac`
	for name, test := range map[string]struct {
		asked, has, registry string
		want                 string
		err                  string
	}{
		"asked for, in the engine":     {asked: "mine:1", has: "mine:1 " + built, want: "mine:1"},
		"asked for, in the registry":   {asked: "mine:1", registry: "yes", want: "mine:1"},
		"asked for, nowhere":           {asked: "mine:1", has: built, err: "--node-image"},
		"built earlier":                {has: built, registry: "yes", want: built},
		"kind's, from the registry":    {registry: "yes", want: "kindest/node:"},
		"none, and the way to get one": {err: "squall node-image build"},
	} {
		t.Run(name, func(t *testing.T) {
			engine(t, fmt.Sprintf(script, test.has, test.registry))
			got, err := Find(t.Context(), Options{Image: test.asked})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %q, %v", got, err)
				}
				if test.asked == "" && !errors.Is(err, ErrNone) {
					t.Errorf("not ErrNone: %v", err)
				}
				return
			}
			if err != nil || !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestARegistryThatDoesNotHelp: without an image of one's own each ends with the way to build one, and says what the registry said. The texts
// are those of docker 27's `manifest inspect`.
func TestARegistryThatDoesNotHelp(t *testing.T) {
	const absent = `[ "$1 $2" = "image inspect" ] && { echo "Error: No such image: $5" >&2; exit 1; }
[ "$1" = pull ] && touch $0.pulled
`
	for name, c := range map[string]struct{ says, remedy, reason string }{
		"cannot be reached": {`echo "failed to do request: Head \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io: no such host" >&2; exit 1`,
			"tell the Docker engine of a proxy", "no such host"},
		"does not have it": {`echo "no such manifest: docker.io/kindest/node:v0" >&2; exit 1`, "check its name", "no such manifest"},
		"asks for a login": {`echo "unauthorized: authentication required" >&2; exit 1`, "docker login", "unauthorized"},
		"refuses":          {`echo "denied: requested access to the resource is denied" >&2; exit 1`, "docker login", "denied"},
		"has had enough":   {`echo "toomanyrequests: You have reached your pull rate limit." >&2; exit 1`, "or wait", "toomanyrequests"},
		"hangs":            {`exec sleep 60`, "tell the Docker engine of a proxy", "no answer within"},
	} {
		for _, asked := range []string{"", "mine:1"} {
			t.Run(name+" "+asked, func(t *testing.T) {
				if name == "hangs" {
					defer func(d time.Duration) { registryTimeout = d }(registryTimeout)
					registryTimeout = 300 * time.Millisecond
				}
				engine(t, absent+c.says)
				got, err := Find(t.Context(), Options{Image: asked})
				want, rest := ErrNone, []string{"squall node-image build", c.remedy, c.reason, "looked for squall-node:"}
				if asked != "" {
					want, rest = ErrUnfit, []string{"mine:1 is not in the engine", c.remedy, c.reason, "--node-image"}
				}
				if got != asked || !errors.Is(err, want) {
					t.Fatalf("got %q, %v; want %v", got, err, want)
				}
				for _, word := range rest {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("%q is missing from: %v", word, err)
					}
				}
				if _, err := os.Stat(filepath.Join(filepath.SplitList(os.Getenv("PATH"))[0], "docker.pulled")); err == nil {
					t.Error("it was fetched all the same, which can hang for as long as the registry likes")
				}
			})
		}
	}
}

func TestErrorsNameTheirRemedy(t *testing.T) {
	for name, test := range map[string]struct{ script, says string }{
		"no engine":            {`echo "Cannot connect to the Docker daemon at unix:///var/run/docker.sock" >&2; exit 1`, "make engine"},
		"disk full":            {`echo "write /x: no space left on device" >&2; exit 1`, "disk is full"},
		"another architecture": {`case "$1 $4" in "image {{.Architecture}}") echo s390x;; "version "*) echo amd64;; esac`, "is for s390x, the engine's machine is amd64"},
	} {
		t.Run(name, func(t *testing.T) {
			engine(t, test.script)
			if got, err := Find(t.Context(), Options{Image: "mine:1"}); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if err := explain(&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}); !strings.Contains(err.Error(), "disk is full") {
		t.Error(err)
	}
}

func TestABuildForAnotherMachineIsRefused(t *testing.T) {
	engine(t, `echo s390x`)
	if err := supported(t.Context()); err == nil || !strings.Contains(err.Error(), "s390x") {
		t.Errorf("got %v", err)
	}
}

// A step that was interrupted is done again from its beginning, a complete one never.
func TestABuildGoesOnAfterTheLastCompleteStep(t *testing.T) {
	b := &builder{dir: t.TempDir()}
	times := 0
	do := func(fail error) func(context.Context, string) error {
		return func(_ context.Context, dir string) error {
			times++
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("a step began with %v", left)
			}
			return errors.Join(fail, os.WriteFile(filepath.Join(dir, "result"), nil, 0o644))
		}
	}
	if err := os.MkdirAll(filepath.Join(b.dir, "a.unfinished", "rest"), 0o755); err != nil { // of a build that was killed
		t.Fatal(err)
	}
	if _, err := b.step(t.Context(), "a", do(context.Canceled)); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, "*")); len(left) > 0 {
		t.Errorf("an interrupted step left %v", left)
	}
	for range 2 {
		dir, err := b.step(t.Context(), "a", do(nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "result")); err != nil {
			t.Error(err)
		}
	}
	if times != 2 {
		t.Errorf("the step was done %d times", times)
	}
}

func TestTheNameChangesWithTheIngredients(t *testing.T) {
	r, err := newRecipe()
	if err != nil {
		t.Fatal(err)
	}
	other := r
	other.keys = append([]string{"another"}, r.keys[1:]...)
	if r.key() == other.key() || r.storeKey() == other.storeKey() {
		t.Error("another program, the same image")
	}
	if r.systemKey() != other.systemKey() {
		t.Error("another program has Debian installed anew")
	}
}

func TestContainerdIsConfigured(t *testing.T) {
	text, err := containerdConfig("[a]\n  # sandbox_image = \"none\"\n  sandbox_image = \"registry.k8s.io/pause:3.10\"\n  restrict_oom_score_adj = false\n", "p:1")
	if err != nil || !strings.Contains(text, "\n  sandbox_image = \"p:1\"\n  restrict_oom_score_adj = true\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := containerdConfig("[a]\n", "p:1"); err == nil || !strings.Contains(err.Error(), "sandbox_image") {
		t.Errorf("a configuration without the setting: %v", err)
	}
}

func TestContainersBeginWithoutLimits(t *testing.T) {
	text, err := baseSpec([]byte(`{"process": {"args": ["sh"], "rlimits": [{"type": "RLIMIT_NOFILE"}]}}`))
	if err != nil || strings.Contains(text, "rlimits") || !strings.Contains(text, `"args"`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// kind puts in the range of addresses and, by a patch of the DaemonSet's first container, the control plane's address.
func TestTheManifestIsOneThatKindCanFillIn(t *testing.T) {
	for _, words := range []string{"would you kindly template this file", "would you kindly patch this file", "{{ .PodSubnet }}", podNetworkImage} {
		if !strings.Contains(podNetwork, words) {
			t.Errorf("the manifest lacks %q", words)
		}
	}
	var kinds []string
	for document := range strings.SplitSeq(podNetwork, "\n---\n") {
		var object struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct{ Containers []struct{ Env []any } }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, object.Kind)
		if object.Kind == "DaemonSet" && len(object.Spec.Template.Spec.Containers[0].Env) == 0 {
			t.Error("there is no list of variables to add one to")
		}
	}
	if got := strings.Join(kinds, " "); got != "ClusterRole ClusterRoleBinding ServiceAccount DaemonSet" {
		t.Errorf("the manifest has %s", got)
	}
}

func TestTheVersionOfKindIsThatOfTheModule(t *testing.T) {
	for file, want := range map[string]string{"go.mod": "sigs.k8s.io/kind " + kindVersion, "go.sum": "sigs.k8s.io/kind " + kindVersion + " " + kindSum} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q (%v)", file, want, err)
		}
	}
}

func TestTheArchiveIsOfOneLayerAndSaysWhatKindsImageSays(t *testing.T) {
	layer := func() io.ReadCloser {
		return concat(nil, []entry{{name: "kind/version", text: "v1"}, {name: "sbin/init", link: "x"}})
	}
	sum, size, err := measure(layer())
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := writeArchive(&archive, "squall-node:x", layer, sum, size); err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	for from := tar.NewReader(&archive); ; {
		header, err := from.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name], _ = io.ReadAll(from)
	}
	var config v1.ConfigFile
	if err := json.Unmarshal(found["config.json"], &config); err != nil {
		t.Fatal(err)
	}
	if config.Config.StopSignal != "SIGRTMIN+3" || strings.Join(config.Config.Entrypoint, " ") != "/usr/local/bin/entrypoint /sbin/init" {
		t.Errorf("the configuration is %s", found["config.json"])
	}
	if int64(len(found["layer.tar"])) != size || !strings.Contains(string(found["manifest.json"]), "squall-node:x") {
		t.Errorf("the manifest is %s", found["manifest.json"])
	}
}

func TestProgressSaysHowLong(t *testing.T) {
	var said bytes.Buffer
	say(&said, time.Now().Add(-12*time.Second), "doing %s", "it")
	if said.String() != "[  12s] doing it\n" {
		t.Errorf("said %q", said.String())
	}
}

func TestEveryImageOfKubeadmIsKnown(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "tools.tar"), make([]byte, 1024), 0o644), programsIn(dir)); err != nil {
		t.Fatal(err)
	}
	b := &builder{}
	dirs := directories{"kubernetes": dir, "node": dir, "coredns": dir}
	made, err := b.images(dir, dirs, []string{"registry.k8s.io/kube-proxy:" + binaries.KubernetesVersion, "registry.k8s.io/coredns/coredns:v1", "registry.k8s.io/pause:3", "registry.k8s.io/etcd:3"})
	if err != nil || len(made) != 5 {
		t.Fatalf("made %d images, %v", len(made), err)
	}
	if err := writeLayout(filepath.Join(dir, "layout"), made); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(dir, "layout", "index.json"))
	for _, i := range made {
		if err != nil || !strings.Contains(string(index), i.ref) {
			t.Errorf("the index does not name %s (%v)", i.ref, err)
		}
	}
	if _, err := b.images(dir, dirs, []string{"registry.k8s.io/novelty:1"}); err == nil || !strings.Contains(err.Error(), "novelty") {
		t.Errorf("an unknown image: %v", err)
	}
}

func programsIn(dir string) error {
	var errs []error
	for _, name := range []string{"kubernetes", "iptables", "podnetwork", "pause", "coredns"} {
		errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o755))
	}
	return errors.Join(errs...)
}

// An engine refuses a layer in which a name is twice.
func TestALayerHasEveryNameOnce(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first.tar")
	var of bytes.Buffer
	if err := errors.Join(writeConcat(&of, nil, []entry{{name: "./etc/"}, {name: "./etc/motd", text: "old"}, {name: "./etc/hosts", text: "hosts"}}),
		os.WriteFile(first, of.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	var layer bytes.Buffer
	if err := writeConcat(&layer, []string{first, first}, []entry{{name: "etc/"}, {name: "etc/motd", text: "new"}, {name: "bin/"}}); err != nil {
		t.Fatal(err)
	}
	var got []string
	from := tar.NewReader(&layer)
	for header, err := from.Next(); err == nil; header, err = from.Next() {
		text, _ := io.ReadAll(from)
		got = append(got, header.Name+string(text))
	}
	if want := "./etc/ ./etc/hostshosts etc/motdnew bin/"; strings.Join(got, " ") != want {
		t.Errorf("got %q", got)
	}
}

func TestWhatTheBuildNeedsIsNamedAtOnce(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := require()
	if err == nil || !strings.HasSuffix(err.Error(), "needs docker, debootstrap, unshare, tar, go, not found in PATH: apt-get install docker.io debootstrap util-linux tar golang-go") {
		t.Errorf("on a machine that has nothing: %v", err)
	}
}
