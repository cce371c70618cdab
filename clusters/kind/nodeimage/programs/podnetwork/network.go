package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// configuration has the name of kindnet's, so that whoever looks for one finds it.
const configuration = "/etc/cni/net.d/10-kindnet.conflist"

// conflist gives each pod a pair of interfaces and an address of the node's range. The addresses are kept where nothing survives a
// restart of the node, as no pod does. Fields: mtu, range.
const conflist = `{
  "cniVersion": "1.0.0",
  "name": "kindnet",
  "plugins": [
    {
      "type": "ptp",
      "ipMasq": false,
      "mtu": %d,
      "ipam": {
        "type": "host-local",
        "dataDir": "/run/cni-ipam-state",
        "routes": [{"dst": "0.0.0.0/0"}],
        "ranges": [[{"subnet": "%s"}]]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`

// configure writes the node's CNI configuration, if it is another: containerd reads it whenever it changes. It is renamed into place, as
// half of one would be read too.
func configure(path string, self node) error {
	want := fmt.Sprintf(conflist, mtu(self.Address), self.Pods)
	if have, err := os.ReadFile(path); err == nil && string(have) == want {
		return nil
	}
	unfinished := filepath.Join(filepath.Dir(path), ".unfinished")
	if err := os.WriteFile(unfinished, []byte(want), 0o644); err != nil {
		return fmt.Errorf("write the CNI configuration: %w", err)
	}
	return os.Rename(unfinished, path)
}

// mtu is that of the interface which leads to the other nodes.
func mtu(address netip.Addr) int {
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr() == address {
				return i.MTU
			}
		}
	}
	return 1500
}

// runner runs a program with an input and gives what it said.
type runner func(ctx context.Context, input string, program string, args ...string) (string, error)

func command(ctx context.Context, input string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// protocol marks the routes that are ours.
const protocol = "155"

// route makes the routes those of the nodes: it adds what is missing, and removes what belongs to no node any more.
func route(ctx context.Context, run runner, self string, nodes []node) error {
	want := map[string]netip.Addr{}
	for _, n := range nodes {
		if n.Name != self && n.Pods.IsValid() && n.Address.IsValid() {
			want[n.Pods.String()] = n.Address
		}
	}
	out, err := run(ctx, "", "ip", "-4", "route", "show", "proto", protocol)
	if err != nil {
		return err
	}
	var batch strings.Builder
	for line := range strings.Lines(out) {
		fields := strings.Fields(line) // 10.244.1.0/24 via 172.18.0.3 dev eth0
		if len(fields) < 3 {
			continue
		}
		switch gateway, ok := want[fields[0]]; {
		case !ok:
			fmt.Fprintf(&batch, "route del %s proto %s\n", fields[0], protocol)
		case gateway.String() == fields[2]:
			delete(want, fields[0])
		}
	}
	for pods, gateway := range want {
		fmt.Fprintf(&batch, "route replace %s via %s proto %s\n", pods, gateway, protocol)
	}
	if batch.Len() == 0 {
		return nil
	}
	_, err = run(ctx, batch.String(), "ip", "-4", "-force", "-batch", "-")
	return err
}

// table and its only rule: what leaves the range of all pods, and does not end on the node itself, gets the node's address.
const table = "squall-podnetwork"

const ruleset = `table ip ` + table + `
delete table ip ` + table + `
table ip ` + table + ` {
	chain postrouting {
		type nat hook postrouting priority srcnat;
		ip saddr %[1]s ip daddr != %[1]s fib daddr type != local masquerade
	}
}
`

// masquerade sets the rule if it is not there. A table of its own in nftables is out of everybody's way; a kernel without nftables
// has iptables.
func masquerade(ctx context.Context, run runner, subnet netip.Prefix) error {
	if _, err := run(ctx, "", "nft", "list", "tables"); err != nil {
		rule := []string{"POSTROUTING", "-s", subnet.String(), "!", "-d", subnet.String(), "-m", "addrtype", "!", "--dst-type", "LOCAL", "-j", "MASQUERADE"}
		if _, err := run(ctx, "", "iptables", append([]string{"-w", "-t", "nat", "-C"}, rule...)...); err == nil {
			return nil
		}
		_, err := run(ctx, "", "iptables", append([]string{"-w", "-t", "nat", "-A"}, rule...)...)
		return err
	}
	if have, err := run(ctx, "", "nft", "list", "table", "ip", table); err == nil && strings.Contains(have, "ip saddr "+subnet.String()) && strings.Contains(have, "masquerade") {
		return nil
	}
	_, err := run(ctx, fmt.Sprintf(ruleset, subnet), "nft", "-f", "-")
	return err
}
