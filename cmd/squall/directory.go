package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// makeDirs makes a directory and those above it, and returns those that it made, innermost first.
func makeDirs(dir string) ([]string, error) {
	var missing []string
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s is not a directory", d)
		}
		if err == nil || d == filepath.Dir(d) {
			break
		}
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, d)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the directory %s: %w", dir, cause(err))
	}
	return missing, nil
}

// cause is the reason of a file error without the path that the message has already.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// writeFile writes a file whole or not at all. A link stays, and the file that it names is written; what is no file, a pipe
// or a device, is written in place: to rename something over it would take it away.
func writeFile(path string, write func(*os.File) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
			return writeInPlace(path, write)
		}
		return replaceFile(target, write)
	}
	if _, err := os.Lstat(path); err == nil { // a link to nothing yet
		return writeInPlace(path, write)
	}
	return replaceFile(path, write)
}

func writeInPlace(path string, write func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}

// replaceFile writes a file under another name, which it gives up for its own once it is whole.
func replaceFile(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	halfWritten.add(f.Name())
	defer halfWritten.done(f.Name())
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644) // CreateTemp's 0600 would keep a CI's other users out
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}
