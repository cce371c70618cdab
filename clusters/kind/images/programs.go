package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/squall-chaos/squall/clusters/binaries"
)

const (
	module = "github.com/squall-chaos/squall"

	// ProgramsUser runs the programs: the number that images call nonroot.
	ProgramsUser = 65532

	keepPrograms = 4 // archives
)

// programs are the commands of the image, each under its base name.
var programs = []string{
	module + "/cmd/dispatcher",
	module + "/cmd/reconciler",
	module + "/cmd/worker",
	module + "/cmd/faultproxy",
}

// Programs builds the programs that run in the cluster and returns their image: /dispatcher, /reconciler, /worker, /faultproxy. It has to be called in a checkout
// of Squall, or in a module that requires it. Without changes since the last time it takes a second.
func Programs(ctx context.Context, options Options) (Image, error) {
	variant := "programs"
	if options.Planted {
		variant = "programs-planted"
	}
	image, err := build{variant, "squall.local/programs", programs}.image(ctx, options)
	if err != nil {
		return Image{}, fmt.Errorf("image of the programs: %w", err)
	}
	return image, nil
}

// Harness builds the image of squall itself, without the worlds that need a build tag: /squall runs the shards of a sweep in any cluster. It
// has to be called where Programs has to.
func Harness(ctx context.Context, options Options) (Image, error) {
	image, err := build{"squall", "squall.local/squall", []string{module + "/cmd/squall"}}.image(ctx, options)
	if err != nil {
		return Image{}, fmt.Errorf("image of squall: %w", err)
	}
	return image, nil
}

// build is an image of static binaries.
type build struct {
	variant    string // of its files in the store
	repository string
	packages   []string
}

func (b build) image(ctx context.Context, options Options) (Image, error) {
	images, err := openStore()
	if err != nil {
		return Image{}, err
	}
	source, err := sourceDir(ctx)
	if err != nil {
		return Image{}, err
	}
	unlock, err := binaries.Lock(ctx, filepath.Join(string(images), "lock-programs"), "building the image of programs", options.Progress)
	if err != nil {
		return Image{}, err
	}
	defer unlock()
	// The binaries stay where they are: go build does not link what is up to date.
	bin := filepath.Join(string(images), b.variant)
	if err := compile(ctx, source, bin, b.packages, options); err != nil {
		return Image{}, err
	}
	layer, err := pack(programEntries(bin, b.packages))
	if err != nil {
		return Image{}, err
	}
	hash := layer.digest.Hex[:16]
	key := b.variant + "-" + hash
	if image, ok := images.find(key); ok {
		return image, nil
	}
	image, err := assemble(layer, v1.Config{
		User:       fmt.Sprintf("%d:%d", ProgramsUser, ProgramsUser),
		WorkingDir: "/",
		Env:        []string{"PATH=/"},
	})
	if err != nil {
		return Image{}, err
	}
	ref := b.repository + ":" + hash
	options.say("writing image %s (%d MB)", ref, layer.size>>20)
	saved, err := images.save(key, ref, image)
	if err != nil {
		return Image{}, err
	}
	return saved, images.prune(b.variant+"-[0-9a-f]*", keepPrograms)
}

// ErrNoSource says that the programs of the cluster cannot be built from where the caller is.
var ErrNoSource = errors.New("the programs that run in the cluster are built from Squall's source, with go")

// sourceDir is where the module is: a checkout, or the module cache for a module that requires it.
func sourceDir(ctx context.Context) (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("%w, and there is no go in PATH; get it from https://go.dev/dl/", ErrNoSource)
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return "", fmt.Errorf("%w, which does not find it from here (%s); run squall in a checkout of %s, or in a module that requires it",
			ErrNoSource, strings.TrimSpace(stderr.String()), module)
	}
	return dir, nil
}

// compile builds static binaries. They hold nothing of this machine or of the state of the checkout, so that the same source makes the same image.
func compile(ctx context.Context, source, bin string, packages []string, options Options) error {
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", bin + "/"}
	if options.Planted {
		args = append(args, "-tags", "planted")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	options.say("building %s", strings.Join(bases(packages), ", "))
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("go build in %s: %w\n%s", source, err, bytes.TrimSpace(out))
	}
	return nil
}

func bases(packages []string) []string {
	var names []string
	for _, p := range packages {
		names = append(names, path.Base(p))
	}
	return names
}

// programEntries is the whole file system: a static binary needs no more than to be told who it is.
func programEntries(bin string, packages []string) []entry {
	entries := []entry{
		{path: "etc/", mode: 0o755},
		{path: "etc/passwd", mode: 0o644, text: fmt.Sprintf("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/:/sbin/nologin\n", ProgramsUser, ProgramsUser)},
		{path: "etc/group", mode: 0o644, text: fmt.Sprintf("root:x:0:\nnonroot:x:%d:\n", ProgramsUser)},
		{path: "tmp/", mode: 0o1777},
	}
	for _, name := range bases(packages) {
		entries = append(entries, entry{path: name, mode: 0o755, disk: filepath.Join(bin, name)})
	}
	return entries
}
