//go:build ignore

// Command controlplane is etcd and the control plane of Kubernetes in one static binary: its first argument names the program.
//
// One binary links once what four would link four times, and each program still runs as a process of its own, so
// that it can be killed and frozen by itself. Package local builds it; see build.go.
package main

import (
	"fmt"
	"os"

	_ "time/tzdata" // the time zones of CronJobs

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // as the original mains do
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // as the original mains do
	_ "k8s.io/component-base/metrics/prometheus/version"  // as the original mains do
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

var commands = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
}

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	os.Args = os.Args[1:]
	if os.Args[0] == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	command, ok := commands[os.Args[0]]
	if !ok {
		usage()
	}
	os.Exit(cli.Run(command()))
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: controlplane etcd|kube-apiserver|kube-controller-manager|kube-scheduler [flag...]")
	os.Exit(2)
}
