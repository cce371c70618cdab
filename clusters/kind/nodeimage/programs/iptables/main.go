// Command iptables runs the iptables, the save or the restore that it was called as, on the one of the kernel's two rule sets that the node
// uses. A container that writes to the other one has rules that nobody sees. kubelet leaves a chain with a well-known name in the
// right set, for this very purpose (KEP-3178, and https://github.com/kubernetes-sigs/iptables-wrappers, whose order this is).
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

const (
	nft    = "/usr/sbin/xtables-nft-multi"
	legacy = "/usr/sbin/xtables-legacy-multi"
)

func main() {
	multi := choose(saved)
	if err := syscall.Exec(multi, append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), os.Environ()); err != nil {
		fmt.Fprintf(os.Stderr, "run %s: %v\n", multi, err)
		os.Exit(1)
	}
}

func choose(saved func(multi, family string, args ...string) []byte) string {
	for _, multi := range []string{nft, legacy} {
		for _, family := range []string{"iptables", "ip6tables"} {
			rules := saved(multi, family, "-t", "mangle")
			if bytes.Contains(rules, []byte(":KUBE-IPTABLES-HINT")) || bytes.Contains(rules, []byte(":KUBE-KUBELET-CANARY")) {
				return multi
			}
		}
	}
	count := func(multi string) int {
		return bytes.Count(saved(multi, "iptables"), []byte("\n-")) + bytes.Count(saved(multi, "ip6tables"), []byte("\n-"))
	}
	if count(legacy) > count(nft) {
		return legacy
	}
	return nft
}

// saved is empty where the kernel does not have the rule set.
func saved(multi, family string, args ...string) []byte {
	out, _ := exec.Command(multi, append([]string{family + "-save"}, args...)...).Output()
	return out
}
