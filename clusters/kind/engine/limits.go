package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Every node runs systemd, containerd and a kubelet, each with inotify instances of its own, all of one user. The numbers are those that kind advises:
// https://kind.sigs.k8s.io/docs/user/known-issues/#pod-errors-due-to-too-many-open-files
var inotify = map[string]int{"max_user_instances": 512, "max_user_watches": 524288}

const sysctls = "/proc/sys/fs/inotify"

// lowLimits lists the settings in a directory of sysctl files that are below what a cluster needs. Without the directory there is nothing to say.
func lowLimits(dir string) []Warning {
	var low []Warning
	for _, name := range []string{"max_user_instances", "max_user_watches"} {
		need := inotify[name]
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		have, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || have >= need {
			continue
		}
		low = append(low, Warning{
			Reason: fmt.Sprintf("fs.inotify.%s is %d, too low for a cluster of five nodes", name, have),
			Remedy: fmt.Sprintf("raise it with: sudo sysctl fs.inotify.%s=%d", name, need),
		})
	}
	return low
}

// raiseLimits raises what is too low, until the machine starts again, and returns what it changed.
func raiseLimits(dir string) ([]string, error) {
	var raised []string
	for _, name := range []string{"max_user_instances", "max_user_watches"} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		have, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || have >= inotify[name] {
			continue
		}
		if err := os.WriteFile(path, []byte(strconv.Itoa(inotify[name])), 0); err != nil {
			return raised, err
		}
		raised = append(raised, fmt.Sprintf("fs.inotify.%s from %d to %d", name, have, inotify[name]))
	}
	return raised, nil
}
