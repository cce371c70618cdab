package nodeimage

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// entry is one file of an image: a copy of a file, a text, a link, or, with a slash at the end of its name, a directory.
type entry struct {
	name             string
	file, text, link string
	program, sticky  bool // executable; a directory that everybody may write to
}

func appendEntries(to *tar.Writer, entries []entry) error {
	for _, e := range entries {
		if err := e.write(to); err != nil {
			return fmt.Errorf("write %s: %w", e.name, err)
		}
	}
	return nil
}

// write leaves times out, so that the same content gives the same digest.
func (e entry) write(to *tar.Writer) error {
	header := &tar.Header{Name: e.name, Mode: 0o644, ModTime: time.Unix(0, 0), Typeflag: tar.TypeReg}
	switch {
	case strings.HasSuffix(e.name, "/"):
		header.Typeflag, header.Mode = tar.TypeDir, 0o755
		if e.sticky {
			header.Mode = 0o1777
		}
		return to.WriteHeader(header)
	case e.link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, e.link, 0o777
		return to.WriteHeader(header)
	case e.file != "":
		return e.copy(to, header)
	}
	if e.program {
		header.Mode = 0o755
	}
	header.Size = int64(len(e.text))
	if err := to.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.WriteString(to, e.text)
	return err
}

// copy is of a program: nothing else is copied from files.
func (e entry) copy(to *tar.Writer, header *tar.Header) error {
	from, err := os.Open(e.file)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	header.Size, header.Mode = info.Size(), 0o755
	if err := to.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}

// concat is a tar of what other tars hold, and of the entries. An engine takes no layer in which a name is twice: where it would be, the
// entry counts, and among the tars and for directories the first.
func concat(paths []string, entries []entry) io.ReadCloser {
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(writeConcat(out, paths, entries)) }()
	return in
}

func writeConcat(out io.Writer, paths []string, entries []entry) error {
	to, seen := tar.NewWriter(out), map[string]bool{}
	for _, e := range entries {
		if !strings.HasSuffix(e.name, "/") {
			seen[path.Clean(e.name)] = true
		}
	}
	for _, name := range paths {
		if err := appendTar(to, name, seen); err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		return strings.HasSuffix(e.name, "/") && seen[path.Clean(e.name)]
	})
	if err := appendEntries(to, entries); err != nil {
		return err
	}
	return to.Close()
}

// appendTar copies what a tar holds, but for the names that were seen.
func appendTar(to *tar.Writer, name string, seen map[string]bool) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	from := tar.NewReader(file)
	for {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		clean := path.Clean(header.Name)
		if seen[clean] {
			continue
		}
		seen[clean] = true
		if err := to.WriteHeader(header); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
		if _, err := io.Copy(to, from); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}
