package proxy

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// taskLabel is how the reference dispatcher's objects name their task, and taskPrefix how their own names begin.
const (
	taskLabel  = "squall.dev/task"
	taskPrefix = "task-"
)

// workloads are the resources that execute a task, in whatever API group.
var workloads = map[string]bool{"pods": true, "jobs": true, "workflows": true}

// asPrefix begins the path of a client that names itself in its server's URL: /as/NAME.
const asPrefix = "/as/"

// caller takes the process's name from the path, which it shortens, or else from the User-Agent.
func caller(r *http.Request) string {
	if rest, ok := strings.CutPrefix(r.URL.Path, asPrefix); ok {
		name, path, _ := strings.Cut(rest, "/")
		r.URL.Path = "/" + path
		r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, asPrefix+name)
		return name
	}
	agent := r.UserAgent()
	if i := strings.IndexAny(agent, "/ "); i >= 0 {
		agent = agent[:i]
	}
	return agent
}

// target is what a request of the Kubernetes API is about.
type target struct{ resource, name, subresource string }

// targetOf reads the paths of kubernetes.io/docs/reference/using-api/api-concepts, "Resource URIs".
func targetOf(path string) target {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		parts = parts[3:]
	default:
		return target{}
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	parts = append(parts, "", "")
	return target{parts[0], parts[1], parts[2]}
}

// identify says which call a request is. body is asked for only where the task is not in the path.
func identify(r *http.Request, body func() []byte) *call {
	c := &call{port: clusters.API, process: caller(r)}
	t := targetOf(r.URL.Path)
	if t.resource == "leases" {
		c.port = clusters.Lease
	}
	if t.subresource != "" || isWatch(r) {
		return c
	}
	c.verb = verbOf(r.Method, t)
	switch {
	case !workloads[t.resource]:
	case t.name != "":
		c.task = strings.TrimPrefix(t.name, taskPrefix)
	case c.verb == history.Create.String():
		c.task = taskOf(r.Header.Get("Content-Type"), body())
	}
	return c
}

func isWatch(r *http.Request) bool {
	q := r.URL.Query().Get("watch")
	return q == "1" || q == "true"
}

func verbOf(method string, t target) string {
	one := t.name != ""
	switch {
	case workloads[t.resource]:
		switch {
		case method == http.MethodPost && !one:
			return history.Create.String()
		case method == http.MethodGet && one:
			return history.Get.String()
		case method == http.MethodGet:
			return history.List.String()
		case method == http.MethodDelete && one:
			return history.Delete.String()
		case (method == http.MethodPatch || method == http.MethodPut) && one:
			return history.Release.String()
		}
	case t.resource == "nodes" && method == http.MethodGet && one:
		return history.NodeExists.String()
	case t.resource == "leases":
		switch {
		case method == http.MethodGet && one:
			return history.GetLease.String()
		case method == http.MethodPost, method == http.MethodPut, method == http.MethodPatch:
			return history.PutLease.String()
		}
	}
	return ""
}

// protobufMagic begins an object that client-go sends as protobuf (apimachinery/pkg/runtime/serializer/protobuf).
const protobufMagic = "k8s\x00"

// taskOf is the task that a new object is for.
func taskOf(contentType string, body []byte) string {
	var meta metav1.PartialObjectMetadata
	media, _, _ := mime.ParseMediaType(contentType)
	if raw, ok := strings.CutPrefix(string(body), protobufMagic); ok && media == runtime.ContentTypeProtobuf {
		var unknown runtime.Unknown
		// The metadata is field 1 of every type of the API.
		if unknown.Unmarshal([]byte(raw)) != nil || meta.Unmarshal(unknown.Raw) != nil {
			return ""
		}
	} else if json.Unmarshal(body, &meta) != nil {
		return ""
	}
	if task := meta.Labels[taskLabel]; task != "" {
		return task
	}
	return strings.TrimPrefix(meta.Name, taskPrefix)
}
