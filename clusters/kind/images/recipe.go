package images

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/squall-chaos/squall/clusters/binaries"
)

// Recipe is an image of programs that are built already, and of packages of Debian that they use.
type Recipe struct {
	// Name is that of the image in the repository squall.local.
	Name string
	// Programs are the files of this machine to take, by their places in the image.
	Programs map[string]string
	// Links are symbolic links, by their places in the image.
	Links map[string]string
	// Packages are those of Debian to take with what they depend on, Unwanted leaves packages out. None: an image of static programs.
	Packages []string
	Unwanted *regexp.Regexp
	// Started are the files of packages that are executed: every library that they are linked with must be there.
	Started []string
	// Path is the PATH in the image, Command what a container executes that is told nothing else.
	Path    string
	Command []string
}

const keepRecipes = 2 // archives of one name

// Image makes the image, or returns it if it was made earlier of the same programs.
func (r Recipe) Image(ctx context.Context, options Options) (Image, error) {
	image, err := r.image(ctx, options)
	if err != nil {
		return Image{}, fmt.Errorf("image of %s: %w", r.Name, err)
	}
	return image, nil
}

func (r Recipe) image(ctx context.Context, options Options) (Image, error) {
	images, err := openStore()
	if err != nil {
		return Image{}, err
	}
	unlock, err := binaries.Lock(ctx, filepath.Join(string(images), "lock-"+r.Name), "building the image of "+r.Name, options.Progress)
	if err != nil {
		return Image{}, err
	}
	defer unlock()
	programs, err := pack(r.entries())
	if err != nil {
		return Image{}, err
	}
	key := r.Name + "-" + digest([]byte(programs.digest.Hex), []byte(strings.Join(r.Packages, " ")), []byte(r.Path), []byte(fmt.Sprint(r.Command, r.Unwanted)))
	if image, ok := images.find(key); ok {
		return image, nil
	}
	layer := programs
	if len(r.Packages) > 0 {
		dir, err := os.MkdirTemp(string(images), "debian-")
		if err != nil {
			return Image{}, err
		}
		defer os.RemoveAll(dir)
		if layer, err = r.root(ctx, dir, options); err != nil {
			return Image{}, err
		}
	}
	image, err := assemble(layer, v1.Config{WorkingDir: "/", Env: []string{"PATH=" + r.Path}, Entrypoint: r.Command})
	if err != nil {
		return Image{}, err
	}
	ref := "squall.local/" + r.Name + ":" + layer.digest.Hex[:16]
	options.say("writing image %s (%d MB)", ref, layer.size>>20)
	saved, err := images.save(key, ref, image)
	if err != nil {
		return Image{}, err
	}
	return saved, images.prune(r.Name+"-[0-9a-f]*", keepRecipes)
}

// entries are what does not come from a package.
func (r Recipe) entries() []entry {
	entries := []entry{{path: "tmp/", mode: 0o1777}}
	for _, to := range slices.Sorted(maps.Keys(r.Programs)) {
		entries = append(entries, entry{path: to, mode: 0o755, disk: r.Programs[to]})
	}
	for _, to := range slices.Sorted(maps.Keys(r.Links)) {
		entries = append(entries, entry{path: to, link: r.Links[to]})
	}
	return entries
}

// root is everything in one layer.
func (r Recipe) root(ctx context.Context, dir string, options Options) (*layer, error) {
	if err := haveApt(); err != nil {
		return nil, err
	}
	options.say("asking Debian %s for %s", suite, strings.Join(r.Packages, ", "))
	debs, _, err := download(ctx, dir, r.Packages, r.Unwanted, options)
	if err != nil {
		return nil, err
	}
	root := filepath.Join(dir, "root.tar")
	if err := writeRoot(ctx, root, debs, r.entries(), r.Started); err != nil {
		return nil, err
	}
	return newLayer(func() (io.ReadCloser, error) { return os.Open(root) })
}
