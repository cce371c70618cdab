package nodeimage

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"runtime"
	"strings"

	"github.com/squall-chaos/squall/clusters/binaries"
)

// revision is raised with every change of what the code here makes out of the same ingredients.
const revision = 3

// kind's module, whose files make a node out of Debian. The sum is that of go.sum, which a squall that was installed does not have.
const (
	kindVersion = "v0.33.0"
	kindSum     = "h1:AjvDv3vOygb/VKLVQW87lfktIBzkxR8Ump9DjxC8+Lk="
)

// suite is Debian's release: that of kind's own image.
const suite = "trixie"

// packages are those of kind's Dockerfile, less what is for storage drivers and for engines without root, and what its minimal image
// has and debootstrap's has not. crun stands for runc: on a small machine pods start with half the processor time.
var packages = []string{
	"bash", "ca-certificates", "conntrack", "crun", "curl", "dbus", "ethtool", "hostname", "iproute2", "iptables", "jq", "kmod", "libnss-myhostname", "libseccomp2",
	"mount", "nftables", "procps", "socat", "systemd", "systemd-sysv", "util-linux",
}

// The programs that are compiled here and not by package binaries: they have nothing but the standard library.
//
//go:embed programs/go.mod.txt programs/pause/main.go programs/iptables/main.go programs/podnetwork/main.go programs/podnetwork/api.go programs/podnetwork/network.go
var sources embed.FS

// ingredients are the sets of programs in a node.
type recipe struct {
	kubernetes, containerd, cni, crictl, coreDNS, own binaries.Set
	keys                                              []string // of the sets
}

func newRecipe() (recipe, error) {
	r := recipe{
		kubernetes: binaries.Kubernetes(), containerd: binaries.Containerd(), cni: binaries.CNI(), crictl: binaries.Crictl(), coreDNS: binaries.CoreDNS(),
		own: own(),
	}
	for _, set := range r.sets() {
		key, err := binaries.Key(set)
		if err != nil {
			return recipe{}, err
		}
		r.keys = append(r.keys, key)
	}
	return r, nil
}

// own is the module of the embedded sources.
func own() binaries.Set {
	files, err := fs.Sub(sources, "programs")
	if err != nil {
		panic(err) // only a malformed name gets here
	}
	return binaries.Set{
		Name: "node", Version: "v0", Programs: []string{"iptables", "pause", "podnetwork"}, Files: files,
		Packages: []string{"./iptables", "./pause", "./podnetwork"}, About: "seconds", Command: "make node-image",
	}
}

func (r recipe) sets() []binaries.Set {
	return []binaries.Set{r.own, r.cni, r.crictl, r.containerd, r.coreDNS, r.kubernetes}
}

// key names an image by all that is in it; keyOf names what a step leaves by what it was made from.
func (r recipe) key() string {
	return r.keyOf(append([]string{r.systemKey(), kindVersion, podNetwork}, r.keys...)...)
}

func (r recipe) systemKey() string {
	return r.keyOf(append([]string{suite, installer, fmt.Sprint(useless, tools)}, packages...)...)
}

func (r recipe) storeKey() string { return r.keyOf(append([]string{r.systemKey()}, r.keys...)...) }

func (recipe) keyOf(parts ...string) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(revision, " ", runtime.GOARCH, " ", strings.Join(parts, " "))))
	return hex.EncodeToString(sum[:4])
}
