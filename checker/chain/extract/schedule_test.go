package extract

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		schedule          string
		shortest, longest time.Duration
	}{
		{"*/5 * * * *", 5 * time.Minute, 5 * time.Minute},
		{"*/7 * * * *", 4 * time.Minute, 7 * time.Minute}, // :56 to :00
		{"0 * * * *", time.Hour, time.Hour},
		{"@hourly", time.Hour, time.Hour},
		{"@every 90s", 90 * time.Second, 90 * time.Second},
		{"CRON_TZ=Europe/Berlin 30 2 * * *", 24 * time.Hour, 24 * time.Hour},
		{"0 9-17 * * 1-5", time.Hour, 64 * time.Hour}, // Friday 17:00 to Monday 9:00
		{"0 0 1 * *", 28 * 24 * time.Hour, 31 * 24 * time.Hour},
		{"0 0 13 * 5", 24 * time.Hour, 7 * 24 * time.Hour}, // the 13th, or any Friday
		{"0 0 29 2 *", 1461 * 24 * time.Hour, 1461 * 24 * time.Hour},
		{"@weekly", 7 * 24 * time.Hour, 7 * 24 * time.Hour},
	} {
		shortest, longest, err := Gaps(c.schedule)
		if err != nil || shortest != c.shortest || longest != c.longest {
			t.Errorf("%s: %s to %s, want %s to %s (%v)", c.schedule, shortest, longest, c.shortest, c.longest, err)
		}
	}
	for schedule, want := range map[string]string{"": "not a cron", "* * * *": "not a cron", "61 * * * *": "not a cron", "0 0 31 2 *": "never comes", "@reboot": "not a cron"} {
		if _, _, err := Gaps(schedule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", schedule, err, want)
		}
	}
}

// TestAliasesWithoutEnd: what refers to itself, or fans out to billions, is looked at for no longer than anything else.
func TestAliasesWithoutEnd(t *testing.T) {
	fan := "x0: &x0 {a: 1}\n"
	for i := 1; i < 30; i++ {
		fan += fmt.Sprintf("x%d: &x%d [*x%d, *x%d, *x%d, *x%d]\n", i, i, i-1, i-1, i-1, i-1)
	}
	object := &Object{Kind: "CronJob", Name: "n"}
	for _, data := range []string{
		"kind: CronJob\nmetadata: {name: n}\nspec: &s {<<: [*s, *s, *s, *s, *s, *s, *s, *s]}\n",
		"kind: CronJob\nmetadata: {name: n}\nspec: &s [*s, *s, *s, *s, *s, *s, *s, *s]\n",
		"kind: CronJobList\nn: n\nitems: &i [{kind: CronJobList, items: *i}, {kind: CronJobList, items: *i}]\n",
		"kind: CronJob\nmetadata: {name: n}\n" + fan,
	} {
		for _, s := range []Selector{{Env: "E", Object: object}, {Path: "spec.schedule", Object: object}, {Path: "*.*.*.*.*.*.*.*.*.*.*.*.*.*.*.*"}, {Field: "schedule", Object: object}} {
			finder, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			matches, _ := finder.Find("a.yaml", []byte(data)) // an error is an answer
			if len(matches) > maxNodes {
				t.Errorf("%s: %d matches", s, len(matches))
			}
			finder.Near("a.yaml", []byte(data))
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []struct {
		kind int
		name string
		data string
	}{
		{0, "a.yaml", "a: {b: [1, 2]}\n"}, {0, "a.yaml", "a: &x {b: 1}\nc: {<<: *x}\n"}, {0, "a.toml", "[a]\nb = [1, {c = 2}]\n[[d]]\ne = 1\n"},
		{1, "a.yaml", "kind: CronJob\nmetadata: {name: n}\nspec: {schedule: x}\n"}, {2, "a.yaml", "kind: CronJob\nspec: {containers: [{name: c, env: [{name: E, value: 1}]}]}\n"},
		{3, ".env", "E='x\nE=1 # c\n"}, {4, "x.go", "t = 12\n"}, {5, "a.yaml", "kind: Workflow\nspec: {podSpecPatch: 'terminationGracePeriodSeconds: 3'}\n"},
	} {
		f.Add(seed.kind, seed.name, []byte(seed.data))
	}
	var finders []*Finder
	for _, s := range []Selector{{Path: "*.b[0]"}, {Field: "schedule", Object: &Object{Kind: "CronJob"}}, {Env: "E", Object: &Object{Kind: "CronJob"}},
		{Dotenv: "E"}, {Regex: "(?P<value>[0-9]+)"}, {Field: "terminationGracePeriodSeconds", Object: &Object{Kind: "Workflow"}}} {
		finder, err := New(s)
		if err != nil {
			f.Fatal(err)
		}
		finders = append(finders, finder)
	}
	f.Fuzz(func(t *testing.T, kind int, name string, data []byte) {
		finder := finders[uint(kind)%uint(len(finders))]
		lines := strings.Count(string(data), "\n") + 1
		matches, err := finder.Find(name, data)
		if err != nil {
			if at, ok := err.(*Error); !ok || at.Line < 1 || at.Col < 1 || at.Message == "" {
				t.Errorf("an error without a place: %v", err)
			}
		}
		for _, m := range matches {
			if m.Line < 1 || m.Line > lines || m.Col < 1 {
				t.Errorf("a match in line %d of %d, column %d", m.Line, lines, m.Col)
			}
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{"a.b[0]", `a["b.c"].*`, "a[name=x].b", "[", "a..b", `"`, "*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := parsePath(text)
		if (err == nil) != (len(steps) > 0) {
			t.Errorf("%q: %d steps and %v", text, len(steps), err)
		}
	})
}
