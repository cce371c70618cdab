package kind

import (
	"context"
	"errors"
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// home is where runs keep files on nodes, each in a directory of its own.
const home = "/var/lib/squall"

// recordDir is where the processes of this run keep their journals, on every node.
func (w *World) recordDir() string { return path.Join(filesOf(w.namespace), claimRecord) }

func (w *World) dataDir() string { return path.Join(filesOf(w.namespace), claimData) }

// The claims of a run. Pod Security's "restricted" forbids hostPath in pods, so a volume stands in between: one without affinity, which is
// on every node a directory of that node.
const (
	claimRecord = "record"
	claimData   = "postgres"
)

// labels of everything that a run makes.
func (w *World) labels(component string) map[string]string {
	l := map[string]string{"app.kubernetes.io/managed-by": "squall", runLabel: w.namespace}
	if component != "" {
		l["app.kubernetes.io/component"] = component
	}
	return l
}

func (w *World) makeNamespace(ctx context.Context) error {
	labels := w.labels("")
	labels["pod-security.kubernetes.io/enforce"] = "restricted"
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace, Labels: labels}}
	if _, err := w.api.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	front := w.bed.ControlPlane()
	err := onAll(append(w.machines.on(), front), func(n *testbed.Node) error {
		_, err := n.Exec(ctx, "install", "-d", "-m", "1777", w.recordDir())
		return err
	})
	if err != nil {
		return err
	}
	if _, err := front.Exec(ctx, "cp", "--archive", template, w.dataDir()); err != nil {
		return err
	}
	for claim, dir := range map[string]string{claimRecord: w.recordDir(), claimData: w.dataDir()} {
		if err := w.makeVolume(ctx, claim, dir); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) volumeName(claim string) string { return w.namespace + "-" + claim }

func (w *World) makeVolume(ctx context.Context, claim, dir string) error {
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: w.volumeName(claim), Labels: w.labels("")},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}},
			ClaimRef:               &corev1.ObjectReference{Namespace: w.namespace, Name: claim},
		},
	}
	if _, err := w.api.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{}); err != nil {
		return err
	}
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: claim, Labels: w.labels("")},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, VolumeName: w.volumeName(claim), StorageClassName: new(""),
			Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}
	_, err := w.api.CoreV1().PersistentVolumeClaims(w.namespace).Create(ctx, pvc, metav1.CreateOptions{})
	return err
}

// removeNamespace takes away all that makeNamespace and what came after it made. When it returns nothing of it runs any more; the rest
// leaves while the next run begins.
func (w *World) removeNamespace(ctx context.Context) error {
	err := errors.Join(stopPods(ctx, w.api, w.namespace), unlessGone(w.api.CoreV1().Namespaces().Delete(ctx, w.namespace, metav1.DeleteOptions{})))
	w.site.leave(w.awaitRemoval)
	if err != nil {
		return fmt.Errorf("remove namespace %s: %w", w.namespace, err)
	}
	return nil
}

func (w *World) awaitRemoval(ctx context.Context) error {
	problems := []error{awaitNoNamespace(ctx, w.api, w.namespace)}
	for _, claim := range []string{claimRecord, claimData} {
		problems = append(problems, unlessGone(w.api.CoreV1().PersistentVolumes().Delete(ctx, w.volumeName(claim), metav1.DeleteOptions{})))
	}
	problems = append(problems, w.removeAccess(ctx))
	// What is on workers stays until the site settles: some of them may be about to be killed.
	_, err := w.bed.ControlPlane().Exec(ctx, "rm", "-rf", filesOf(w.namespace))
	if err := errors.Join(append(problems, err)...); err != nil {
		return fmt.Errorf("remove namespace %s: %w", w.namespace, err)
	}
	return nil
}

// stopPods deletes pods at once: nothing that they could still do is of interest. Finalizers of workloads are released, since the
// dispatcher that owed the cleanup is gone; it goes first, so that it makes no new ones.
func stopPods(ctx context.Context, api kubernetes.Interface, namespace string) error {
	pods := api.CoreV1().Pods(namespace)
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
	if err := pods.DeleteCollection(ctx, now, metav1.ListOptions{LabelSelector: "!" + kube.LabelTask}); err != nil {
		return err
	}
	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: kube.LabelTask})
	if err != nil {
		return err
	}
	for _, p := range list.Items {
		_, err := pods.Patch(ctx, p.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err := unlessGone(err); err != nil {
			return err
		}
	}
	return pods.DeleteCollection(ctx, now, metav1.ListOptions{})
}
