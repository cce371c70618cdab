package installation

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/squall-chaos/squall/clusters/binaries"
	"github.com/squall-chaos/squall/clusters/kind/images"
)

const (
	self       = "github.com/squall-chaos/squall"
	chaosMesh  = "github.com/chaos-mesh/chaos-mesh"
	controller = "chaos-controller-manager"
	daemon     = "chaos-daemon"
)

// source is the module that the controllers are built from. A module within a module is not part of it when it is published, so there is a checkout
// or nothing.
func source(ctx context.Context) (string, error) {
	dir, err := goList(ctx, ".", "list", "-m", "-f", "{{.Dir}}", self)
	if err != nil {
		return "", fmt.Errorf("find Squall's source: %w; run this in a checkout of it", err)
	}
	dir = filepath.Join(dir, "faults", "chaosmesh", "controllers")
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", fmt.Errorf("the module that Chaos Mesh is built from: %w; run this in a checkout of Squall", err)
	}
	return dir, nil
}

func goList(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// downloaded is the directory of Chaos Mesh's module, in the version that the module in dir names.
func downloaded(ctx context.Context, dir string) (string, error) {
	text, err := goList(ctx, dir, "mod", "download", "-json", chaosMesh)
	if err != nil {
		return "", err
	}
	var where struct{ Dir string }
	err = json.Unmarshal([]byte(text), &where)
	return where.Dir, err
}

// part are some files of a directory: what a set is built from, and so what its place in the cache depends on.
type part struct {
	fs.FS
	names []string // files, and directories with all that is in them
}

func (p part) Open(name string) (fs.File, error) {
	if name != "." && !p.has(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return p.FS.Open(name)
}

// ReadDir leaves out what is no part.
func (p part) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(p.FS, name)
	var kept []fs.DirEntry
	for _, e := range all {
		if file := path.Join(name, e.Name()); p.has(file) && !strings.HasSuffix(file, "_test.go") {
			kept = append(kept, e)
		}
	}
	return kept, err
}

func (p part) has(name string) bool {
	for _, n := range p.names {
		if name == n || strings.HasPrefix(name, n+"/") {
			return true
		}
	}
	return false
}

// sets are the programs, by the module's directory and the version of Chaos Mesh.
func sets(dir, version string) (manager, node, standins, target binaries.Set) {
	files := func(names ...string) fs.FS { return part{os.DirFS(dir), append(names, "go.mod", "go.sum")} }
	const command = "make e2e-chaosmesh"
	manager = binaries.Set{Name: controller, Version: version, Programs: []string{controller}, Files: files(),
		Packages: []string{chaosMesh + "/cmd/" + controller}, About: "about 3 minutes the first time on 2 cores", Command: command}
	node = binaries.Set{Name: daemon, Version: version, Programs: []string{daemon}, Files: files("daemon"), Packages: []string{"./daemon"},
		CGO: true, Before: fakeClocks, About: "about 2 minutes the first time on 2 cores", Command: command}
	standins = binaries.Set{Name: "chaos-standins", Version: version, Programs: []string{"standins"}, Files: files("standins"),
		Packages: []string{"./standins"}, About: "seconds", Command: command}
	target = binaries.Set{Name: "chaos-target", Version: version, Programs: []string{"target"}, Files: files("target"),
		Packages: []string{"./target"}, About: "seconds", Command: command}
	return manager, node, standins, target
}

// fakeClocks compiles what TimeChaos puts into processes, as the makefile of Chaos Mesh does.
func fakeClocks(ctx context.Context, src string) error {
	dir, err := downloaded(ctx, src)
	if err != nil {
		return err
	}
	to := filepath.Join(src, "daemon", "fakeclock")
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"fake_clock_gettime", "fake_gettimeofday"} {
		cmd := exec.CommandContext(ctx, "cc", "-c", "-fPIE", "-O2", "-o", filepath.Join(to, name+".o"), filepath.Join(dir, "pkg", "time", "fakeclock", name+".c"))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compile %s.c: %w: %s; a C compiler is needed: apt-get install gcc libc6-dev", name, err, out)
		}
	}
	return nil
}

// parts are what is brought to a cluster.
type parts struct {
	crds             string // directory
	manager, daemons images.Image
}

// Target is the image of a program that faults can be tried on: ../controllers/target.
func Target(ctx context.Context, o images.Options) (images.Image, error) {
	dir, version, err := module(ctx)
	if err != nil {
		return images.Image{}, err
	}
	_, _, _, target := sets(dir, version)
	bin, err := binaries.Build(ctx, target, o.Progress)
	if err != nil {
		return images.Image{}, err
	}
	return images.Recipe{Name: target.Name, Programs: map[string]string{"target": filepath.Join(bin, "target")}, Path: "/", Command: []string{"/target"}}.Image(ctx, o)
}

// module is the module that the controllers are built from, and the version of Chaos Mesh that it names.
func module(ctx context.Context) (dir, version string, err error) {
	if dir, err = source(ctx); err == nil {
		version, err = goList(ctx, dir, "list", "-m", "-f", "{{.Version}}", chaosMesh)
	}
	return dir, version, err
}

// build makes the programs and the images, if this machine does not have them.
func build(ctx context.Context, o images.Options) (p parts, err error) {
	dir, version, err := module(ctx)
	if err != nil {
		return p, err
	}
	upstream, err := downloaded(ctx, dir)
	if err != nil {
		return p, err
	}
	p.crds = bases(upstream)
	manager, node, standins, _ := sets(dir, version)
	var built []string
	for _, set := range []binaries.Set{manager, node, standins} {
		bin, err := binaries.Build(ctx, set, o.Progress)
		if err != nil {
			return p, err
		}
		built = append(built, filepath.Join(bin, set.Programs[0]))
	}
	if p.manager, err = (images.Recipe{Name: controller, Programs: map[string]string{controller: built[0]}, Path: "/"}).Image(ctx, o); err != nil {
		return p, err
	}
	p.daemons, err = daemonRecipe(built[1], built[2]).Image(ctx, o)
	return p, err
}

// daemonRecipe is the daemon with what it executes. The kernel's rules are set by iptables-legacy: the daemon takes a word of warning for a
// failure, and iptables-nft has some.
func daemonRecipe(program, standins string) images.Recipe {
	return images.Recipe{
		Name: daemon,
		Programs: map[string]string{
			"usr/local/bin/" + daemon: program, "usr/local/bin/nsexec": standins, "usr/local/bin/tproxy": standins,
		},
		Links: map[string]string{
			"usr/local/bin/iptables": "/usr/sbin/iptables-legacy", "usr/local/bin/ip6tables": "/usr/sbin/ip6tables-legacy",
			"usr/local/bin/iptables-save": "/usr/sbin/iptables-legacy-save",
		},
		Packages: []string{"base-files", "iptables", "ipset", "iproute2", "util-linux", "libc-bin"},
		Unwanted: regexp.MustCompile(`^(perl.*|libperl.*|debconf|libdebconfclient0|cdebconf|netbase|libpam.*|adduser|passwd|login.*|dpkg|tar|init-system-helpers)$`),
		Started:  []string{"usr/sbin/xtables-legacy-multi", "usr/sbin/ipset", "usr/sbin/ip", "usr/sbin/tc", "usr/bin/choom"},
		Path:     "/usr/local/bin:/usr/sbin:/usr/bin",
	}
}
