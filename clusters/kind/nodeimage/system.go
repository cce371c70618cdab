package nodeimage

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// system leaves system.tar, Debian's part of the root file system, and tools.tar, the part of it that kube-proxy and the pod
// network need beside them.
func (b *builder) system(ctx context.Context, dir string) error {
	root, debs := filepath.Join(dir, "root"), filepath.Join(b.dir, "debs-"+suite)
	if err := os.MkdirAll(debs, 0o755); err != nil {
		return err
	}
	if err := configureInstaller(root); err != nil {
		return err
	}
	b.say("installing Debian %s: about a minute and a half; what was downloaded once is kept", suite)
	// In namespaces of its own nothing outlives debootstrap: no process in the new root, and no /proc mounted there, which the removal of
	// the directory after an interrupt would descend into.
	if err := b.run(ctx, "", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
		"debootstrap", "--variant=minbase", "--cache-dir="+debs, "--include="+strings.Join(packages, ","), suite, root); err != nil {
		return err
	}
	if err := strip(root); err != nil {
		return err
	}
	names, err := toolFiles(root)
	if err != nil {
		return err
	}
	args := []string{"--create", "--directory", root, "--numeric-owner", "--sort=name"}
	if err := b.run(ctx, "", "tar", append(args, "--file", filepath.Join(dir, "system.tar"), ".")...); err != nil {
		return err
	}
	list := strings.Join(names, "\x00")
	if err := b.run(ctx, list, "tar", append(args, "--file", filepath.Join(dir, "tools.tar"), "--no-recursion", "--null", "--files-from=-")...); err != nil {
		return err
	}
	return os.RemoveAll(root)
}

// installer has dpkg leave out what strip would remove, and not wait for the disk after each file: an installation that a crash cuts short
// is begun anew.
const installer = `force-unsafe-io
path-exclude=/usr/share/doc/*
path-exclude=/usr/share/man/*
path-exclude=/usr/share/info/*
path-exclude=/usr/share/locale/*
path-exclude=/usr/share/lintian/*
path-exclude=/usr/share/bash-completion/*
path-exclude=/usr/lib/udev/hwdb.d/*
`

func configureInstaller(root string) error {
	dir := filepath.Join(root, "etc", "dpkg", "dpkg.cfg.d")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "squall"), []byte(installer), 0o644)
}

// useless is what a node does not need: what nobody reads there, and what kind's Dockerfile removes because a container is no machine.
var useless = []string{
	"usr/share/doc/*", "usr/share/man/*", "usr/share/info/*", "usr/share/locale/*", "usr/share/lintian", "usr/share/bash-completion", "usr/share/i18n",
	"usr/lib/udev/hwdb.d", "etc/udev/hwdb.bin", "usr/lib/*/perl-base/unicore",
	"var/lib/apt/lists/*", "var/cache/apt/*", "var/cache/debconf/*-old", "var/lib/dpkg/*-old", "var/log/*", "tmp/*", "etc/hostname", "etc/resolv.conf", "etc/machine-id",
	"usr/lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service", "usr/lib/systemd/system/multi-user.target.wants/*",
	"etc/systemd/system/*.wants/*", "usr/lib/systemd/system/local-fs.target.wants/*", "usr/lib/systemd/system/sockets.target.wants/*udev*",
	"usr/lib/systemd/system/sockets.target.wants/*initctl*", "usr/lib/systemd/system/basic.target.wants/*",
}

func strip(root string) error {
	for _, pattern := range useless {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return err
		}
		for _, name := range found {
			if err := os.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// tools are programs, the libraries that they load by name included.
var tools = []string{
	"usr/sbin/nft", "usr/sbin/xtables-nft-multi", "usr/sbin/xtables-legacy-multi", "usr/bin/ip",
	"usr/lib64/ld-linux*", "usr/lib/ld-linux*", // the loader's name, on amd64 and on arm64
	"usr/lib/*/xtables/*.so", "etc/protocols", "etc/services", "etc/iproute2/*", "usr/share/iproute2/*",
}

// toolFiles are the tools with the libraries that they need, and the directories and links on the way to them, parents first.
func toolFiles(root string) ([]string, error) {
	need := map[string]bool{}
	for _, pattern := range tools {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 && strings.HasPrefix(pattern, "usr/sbin/") {
			return nil, fmt.Errorf("debian %s has no %s any more", suite, pattern)
		}
		for _, name := range found {
			if err := needs(root, strings.TrimPrefix(name, root+"/"), need); err != nil {
				return nil, err
			}
		}
	}
	for name := range need {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			need[dir] = true
		}
	}
	for _, link := range []string{"bin", "lib", "lib64", "sbin"} { // into usr; the loader's name begins with one
		if _, err := os.Lstat(filepath.Join(root, link)); err == nil {
			need[link] = true
		}
	}
	var names []string
	for name := range need {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// needs adds a file, where it links to, and, if it is a program or a library, what it is linked with.
func needs(root, name string, need map[string]bool) error {
	if need[name] {
		return nil
	}
	need[name] = true
	info, err := os.Lstat(filepath.Join(root, name))
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if !path.IsAbs(to) {
			to = path.Join(path.Dir(name), to)
		}
		return needs(root, strings.TrimPrefix(to, "/"), need)
	}
	file, err := elf.Open(filepath.Join(root, name))
	if format := (*elf.FormatError)(nil); errors.As(err, &format) || errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	libraries, err := file.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("read the libraries of %s: %w", name, err)
	}
	for _, library := range libraries {
		if err := needsLibrary(root, library, need); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func needsLibrary(root, library string, need map[string]bool) error {
	for _, pattern := range []string{"usr/lib/*/", "usr/lib/", "usr/lib64/"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern+library))
		if len(found) > 0 {
			return needs(root, strings.TrimPrefix(found[0], root+"/"), need)
		}
	}
	return fmt.Errorf("there is no library %s", library)
}
