package nodeimage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters/binaries"
	"sigs.k8s.io/kind/pkg/apis/config/defaults"
)

// Options say which image is wanted.
type Options struct {
	Image    string    // the only one that will do, if set
	Progress io.Writer // may be nil
}

// ErrNone says that there is no image and none can be fetched.
var ErrNone = errors.New("there is no node image: run `squall node-image build` (or `make node-image`; about 14 minutes the first time on 2 cores)")

// ErrUnfit says that the image that was asked for cannot be had, or not be run here.
var ErrUnfit = errors.New("the node image cannot be used")

// registryTimeout is how long a registry has to answer at all. Where none can be reached, a connection often hangs. A test has less
// patience.
var registryTimeout = 10 * time.Second

// Find returns the reference of an image that is in the engine: the one that was asked for; else the one that Build makes, if it was
// built; else kind's default image, fetched if a registry answers; else ErrNone.
func Find(ctx context.Context, o Options) (string, error) {
	if o.Image != "" {
		return o.Image, fetch(ctx, o.Image, o.Progress)
	}
	ref, err := Ref()
	if err != nil {
		return "", err
	}
	switch found, err := present(ctx, ref); {
	case err != nil:
		return "", fmt.Errorf("find a node image: %w", err)
	case found:
		return ref, nil
	}
	if err := fetch(ctx, defaults.Image, o.Progress); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%w\n(looked for %s; then: %v)", ErrNone, ref, err)
	}
	return defaults.Image, nil
}

// Ref is the reference of the image that Build makes.
func Ref() (string, error) {
	r, err := newRecipe()
	if err != nil {
		return "", err
	}
	return "squall-node:" + binaries.KubernetesVersion + "-" + r.key(), nil
}

// fetch has the engine get an image that it does not have.
func fetch(ctx context.Context, image string, progress io.Writer) error {
	if found, err := present(ctx, image); found || err != nil {
		if err != nil {
			return fmt.Errorf("look for the node image %s: %w", image, err)
		}
		return architecture(ctx, image)
	}
	asked, cancel := context.WithTimeout(ctx, registryTimeout)
	defer cancel()
	if _, err := docker(asked, nil, "manifest", "inspect", image); err != nil {
		if errors.Is(asked.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %s", registryTimeout)
		}
		return fmt.Errorf("%w: %s is not in the engine, and no registry has it for us (%s, load it with `docker load`, or name another with --node-image): %w",
			ErrUnfit, image, remedy(err), err)
	}
	say(progress, time.Now(), "fetching %s", image)
	if _, err := docker(ctx, nil, "pull", "--quiet", image); err != nil {
		return fmt.Errorf("fetch the node image: %w", err)
	}
	return architecture(ctx, image)
}

// remedy is what there is to do about what docker says of a registry: the words of the registry's protocol for the codes of its errors.
func remedy(err error) string {
	text := strings.ToLower(err.Error())
	for _, c := range []struct{ word, remedy string }{
		{"toomanyrequests", "log in with `docker login`, which allows more, or wait"},
		{"unauthorized", "log in with `docker login`"},
		{"denied", "log in with `docker login`"},
		{"no such manifest", "check its name"},
		{"manifest unknown", "check its name"},
		{"not found", "check its name"},
	} {
		if strings.Contains(text, c.word) {
			return c.remedy
		}
	}
	return "tell the Docker engine of a proxy if there is one"
}
