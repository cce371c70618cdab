package nodeimage

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// load has the engine take an image of one layer, in the form of `docker save`. The layer is read twice, for its digest first, since
// the archive says it before: that needs no room on the disk, which the gigabyte would.
func load(ctx context.Context, ref string, layer func() io.ReadCloser) error {
	sum, size, err := measure(layer())
	if err != nil {
		return fmt.Errorf("write the image's layer: %w", err)
	}
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(writeArchive(out, ref, layer, sum, size)) }()
	_, err = docker(ctx, in, "load", "--quiet")
	_ = in.CloseWithError(fmt.Errorf("docker load ended"))
	return err
}

func measure(layer io.ReadCloser) (sum string, size int64, err error) {
	defer func() { _ = layer.Close() }()
	hash := sha256.New()
	size, err = io.Copy(hash, layer)
	return hex.EncodeToString(hash.Sum(nil)), size, err
}

// writeArchive writes what https://github.com/moby/docker-image-spec calls the combined image JSON + filesystem changeset format.
func writeArchive(out io.Writer, ref string, layer func() io.ReadCloser, sum string, size int64) error {
	config, err := json.Marshal(nodeConfig(sum))
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{ref}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	archive := tar.NewWriter(out)
	entries := []entry{{name: "manifest.json", text: string(manifest)}, {name: "config.json", text: string(config)}}
	if err := appendEntries(archive, entries); err != nil {
		return err
	}
	if err := archive.WriteHeader(&tar.Header{Name: "layer.tar", Typeflag: tar.TypeReg, Mode: 0o644, Size: size}); err != nil {
		return err
	}
	content := layer()
	defer func() { _ = content.Close() }()
	if _, err := io.Copy(archive, content); err != nil {
		return err
	}
	return archive.Close()
}

// nodeConfig is that of kind's Dockerfile.
func nodeConfig(sum string) v1.ConfigFile {
	return v1.ConfigFile{
		OS: "linux", Architecture: runtime.GOARCH,
		Config: v1.Config{
			Entrypoint: []string{"/usr/local/bin/entrypoint", "/sbin/init"},
			Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "container=docker"},
			StopSignal: "SIGRTMIN+3",
			Labels:     map[string]string{"org.opencontainers.image.title": "squall-node"},
		},
		RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{{Algorithm: "sha256", Hex: sum}}},
	}
}

// requirements are the programs of the machine that the build uses, with Debian's package of each.
var requirements = []struct{ program, from string }{
	{"docker", "docker.io"}, {"debootstrap", "debootstrap"}, {"unshare", "util-linux"}, {"tar", "tar"}, {"go", "golang-go"},
}

// require names all that is missing at once, with the command that gets it.
func require() error {
	var programs, packages []string
	for _, need := range requirements {
		if _, err := exec.LookPath(need.program); err != nil {
			programs, packages = append(programs, need.program), append(packages, need.from)
		}
	}
	if len(programs) == 0 {
		return nil
	}
	return fmt.Errorf("the build of a node image needs %s, not found in PATH: apt-get install %s", strings.Join(programs, ", "), strings.Join(packages, " "))
}
