// Chaos Mesh's chaos-daemon. Its own main package cannot be built from the module: the machine code that TimeChaos puts into processes is
// made by the project's build and not part of what it publishes. This one is its main, made shorter, and brings that code (fakeclock.go).
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/chaos-mesh/chaos-mesh/pkg/chaosdaemon"
	"github.com/chaos-mesh/chaos-mesh/pkg/chaosdaemon/crclients"
	"github.com/chaos-mesh/chaos-mesh/pkg/log"
	"github.com/chaos-mesh/chaos-mesh/pkg/sysfs"
)

func main() {
	conf := &chaosdaemon.Config{Host: "0.0.0.0", CrClientConfig: &crclients.CrClientConfig{}}
	flag.IntVar(&conf.GRPCPort, "grpc-port", 31767, "the port which grpc server listens on")
	flag.IntVar(&conf.HTTPPort, "http-port", 31766, "the port which http server listens on")
	flag.StringVar(&conf.CrClientConfig.Runtime, "runtime", "docker", "current container runtime")
	flag.StringVar(&conf.CrClientConfig.SocketPath, "runtime-socket-path", "", "current container runtime socket path")
	flag.StringVar(&conf.CrClientConfig.ContainerdNS, "containerd-ns", "k8s.io", "namespace used for containerd")
	flag.StringVar(&conf.CaCert, "ca", "", "ca certificate of grpc server")
	flag.StringVar(&conf.Cert, "cert", "", "certificate of grpc server")
	flag.StringVar(&conf.Key, "key", "", "key of grpc server")
	flag.Parse()
	if err := serve(conf); err != nil {
		fmt.Fprintln(os.Stderr, "chaos-daemon:", err)
		os.Exit(1)
	}
}

func serve(conf *chaosdaemon.Config) error {
	logger, err := log.NewDefaultZapLogger()
	if err != nil {
		return err
	}
	log.ReplaceGlobals(logger)
	ctrl.SetLogger(logger)
	if err := sysfs.RemountWithOption(); err != nil { // StressChaos writes to cgroups
		logger.Error(err, "remount /sys with read-write permission")
	}
	server, err := chaosdaemon.BuildServer(conf, prometheus.NewRegistry(), logger)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Start() }()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	select {
	case <-stop:
	case err := <-failed:
		if err != nil {
			logger.Error(err, "serve")
		}
	}
	return server.Shutdown()
}
