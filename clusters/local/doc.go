// Package local runs a Kubernetes control plane as child processes: etcd, API server, and, where asked for, controller
// manager and scheduler. It needs no container engine and no registry, only the Go toolchain once (Build), and is ready
// in seconds. There are no machines: whoever wants pods to run plays the kubelets.
//
// Everything listens on loopback or on sockets in a directory that only its owner may enter. Each program is a process of
// its own, which can be killed, frozen and started again.
package local
