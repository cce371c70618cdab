package local

import (
	"net"
	"path/filepath"
)

// flags are a program's own.
func (c *ControlPlane) flags(program Program, durable bool) []string {
	switch program {
	case Etcd:
		return c.etcdFlags(durable)
	case APIServer:
		return c.apiServerFlags()
	}
	// Ports that others might want are not opened; nobody else competes for the lead.
	return []string{
		"--kubeconfig=" + c.Kubeconfig(), "--authentication-kubeconfig=" + c.Kubeconfig(), "--authorization-kubeconfig=" + c.Kubeconfig(),
		"--leader-elect=false", "--secure-port=0",
	}
}

// etcdFlags have etcd listen on sockets in its directory: it takes no port, and nobody else gets in. Peers it has none, but it
// insists on a socket for them, of the form host:port, which it makes in its working directory.
func (c *ControlPlane) etcdFlags(durable bool) []string {
	flags := []string{
		"--data-dir=" + filepath.Join(c.dir, "etcd", "data"),
		"--listen-client-urls=" + c.socket(), "--advertise-client-urls=" + c.socket(),
		"--listen-peer-urls=unix://peer:0", "--initial-advertise-peer-urls=unix://peer:0", "--initial-cluster=default=unix://peer:0",
	}
	if !durable {
		flags = append(flags, "--unsafe-no-fsync")
	}
	return flags
}

func (c *ControlPlane) socket() string { return "unix://" + filepath.Join(c.dir, "etcd", "socket") }

func (c *ControlPlane) apiServerFlags() []string {
	host, port, _ := net.SplitHostPort(c.address) // it came from a listener
	return []string{
		"--etcd-servers=" + c.socket(),
		"--bind-address=" + host, "--secure-port=" + port,
		"--tls-cert-file=" + c.credentials.file("apiserver.crt"), "--tls-private-key-file=" + c.credentials.file("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.credentials.file("apiserver.key"),
		"--service-account-signing-key-file=" + c.credentials.file("apiserver.key"),
		"--token-auth-file=" + c.credentials.file("tokens.csv"),
		"--authorization-mode=RBAC", "--anonymous-auth=false",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none", // there is no machine to which the Service kubernetes could point
		"--profiling=false",
	}
}
