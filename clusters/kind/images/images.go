package images

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Image is what a pod names, and the file that brings it to a node.
type Image struct {
	Ref     string `json:"ref"`
	Archive string `json:"archive"`
}

// Options of an image.
type Options struct {
	Planted  bool      // with the planted defects (Programs)
	Progress io.Writer // one line per step; nil for none
}

func (o Options) say(format string, args ...any) {
	if o.Progress != nil {
		fmt.Fprintf(o.Progress, format+"\n", args...)
	}
}

// assemble makes an image of one layer. Its digest depends on nothing but the arguments.
func assemble(layer v1.Layer, config v1.Config) (v1.Image, error) {
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Created = v1.Time{Time: time.Unix(0, 0).UTC()}
	file.History = nil
	file.Config = config
	return mutate.ConfigFile(image, file)
}

// store is the directory of the archives: NAME.tar beside NAME.json, which is written last and so stands for a complete archive.
type store string

func openStore() (store, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no directory for images: %w; set HOME or XDG_CACHE_HOME", err)
	}
	dir := filepath.Join(cache, "squall", "images")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("no directory for images: %w; set XDG_CACHE_HOME to one that can be written", err)
	}
	return store(dir), nil
}

// find returns an image made earlier, and marks it as used.
func (s store) find(key string) (Image, bool) {
	var image Image
	text, err := os.ReadFile(filepath.Join(string(s), key+".json"))
	if err != nil || json.Unmarshal(text, &image) != nil {
		return Image{}, false
	}
	image.Archive = filepath.Join(string(s), key+".tar")
	if _, err := os.Stat(image.Archive); err != nil {
		return Image{}, false
	}
	now := time.Now()
	_ = os.Chtimes(image.Archive, now, now) // only prune looks at it
	return image, true
}

// save writes the archive of an image. A file under the final name is complete.
func (s store) save(key, ref string, image v1.Image) (Image, error) {
	tag, err := name.NewTag(ref)
	if err != nil {
		return Image{}, err
	}
	saved := Image{Ref: ref, Archive: filepath.Join(string(s), key+".tar")}
	unfinished := saved.Archive + ".new"
	defer os.Remove(unfinished)
	if err := tarball.WriteToFile(unfinished, tag, image); err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			return Image{}, fmt.Errorf("write %s: %w; free some space there, or set XDG_CACHE_HOME to a larger disk", saved.Archive, err)
		}
		return Image{}, fmt.Errorf("write %s: %w", saved.Archive, err)
	}
	if err := os.Rename(unfinished, saved.Archive); err != nil {
		return Image{}, err
	}
	text, err := json.Marshal(saved)
	if err != nil {
		return Image{}, err
	}
	return saved, os.WriteFile(filepath.Join(string(s), key+".json"), text, 0o644)
}

// prune keeps the archives of a pattern that were used last: whoever works on the programs makes a new image with every change.
func (s store) prune(pattern string, keep int) error {
	archives, err := filepath.Glob(filepath.Join(string(s), pattern+".tar"))
	if err != nil {
		return err
	}
	for len(archives) > keep {
		oldest, stamp := 0, time.Time{}
		for i, archive := range archives {
			info, err := os.Stat(archive)
			if errors.Is(err, fs.ErrNotExist) {
				oldest = i // somebody else was pruning
				break
			}
			if err != nil {
				return err
			}
			if stamp.IsZero() || info.ModTime().Before(stamp) {
				oldest, stamp = i, info.ModTime()
			}
		}
		record := archives[oldest][:len(archives[oldest])-len(".tar")] + ".json"
		for _, file := range []string{record, archives[oldest]} {
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		archives = append(archives[:oldest], archives[oldest+1:]...)
	}
	return nil
}

// digest is a short name for content.
func digest(parts ...[]byte) string {
	sum := sha256.Sum256(bytes.Join(parts, []byte{0}))
	return hex.EncodeToString(sum[:])[:16]
}
