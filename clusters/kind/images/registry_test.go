package images

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// shelf is a registry in this process that has an image for a machine of the given architecture, and its reference.
func shelf(t *testing.T, architecture string, before func(http.Handler) http.Handler) (ref string, image v1.Image) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // nobody's logins
	on := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	var serves http.Handler = on
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serves.ServeHTTP(w, r) }))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	ref = strings.TrimPrefix(server.URL, "http://") + "/library/postgres:17"
	image = someImage(t, architecture)
	tag, err := name.NewTag(ref)
	if err == nil {
		err = remote.Write(tag, image)
	}
	if err != nil {
		t.Fatal(err)
	}
	if before != nil {
		serves = before(on)
	}
	return ref, image
}

func someImage(t *testing.T, architecture string) v1.Image {
	t.Helper()
	layer, err := pack([]entry{{path: "file", mode: 0o644, text: strings.Repeat("content", 1000)}})
	if err != nil {
		t.Fatal(err)
	}
	image, err := assemble(layer, v1.Config{Cmd: []string{"postgres"}})
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.Architecture = architecture
	if image, err = mutate.ConfigFile(image, config); err != nil {
		t.Fatal(err)
	}
	return image
}

// answering is a registry that gives every request the same answer.
func answering(status int, text string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Basic realm="a registry"`)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		})
	}
}

// hanging takes every request, and answers none.
func hanging(http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

// TestWhatPostgresIsMadeOf: the official image where a registry gives it, else Debian's packages; who gets neither learns what to do about both.
func TestWhatPostgresIsMadeOf(t *testing.T) {
	other := map[string]string{"amd64": "arm64"}[runtime.GOARCH]
	if other == "" {
		other = "amd64"
	}
	for _, c := range []struct {
		name         string
		architecture string
		before       func(http.Handler) http.Handler
		says         string // empty: the registry's image is taken
	}{
		{"the registry has it", runtime.GOARCH, nil, ""},
		{"it has none", runtime.GOARCH, answering(404, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`), "does not have"},
		{"it asks for a login", runtime.GOARCH, answering(401, `{"errors":[{"code":"UNAUTHORIZED"}]}`), "docker login"},
		{"it refuses", runtime.GOARCH, answering(403, `{"errors":[{"code":"DENIED"}]}`), "docker login"},
		{"it has had enough", runtime.GOARCH, answering(429, `{"errors":[{"code":"TOOMANYREQUESTS"}]}`), "or wait"},
		{"it is no registry", runtime.GOARCH, answering(200, "<html>welcome, please log in to this network</html>"), "HTTPS_PROXY"},
		{"it hangs", runtime.GOARCH, hanging, "nothing within"},
		{"it is for another machine", other, nil, "is an image for " + other},
	} {
		t.Run(c.name, func(t *testing.T) {
			emptyCache(t)
			if c.name == "it hangs" {
				defer func(d time.Duration) { registryAnswers = d }(registryAnswers)
				registryAnswers = 300 * time.Millisecond
			}
			ref, image := shelf(t, c.architecture, c.before)
			asked, made := 0, Image{Ref: "squall.local/postgres:debian"}
			debian := func(context.Context, store, Options) (Image, error) { asked++; return made, nil }
			var progress bytes.Buffer
			got, err := postgres(t.Context(), ref, debian, Options{Progress: &progress})
			if err != nil {
				t.Fatal(err)
			}
			if c.says == "" {
				same(t, got, ref, image)
				if again, err := postgres(t.Context(), "127.0.0.1:1/none:1", debian, Options{}); err != nil || again != got || asked > 0 {
					t.Errorf("the second time: %v, %v; Debian was asked %d times", again, err, asked)
				}
				return
			}
			if got != made || asked != 1 || !strings.Contains(progress.String(), c.says) || !strings.Contains(progress.String(), "Debian's packages instead") {
				t.Errorf("got %v; Debian was asked %d times; it said: %s", got, asked, &progress)
			}
			if left, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "squall", "images", "*.tar*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			neither := func(context.Context, store, Options) (Image, error) {
				return Image{}, errors.New("no apt-get on this machine")
			}
			_, err = postgres(t.Context(), ref, neither, Options{})
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "no apt-get") {
				t.Errorf("neither way: %v", err)
			}
		})
	}
}

// same says whether an archive has the very image that the registry has: the digest of its configuration covers all of it.
func same(t *testing.T, got Image, ref string, want v1.Image) {
	t.Helper()
	if got.Ref != ref {
		t.Fatalf("got %v, want what %s is", got, ref)
	}
	loaded, _ := load(t, got)
	is, err := loaded.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	if should, err := want.ConfigName(); err != nil || is != should {
		t.Errorf("the archive has image %s, the registry %s (%v)", is, should, err)
	}
}

// TestARegistryThatCannotBeReached: a port at which nobody listens.
func TestARegistryThatCannotBeReached(t *testing.T) {
	_, err := pull(t.Context(), store(t.TempDir()), "key", "127.0.0.1:1/library/postgres:17", Options{})
	if err == nil || !strings.Contains(err.Error(), "no registry answers for 127.0.0.1:1/library/postgres:17") || !strings.Contains(err.Error(), "HTTPS_PROXY") {
		t.Errorf("got %v", err)
	}
}

// TestWhoStopsAPullGetsNothingElse: Ctrl-C is no reason to try another way.
func TestWhoStopsAPullGetsNothingElse(t *testing.T) {
	emptyCache(t)
	ctx, cancel := context.WithCancel(t.Context())
	ref, _ := shelf(t, runtime.GOARCH, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	})
	asked := false
	_, err := postgres(ctx, ref, func(context.Context, store, Options) (Image, error) { asked = true; return Image{}, nil }, Options{})
	if !errors.Is(err, context.Canceled) || asked {
		t.Errorf("got %v; Debian was asked: %t", err, asked)
	}
}

// TestAFullDiskIsSaid, and that another way would need the same room. /dev/full is a disk that is always full.
func TestAFullDiskIsSaid(t *testing.T) {
	emptyCache(t)
	ref, _ := shelf(t, runtime.GOARCH, nil)
	images, err := openStore()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(string(images), officialKey()+".tar.new")); err != nil {
		t.Fatal(err)
	}
	asked := false
	_, err = postgres(t.Context(), ref, func(context.Context, store, Options) (Image, error) { asked = true; return Image{}, nil }, Options{})
	if !errors.Is(err, syscall.ENOSPC) || asked || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("got %v; Debian was asked: %t", err, asked)
	}
	if _, ok := images.find(officialKey()); ok {
		t.Error("half an image is taken for one")
	}
}

// TestADamagedImageIsNotKept: what a registry gives must have the digest that it says.
func TestADamagedImageIsNotKept(t *testing.T) {
	ref, image := shelf(t, runtime.GOARCH, func(on http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.URL.Path, "/blobs/") {
				on.ServeHTTP(w, r)
				return
			}
			whole := httptest.NewRecorder()
			on.ServeHTTP(whole, r)
			body := whole.Body.Bytes()
			if len(body) > 0 {
				body[len(body)/2] ^= 1
			}
			for name, values := range whole.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(whole.Code)
			_, _ = w.Write(body)
		})
	})
	if _, err := image.Digest(); err != nil {
		t.Fatal(err)
	}
	images := store(t.TempDir())
	if _, err := pull(t.Context(), images, "key", ref, Options{}); err == nil {
		t.Error("a damaged image, and no error")
	}
	if _, ok := images.find("key"); ok {
		t.Error("a damaged image was kept")
	}
}

// TestOfSeveralArchitecturesOursIsTaken: postgres:17 is an index; one without our architecture says so.
func TestOfSeveralArchitecturesOursIsTaken(t *testing.T) {
	ref, _ := shelf(t, "s390x", nil)
	tag, err := name.NewTag(ref)
	if err != nil {
		t.Fatal(err)
	}
	foreign, ours := someImage(t, "s390x"), someImage(t, runtime.GOARCH)
	index := func(all ...v1.Image) v1.ImageIndex {
		var made v1.ImageIndex = empty.Index
		for _, image := range all {
			config, err := image.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			made = mutate.AppendManifests(made, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
				Platform: &v1.Platform{OS: "linux", Architecture: config.Architecture},
			}})
		}
		return made
	}
	images := store(t.TempDir())
	if err := remote.WriteIndex(tag, index(foreign)); err != nil {
		t.Fatal(err)
	}
	if _, err := pull(t.Context(), images, "key", ref, Options{}); err == nil || !strings.Contains(err.Error(), runtime.GOARCH) {
		t.Errorf("an index without our architecture: %v", err)
	}
	if err := remote.WriteIndex(tag, index(foreign, ours)); err != nil {
		t.Fatal(err)
	}
	got, err := pull(t.Context(), images, "key", ref, Options{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, ref, ours)
}
