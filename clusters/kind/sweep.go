package kind

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

// sweep removes what runs left in a cluster that were killed before they could: their namespaces, volumes and rights, their files
// on the nodes. It heals the nodes first.
func sweep(ctx context.Context, bed *testbed.Cluster, api kubernetes.Interface) error {
	if err := bed.Heal(ctx); err != nil {
		return fmt.Errorf("heal cluster %s: %w", bed.Name(), err)
	}
	left, err := api.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: deployed.RunLabel})
	if err != nil {
		return fmt.Errorf("look for what earlier runs left in cluster %s: %w", bed.Name(), err)
	}
	var problems []error
	for _, ns := range left.Items {
		problems = append(problems, emptyNamespace(ctx, api, ns.Name))
	}
	everything := metav1.ListOptions{LabelSelector: deployed.RunLabel}
	problems = append(problems,
		api.RbacV1().ClusterRoleBindings().DeleteCollection(ctx, metav1.DeleteOptions{}, everything),
		api.RbacV1().ClusterRoles().DeleteCollection(ctx, metav1.DeleteOptions{}, everything),
		api.CoreV1().PersistentVolumes().DeleteCollection(ctx, metav1.DeleteOptions{}, everything),
	)
	return errors.Join(append(problems, removeFiles(ctx, bed))...)
}

// removeFiles removes the files of all runs.
func removeFiles(ctx context.Context, bed *testbed.Cluster) error {
	return onAll(append(bed.Nodes(), bed.ControlPlane()), func(n *testbed.Node) error {
		_, err := n.Exec(ctx, "rm", "-rf", home)
		return err
	})
}

// onAll acts on all nodes at once.
func onAll(nodes []*testbed.Node, action func(*testbed.Node) error) error {
	todo := make([]func() error, len(nodes))
	for i, n := range nodes {
		todo[i] = func() error { return action(n) }
	}
	return testbed.AtOnce(todo)
}

// emptyNamespace removes a run's namespace with all that is in it, and returns when it is gone.
func emptyNamespace(ctx context.Context, api kubernetes.Interface, namespace string) error {
	err := errors.Join(deployed.StopPods(ctx, api, namespace), deployed.UnlessGone(api.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{})))
	return errors.Join(err, awaitNoNamespace(ctx, api, namespace))
}

func awaitNoNamespace(ctx context.Context, api kubernetes.Interface, namespace string) error {
	gone := func(ctx context.Context) (bool, error) {
		_, err := api.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	}
	return wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, gone)
}

// filesOf is where a run keeps its files on every node.
func filesOf(namespace string) string { return path.Join(home, namespace) }
