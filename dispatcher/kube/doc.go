// Package kube carries the ports Workloads and Leases to a Kubernetes API server with client-go: a workload is a Pod, a
// lease a Lease of coordination.k8s.io.
//
// # One request per method
//
// client-go sends a request again by itself: any verb, POST too, on 429 and on 5xx with a Retry-After header, and a GET after a
// lost connection, ten times by default (k8s.io/client-go/rest, with_retry.go). Behind a proxy that answers so after the server
// acted, that is a second create that nobody decided on. Here every request is sent once, and no redirection is followed (send.go);
// whoever loops decides about the next one. What remains is what net/http sends again on a new connection: a request of
// which nothing was written, one that the server provably left alone (HTTP/2 REFUSED_STREAM, GOAWAY), and a GET.
//
// # What an error means
//
//	what happened                                               error
//	no connection came about                                    ErrUnavailable
//	401; a create that the authorizer forbids, or for which
//	the namespace is terminating                                ErrUnavailable: the caller is refused, not the object
//	404, 409 AlreadyExists, 409 Conflict, 410                   ErrNotFound, ErrExists, ErrConflict, ErrExpired
//	422 because of another UID                                  ErrConflict
//	429, 403 of a spent quota, 409 on the quota's own object    ErrThrottled
//	any other 4xx of the API server                             ErrRejected
//	all else: a connection that was lost, a reply cut short,
//	5xx, an answer that is not the API server's                 ErrUnknown
//
// The API server answers with a Status object. A 404 without one is the word of something in between, or of a server that is still
// starting, and proves nothing.
//
// # Identity
//
// The Pod has the workload's name; its task, attempt and token are labels. A name that the API server would refuse is rejected
// by Create and is proof of absence for everything else. A Pod under our name without our labels is a conflict: it is neither
// adopted nor deleted.
//
// Delete sends the UID as precondition. Release sends it in a strategic merge patch that removes nothing but our finalizer
// ($deleteFromPrimitiveList), so that it needs no read before it and no index into a list that others may change; another
// UID is refused because metadata.uid is immutable.
//
// A lease is updated by a merge patch with the resourceVersion that was read. A PUT would not do: leases may be created on update
// (pkg/registry/coordination/lease/strategy.go, AllowCreateOnUpdate), so a PUT by a holder that lost its lease to a deletion makes
// a new one, whatever resourceVersion it carries.
package kube
