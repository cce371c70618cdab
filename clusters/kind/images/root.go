package images

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// left out: what a server does without. gconv and i18n are for other encodings than UTF-8, bitcode and llvmjit for the JIT compiler.
var leftOut = regexp.MustCompile(`^(usr/share/(doc|doc-base|man|locale|info|lintian|bug|bash-completion|i18n|perl5|postgresql-common|postgresql/17/man|pixmaps|menu)/` +
	`|usr/lib/[^/]+/(gconv|perl.*)/|usr/lib/postgresql/17/lib/(bitcode/|llvmjit)|usr/lib/locale/locale-archive|etc/(cron|init|logrotate|pam)\.d/|var/(cache|log)/|boot/|home/|media/|mnt/|srv/)`)

// started are the programs of the image that somebody starts; everything that they are linked with must be there.
var started = []string{
	"usr/lib/postgresql/17/bin/postgres", "usr/lib/postgresql/17/bin/initdb", "usr/lib/postgresql/17/bin/psql", "usr/lib/postgresql/17/bin/pg_isready",
	"usr/bin/dash", "usr/bin/find", "usr/bin/sed", "usr/bin/mv", "usr/bin/sync", "usr/bin/id",
}

// rootWriter writes a root file system as one tar, out of packages.
type rootWriter struct {
	out   *tar.Writer
	seen  map[string]bool
	needs map[string][]string // libraries that a file is linked with
}

// writeRoot writes the content of the packages and the entries that make an image of them; started are programs, everything that they are
// linked with must be there. Order and content depend on the arguments alone.
func writeRoot(ctx context.Context, file string, debs []string, entries []entry, started []string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	root := &rootWriter{out: tar.NewWriter(out), seen: map[string]bool{}, needs: map[string][]string{}}
	for _, e := range entries { // before the packages: the first to bring a file wins
		root.seen[strings.TrimSuffix(e.path, "/")] = true
		if err := e.write(root.out); err != nil {
			return err
		}
	}
	slices.SortFunc(debs, func(a, b string) int {
		if first := strings.HasPrefix(filepath.Base(a), "base-files_"); first != strings.HasPrefix(filepath.Base(b), "base-files_") {
			return map[bool]int{true: -1, false: 1}[first]
		}
		return strings.Compare(filepath.Base(a), filepath.Base(b))
	})
	for _, deb := range debs {
		if err := root.unpack(ctx, deb); err != nil {
			return fmt.Errorf("read %s: %w", filepath.Base(deb), err)
		}
	}
	if err := linked(started, root.seen, root.needs); err != nil {
		return err
	}
	return errors.Join(root.out.Close(), out.Close())
}

// postgresEntries are what the packages' maintainer scripts would have made, and the entrypoint.
func postgresEntries() []entry {
	return []entry{
		{path: "tmp/", mode: 0o1777},
		{path: "var/run", link: "/run"},
		{path: "usr/bin/sh", link: "dash"},
		{path: "run/postgresql/", mode: 0o1777, owner: PostgresUser},
		{path: "var/lib/postgresql/", mode: 0o755, owner: PostgresUser},
		{path: "var/lib/postgresql/data/", mode: 0o700, owner: PostgresUser},
		{path: "etc/passwd", mode: 0o644, text: fmt.Sprintf("root:x:0:0:root:/root:/bin/sh\npostgres:x:%d:%d::/var/lib/postgresql:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n", PostgresUser, PostgresUser)},
		{path: "etc/group", mode: 0o644, text: fmt.Sprintf("root:x:0:\npostgres:x:%d:\nnogroup:x:65534:\n", PostgresUser)},
		{path: "usr/local/bin/docker-entrypoint.sh", mode: 0o755, text: entrypoint},
	}
}

// unpack copies the files of one package.
func (r *rootWriter) unpack(ctx context.Context, deb string) error {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	in := tar.NewReader(stdout)
	for {
		header, nextErr := in.Next()
		if nextErr == nil {
			nextErr = r.add(header, in)
		}
		if nextErr != nil {
			err = nextErr
			break
		}
	}
	if err == io.EOF {
		_, err = io.Copy(io.Discard, stdout)
	}
	if waitErr := cmd.Wait(); waitErr != nil {
		err = errors.Join(err, fmt.Errorf("dpkg-deb: %w: %s", waitErr, strings.TrimSpace(stderr.String())))
	}
	return err
}

// add copies one file, owned by root and as old as the epoch.
func (r *rootWriter) add(header *tar.Header, content io.Reader) error {
	name := merged(strings.TrimPrefix(path.Clean("/"+header.Name), "/"))
	if name == "" || r.seen[name] || leftOut.MatchString(name+"/") {
		return nil
	}
	r.seen[name] = true
	copied := &tar.Header{Typeflag: header.Typeflag, Name: name, Mode: header.Mode &^ 0o6000, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	switch header.Typeflag {
	case tar.TypeDir:
		copied.Name += "/"
	case tar.TypeSymlink:
		copied.Linkname = header.Linkname
		r.needs[name] = []string{path.Base(header.Linkname)}
	case tar.TypeLink:
		copied.Linkname = merged(strings.TrimPrefix(path.Clean("/"+header.Linkname), "/"))
		r.needs[name] = r.needs[copied.Linkname]
	case tar.TypeReg:
		text, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		copied.Size = int64(len(text))
		if r.needs[name], err = libraries(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		content = bytes.NewReader(text)
	default:
		return fmt.Errorf("%s: a file of type %q", name, header.Typeflag)
	}
	if err := r.out.WriteHeader(copied); err != nil {
		return err
	}
	if copied.Size == 0 {
		return nil
	}
	_, err := io.Copy(r.out, content)
	return err
}

// merged is the place of a file in a system where /bin, /sbin and /lib are links into /usr, as in every Debian since 12.
func merged(name string) string {
	for _, dir := range []string{"bin/", "sbin/", "lib/", "lib64/"} {
		if strings.HasPrefix(name, dir) {
			return "usr/" + name
		}
	}
	return name
}

// libraries lists what a file asks the dynamic linker for.
func libraries(content []byte) ([]string, error) {
	if !bytes.HasPrefix(content, []byte(elf.ELFMAG)) {
		return nil, nil
	}
	file, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if file.Type != elf.ET_DYN && file.Type != elf.ET_EXEC {
		return nil, nil
	}
	return file.ImportedLibraries()
}

// linked tells whether the programs have every library that they or their libraries ask for.
func linked(programs []string, files map[string]bool, needs map[string][]string) error {
	byName := map[string][]string{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		byName[path.Base(file)] = append(byName[path.Base(file)], file)
	}
	checked := map[string]bool{}
	queue := slices.Clone(programs)
	for len(queue) > 0 {
		file := queue[0]
		queue = queue[1:]
		if checked[file] {
			continue
		}
		checked[file] = true
		if !files[file] {
			return fmt.Errorf("%s is missing: Debian's packages have changed, or it is in one that the image leaves out", file)
		}
		for _, library := range needs[file] {
			found := byName[library]
			if len(found) == 0 {
				return fmt.Errorf("%s needs %s, which no package of the image has: Debian's packages have changed", file, library)
			}
			queue = append(queue, found...)
		}
	}
	return nil
}
