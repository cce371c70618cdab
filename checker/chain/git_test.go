package chain

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// git runs git in a directory, without anybody's settings.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is not installed; get it with: apt-get install git")
	}
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main",
		"-c", "commit.gpgsign=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// twoRepositories are a service with the chain and a platform beside it, whose main branch has another value than what is checked out.
func twoRepositories(t *testing.T) (service, platform string) {
	t.Helper()
	root := files(t, map[string]string{
		"service/squall.yaml": head + `inputs:
  - {name: platform, from: "../platform#main:deploy", owner: platform}
links:
  - {name: workflow, setting: workflow_deadline, owner: service, file: job.yaml, unit: s, extract: {path: deadline}}
  - {name: grace, setting: recovery_grace, input: platform, file: "*.env", unit: s, extract: {dotenv: GRACE}}
`,
		"service/job.yaml":            "deadline: 240\n",
		"platform/deploy/recover.env": "# grace\nGRACE=240\n",
		"platform/other.env":          "GRACE=1\n",
	})
	service, platform = filepath.Join(root, "service"), filepath.Join(root, "platform")
	for _, dir := range []string{service, platform} {
		git(t, dir, "init", "--quiet")
		git(t, dir, "add", ".")
		git(t, dir, "commit", "--quiet", "-m", "first")
		git(t, dir, "branch", "-M", "main")
	}
	write(t, filepath.Join(platform, "deploy"), "recover.env", "GRACE=900\n") // not committed
	return service, platform
}

func TestOtherRepositoryAtAReference(t *testing.T) {
	service, platform := twoRepositories(t)
	r, err := lint(t, service)
	if err != nil || said(r) != "SQ521 workflow-in-grace" {
		t.Fatalf("found %q, %v", said(r), err)
	}
	right := r.Findings[0].Right.Parts[0]
	if want := platform + "#main:deploy/recover.env:2:7"; right.Place.String() != want || !right.Place.Elsewhere || right.Owner != "platform" {
		t.Errorf("place %s of %s, want %s", right.Place, right.Owner, want)
	}
	if r.Findings[0].Place.Elsewhere {
		t.Error("the finding is shown at a place that is in no directory")
	}
	// In the platform's own CI its working tree takes the reference's place; a URL is another way to name it.
	for place, want := range map[string]string{
		filepath.Join(platform, "deploy"): "", platform + "#HEAD:deploy": "SQ521 workflow-in-grace",
		"file://" + platform + "#main:deploy": "SQ521 workflow-in-grace",
	} {
		c, err := Open(t.Context(), filepath.Join(service, "squall.yaml"), Options{Inputs: map[string]string{"platform": place}})
		if err != nil {
			t.Errorf("%s: %v", place, err)
			continue
		}
		if r, err := Check(c, today); err != nil || said(r) != want {
			t.Errorf("%s: found %q, %v", place, said(r), err)
		}
	}
}

func TestReferencesThatAreNotThere(t *testing.T) {
	service, platform := twoRepositories(t)
	plain := t.TempDir()
	for place, want := range map[string]string{
		platform + "#mian":                `has no reference "mian"; there are main`,
		platform + "#":                    "names no reference after #",
		platform + "#--upload-pack=x":     "a reference cannot begin with -",
		platform + "#main:nowhere":        `has no files below "nowhere"`,
		platform + "#main:../..":          "has no files below",
		plain + "#main":                   "is not in a git repository",
		"file://" + platform + "#nowhere": "cannot fetch nowhere of",
	} {
		_, err := Open(t.Context(), filepath.Join(service, "squall.yaml"), Options{Inputs: map[string]string{"platform": place}})
		var input *InputError
		if !errors.As(err, &input) || input.Problems[0].Code != CodeReference || !strings.Contains(err.Error(), want) || input.Problems[0].Line != 8 {
			t.Errorf("%s: %v, want %s", place, err, want)
		}
	}
	_, err := Open(t.Context(), filepath.Join(service, "squall.yaml"), Options{Inputs: map[string]string{"plattform": "."}})
	if err == nil || !strings.Contains(err.Error(), `did you mean "platform"?`) {
		t.Errorf("an unknown input: %v", err)
	}
}

// TestNewFrom: what was there before is known, unless it has got worse.
func TestNewFrom(t *testing.T) {
	service, _ := twoRepositories(t)
	path := filepath.Join(service, "squall.yaml")
	since := func(ref string) string {
		t.Helper()
		c, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Check(c, today)
		if err != nil {
			t.Fatal(err)
		}
		before, err := OpenAt(t.Context(), path, ref, Options{})
		if err != nil {
			t.Fatal(err)
		}
		old, err := Check(before, today)
		if err != nil {
			t.Fatal(err)
		}
		r.Since(old)
		return said(r)
	}
	if got := since("main"); got != "" {
		t.Errorf("nothing has changed, and new is %q", got)
	}
	write(t, service, "job.yaml", "# a comment moves the line\ndeadline: 230\n")
	if got := since("main"); got != "" {
		t.Errorf("the margin has grown, and new is %q", got)
	}
	write(t, service, "job.yaml", "deadline: 250\n")
	if got := since("main"); got != "SQ522 workflow-in-grace" {
		t.Errorf("the margin has shrunk, and new is %q", got)
	}
	if _, err := OpenAt(t.Context(), path, "nowhere", Options{}); err == nil || !strings.Contains(err.Error(), "has no reference") {
		t.Errorf("a reference that is not there: %v", err)
	}
}
