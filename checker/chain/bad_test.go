package chain

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/squall-chaos/squall/dispatcher"
)

// one is a chain of one link.
func one(link string) string { return head + "links:\n  - {name: a, owner: x, " + link + "}\n" }

var badInputs = []struct{ name, text, want string }{
	{"empty", "", "squall.yaml:1:1: SQ113 the file is empty"},
	{"not YAML", "a: [", "squall.yaml:1:"},
	{"a tab", head + "\tlinks: []\n", "squall.yaml:4:1: SQ101 a tab"},
	{"two documents", head + "links: []\n---\na: 1\n", "SQ114"},
	{"an anchor", head + "links: &a []\n", "SQ115"},
	{"deep", head + "links: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n", "SQ102"},
	{"version", "apiVersion: v1\nkind: Chain\nname: x\nlinks: []\n", "squall.yaml:1:13: SQ103 apiVersion is \"v1\", expected \"squall/v1alpha1\""},
	{"no links", head + "links: []\n", "SQ113 the chain has no links"},
	{"unknown field", one("vlaue: 1s"), "squall.yaml:5:25: SQ104 unknown field \"vlaue\" in links[0]"},
	{"its remedy", one("vlaue: 1s"), "did you mean \"value\"?"},
	{"missing name", head + "links:\n  - {owner: x, value: 1s}\n", "SQ107 missing in links[0]: \"name\""},
	{"twice", one("value: 1s, value: 2s"), "SQ106 \"value\" is given twice"},
	{"type", head + "links: 3\n", "SQ105 expected a list, found 3"},
	{"no owner", head + "links:\n  - {name: a, value: 1s}\n", "SQ107 link a has no owner"},
	{"name", head + "links:\n  - {name: a-b, owner: x, value: 1s}\n", "SQ111 unusable name \"a-b\""},
	{"same names", head + "links:\n  - {name: a, owner: x, value: 1s}\n  - {name: a, owner: x, value: 1s}\n", "squall.yaml:6:12: SQ106 two links are named \"a\", the first in line 5"},
	{"setting", one("setting: recovery_grase, value: 1s"), "did you mean \"recovery_grace\"?"},
	{"same settings", head + "links:\n  - {name: a, setting: tick, owner: x, value: 1s}\n  - {name: b, setting: tick, owner: x, value: 1s}\n", "SQ106 two links are the setting tick: a and b"},
	{"kind of setting", one("setting: tick, value: 3"), "SQ504 link a: 3 is a number, and tick is not"},
	{"kind of setting, extracted", one("setting: claim_batch, file: a.yaml, unit: s, extract: {path: a}"), "SQ504 claim_batch is a number, and the unit is s"},
	{"no source", one("because: x"), "SQ107 link a does not say where its value stands"},
	{"two sources", one("value: 1s, file: a.yaml"), "SQ509 value and file exclude each other"},
	{"no unit", one("file: a.yaml, extract: {path: a}"), "SQ107 link a does not say what its value is written in"},
	{"unit", one("file: a.yaml, unit: sec, extract: {path: a}"), "SQ504 unknown unit \"sec\""},
	{"two extractors", one("file: a.yaml, unit: s, extract: {path: a, helm: a}"), "SQ509 an extractor has one way to find its value, not path and helm"},
	{"no extractor", one("file: a.yaml, unit: s, extract: {container: a}"), "SQ509 an extractor needs one of"},
	{"no group", one("file: a.yaml, unit: s, extract: {regex: 'a: [0-9]+'}"), "has no group named value"},
	{"bad regex", one("file: a.yaml, unit: s, extract: {regex: '(?P<value>['}"), "SQ509 the regular expression cannot be read"},
	{"bad path", one("file: a.yaml, unit: s, extract: {path: a..b}"), "SQ509 path \"a..b\", character 3"},
	{"unknown field of objects", one("file: a.yaml, unit: s, extract: {field: activeDeadlineSecond, object: {kind: Job}}"), "did you mean activeDeadlineSeconds?"},
	{"field of another kind", one("file: a.yaml, unit: s, extract: {field: schedule, object: {kind: Job}}"), "a Job has no schedule"},
	{"no object", one("file: a.yaml, unit: s, extract: {env: A}"), "env needs the object to look into"},
	{"no file", one("file: z.yaml, unit: s, extract: {path: a}"), "SQ507 link a: there is no file z.yaml"},
	{"nothing in a glob", one("file: \"*.json\", unit: s, extract: {path: a}"), "SQ507 link a: there is no file *.json"},
	{"nothing found", one("file: a.yaml, unit: s, extract: {path: x.y}"), "squall.yaml:5:57: SQ505 link a: found nothing for path x.y in a.yaml"},
	{"nearly the key", one("file: a.yaml, unit: s, extract: {path: c.e}"), "found nothing for path c.e in a.yaml"},
	{"its remedy", one("file: near.yaml, unit: s, extract: {path: spec.deadlineSecond}"), "did you mean the key \"deadlineSeconds\"?"},
	{"nearly the object", one("file: near.yaml, unit: s, extract: {path: spec.deadlineSeconds, object: {kind: Job, name: nigthly}}"), "did you mean the name \"nightly\"?"},
	{"another object", one("file: near.yaml, unit: s, extract: {path: spec.deadlineSeconds, object: {kind: Job, name: x}}"), "there is a Job named nightly"},
	{"nearly the kind", one("file: near.yaml, unit: s, extract: {path: a, object: {kind: Jobs}}"), "did you mean the kind \"Job\"?"},
	{"nearly the variable", one("file: near.yaml, unit: s, extract: {env: TIMOUT, object: {kind: Job}}"), "did you mean the variable \"TIMEOUT\"?"},
	{"nearly the line", one("file: near.env, unit: s, extract: {dotenv: GRCE}"), "did you mean the variable \"GRACE\"?"},
	{"two values", one("file: a.yaml, unit: s, extract: {path: \"b[*]\"}"), "SQ506 link a: found 2 values: 2 at a.yaml:2:5, 3 at a.yaml:2:8"},
	{"no value", one("file: a.yaml, unit: s, extract: {path: c}"), "a.yaml:3:4: SQ511 expected a value, found a mapping"},
	{"not a number", one("file: a.yaml, unit: s, extract: {path: e}"), "a.yaml:4:4: SQ504 link a: expected a number in s, found \"text\""},
	{"negative", one("file: a.yaml, unit: s, extract: {path: f}"), "a.yaml:5:4: SQ504 link a: the value -1 is negative"},
	{"no unit in a duration", one("file: a.yaml, unit: duration, extract: {path: a}"), "a.yaml:1:4: SQ504 link a: a duration needs a unit, found 1"},
	{"not a schedule", one("file: a.yaml, unit: cron, extract: {path: e}"), "a.yaml:4:4: SQ510"},
	{"a template", one("file: b.yaml, unit: s, extract: {path: a}"), "b.yaml:1:4: SQ511 the file is a template"},
	{"bad TOML", one("file: bad.toml, unit: s, extract: {path: a}"), "bad.toml:1:5: SQ511 not readable as TOML"},
	{"no because", head + "links:\n  - {name: a, owner: x, value: 1s, below: b}\n  - {name: b, owner: x, value: 2s}\n", "SQ107 link a says what must hold and not why"},
	{"margin alone", one("value: 1s, margin: 1s"), "SQ107 margin means nothing without below or at_most"},
	{"no such link", one("value: 1s, below: b, because: x"), "SQ501 no link is named \"b\""},
	{"bad formula", one("value: 1s + , because: x"), "SQ503 formula \"1s +\", character 5"},
	{"dimensions", one("value: 1s + 2"), "SQ503 link a: a duration and a number cannot be added"},
	{"division by zero", one("value: 1s / 0"), "SQ503 link a: division by zero"},
	{"negative formula", one("value: 1s - 2s"), "SQ504 link a: the value -1s is negative"},
	{"a value of itself", one("value: a + 1s"), "SQ502 a cycle: a -> a: the value is made of itself"},
	{"round and round", head + "links:\n  - {name: a, owner: x, value: 1s, below: b, because: x}\n  - {name: b, owner: x, value: 2s, below: a, because: x}\n", "squall.yaml:6:5: SQ502 a cycle: a -> b -> a"},
	{"incomparable", head + "links:\n  - {name: a, owner: x, value: 1s, below: b, because: x}\n  - {name: b, owner: x, value: 2}\n", "SQ504 a-in-b compares a (a duration) with b (a number)"},
	{"negative margin", head + "links:\n  - {name: a, owner: x, value: 1s, below: b, margin: 0s - 1s, because: x}\n  - {name: b, owner: x, value: 2s}\n", "SQ504 a-in-b: the margin -1s is negative"},
	{"no input", one("input: b, file: a.yaml, unit: s, extract: {path: a}"), "SQ111 no input is named \"b\""},
	{"input that is not there", head + "inputs:\n  - {name: b, from: nowhere}\nlinks:\n  - {name: a, owner: x, input: b, file: a.yaml, unit: s, extract: {path: a}}\n", ":21: SQ507 input b: there is no directory"},
	{"reference that is not there", head + "inputs:\n  - {name: b, from: \"nowhere#main\"}\nlinks:\n  - {name: a, owner: x, input: b, file: a.yaml, unit: s, extract: {path: a}}\n", ":21: SQ508 input b: there is no directory"},
	{"no reason", one("value: 1s") + "suppress:\n  - {relation: start, reason: \"\", owner: x, until: \"2027-01-01\"}\n", "SQ107 a suppression needs a reason"},
	{"no owner of a suppression", one("value: 1s") + "suppress:\n  - {relation: start, reason: x, until: \"2027-01-01\"}\n", "SQ107 missing in suppress[0]: \"owner\""},
	{"no day", one("value: 1s") + "suppress:\n  - {relation: start, reason: x, owner: x, until: soon}\n", "SQ512 until is no day: \"soon\""},
	{"unknown relation", one("value: 1s") + "suppress:\n  - {relation: sart, reason: x, owner: x, until: \"2027-01-01\"}\n", "did you mean \"start\"?"},
}

// reflectSettings are settings by their names, as a chain writes them.
func reflectSettings(s dispatcher.Settings) map[string]string {
	all := map[string]string{}
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		all[v.Type().Field(i).Tag.Get("yaml")] = fmt.Sprint(v.Field(i).Interface())
	}
	return all
}
