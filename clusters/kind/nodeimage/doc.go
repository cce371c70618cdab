// Package nodeimage finds an image for the nodes of a kind cluster, and builds one where no registry can be reached.
//
// The image that it builds is a drop-in for kindest/node: kind's own files, which come with kind's Go module, on Debian's
// packages, with the programs of package binaries. What differs: one program is all of Kubernetes and etcd, the pod network is
// programs/podnetwork in place of kindnet, and there is no provisioner of volumes but the hostPath one that kind falls back to.
//
// The image is written as an archive and loaded, so no container runs during the build. Each step leaves its result in the user's
// cache directory, under a name that changes with what it was made from; an interrupted build goes on after the last
// complete step. A build that is killed takes the programs that it runs with it, and the next one removes what it left.
package nodeimage
