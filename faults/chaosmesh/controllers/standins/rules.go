package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// config is what chaos-daemon sends.
type config struct {
	ProxyPorts []uint32 `json:"proxy_ports"`
	Rules      []rule   `json:"rules"`
	TLS        any      `json:"tls"`
}

type rule struct {
	Target   string `json:"target"` // Request or Response
	Selector struct {
		Port   *int32  `json:"port"`
		Path   *string `json:"path"`
		Method *string `json:"method"`
		Code   *int32  `json:"code"`
	} `json:"selector"`
	Actions struct {
		Abort   *bool           `json:"abort"`
		Delay   *string         `json:"delay"`
		Replace json.RawMessage `json:"replace"`
		Patch   json.RawMessage `json:"patch"`
	} `json:"actions"`
}

// read refuses what this stand-in would pass over.
func read(text []byte) (config, error) {
	var c config
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}
	if c.TLS != nil {
		return c, fmt.Errorf("this stand-in has no TLS")
	}
	for i, r := range c.Rules {
		if r.Actions.Delay != nil || set(r.Actions.Replace) || set(r.Actions.Patch) {
			return c, fmt.Errorf("rule %d: this stand-in does nothing but abort", i+1)
		}
	}
	return c, nil
}

func set(text json.RawMessage) bool { return len(text) > 0 && string(text) != "null" }

// aborts tells whether a rule breaks the call, at its request (resp is nil) or at its response.
func (c config) aborts(req *http.Request, port string, resp *http.Response) bool {
	target := "Request"
	if resp != nil {
		target = "Response"
	}
	for _, r := range c.Rules {
		if r.Target == target && r.Actions.Abort != nil && *r.Actions.Abort && r.selects(req, port, resp) {
			return true
		}
	}
	return false
}

func (r rule) selects(req *http.Request, port string, resp *http.Response) bool {
	s := r.Selector
	switch {
	case s.Port != nil && strconv.Itoa(int(*s.Port)) != port:
		return false
	case s.Method != nil && *s.Method != req.Method:
		return false
	case s.Path != nil && !matches(*s.Path, req.URL.Path):
		return false
	case s.Code != nil && (resp == nil || int(*s.Code) != resp.StatusCode):
		return false
	}
	return true
}

// matches compares with a pattern whose * stands for anything, at its end.
func matches(pattern, path string) bool {
	if head, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(path, head)
	}
	return pattern == path
}
