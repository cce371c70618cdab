package local

import (
	"context"
	"io"
	"path/filepath"

	"github.com/squall-chaos/squall/clusters/binaries"
)

// Version is the Kubernetes version of the control plane.
const Version = binaries.KubernetesVersion

// ErrNotBuilt says that there is no control plane on this machine yet.
var ErrNotBuilt = binaries.ErrNotBuilt

// Built returns the path of the program that is the control plane, or ErrNotBuilt.
func Built() (string, error) { return program(binaries.Built(binaries.Kubernetes())) }

// Build returns the path of the program that is the control plane, after building it if this machine does not have it.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	return program(binaries.Build(ctx, binaries.Kubernetes(), progress))
}

func program(dir string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "kubernetes"), nil
}
