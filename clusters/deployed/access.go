package deployed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/manifests"
)

// access is what the manifests say about who may do what, and how replicas are to run.
type access struct {
	templates    map[dispatcher.Role]corev1.PodTemplateSpec
	account      string // of the workers
	clusterWide  []string
	clusterBinds []string
}

// makeAccess grants the replicas the rights that the manifests give them, and no others.
func (w *World) makeAccess(ctx context.Context) error {
	text, err := manifests.Render(w.Namespace(), w.Programs)
	if err != nil {
		return err
	}
	w.access.templates = map[dispatcher.Role]corev1.PodTemplateSpec{}
	for document := range strings.SplitSeq(text, "---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(document), nil, nil)
		if err != nil {
			return fmt.Errorf("read the manifests: %w", err)
		}
		if err := w.grant(ctx, object); err != nil {
			return err
		}
	}
	if w.Config.System.Name != reference {
		return w.grantMore(ctx)
	}
	return nil
}

func (w *World) grant(ctx context.Context, object any) (err error) {
	o := metav1.CreateOptions{}
	rbac := w.API.RbacV1()
	switch object := object.(type) {
	case *corev1.ServiceAccount:
		object.Labels = w.Labels("")
		_, err = w.API.CoreV1().ServiceAccounts(w.Namespace()).Create(ctx, object, o)
	case *rbacv1.Role:
		object.Labels = w.Labels("")
		_, err = rbac.Roles(w.Namespace()).Create(ctx, object, o)
	case *rbacv1.RoleBinding:
		object.Labels = w.Labels("")
		_, err = rbac.RoleBindings(w.Namespace()).Create(ctx, object, o)
	case *rbacv1.ClusterRole:
		if !w.ClusterWide {
			return nil // see dispatcher/manifests: it does without
		}
		object.Labels = w.Labels("")
		w.access.clusterWide = append(w.access.clusterWide, object.Name)
		_, err = rbac.ClusterRoles().Create(ctx, object, o)
	case *rbacv1.ClusterRoleBinding:
		if !w.ClusterWide {
			return nil
		}
		object.Labels = w.Labels("")
		w.access.clusterBinds = append(w.access.clusterBinds, object.Name)
		_, err = rbac.ClusterRoleBindings().Create(ctx, object, o)
	case *appsv1.Deployment:
		w.access.templates[dispatcher.Role(object.Labels["app.kubernetes.io/component"])] = object.Spec.Template
	case *corev1.ConfigMap:
		w.access.account = object.Data["SQUALL_SERVICE_ACCOUNT"]
	case *policyv1.PodDisruptionBudget: // the harness keeps count of the replicas itself
	default:
		err = fmt.Errorf("the manifests have a %T, which a run would not know what to do with", object)
	}
	return err
}

// grantMore gives a planted dispatcher the reconciler's rights, too: some defects look where the reference does not.
func (w *World) grantMore(ctx context.Context) error {
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "squall-planted", Labels: w.Labels("")},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "squall-reconciler"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "squall-dispatcher", Namespace: w.Namespace()}},
	}
	_, err := w.API.RbacV1().RoleBindings(w.Namespace()).Create(ctx, binding, metav1.CreateOptions{})
	return err
}

// RemoveAccess takes away what does not go with the namespace.
func (w *World) RemoveAccess(ctx context.Context) error {
	var problems []error
	for _, name := range w.access.clusterBinds {
		problems = append(problems, UnlessGone(w.API.RbacV1().ClusterRoleBindings().Delete(ctx, name, metav1.DeleteOptions{})))
	}
	for _, name := range w.access.clusterWide {
		problems = append(problems, UnlessGone(w.API.RbacV1().ClusterRoles().Delete(ctx, name, metav1.DeleteOptions{})))
	}
	return errors.Join(problems...)
}
