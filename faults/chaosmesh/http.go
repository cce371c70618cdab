package chaosmesh

import (
	"fmt"
	"net/http"
	"time"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
)

// overHTTP tells whether the fault is one that HTTPChaos expresses and NetworkChaos cannot.
func overHTTP(f faults.Fault) bool {
	switch f.Action {
	case clusters.LoseReply, clusters.CutReply, clusters.CutCall:
		return true
	}
	return false
}

// serverOf is the plain HTTP server that calls of the only port go to. Without one the zero server stands for what is refused.
func (s Site) serverOf(ports []clusters.Port) (HTTPServer, bool) {
	if len(ports) != 1 {
		return HTTPServer{}, true
	}
	return s.HTTP[ports[0]], true
}

// counted is how long a fault of certain calls lasts where they cannot be counted, unless it says so itself.
const counted = 10 * time.Second

// mapHTTP breaks the connections of calls to a plain HTTP server, after or before it has done the work.
func (s Site) mapHTTP(m *Mapped, server HTTPServer) {
	f := m.Fault
	if len(server.Pods) == 0 {
		m.refuse("HTTPChaos cuts calls to plain HTTP servers in Pods: the API server is behind TLS and in its node's network, and Postgres speaks another protocol. " +
			"Where calls go to such a server, name it with --http PORT=LABEL=VALUE:NUMBER")
		return
	}
	spec := v1alpha1.HTTPChaosSpec{PodSelector: s.pods(v1alpha1.AllMode, server.Pods), Target: v1alpha1.PodHttpResponse,
		PodHttpChaosActions: v1alpha1.PodHttpChaosActions{Abort: new(true)}, Port: server.Port, Path: new("*")}
	if server.Path != "" {
		spec.Path = new(server.Path)
	}
	if f.Action == clusters.CutCall {
		spec.Target = v1alpha1.PodHttpRequest
	}
	t := f.Target
	switch method := methods[t.Verb]; {
	case method != "":
		spec.Method = new(method)
	case t.Verb != "":
		m.remark(fmt.Sprintf("no HTTP method stands for %s: all calls to the server are affected", t.Verb))
	}
	if t.Process != "" || t.Node != "" || t.Task != "" {
		m.remark("the server's Pods are struck, so that the calls of all callers are")
	}
	if t.Nth > 0 && f.For == 0 {
		m.lasts = counted
		m.remark(fmt.Sprintf("it cannot count: all such calls within %s", single(counted)))
	}
	m.add(piece{kind: v1alpha1.TypeHTTPChaos, chaos: v1alpha1.EmbedChaos{HTTPChaos: &spec}}, crowd{})
}

// methods are the HTTP methods of the port methods that have one.
var methods = map[string]string{
	"create": http.MethodPost, "get": http.MethodGet, "list": http.MethodGet, "delete": http.MethodDelete, "release": http.MethodPatch,
}
