package testbed

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// Read returns the regular files below a directory of the node, by their path below it; none if the directory is not there.
// It works on nodes that run, are frozen or are dead: Docker reads the file system from outside, with the volumes that kind
// mounts. What a tmpfs holds (/run, /tmp) cannot be read.
func (n *Node) Read(ctx context.Context, dir string) (map[string][]byte, error) {
	dir = path.Clean(dir)
	out, err := command{args: []string{"cp", n.name + ":" + dir, "-"}, node: n.name, limit: 2 * time.Minute}.run(ctx)
	if err != nil {
		if strings.Contains(err.Error(), "Could not find the file") || strings.Contains(err.Error(), "No such container:path") {
			return map[string][]byte{}, nil
		}
		return nil, err
	}
	files, err := untar(bytes.NewReader(out))
	if err != nil {
		return nil, fmt.Errorf("node %s: read %s: %w", n.name, dir, err)
	}
	return files, nil
}

// untar drops the first element of the names, which is that of the directory.
func untar(r io.Reader) (map[string][]byte, error) {
	files := map[string][]byte{}
	archive := tar.NewReader(r)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		_, name, below := strings.Cut(path.Clean(header.Name), "/")
		if !below {
			name = path.Base(header.Name) // a file was asked for, not a directory
		}
		files[name] = content
	}
}
