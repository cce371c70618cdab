package images

import (
	"archive/tar"
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// A program of the standard library alone, which compiles in a second, stands in for the real ones.
var small = []string{module + "/clusters/kind/engine/shim"}

func emptyCache(t *testing.T) string {
	t.Helper()
	// Go's build cache stays: only ours is empty.
	if os.Getenv("GOCACHE") == "" {
		out, err := exec.Command("go", "env", "GOCACHE").Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("GOCACHE", strings.TrimSpace(string(out)))
	}
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	return dir
}

// load reads an archive as an engine would.
func load(t *testing.T, image Image) (v1.Image, *v1.ConfigFile) {
	t.Helper()
	tag, err := name.NewTag(image.Ref)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tarball.ImageFromPath(image.Archive, &tag)
	if err != nil {
		t.Fatal(err)
	}
	config, err := loaded.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return loaded, config
}

func files(t *testing.T, image v1.Image) map[string]*tar.Header {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	found := map[string]*tar.Header{}
	for in := tar.NewReader(content); ; {
		header, err := in.Next()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = header
	}
}

func TestProgramsAreAnImageOfStaticBinaries(t *testing.T) {
	emptyCache(t)
	image, err := build{"programs", "squall.local/programs", small}.image(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	loaded, config := load(t, image)
	if config.OS != "linux" || config.Architecture != runtime.GOARCH || config.Config.User != "65532:65532" {
		t.Errorf("config: %s/%s, user %s", config.OS, config.Architecture, config.Config.User)
	}
	found := files(t, loaded)
	if header := found["shim"]; header == nil || header.Mode != 0o755 || header.Uid != 0 || !header.ModTime.Equal(time.Unix(0, 0)) {
		t.Errorf("the program: %+v", header)
	}
	if header := found["tmp/"]; header == nil || header.Mode != 0o1777 {
		t.Errorf("tmp: %+v", header)
	}
	if !strings.HasPrefix(image.Ref, "squall.local/programs:") {
		t.Errorf("ref %s", image.Ref)
	}
}

func TestTheSameSourceMakesTheSameImage(t *testing.T) {
	var archives [][]byte
	var refs []string
	for range 2 {
		emptyCache(t)
		image, err := build{"programs", "squall.local/programs", small}.image(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		archive, err := os.ReadFile(image.Archive)
		if err != nil {
			t.Fatal(err)
		}
		archives, refs = append(archives, archive), append(refs, image.Ref)
	}
	if refs[0] != refs[1] || !bytes.Equal(archives[0], archives[1]) {
		t.Errorf("two caches, two images: %v", refs)
	}
}

func TestProgramsAreCached(t *testing.T) {
	cache := emptyCache(t)
	first, err := build{"programs", "squall.local/programs", small}.image(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var progress bytes.Buffer
	second, err := build{"programs", "squall.local/programs", small}.image(t.Context(), Options{Progress: &progress})
	if err != nil || second != first || strings.Contains(progress.String(), "writing") {
		t.Errorf("got %v, %v, want %v\n%s", second, err, first, &progress)
	}
	// An archive that is gone, as after somebody freed space, is made again.
	if err := os.Remove(first.Archive); err != nil {
		t.Fatal(err)
	}
	third, err := build{"programs", "squall.local/programs", small}.image(t.Context(), Options{})
	if err != nil || third != first {
		t.Errorf("after its archive was removed: %v, %v", third, err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "squall", "images", "*.new")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestProgramsNeedTheirSource(t *testing.T) {
	emptyCache(t)
	t.Chdir(t.TempDir())
	_, err := Programs(t.Context(), Options{})
	if err == nil || !strings.Contains(err.Error(), "run squall in a checkout of "+module) {
		t.Errorf("got %v", err)
	}
}

func TestPushBringsAnImageToARegistry(t *testing.T) {
	emptyCache(t)
	image, err := build{"programs", "squall.local/programs", small}.image(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	ref := strings.TrimPrefix(server.URL, "http://") + "/batch/programs:v1"
	if err := image.Push(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(ref)
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := remote.Image(tag)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pushed.ConfigFile()
	if err != nil || !strings.HasPrefix(config.Config.User, "65532") {
		t.Errorf("the registry has %+v, %v; want the image with its user", config, err)
	}
	server.Close()
	if err := image.Push(t.Context(), ref); err == nil || !strings.Contains(err.Error(), ref) {
		t.Errorf("without a registry: %v, want an error that names %s", err, ref)
	}
}

func TestProgramsThatDoNotCompile(t *testing.T) {
	emptyCache(t)
	_, err := build{"programs", "squall.local/programs", []string{module + "/cmd/nosuch"}}.image(t.Context(), Options{})
	if err == nil || !strings.Contains(err.Error(), "cmd/nosuch") {
		t.Errorf("got %v, want what go build said", err)
	}
}

func TestPruneKeepsWhatWasUsedLast(t *testing.T) {
	images := store(t.TempDir())
	for i, key := range []string{"p-1", "p-2", "p-3", "other"} {
		for _, end := range []string{".tar", ".json"} {
			file := filepath.Join(string(images), key+end)
			if err := os.WriteFile(file, []byte(`{"ref":"r"}`), 0o644); err != nil {
				t.Fatal(err)
			}
			stamp := time.Unix(int64(1000+i), 0)
			if err := os.Chtimes(file, stamp, stamp); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, ok := images.find("p-1"); !ok { // the oldest, used just now
		t.Fatal("p-1 is not found")
	}
	if err := images.prune("p-[0-9]", 2); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(string(images), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if want := []string{"other.json", "other.tar", "p-1.json", "p-1.tar", "p-3.json", "p-3.tar"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

func TestPull(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	ref := strings.TrimPrefix(server.URL, "http://") + "/library/postgres:17"
	images := store(t.TempDir())
	if _, err := pull(t.Context(), images, "absent", ref, Options{}); err == nil || !strings.Contains(err.Error(), "does not have "+ref) {
		t.Errorf("an image that is not there: %v", err)
	}
	layer, err := pack([]entry{{path: "file", mode: 0o644, text: "content"}})
	if err != nil {
		t.Fatal(err)
	}
	image, err := assemble(layer, v1.Config{Cmd: []string{"postgres"}})
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, image); err != nil {
		t.Fatal(err)
	}
	pulled, err := pull(t.Context(), images, "key", ref, Options{})
	if err != nil || pulled.Ref != ref {
		t.Fatalf("got %v, %v", pulled, err)
	}
	loaded, config := load(t, pulled)
	if files(t, loaded)["file"] == nil || config.Config.Cmd[0] != "postgres" {
		t.Errorf("the archive is another image: %+v", config)
	}
	server.Close()
	if again, ok := images.find("key"); !ok || again != pulled {
		t.Errorf("without the registry: %v, %t", again, ok)
	}
	if _, err := pull(t.Context(), images, "other", ref, Options{}); err == nil {
		t.Error("no registry, and no error")
	}
}
