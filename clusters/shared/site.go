package shared

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// AllowLabel is what a namespace must carry, with the value "true", for anything to be made or broken in it.
const AllowLabel = "squall/allow-chaos"

// What whoever typed the command can mend.
var (
	ErrContext   = errors.New("the context cannot be used")
	ErrNamespace = errors.New("the namespace cannot be used")
	ErrRights    = errors.New("rights are missing")
	ErrRemains   = errors.New("the namespace has remains of a run")
	ErrImage     = errors.New("an image cannot be had")
)

// Site is a namespace of a cluster that Squall did not make.
type Site struct {
	Context   string
	Namespace string
	api       kubernetes.Interface
	objects   dynamic.Interface
	config    *rest.Config
}

// Open connects to the cluster of a kubeconfig's context, which is looked for where kubectl looks. Nothing is asked of the cluster yet.
func Open(context, namespace string) (*Site, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(),
		&clientcmd.ConfigOverrides{CurrentContext: context})
	config, err := loader.ClientConfig()
	if err != nil {
		raw, _ := loader.RawConfig()
		known := "none at all"
		if names := slices.Sorted(maps.Keys(raw.Contexts)); len(names) > 0 {
			known = strings.Join(names, ", ")
		}
		return nil, fmt.Errorf("%w: %s: %w; the kubeconfig has %s: kubectl config get-contexts", ErrContext, context, err, known)
	}
	config.UserAgent = "squall"
	config.QPS, config.Burst = 50, 100
	s := &Site{Context: context, Namespace: namespace, config: config}
	if s.api, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrContext, context, err)
	}
	if s.objects, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrContext, context, err)
	}
	return s, nil
}

// Objects is a client for objects of any sort.
func (s *Site) Objects() dynamic.Interface { return s.objects }

// Allowed tells whether the namespace says that things may be broken in it; an error says how to have it say so.
func (s *Site) Allowed(ctx context.Context) error {
	ns, err := s.api.CoreV1().Namespaces().Get(ctx, s.Namespace, metav1.GetOptions{})
	label := fmt.Sprintf("kubectl --context %s label namespace %s %s=true", s.Context, s.Namespace, AllowLabel)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: context %s has no namespace %s; make one for this: kubectl --context %s create namespace %s && %s",
			ErrNamespace, s.Context, s.Namespace, s.Context, s.Namespace, label)
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return fmt.Errorf("%w: namespace %s cannot be read: %w; grant the verb get on it, so that its label %s can be seen", ErrRights, s.Namespace, err, AllowLabel)
	case err != nil:
		return fmt.Errorf("%w: read namespace %s: %w", ErrContext, s.Namespace, err)
	}
	switch is := ns.Labels[AllowLabel]; {
	case ns.DeletionTimestamp != nil:
		return fmt.Errorf("%w: namespace %s is being deleted; wait until it is gone, or name another", ErrNamespace, s.Namespace)
	case is == "":
		return fmt.Errorf("%w: namespace %s has no label %s, so nothing is broken in it; if all that is in it may be: %s",
			ErrNamespace, s.Namespace, AllowLabel, label)
	case is != "true":
		return fmt.Errorf("%w: namespace %s has the label %s=%q, and only \"true\" allows things to be broken in it: %s --overwrite",
			ErrNamespace, s.Namespace, AllowLabel, is, label)
	}
	return nil
}
