package nodeimage

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kindFiles are kind's own files for a node, with what its Dockerfile does to them and to the system around them.
func (b *builder) kindFiles(ctx context.Context, ctr, pause string) ([]entry, error) {
	dir, err := kindModule(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := copied(filepath.Join(dir, "images", "base", "files"))
	if err != nil {
		return nil, fmt.Errorf("read kind's files: %w", err)
	}
	for i, e := range entries {
		if e.name == "etc/containerd/config.toml" {
			if entries[i].text, err = containerdConfig(e.text, pause); err != nil {
				return nil, err
			}
		}
	}
	spec, err := exec.CommandContext(ctx, ctr, "oci", "spec").Output()
	if err != nil {
		return nil, fmt.Errorf("have ctr print a container's specification: %w", err)
	}
	base, err := baseSpec(spec)
	if err != nil {
		return nil, err
	}
	const wants = "etc/systemd/system/multi-user.target.wants/"
	return append(entries,
		entry{name: "etc/containerd/cri-base.json", text: base},
		entry{name: "etc/systemd/journald.conf.d/kind.conf", text: "[Journal]\nReadKMsg=no\n"},
		entry{name: wants},
		entry{name: wants + "kubelet.service", link: "/etc/systemd/system/kubelet.service"},
		entry{name: wants + "containerd.service", link: "/etc/systemd/system/containerd.service"},
		entry{name: wants + "undo-mount-hacks.service", link: "/etc/systemd/system/undo-mount-hacks.service"},
		entry{name: "etc/systemd/system/systemd-binfmt.service", link: "/dev/null"}, // it would register with the kernel that all nodes share
		entry{name: "usr/local/sbin/runc", link: "/usr/bin/crun"},                   // containerd looks for it by this name
		entry{name: "etc/kubernetes/manifests/"},
		entry{name: "kind/manifests/default-cni.yaml", text: podNetwork},
	), nil
}

// kindModule is the directory of kind's module. The go command fetches it if need be, and gives the sum of what it has.
func kindModule(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", "sigs.k8s.io/kind@"+kindVersion)
	cmd.Dir = os.TempDir() // in no module: one that replaces kind would have its say
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if json.Unmarshal(out, &module) == nil && module.Error != "" {
		return "", fmt.Errorf("fetch the module of kind %s: %s", kindVersion, module.Error)
	}
	if err != nil {
		return "", fmt.Errorf("fetch the module of kind %s: %w", kindVersion, err)
	}
	if module.Sum != kindSum {
		return "", fmt.Errorf("the module of kind %s has the sum %s and not %s: somebody changed it (`go clean -modcache` has it fetched anew)", kindVersion, module.Sum, kindSum)
	}
	return module.Dir, nil
}

// copied are a directory's files, with the modes that kind's Dockerfile gives them.
func copied(dir string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(dir, func(name string, found fs.DirEntry, err error) error {
		if err != nil || found.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		e := entry{name: filepath.ToSlash(strings.TrimPrefix(name, dir+string(filepath.Separator))), text: string(text)}
		e.program = strings.HasPrefix(e.name, "usr/local/bin/") || strings.HasPrefix(e.name, "kind/bin/")
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// containerdConfig names the image that pods' sandboxes are made of as kubeadm does, and has containerd not ask for a score
// of the OOM killer below its own, which a machine without CAP_SYS_RESOURCE refuses.
func containerdConfig(text, pause string) (string, error) {
	for _, setting := range []struct{ key, value string }{{"sandbox_image", `"` + pause + `"`}, {"restrict_oom_score_adj", "true"}} {
		changed := 0
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if key, _, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && key == setting.key {
				lines[i] = "  " + setting.key + " = " + setting.value
				changed++
			}
		}
		if changed != 1 {
			return "", fmt.Errorf("kind's configuration of containerd has %s %d times, not once", setting.key, changed)
		}
		text = strings.Join(lines, "\n")
	}
	return text, nil
}

// baseSpec is what every container on a node begins with: ctr's without the limits, as in kind's Dockerfile. Its hook, which gives containers
// a product_uuid of the node's own, is left out: it writes into the root file system, which crun has made read-only by then.
func baseSpec(spec []byte) (string, error) {
	var base map[string]any
	if err := json.Unmarshal(spec, &base); err != nil {
		return "", fmt.Errorf("read a container's specification: %w", err)
	}
	process, ok := base["process"].(map[string]any)
	if !ok {
		return "", fmt.Errorf("a container's specification has no process: %s", spec)
	}
	delete(process, "rlimits")
	text, err := json.MarshalIndent(base, "", "  ")
	return string(text), err
}
