// Package engine finds the Docker engine that kind needs, and gets one for a bare Debian machine.
//
// Check only looks. Ensure installs Debian's docker.io, starts dockerd, and puts an OCI runtime in front of runc where the machine lacks a capability that
// privileged containers ask for (package main in shim). It does none of this when an engine answers: a working engine is never touched.
package engine
