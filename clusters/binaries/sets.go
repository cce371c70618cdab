// Package binaries builds from Go modules what Squall needs and nobody ships in a form that it could use without a registry:
// Kubernetes, etcd, containerd, the CNI plugins, crictl and CoreDNS.
//
// The modules are embedded with their go.sum, so what is compiled is what was looked at once, whoever serves it. They are modules of
// their own because Kubernetes needs replace lines that nobody else wants, and so that nobody's versions move anybody else's. They
// are embedded under other names because neither embedding nor the zip of a published module reaches into a nested module: like
// this an installed squall can build them as well as one from a checkout.
//
// For another version: copy a module's files to a directory without the .txt, take the build tag out of main.go if there is one (go mod
// tidy passes over files tagged ignore), set the versions (those of Kubernetes' staging modules and of etcd as its go.mod has them),
// run go mod tidy, and copy go.mod and go.sum back.
package binaries

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// KubernetesVersion is that of the control plane and of the nodes: the newest patch release of the minor version of kind's default
// node image.
const KubernetesVersion = "v1.37.2"

// The versions of the rest: what containerd and the CNI plugins are at, and the CoreDNS that kubeadm of that Kubernetes asks for.
const (
	containerdVersion = "v2.4.2"
	cniVersion        = "v1.10.0"
	crictlVersion     = "v1.37.0"
	coreDNSVersion    = "v1.14.6"
)

// ErrNotBuilt says that this machine does not have a set of programs yet.
var ErrNotBuilt = errors.New("not built yet")

//go:embed modules
var modules embed.FS

// Set is programs that are built together from one module.
type Set struct {
	Name, Version string
	// Programs are the files that the build leaves.
	Programs []string
	// Files are the module: go.mod.txt, go.sum.txt if it requires anything, and sources.
	Files fs.FS
	// Packages are what go build is given; "tool" stands for the tools that go.mod names.
	Packages []string
	// Tags and Stamps (variable=value for the linker) are as the projects' own builds have them.
	Tags, Stamps []string
	// CGO has the C compiler take part: the programs are linked with the C library of this machine.
	CGO bool
	// Before makes, in the unpacked module, what its sources embed. May be nil.
	Before func(ctx context.Context, src string) error
	// About is what is said before the build starts: how long it takes.
	About string
	// Command is what a person runs to get the set.
	Command string
}

// Kubernetes is one program, kubernetes, that is etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kube-proxy, kubelet,
// kubeadm and kubectl: by the name it is called by, or else by its first argument.
func Kubernetes() Set {
	// Without the stamps, which are those of Kubernetes' own build (hack/lib/version.sh), the programs take themselves for v0.0.0:
	// they judge feature gates by that, and kubeadm refuses to work.
	const stamp = "k8s.io/component-base/version."
	numbers := strings.SplitN(strings.TrimPrefix(KubernetesVersion, "v"), ".", 3)
	return Set{
		Name: "kubernetes", Version: KubernetesVersion, Programs: []string{"kubernetes"}, Files: module("kubernetes"), Packages: []string{"main.go"},
		Stamps: []string{stamp + "gitVersion=" + KubernetesVersion, stamp + "gitMajor=" + numbers[0], stamp + "gitMinor=" + numbers[1],
			stamp + "gitTreeState=clean"},
		About: "about 7 minutes the first time on 2 cores, then never again", Command: "make controlplane",
	}
}

// Containerd is the container runtime of a node, with its shim and ctr, but without the snapshotters that kind's nodes do not use and
// that would need C libraries.
func Containerd() Set {
	return Set{
		Name: "containerd", Version: containerdVersion, Programs: []string{"containerd", "containerd-shim-runc-v2", "ctr"},
		Files: module("containerd"), Packages: []string{"tool"},
		Tags:   []string{"no_aufs", "no_zfs", "no_btrfs", "no_devmapper"},
		Stamps: []string{"github.com/containerd/containerd/v2/version.Version=" + containerdVersion},
		About:  "about a minute the first time on 2 cores", Command: "make node-image",
	}
}

// CNI is the plugins that a node's pod network is made of.
func CNI() Set {
	return Set{
		Name: "cni", Version: cniVersion, Programs: []string{"host-local", "loopback", "portmap", "ptp"}, Files: module("cni"), Packages: []string{"tool"},
		Stamps: []string{"github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion=" + cniVersion},
		About:  "seconds", Command: "make node-image",
	}
}

// Crictl asks a node's container runtime.
func Crictl() Set {
	return Set{
		Name: "crictl", Version: crictlVersion, Programs: []string{"crictl"}, Files: module("crictl"), Packages: []string{"tool"},
		Stamps: []string{"sigs.k8s.io/cri-tools/pkg/version.Version=" + crictlVersion},
		About:  "about 20 seconds the first time on 2 cores", Command: "make node-image",
	}
}

// CoreDNS is the cluster's name server.
func CoreDNS() Set {
	return Set{
		Name: "coredns", Version: coreDNSVersion, Programs: []string{"coredns"}, Files: module("coredns"), Packages: []string{"main.go"},
		About: "about a minute the first time on 2 cores", Command: "make node-image",
	}
}

func module(name string) fs.FS {
	files, err := fs.Sub(modules, "modules/"+name)
	if err != nil {
		panic(fmt.Sprintf("the embedded module %s: %v", name, err)) // only a malformed name gets here
	}
	return files
}
