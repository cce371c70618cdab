package images

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	suite   = "trixie" // whose Postgres is 17
	keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
	recipe  = "1" // changes the image although package list and entrypoint stay
)

//go:embed entrypoint/entrypoint.sh
var entrypoint string

// wanted are the packages that the image is for; apt adds what they depend on. base-files comes first in the layer: it has the links from /bin and /lib to /usr.
var wanted = []string{"base-files", "postgresql-" + postgresMajor, "dash", "coreutils", "findutils", "sed", "libc-bin", "tzdata"}

// unwanted are dependencies that no program of the image uses: Debian's wrappers in Perl around Postgres, its JIT compiler (Postgres goes on without it), and what only the maintainer scripts
// need, which do not run here. That nothing else is missing is checked (linked).
var unwanted = regexp.MustCompile(`^(perl.*|lib.*-perl|libperl.*|libgdbm.*|libllvm.*|libz3-.*|libffi.*|postgresql.*-common|postgresql-common-dev|ssl-cert|openssl.*|adduser|passwd|login\.defs|debconf|` +
	`libdebconfclient0|locales|libc-l10n|procps|libproc2-.*|libncursesw6|ucf|sensible-utils|init-system-helpers|sysvinit-utils|mawk|debianutils|base-passwd|netbase|libsemanage.*|libpam-modules.*)$`)

func debianKey() string {
	return "postgres-" + postgresMajor + "-debian-" + digest([]byte(recipe), []byte(entrypoint), []byte(strings.Join(wanted, " ")), []byte(unwanted.String())) + "-" + runtime.GOARCH
}

// debianPostgres makes an image of Debian's packages. They are downloaded and read, not installed: neither root nor a chroot is needed.
func debianPostgres(ctx context.Context, images store, options Options) (Image, error) {
	if err := haveApt(); err != nil {
		return Image{}, err
	}
	dir, err := os.MkdirTemp(string(images), "debian-")
	if err != nil {
		return Image{}, err
	}
	defer os.RemoveAll(dir)
	options.say("asking Debian %s for Postgres %s", suite, postgresMajor)
	debs, chosen, err := download(ctx, dir, wanted, unwanted, options)
	if err != nil {
		return Image{}, err
	}
	version := versionOf(chosen, "postgresql-"+postgresMajor)
	root := filepath.Join(dir, "root.tar")
	if err := writeRoot(ctx, root, debs, postgresEntries(), started); err != nil {
		return Image{}, err
	}
	layer, err := newLayer(func() (io.ReadCloser, error) { return os.Open(root) })
	if err != nil {
		return Image{}, err
	}
	image, err := assemble(layer, postgresConfig())
	if err != nil {
		return Image{}, err
	}
	ref := "squall.local/postgres:" + version + "-" + layer.digest.Hex[:12]
	options.say("writing image %s (%d MB)", ref, layer.size>>20)
	return images.save(debianKey(), ref, image)
}

// haveApt tells whether packages can be downloaded and read.
func haveApt() error {
	for _, command := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(command); err != nil {
			return fmt.Errorf("no %s on this machine, so Debian's packages cannot be had; make a registry reachable (HTTPS_PROXY), or run this on Debian or Ubuntu", command)
		}
	}
	if _, err := os.Stat(keyring); err != nil {
		return fmt.Errorf("no keys for Debian's packages: %w; get them with: apt-get install debian-archive-keyring", err)
	}
	return nil
}

func postgresConfig() v1.Config {
	return v1.Config{
		User:       fmt.Sprintf("%d:%d", PostgresUser, PostgresUser),
		WorkingDir: "/",
		Env: []string{
			"PATH=/usr/lib/postgresql/" + postgresMajor + "/bin:/usr/local/bin:/usr/bin",
			"LANG=C.UTF-8", "PG_MAJOR=" + postgresMajor, "PGDATA=/var/lib/postgresql/data",
		},
		Entrypoint:   []string{"/usr/local/bin/docker-entrypoint.sh"},
		Cmd:          []string{"postgres"},
		StopSignal:   "SIGINT", // fast shutdown, as in the official image
		ExposedPorts: map[string]struct{}{"5432/tcp": {}},
	}
}

// download gets packages, and what they depend on, with an apt of its own: lists, state and cache in dir, proxies and credentials from the
// machine's settings. chosen are the packages as NAME=VERSION.
func download(ctx context.Context, dir string, wanted []string, unwanted *regexp.Regexp, options Options) (debs, chosen []string, err error) {
	settings, err := aptSettings(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	apt := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "apt-get", append(slices.Clone(settings), args...)...)
		cmd.Dir = filepath.Join(dir, "debs")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("apt-get %s: %w: %s; can this machine reach Debian's mirror?", args[0], err, strings.TrimSpace(stderr.String()))
		}
		return out, nil
	}
	if _, err := apt("update", "-qq"); err != nil {
		return nil, nil, err
	}
	plan, err := apt(append([]string{"install", "-qq", "--simulate"}, wanted...)...)
	if err != nil {
		return nil, nil, err
	}
	chosen = choose(string(plan), unwanted)
	for _, name := range wanted {
		if versionOf(chosen, name) == "" {
			return nil, nil, fmt.Errorf("no %s in Debian %s; is the mirror complete?", name, suite)
		}
	}
	options.say("downloading %d packages of Debian", len(chosen))
	if _, err := apt(append([]string{"download", "-qq"}, chosen...)...); err != nil {
		return nil, nil, err
	}
	debs, err = filepath.Glob(filepath.Join(dir, "debs", "*.deb"))
	if err == nil && len(debs) != len(chosen) {
		err = fmt.Errorf("apt-get downloaded %d of %d packages", len(debs), len(chosen))
	}
	return debs, chosen, err
}

// choose reads what apt would install ("Inst NAME (VERSION Debian:...)") and returns what the image takes of it as NAME=VERSION.
func choose(plan string, unwanted *regexp.Regexp) (chosen []string) {
	line := regexp.MustCompile(`(?m)^Inst (\S+) (?:\[\S+\] )?\((\S+) `)
	for _, found := range line.FindAllStringSubmatch(plan, -1) {
		if !unwanted.MatchString(found[1]) {
			chosen = append(chosen, found[1]+"="+found[2])
		}
	}
	return chosen
}

// versionOf is the version of a chosen package, without Debian's revision; empty when it is none of them.
func versionOf(chosen []string, name string) string {
	for _, c := range chosen {
		if version, ok := strings.CutPrefix(c, name+"="); ok {
			version, _, _ = strings.Cut(version, "-")
			return version
		}
	}
	return ""
}

func aptSettings(ctx context.Context, dir string) ([]string, error) {
	for _, sub := range []string{"debs", "lists/partial", "cache/archives/partial", "etc", "none", "state"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	mirror, err := mirrorOf(ctx)
	if err != nil {
		return nil, err
	}
	source := fmt.Sprintf("deb [signed-by=%s] %s %s main\n", keyring, mirror, suite)
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "state", "status"), nil, 0o644), // nothing is installed
		os.WriteFile(filepath.Join(dir, "etc", "sources.list"), []byte(source), 0o644),
	)
	var settings []string
	for _, setting := range []string{
		"Dir::State=" + dir + "/state", "Dir::State::status=" + dir + "/state/status", "Dir::State::lists=" + dir + "/lists", "Dir::Cache=" + dir + "/cache",
		"Dir::Etc::sourcelist=" + dir + "/etc/sources.list", "Dir::Etc::sourceparts=" + dir + "/none",
		"Dir::Etc::preferences=/dev/null", "Dir::Etc::preferencesparts=" + dir + "/none",
		"APT::Install-Recommends=false", "APT::Install-Suggests=false", "Acquire::Languages=none", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
		"Acquire::Retries=3", fmt.Sprintf("APT::Sandbox::User=%d", os.Geteuid()), // the sandbox's user may not enter the cache
	} {
		settings = append(settings, "-o", setting)
	}
	return settings, err
}

// errNoMirror says that apt knows of no archive of Debian.
var errNoMirror = errors.New("apt has no list of a mirror of Debian; fetch it with: apt-get update")

// mirrorOf is the mirror that the machine uses for Debian itself, which a corporate network may have replaced.
func mirrorOf(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(SITE)", "Created-By: Packages").Output()
	if err != nil {
		return "", fmt.Errorf("ask apt for its mirror: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if site, ok := strings.CutPrefix(strings.TrimSpace(line), "Debian Debian "); ok && strings.Contains(site, "://") {
			return site, nil
		}
	}
	return "", errNoMirror
}
