package shared

import (
	"context"
	"fmt"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/dispatcher/kube"
)

// Right is something that a run does in its namespace.
type Right struct {
	Group, Resource, Sub string
	Verbs                []string
	Why                  string
}

// String is the resource as kubectl auth can-i has it.
func (r Right) String() string {
	name := r.Resource
	if r.Group != "" {
		name += "." + r.Group
	}
	if r.Sub != "" {
		name += "/" + r.Sub
	}
	return name
}

// made is what is done with objects that a run makes and removes.
var made = []string{"create", "list", "delete"}

// Rights are all that a run needs, besides to read its Namespace. The manifests' own Roles may only be made by somebody who has what they
// grant.
var Rights = []Right{
	{Resource: "pods", Verbs: []string{"create", "get", "list", "watch", "patch", "delete"}, Why: "replicas, workloads, the database and the fault proxy"},
	{Resource: "pods", Sub: "eviction", Verbs: []string{"create"}, Why: "the fault pod-evict"},
	{Resource: "pods", Sub: "portforward", Verbs: []string{"create"}, Why: "the only way to the database and the fault proxy"},
	{Resource: "services", Verbs: []string{"create", "list", "delete"}, Why: "the addresses of the database and the fault proxy"},
	{Resource: "secrets", Verbs: made, Why: "the database's password, the fault proxy's key"},
	{Resource: "serviceaccounts", Verbs: made, Why: "the accounts of replicas and workloads"},
	{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"create", "get", "list", "watch", "patch", "delete"}, Why: "who leads"},
	{Group: "rbac.authorization.k8s.io", Resource: "roles", Verbs: made, Why: "the rights of the replicas, in this namespace only"},
	{Group: "rbac.authorization.k8s.io", Resource: "rolebindings", Verbs: made, Why: "who has them"},
}

// Denied is a Right with the verbs that are not allowed, and the reason of the authorizer, if it gave one.
type Denied struct {
	Right
	Verbs  []string
	Reason string
}

// String says what is missing.
func (d Denied) String() string {
	text := fmt.Sprintf("%s %s, for %s", strings.Join(d.Verbs, ", "), d.Right, d.Why)
	if d.Reason != "" {
		text += " (" + d.Reason + ")"
	}
	return text
}

// Missing asks the cluster for every verb that a run will use, as kubectl auth can-i does.
func (s *Site) Missing(ctx context.Context, rights []Right) ([]Denied, error) {
	var missing []Denied
	for _, r := range rights {
		d := Denied{Right: r}
		for _, verb := range r.Verbs {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: s.Namespace, Verb: verb, Group: r.Group, Resource: r.Resource, Subresource: r.Sub,
				},
			}}
			answer, err := s.api.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return nil, fmt.Errorf("%w: ask whether %s %s is allowed: %w", ErrContext, verb, r, err)
			}
			if !answer.Status.Allowed {
				d.Verbs, d.Reason = append(d.Verbs, verb), answer.Status.Reason
			}
		}
		if len(d.Verbs) > 0 {
			missing = append(missing, d)
		}
	}
	return missing, nil
}

// checkRights is Missing as an error with the Role that would do.
func (s *Site) checkRights(ctx context.Context) error {
	missing, err := s.Missing(ctx, Rights)
	if err != nil || len(missing) == 0 {
		return err
	}
	lines := make([]string, len(missing))
	for i, d := range missing {
		lines[i] = d.String()
	}
	return fmt.Errorf("%w in namespace %s: %s; have them granted: %s", ErrRights, s.Namespace, strings.Join(lines, "; "), s.Grant())
}

// Grant is a command that grants all of it to somebody, who is not named since the cluster need not say who we are.
func (s *Site) Grant() string {
	return fmt.Sprintf("kubectl -n %s create rolebinding squall-runs --clusterrole admin --user YOU, by an admin of the cluster", s.Namespace)
}

// OnDemandLabel is what work with a start deadline asks of its node.
const OnDemandLabel = kube.CapacityType + "=" + kube.OnDemand

// OnDemandNodes is how many nodes such work can go to; not known where we may not list nodes, which no run needs.
func (s *Site) OnDemandNodes(ctx context.Context) (n int, known bool) {
	list, err := s.api.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: OnDemandLabel})
	if err != nil {
		return 0, false
	}
	return len(list.Items), true
}

// Version is that of the API server, which thereby is known to answer.
func (s *Site) Version(ctx context.Context) (string, error) {
	type answer struct {
		version string
		err     error
	}
	got := make(chan answer, 1)
	go func() { // it knows no context
		v, err := s.api.Discovery().ServerVersion()
		if err != nil {
			got <- answer{err: err}
			return
		}
		got <- answer{version: v.GitVersion}
	}()
	select {
	case a := <-got:
		if a.err != nil {
			return "", fmt.Errorf("%w: context %s: %w", ErrContext, s.Context, a.err)
		}
		return a.version, nil
	case <-time.After(10 * time.Second):
		return "", fmt.Errorf("%w: context %s: its API server does not answer", ErrContext, s.Context)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
