package main

import "testing"

func TestTheRuleSetIsThatOfTheKubelet(t *testing.T) {
	const hint, rules = "*mangle\n:KUBE-IPTABLES-HINT - [0:0]\n", "*nat\n-A A\n-A B\n"
	for name, test := range map[string]struct {
		nft, legacy, want string
	}{
		"a hint in nft":                 {hint, rules, nft},
		"a hint in legacy":              {rules, hint, legacy},
		"no hint, more rules in nft":    {rules, "", nft},
		"no hint, more rules in legacy": {"", rules, legacy},
		"nothing at all":                {"", "", nft},
	} {
		t.Run(name, func(t *testing.T) {
			saved := func(multi, _ string, _ ...string) []byte {
				if multi == nft {
					return []byte(test.nft)
				}
				return []byte(test.legacy)
			}
			if got := choose(saved); got != test.want {
				t.Errorf("chose %s", got)
			}
		})
	}
}
