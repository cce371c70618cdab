package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/scenarios"
)

// TestReadmeChain checks the chain that README shows, in two repositories, and expects what README tells.
func TestReadmeChain(t *testing.T) {
	readme := must(os.ReadFile("../../README.md"))
	block := regexp.MustCompile("(?s)```yaml\n# squall.yaml\n(.*?)```\n\n```\n\\$ squall lint --prove\n(.*?)  proved").FindSubmatch(readme)
	if block == nil {
		t.Fatal("README shows no chain and what squall lint says of it")
	}
	root := t.TempDir()
	for name, text := range map[string]string{
		"service/squall.yaml":              string(block[1]),
		"service/deploy/nightly.yaml":      "apiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow\nmetadata:\n  name: nightly\nspec:\n  schedule: \"*/5 * * * *\"\n  workflowSpec:\n    activeDeadlineSeconds: 240\n",
		"platform/deploy/values.yaml":      "reconciler:\n  recoveryGrace: 6m\n",
		"platform/deploy/values-prod.yaml": "reconciler:\n  recoveryGrace: 4m\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "first"}, {"branch", "-M", "main"}} {
		if out, err := exec.Command("git", append([]string{"-C", filepath.Join(root, "platform")}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	t.Chdir(filepath.Join(root, "service"))
	var out, complaint bytes.Buffer
	if code := execute([]string{"lint", "--prove", "--seeds", "20"}, &out, &complaint); code != exitInvalid {
		t.Fatalf("status %d: %s", code, complaint.String())
	}
	for _, line := range strings.Split(strings.TrimSpace(string(block[2])), "\n") {
		if flat(line) != "" && !strings.Contains(flat(out.String()), flat(line)) {
			t.Errorf("README tells %q, and squall lint says\n%s", line, out.String())
		}
	}
}

// flat is a text without the widths of its columns.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestProofsArePutTogetherRight: whatever settings a chain makes, the scenarios made for them can be read.
func TestProofsArePutTogetherRight(t *testing.T) {
	for _, profile := range dispatcher.Profiles() {
		for _, change := range []scenarios.Overrides{nil,
			{{Name: "recovery_grace", Duration: 1e9}}, {{Name: "workflow_deadline", Duration: 3600e9}}, {{Name: "tick", Duration: 7e9}},
			{{Name: "node_provisioning"}, {Name: "cold_pull"}}, {{Name: "claim_batch", Number: 1}},
		} {
			base, _ := dispatcher.Profile(profile)
			x := pair{profile: profile, wrong: change.Apply(base), wrongly: change, compared: scenarios.Overrides{{Name: "recovery_grace"}}}
			x.finding.Relation = "start"
			for _, c := range x.candidates() {
				if _, err := x.job(c); err != nil {
					t.Errorf("%s with %v, scenario %s: %v", profile, change, c.name, err)
				}
			}
		}
	}
}

// TestRulesKnowTheirScenarios: what is tried for a rule is in the library, and is about a rule that there is.
func TestRulesKnowTheirScenarios(t *testing.T) {
	known := map[string]bool{}
	for _, r := range chain.Rules() {
		known[r.Name] = true
	}
	for rule, names := range fromLibrary { // order does not matter: each is looked at by itself
		if !known[rule] {
			t.Errorf("there is no rule %s", rule)
		}
		for _, name := range names {
			if _, err := scenarios.Find(name); err != nil {
				t.Errorf("rule %s: %v", rule, err)
			}
		}
	}
}

// TestProofIsOfTheFinding: a run that fails anyhow, with the finding put right as well, proves nothing.
func TestProofIsOfTheFinding(t *testing.T) {
	t.Chdir(t.TempDir())
	p := prover{performance{console: &console{err: os.Stderr, out: os.Stdout, dir: ".squall", quiet: true}, workers: 1}, nil, nil, 3}
	p.progress = p.console.begin("seeds", 0)
	defer p.progress.end()
	unsafe := scenarios.Overrides{{Name: "recovery_grace", Duration: 240e9}}
	base, _ := dispatcher.Profile("tick-300s")
	x := pair{profile: "tick-300s", wrong: unsafe.Apply(base), wrongly: unsafe, compared: unsafe}
	j := must(x.job(x.candidates()[0]))
	x.well = unsafe // put "right" to the same
	if proof, tried, err := p.hunt(context.Background(), j, x); proof != nil || tried != 3 || err != nil {
		t.Errorf("a proof of nothing: %+v after %d seeds, %v", proof, tried, err)
	}
	x.well = nil // the profile nests
	if proof, _, err := p.hunt(context.Background(), j, x); proof == nil || err != nil {
		t.Errorf("no proof: %v", err)
	}
}
