package nodeimage

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// image is one of those that a node brings along.
type image struct {
	ref        string
	layers     []v1.Layer
	entrypoint []string
}

// images are those that kubeadm asks for, and the pod network. What is of Kubernetes or etcd is one and the same layer: it is stored
// and unpacked once.
func (b *builder) images(system string, dirs directories, required []string) ([]image, error) {
	layerOf := func(path string, entries ...entry) (v1.Layer, error) {
		var parts []string
		if path != "" {
			parts = append(parts, path)
		}
		return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return concat(parts, entries), nil },
			tarball.WithCompression(compression.ZStd), tarball.WithMediaType(types.OCILayerZStd)) // unpacked on every node: quickly
	}
	kubernetes := []entry{{name: "tmp/", sticky: true}, {name: "usr/local/bin/kubernetes", file: dirs.of("kubernetes", "kubernetes")}}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler"} {
		kubernetes = append(kubernetes, entry{name: "usr/local/bin/" + name, link: "kubernetes"})
	}
	network := []entry{{name: "usr/local/bin/iptables", file: dirs.of("node", "iptables")}}
	for _, name := range []string{"iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore"} {
		network = append(network, entry{name: "usr/sbin/" + name, link: "/usr/local/bin/iptables"})
	}
	layers := map[string]v1.Layer{}
	for name, content := range map[string]struct {
		path    string
		entries []entry
	}{
		"kubernetes": {"", kubernetes},
		"tools":      {filepath.Join(system, "tools.tar"), network},
		"podnetwork": {"", []entry{{name: "usr/local/bin/podnetwork", file: dirs.of("node", "podnetwork")}}},
		"coredns":    {"", []entry{{name: "coredns", file: dirs.of("coredns", "coredns")}}},
		"pause":      {"", []entry{{name: "pause", file: dirs.of("node", "pause")}}},
	} {
		var err error
		if layers[name], err = layerOf(content.path, content.entries...); err != nil {
			return nil, fmt.Errorf("make the layer %s: %w", name, err)
		}
	}
	images := []image{{podNetworkImage, []v1.Layer{layers["tools"], layers["podnetwork"]}, []string{"/usr/local/bin/podnetwork"}}}
	for _, ref := range required {
		i := image{ref: ref}
		switch name, _, _ := strings.Cut(filepath.Base(ref), ":"); name {
		case "pause":
			i.layers, i.entrypoint = []v1.Layer{layers["pause"]}, []string{"/pause"}
		case "coredns":
			i.layers, i.entrypoint = []v1.Layer{layers["coredns"]}, []string{"/coredns"}
		case "kube-proxy":
			i.layers, i.entrypoint = []v1.Layer{layers["kubernetes"], layers["tools"]}, []string{"/usr/local/bin/kube-proxy"}
		case "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler":
			i.layers, i.entrypoint = []v1.Layer{layers["kubernetes"]}, []string{"/usr/local/bin/" + name}
		default:
			return nil, fmt.Errorf("kubeadm asks for an image %s, which this package does not know", ref)
		}
		images = append(images, i)
	}
	return images, nil
}

// writeLayout leaves the images in a directory, as an OCI layout whose index names them for containerd.
func writeLayout(dir string, images []image) error {
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	for _, i := range images {
		made := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
		if made, err = mutate.AppendLayers(made, i.layers...); err != nil {
			return err
		}
		config, err := made.ConfigFile()
		if err != nil {
			return err
		}
		config = config.DeepCopy()
		config.OS, config.Architecture = "linux", runtime.GOARCH
		config.Config.Entrypoint = i.entrypoint
		config.Config.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
		if made, err = mutate.ConfigFile(made, config); err != nil {
			return err
		}
		if err := path.AppendImage(made, layout.WithAnnotations(map[string]string{"io.containerd.image.name": i.ref})); err != nil {
			return fmt.Errorf("write the image %s: %w", i.ref, err)
		}
	}
	return nil
}
