package nodeimage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/squall-chaos/squall/clusters/binaries"
)

// room is what a build needs on the disk, the image in the engine included.
const room = 5 << 30

// builder is one build.
type builder struct {
	dir      string // of what the steps leave
	recipe   recipe
	progress io.Writer
	started  time.Time
}

// directories are those of the sets of programs, by name.
type directories map[string]string

func (d directories) of(set, program string) string { return filepath.Join(d[set], program) }

// Build returns the reference of the image in the engine, after building it if it is not there. Progress may be nil.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	ref, err := Ref()
	if err != nil {
		return "", err
	}
	if err := errors.Join(require(), supported(ctx)); err != nil {
		return "", fmt.Errorf("build a node image: %w", err)
	}
	if found, err := present(ctx, ref); err != nil || found {
		return ref, err
	}
	b, err := newBuilder(progress)
	if err != nil {
		return "", err
	}
	unlock, err := binaries.Lock(ctx, b.dir, "building the node image", progress)
	if err != nil {
		return "", fmt.Errorf("build a node image: %w", err)
	}
	defer unlock()
	if found, err := present(ctx, ref); err != nil || found {
		return ref, err // somebody else was building it
	}
	if err := b.sweep(ctx); err != nil {
		return "", fmt.Errorf("build a node image: %w", err)
	}
	if err := b.build(ctx, ref); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("interrupted; the next build goes on after the last complete step: %w", ctx.Err())
		}
		return "", fmt.Errorf("build a node image: %w", explain(err))
	}
	b.say("the node image is %s", ref)
	return ref, nil
}

func newBuilder(progress io.Writer) (*builder, error) {
	cache, err := binaries.Cache()
	if err != nil {
		return nil, err
	}
	r, err := newRecipe()
	if err != nil {
		return nil, err
	}
	return &builder{dir: filepath.Join(cache, "node-image"), recipe: r, progress: progress, started: time.Now()}, nil
}

func (b *builder) build(ctx context.Context, ref string) error {
	if os.Geteuid() != 0 {
		return errors.New("only root can install Debian into a directory: run it with sudo")
	}
	if err := b.space(); err != nil {
		return err
	}
	system, err := b.step(ctx, "system-"+b.recipe.systemKey(), b.system)
	if err != nil {
		return err
	}
	dirs := directories{}
	for _, set := range b.recipe.sets() {
		if dirs[set.Name], err = binaries.Build(ctx, set, b.progress); err != nil {
			return err
		}
	}
	required, err := requiredImages(ctx, dirs.of("kubernetes", "kubernetes"))
	if err != nil {
		return err
	}
	store, err := b.step(ctx, "store-"+b.recipe.storeKey(), func(ctx context.Context, dir string) error {
		return b.store(ctx, dir, system, dirs, required)
	})
	if err != nil {
		return err
	}
	entries, err := b.kindFiles(ctx, dirs.of("containerd", "ctr"), pauseOf(required))
	if err != nil {
		return err
	}
	entries = append(entries, programs(dirs)...)
	b.say("loading the image into the engine")
	return load(ctx, ref, func() io.ReadCloser { return layer(system, store, entries) })
}

// layer is Debian, then the images, then everything else.
func layer(system, store string, entries []entry) io.ReadCloser {
	return concat([]string{filepath.Join(system, "system.tar"), filepath.Join(store, "store.tar")}, entries)
}

// programs are in a node where kind and its unit files look for them.
func programs(dirs directories) []entry {
	entries := []entry{
		{name: "kind/version", text: binaries.KubernetesVersion},
		{name: "usr/bin/kubernetes", file: dirs.of("kubernetes", "kubernetes")},
		{name: "usr/bin/kubeadm", link: "kubernetes"}, {name: "usr/bin/kubelet", link: "kubernetes"}, {name: "usr/bin/kubectl", link: "kubernetes"},
		{name: "usr/local/bin/crictl", file: dirs.of("crictl", "crictl")},
		{name: "opt/cni/bin/"},
	}
	for _, program := range binaries.Containerd().Programs {
		entries = append(entries, entry{name: "usr/local/bin/" + program, file: dirs.of("containerd", program)})
	}
	for _, program := range binaries.CNI().Programs {
		entries = append(entries, entry{name: "opt/cni/bin/" + program, file: dirs.of("cni", program)})
	}
	return entries
}

// requiredImages are those that kubeadm will ask for.
func requiredImages(ctx context.Context, kubernetes string) ([]string, error) {
	cmd := exec.CommandContext(ctx, kubernetes, "kubeadm", "config", "images", "list", "--kubernetes-version", binaries.KubernetesVersion)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask kubeadm for its images: %w", err)
	}
	return strings.Fields(string(out)), nil
}

func pauseOf(required []string) string {
	for _, ref := range required {
		if strings.Contains(ref, "/pause:") {
			return ref
		}
	}
	return ""
}

// step gives the directory that a step leaves, after having it made if it is not there. What is under the final name is complete.
func (b *builder) step(ctx context.Context, name string, do func(ctx context.Context, dir string) error) (string, error) {
	dir := filepath.Join(b.dir, name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	begun := dir + unfinished
	if err := errors.Join(remove(ctx, begun), os.MkdirAll(begun, 0o755)); err != nil {
		return "", err
	}
	if err := do(ctx, begun); err != nil {
		return "", errors.Join(err, os.RemoveAll(begun))
	}
	return dir, os.Rename(begun, dir)
}

// unfinished ends the name of a directory that a step is still writing to.
const unfinished = ".unfinished"

// sweep removes what a build that was killed left behind, with whatever recipe. The lock is held: nobody else is at it.
func (b *builder) sweep(ctx context.Context) error {
	left, err := filepath.Glob(filepath.Join(b.dir, "*"+unfinished))
	if err != nil {
		return err
	}
	for _, dir := range append(left, b.sockets()) {
		if err := remove(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

// remove waits for those who are still writing: the kernel kills the programs of a killed build, but a moment after it let go of the lock.
func remove(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		err := os.RemoveAll(dir)
		if !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("some program writes to %s: end it and build again: %w", dir, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// space says early what the build would say late.
func (b *builder) space() error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(b.dir, &s); err != nil {
		return err
	}
	if free := int64(s.Bavail) * int64(s.Bsize); free < room {
		return fmt.Errorf("%.1f GB are free where %s is: %w", float64(free)/(1<<30), b.dir, syscall.ENOSPC)
	}
	return nil
}
