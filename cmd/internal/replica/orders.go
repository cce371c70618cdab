package replica

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// orders are what the workers are told beyond their task.
type orders struct {
	secret  string // name of the Secret with the database's URL
	account string // service account; empty: the namespace's default
	claim   string // where journals are kept; empty: nowhere
	record  string // name of the Secret with the URL of a database for journals; empty: none
	gate    string // that keeps a Pod from being scheduled; empty: none
	startup bool   // they idle first
	passed  []corev1.EnvVar
}

// workerCommand is where the image has the worker.
const workerCommand = "/worker"

// passedOn are the variables that workers get as their replica has them.
var passedOn = []string{environment.Settings, environment.Startup, environment.System}

func readOrders(r *environment.Reader) orders {
	o := orders{
		secret:  environment.Parse(r, environment.DatabaseSecret, "", "the Secret whose key "+environment.DatabaseKey+" is the workers' "+environment.DatabaseURL, label),
		account: r.Optional(environment.ServiceAccount, ""),
		claim:   r.Optional(environment.RecordClaim, ""),
		record:  r.Optional(environment.RecordSecret, ""),
		gate:    r.Optional(environment.Gate, ""),
	}
	o.startup = environment.Parse(r, environment.Startup, "0s", environment.ExpectedSpan, environment.DecodeSpan).To > 0
	for _, name := range passedOn {
		if value := r.Optional(name, ""); value != "" {
			o.passed = append(o.passed, corev1.EnvVar{Name: name, Value: value})
		}
	}
	return o
}

// adjust adds them to a Pod. What the Pod says already keeps it within the Pod Security Standard "restricted": the claim is a
// PersistentVolumeClaim because that standard forbids hostPath.
func (o orders) adjust(p *corev1.Pod, _ dispatcher.Workload) {
	p.Spec.ServiceAccountName = o.account
	if o.gate != "" {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: o.gate}}
	}
	c := &p.Spec.Containers[0]
	c.Command = []string{workerCommand}
	c.Env = append(c.Env, secretURL(environment.DatabaseURL, o.secret))
	if o.record != "" {
		c.Env = append(c.Env, secretURL(environment.RecordURL, o.record))
	}
	c.Env = append(c.Env, o.passed...)
	if o.startup && o.gate == "" { // behind a gate nobody knows how long it waited for its node
		c.Env = append(c.Env, corev1.EnvVar{Name: environment.Asked, Value: time.Now().Format(time.RFC3339Nano)})
	}
	if o.claim == "" {
		return
	}
	const volume = "record"
	c.Env = append(c.Env, corev1.EnvVar{Name: environment.Record, Value: environment.RecordFolder})
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: environment.RecordFolder})
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: o.claim},
	}})
}

// secretURL is a variable with the URL in a Secret.
func secretURL(variable, secret string) corev1.EnvVar {
	return corev1.EnvVar{Name: variable, ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: environment.DatabaseKey},
	}}
}
