package main

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNsexecIsAskedAsTheDaemonAsks(t *testing.T) {
	e, err := parse(strings.Fields("-l -n /proc/7/ns/net -p /proc/7/ns/pid -- tproxy -i -vv"))
	want := entry{namespaces: []namespace{{"/proc/7/ns/net", unix.CLONE_NEWNET}, {"/proc/7/ns/pid", unix.CLONE_NEWPID}}, local: true, command: []string{"tproxy", "-i", "-vv"}}
	if err != nil || !reflect.DeepEqual(e, want) || !e.has(unix.CLONE_NEWPID) || e.has(unix.CLONE_NEWNS) {
		t.Errorf("got %+v, %v", e, err)
	}
	for args, problem := range map[string]string{"-n /x": "no command", "-x y -- z": `unknown flag "-x"`, "-n": "needs the path", "--": "no command"} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v, want %s", args, err, problem)
		}
	}
}

func TestRulesSelectWhatTheyName(t *testing.T) {
	c, err := read([]byte(`{"proxy_ports": [8080], "rules": [{"target": "Response", "selector": {"port": 8080, "path": "/jobs*", "method": "POST"}, "actions": {"abort": true}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp := &http.Response{StatusCode: http.StatusOK}
	for _, x := range []struct {
		method, path, port string
		resp               *http.Response
		want               bool
	}{
		{"POST", "/jobs/1", "8080", resp, true}, {"POST", "/jobs/1", "8080", nil, false}, {"GET", "/jobs/1", "8080", resp, false},
		{"POST", "/other", "8080", resp, false}, {"POST", "/jobs/1", "9090", resp, false},
	} {
		req, _ := http.NewRequest(x.method, "http://x"+x.path, nil)
		if got := c.aborts(req, x.port, x.resp); got != x.want {
			t.Errorf("%+v: aborted %t", x, got)
		}
	}
}

func TestWhatTheStandInCannotDoIsRefused(t *testing.T) {
	for _, text := range []string{`{"tls": {}}`, `{"rules": [{"actions": {"delay": "1s"}}]}`, `{"rules": [{"actions": {"patch": {}}}]}`, `{`} {
		if _, err := read([]byte(text)); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}
