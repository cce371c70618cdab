package nodeimage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// store leaves store.tar: containerd's directory with the images that a node brings along, not unpacked, as in kindest/node.
func (b *builder) store(ctx context.Context, dir, system string, dirs directories, required []string) error {
	b.say("packing the images of the control plane, the pod network and CoreDNS")
	images, err := b.images(system, dirs, required)
	if err != nil {
		return err
	}
	archive, root := filepath.Join(dir, "layout"), filepath.Join(dir, "root")
	if err := writeLayout(archive, images); err != nil {
		return err
	}
	if err := b.run(ctx, "", "tar", "--create", "--file", archive+".tar", "--directory", archive, "."); err != nil {
		return err
	}
	b.say("putting the images into containerd's store")
	if err := b.imported(ctx, dirs, root, archive+".tar"); err != nil {
		return err
	}
	// What else is there is made anew by the node's containerd.
	const below = "var/lib/containerd/"
	if err := b.run(ctx, "", "tar", "--create", "--file", filepath.Join(dir, "store.tar"), "--directory", root, "--numeric-owner", "--sort=name",
		below+"io.containerd.content.v1.content", below+"io.containerd.metadata.v1.bolt"); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(archive), os.Remove(archive+".tar"), os.RemoveAll(root))
}

// A containerd of our own is started for the import: its only plugins are those that keep content.
const importer = `version = 3
root = %q
state = %q
disabled_plugins = [
  "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt", "io.containerd.nri.v1.nri",
  "io.containerd.internal.v1.restart", "io.containerd.snapshotter.v1.overlayfs", "io.containerd.snapshotter.v1.erofs", "io.containerd.differ.v1.erofs",
  "io.containerd.snapshotter.v1.blockfile", "io.containerd.image-verifier.v1.bindir",
]
[grpc]
  address = %q
[ttrpc]
  address = %q
`

func (b *builder) imported(ctx context.Context, dirs directories, root, archive string) (err error) {
	run := b.sockets()
	if err := os.Mkdir(run, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(run)) }()
	config, socket := filepath.Join(run, "config.toml"), filepath.Join(run, "s")
	text := fmt.Sprintf(importer, filepath.Join(root, "var/lib/containerd"), filepath.Join(run, "state"), socket, socket+".ttrpc")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	daemon := exec.Command(dirs.of("containerd", "containerd"), "--config", config)
	var log bytes.Buffer
	daemon.Stdout, daemon.Stderr = &log, &log
	daemon.SysProcAttr = apart() // an interrupt from the terminal is ours to pass on
	if err := daemon.Start(); err != nil {
		return err
	}
	ctr := []string{"--address", socket, "--namespace", "k8s.io"}
	err = b.ready(ctx, dirs.of("containerd", "ctr"), ctr)
	if err == nil {
		err = b.run(ctx, "", dirs.of("containerd", "ctr"), append(ctr, "images", "import", "--local", "--no-unpack", archive)...)
	}
	// It closes its database in order before the files are read.
	stopped := errors.Join(daemon.Process.Signal(syscall.SIGTERM), daemon.Wait())
	if err != nil && ctx.Err() == nil {
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		err = fmt.Errorf("%w\ncontainerd said:\n%s", err, strings.Join(lines[max(0, len(lines)-5):], "\n"))
	}
	return errors.Join(err, stopped)
}

// sockets is the daemon's directory for the time of the import: a socket's name has to be short, and the next build has to find it again.
func (b *builder) sockets() string {
	sum := sha256.Sum256([]byte(b.dir))
	return filepath.Join(os.TempDir(), "squall-containerd-"+hex.EncodeToString(sum[:4]))
}

// ready waits for the daemon.
func (b *builder) ready(ctx context.Context, ctr string, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := exec.CommandContext(ctx, ctr, append(args, "version")...).Run()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("containerd does not answer: %w", errors.Join(ctx.Err(), err))
		case <-time.After(200 * time.Millisecond):
		}
	}
}
