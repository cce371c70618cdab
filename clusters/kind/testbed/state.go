package testbed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// record is what the state directory says about a cluster.
type record struct {
	Name    string       `json:"name"`
	ID      string       `json:"id"` // the same as in the ConfigMap within
	Image   string       `json:"image"`
	Created time.Time    `json:"created"`
	PID     int          `json:"pid"`   // who created it
	Ready   bool         `json:"ready"` // false: its creation has not ended, or never will
	Nodes   []nodeRecord `json:"nodes"`
}

type nodeRecord struct {
	Name     string                `json:"name"`
	Capacity clusters.CapacityType `json:"capacity,omitempty"` // "": control plane
}

// stateRoot holds one directory per cluster. State, not cache: a kubeconfig cannot be made anew by whoever cleans up.
// XDG Base Directory Specification, XDG_STATE_HOME.
func stateRoot() (string, error) {
	root := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(root) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no place for the state of clusters: %w; set XDG_STATE_HOME", err)
		}
		root = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(root, "squall", "clusters"), nil
}

func stateDir(name string) (string, error) {
	root, err := stateRoot()
	return filepath.Join(root, name), err
}

// states are the names of all clusters that have a state directory.
func states() ([]string, error) {
	root, err := stateRoot()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("state of clusters: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && validName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func recordPath(dir string) string     { return filepath.Join(dir, "cluster.json") }
func kubeconfigPath(dir string) string { return filepath.Join(dir, "kubeconfig") }

// load returns nil if there is no record, which is what a creation that was killed early leaves.
func load(name string) (*record, error) {
	dir, err := stateDir(name)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(recordPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("state of cluster %s: %w", name, err)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("state of cluster %s: %s: %w; remove the cluster: `squall cluster down %s`", name, recordPath(dir), err, name)
	}
	return &r, nil
}

// save replaces the record at once, so that no reader sees half of it.
func (r *record) save() error {
	dir, err := stateDir(r.Name)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	next := recordPath(dir) + ".new"
	if err := os.WriteFile(next, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("state of cluster %s: %w", r.Name, err)
	}
	return os.Rename(next, recordPath(dir))
}

// lock makes this process the only one that creates or removes the cluster. The lock is on the state directory itself, so
// that nothing is left once that is removed, and the kernel drops it when its holder dies.
func lock(name string) (unlock func(), err error) {
	dir, err := stateDir(name)
	if err != nil {
		return nil, err
	}
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("state of cluster %s: %w", name, err)
		}
		handle, err := os.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in between by the one who held the lock
		}
		if err != nil {
			return nil, fmt.Errorf("state of cluster %s: %w", name, err)
		}
		err = syscall.Flock(int(handle.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && same(handle, dir) {
			return func() { _ = handle.Close() }, nil
		}
		_ = handle.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, busy(name)
		}
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
	}
}

// busy names the process at work, if it has left its number.
func busy(name string) error {
	who := ""
	if r, err := load(name); err == nil && r != nil && r.PID != 0 {
		who = fmt.Sprintf(" (process %d created it)", r.PID)
	}
	return fmt.Errorf("cluster %s: %w%s; wait for it to end, or end it", name, ErrBusy, who)
}

// locked tells whether a process works on the cluster.
func locked(name string) bool {
	dir, err := stateDir(name)
	if err != nil {
		return false
	}
	handle, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = handle.Close() }()
	return errors.Is(syscall.Flock(int(handle.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// same tells whether the open directory is still the one at the path.
func same(handle *os.File, path string) bool {
	a, err := handle.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}
