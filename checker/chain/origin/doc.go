// Package origin reads the files that a chain is spread over: those of a directory, or those of a git repository at a reference,
// which need not be checked out. A reference is written path#ref or path#ref:subdir, and a repository elsewhere by its URL.
package origin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Tree is a tree of files.
type Tree interface {
	// Names lists the files, with slashes, in order.
	Names() ([]string, error)
	Read(name string) ([]byte, error)
	// Show is a file's name as messages write it.
	Show(name string) string
	// Local tells whether the files lie in a directory, where an editor finds them.
	Local() bool
	Close() error
}

// Open opens what the text means; a relative path is one from the directory base.
func Open(ctx context.Context, base, from string) (Tree, error) {
	where, ref, isGit := strings.Cut(from, "#")
	if !isGit {
		return openDirectory(join(base, from))
	}
	ref, sub, _ := strings.Cut(ref, ":")
	if ref == "" {
		return nil, fmt.Errorf("%q names no reference after #, such as #main or #v1.2.3", from)
	}
	if strings.HasPrefix(ref, "-") {
		return nil, fmt.Errorf("a reference cannot begin with -: %q", ref)
	}
	if remote(where) {
		return openRemote(ctx, where, ref, sub)
	}
	return openRepository(ctx, join(base, where), ref, sub)
}

func join(base, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(base, name)
}

// Match lists the files of a tree that a pattern means: a file, a glob in which ** stands for any directories, or a directory with
// all that is in it.
func Match(t Tree, pattern string) ([]string, error) {
	pattern = strings.TrimPrefix(path.Clean(filepath.ToSlash(pattern)), "./")
	if !strings.ContainsAny(pattern, "*?[{") {
		if d, ok := t.(*directory); ok && d.isFile(pattern) {
			return []string{pattern}, nil
		}
	}
	if !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("the pattern %q cannot be read: %w", pattern, doublestar.ErrBadPattern)
	}
	all, err := t.Names()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range all {
		switch {
		case name == pattern, pattern == ".", strings.HasPrefix(name, pattern+"/"), doublestar.MatchUnvalidated(pattern, name):
			found = append(found, name)
		}
	}
	return found, nil
}

// maxFiles of a tree that is searched with a pattern.
const maxFiles = 200_000

type directory struct {
	root  string
	names []string
}

func openDirectory(root string) (Tree, error) {
	info, err := osStat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no directory %s", root)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file; an input is a directory, and its links name the files", root)
	}
	return &directory{root: root}, nil
}

func (d *directory) isFile(name string) bool {
	info, err := osStat(filepath.Join(d.root, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}

func (d *directory) Names() ([]string, error) {
	if d.names != nil {
		return d.names, nil
	}
	names := []string{}
	err := filepath.WalkDir(d.root, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && file != d.root && slices.Contains([]string{".git", ".squall", "node_modules"}, e.Name()):
			return filepath.SkipDir
		case !e.Type().IsRegular():
			return nil
		case len(names) == maxFiles:
			return fmt.Errorf("more than %d files below %s", maxFiles, d.root)
		}
		rel, err := filepath.Rel(d.root, file)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	d.names = names
	return names, nil
}

func (d *directory) Read(name string) ([]byte, error) {
	return ReadFile(filepath.Join(d.root, filepath.FromSlash(name)))
}

func (d *directory) Show(name string) string {
	return filepath.ToSlash(filepath.Join(d.root, filepath.FromSlash(name)))
}

func (d *directory) Local() bool  { return true }
func (d *directory) Close() error { return nil }
