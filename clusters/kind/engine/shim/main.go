// Command shim is an OCI runtime for machines whose root lacks a capability, as some virtual machines and containers do (CAP_SYS_RESOURCE above all).
// Docker asks for every capability it knows when a container is privileged, and runc then ends with "unable to apply caps: operation not permitted".
// The shim takes out of the request what its own bounding set lacks, and becomes runc.
//
// It uses the standard library alone: package engine embeds its files and builds them wherever there is a Go toolchain.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "squall-runc:", err)
		os.Exit(1)
	}
}

// run edits what the arguments name, and only returns if it could not become runc.
func run(args []string) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	held, err := bounding(status)
	if err != nil {
		return err
	}
	if file, kind := request(args); file != "" {
		if err := edit(file, kind, held); err != nil {
			return fmt.Errorf("leave capabilities that this machine lacks out of %s: %w", file, err)
		}
	}
	runc, err := find()
	if err != nil {
		return err
	}
	return fmt.Errorf("exec %s: %w", runc, syscall.Exec(runc, append([]string{"runc"}, args...), os.Environ()))
}

// find looks where distributions put runc as well as in PATH: containerd's shim may run with a short one.
func find() (string, error) {
	if path, err := exec.LookPath("runc"); err == nil {
		return filepath.Abs(path)
	}
	for _, dir := range []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, "runc")); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no runc in PATH=%s; get it with: apt-get install runc", os.Getenv("PATH"))
}
