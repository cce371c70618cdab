package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const listed = `{"kind": "NodeList", "items": [
  {"metadata": {"name": "a"}, "spec": {"podCIDR": "10.244.0.0/24"}, "status": {"addresses": [{"type": "InternalIP", "address": "172.18.0.2"}, {"type": "Hostname", "address": "a"}]}},
  {"metadata": {"name": "b"}, "spec": {"podCIDR": "10.244.1.0/24"}, "status": {"addresses": [{"type": "InternalIP", "address": "fc00::3"}, {"type": "InternalIP", "address": "172.18.0.3"}]}},
  {"metadata": {"name": "c"}, "spec": {}, "status": {"addresses": [{"type": "InternalIP", "address": "172.18.0.4"}]}}
]}`

func nodes(t *testing.T) []node {
	t.Helper()
	var list nodeList
	if err := json.Unmarshal([]byte(listed), &list); err != nil {
		t.Fatal(err)
	}
	return list.nodes()
}

// shell answers what it was told to, and remembers.
type shell struct {
	answers map[string]string // by the beginning of the command; no answer: an error
	ran     []string
}

func (s *shell) run(_ context.Context, input, program string, args ...string) (string, error) {
	line := strings.Join(append([]string{program}, args...), " ")
	s.ran = append(s.ran, strings.TrimSpace(line+"\n"+input))
	for beginning, answer := range s.answers {
		if strings.HasPrefix(line, beginning) {
			return answer, nil
		}
	}
	return "", errors.New("refused")
}

func TestRoutesAreThoseOfTheOtherNodes(t *testing.T) {
	for name, test := range map[string]struct {
		have string
		want []string
	}{
		"after a start":     {"", []string{"route replace 10.244.1.0/24 via 172.18.0.3 proto 155"}},
		"all there":         {"10.244.1.0/24 via 172.18.0.3 dev eth0 \n", nil},
		"a changed address": {"10.244.1.0/24 via 172.18.0.9 dev eth0\n", []string{"route replace 10.244.1.0/24 via 172.18.0.3 proto 155"}},
		"a node that went":  {"10.244.1.0/24 via 172.18.0.3 dev eth0\n10.244.7.0/24 via 172.18.0.7 dev eth0\n", []string{"route del 10.244.7.0/24 proto 155"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shell{answers: map[string]string{"ip -4 route show": test.have, "ip -4 -force -batch": ""}}
			if err := route(t.Context(), s.run, "a", nodes(t)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, ran := range s.ran[1:] {
				got = append(got, strings.Split(ran, "\n")[1:]...)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("did %q", got)
			}
		})
	}
}

func TestTheRuleIsSetOnce(t *testing.T) {
	subnet := netip.MustParsePrefix("10.244.0.0/16")
	for name, test := range map[string]struct {
		answers map[string]string
		last    string
	}{
		"nftables, after a start": {map[string]string{"nft list tables": "", "nft -f": ""}, "ip saddr 10.244.0.0/16 ip daddr != 10.244.0.0/16 fib daddr type != local masquerade"},
		"nftables, all there":     {map[string]string{"nft list tables": "", "nft list table ip": "ip saddr 10.244.0.0/16 masquerade"}, "nft list table ip squall-podnetwork"},
		"nftables, another range": {map[string]string{"nft list tables": "", "nft list table ip": "ip saddr 10.9.0.0/16 masquerade", "nft -f": ""}, "nft -f -"},
		"iptables, after a start": {map[string]string{"iptables -w -t nat -A": ""}, "iptables -w -t nat -A POSTROUTING -s 10.244.0.0/16"},
		"iptables, all there":     {map[string]string{"iptables -w -t nat -C": ""}, "iptables -w -t nat -C"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shell{answers: test.answers}
			if err := masquerade(t.Context(), s.run, subnet); err != nil {
				t.Fatal(err)
			}
			if last := s.ran[len(s.ran)-1]; !strings.Contains(last, test.last) {
				t.Errorf("did %q", s.ran)
			}
		})
	}
}

func TestTheConfigurationIsOfTheNodesRange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.conflist")
	for _, n := range nodes(t)[:2] {
		if err := configure(path, n); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil || !json.Valid(text) || !strings.Contains(string(text), n.Pods.String()) {
			t.Errorf("%v\n%s", err, text)
		}
	}
	before, _ := os.Stat(path)
	if err := configure(path, nodes(t)[1]); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the same configuration was written again (%v)", err)
	}
}
