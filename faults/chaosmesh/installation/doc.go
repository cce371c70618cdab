// Package installation puts a real Chaos Mesh into a cluster of Squall's testbed, where no registry can be reached: for the tests of
// faults/chaosmesh, and for whoever wants to try them (go run ./faults/chaosmesh/installation/install NAME). It is no way to install Chaos
// Mesh anywhere else: its chart is (https://chaos-mesh.org).
//
// The controllers are built from Chaos Mesh's own Go modules, which a module beside this package names (../controllers); the CRDs come from
// the same module. Of what chaos-daemon executes, iptables, ipset and tc are Debian's; nsexec and tproxy are stand-ins, which
// ../controllers/standins has.
package installation
