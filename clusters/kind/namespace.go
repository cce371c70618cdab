package kind

import (
	"context"
	"errors"
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

// home is where runs keep files on nodes, each in a directory of its own.
const home = "/var/lib/squall"

// recordDir is where the processes of this run keep their journals, on every node.
func (w *World) recordDir() string { return path.Join(filesOf(w.Namespace()), claimRecord) }

func (w *World) dataDir() string { return path.Join(filesOf(w.Namespace()), claimData) }

// The claims of a run. Pod Security's "restricted" forbids hostPath in pods, so a volume stands in between: one without affinity, which is
// on every node a directory of that node.
const (
	claimRecord = "record"
	claimData   = "postgres"
)

func (w *World) makeNamespace(ctx context.Context) error {
	labels := w.Labels("")
	labels["pod-security.kubernetes.io/enforce"] = "restricted"
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace(), Labels: labels}}
	if _, err := w.API.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
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

func (w *World) volumeName(claim string) string { return w.Namespace() + "-" + claim }

func (w *World) makeVolume(ctx context.Context, claim, dir string) error {
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: w.volumeName(claim), Labels: w.Labels("")},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}},
			ClaimRef:               &corev1.ObjectReference{Namespace: w.Namespace(), Name: claim},
		},
	}
	if _, err := w.API.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{}); err != nil {
		return err
	}
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: claim, Labels: w.Labels("")},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, VolumeName: w.volumeName(claim), StorageClassName: new(""),
			Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}
	_, err := w.API.CoreV1().PersistentVolumeClaims(w.Namespace()).Create(ctx, pvc, metav1.CreateOptions{})
	return err
}

// removeNamespace takes away all that makeNamespace and what came after it made. When it returns nothing of it runs any more; the rest
// leaves while the next run begins.
func (w *World) removeNamespace(ctx context.Context) error {
	err := errors.Join(deployed.StopPods(ctx, w.API, w.Namespace()), deployed.UnlessGone(w.API.CoreV1().Namespaces().Delete(ctx, w.Namespace(), metav1.DeleteOptions{})))
	w.site.leave(w.awaitRemoval)
	if err != nil {
		return fmt.Errorf("remove namespace %s: %w", w.Namespace(), err)
	}
	return nil
}

func (w *World) awaitRemoval(ctx context.Context) error {
	problems := []error{awaitNoNamespace(ctx, w.API, w.Namespace())}
	for _, claim := range []string{claimRecord, claimData} {
		problems = append(problems, deployed.UnlessGone(w.API.CoreV1().PersistentVolumes().Delete(ctx, w.volumeName(claim), metav1.DeleteOptions{})))
	}
	problems = append(problems, w.RemoveAccess(ctx))
	// What is on workers stays until the site settles: some of them may be about to be killed.
	_, err := w.bed.ControlPlane().Exec(ctx, "rm", "-rf", filesOf(w.Namespace()))
	if err := errors.Join(append(problems, err)...); err != nil {
		return fmt.Errorf("remove namespace %s: %w", w.Namespace(), err)
	}
	return nil
}
