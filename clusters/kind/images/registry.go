package images

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// registryAnswers is how long a registry has to say that it has the image: where none can be reached, a connection often hangs. A test has
// less patience.
var registryAnswers = 6 * time.Second

const registryFetches = 10 * time.Minute

// errDisk tells that an image could not be kept; to make it otherwise would need the same room.
var errDisk = errors.New("the image cannot be kept")

func officialKey() string { return "postgres-" + postgresMajor + "-official-" + runtime.GOARCH }

// pull fetches an image, if its registry answers soon. The default transport honours HTTPS_PROXY and NO_PROXY, the keychain the logins of docker.
func pull(ctx context.Context, images store, key, ref string, options Options) (Image, error) {
	tag, err := name.NewTag(ref)
	if err != nil {
		return Image{}, err
	}
	platform := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	with := []remote.Option{remote.WithPlatform(platform), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	if err := answers(ctx, tag, with); err != nil {
		return Image{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, registryFetches)
	defer cancel()
	image, err := remote.Image(tag, append(with, remote.WithContext(ctx))...)
	if err != nil {
		return Image{}, fmt.Errorf("fetch %s for %s: %w", ref, platform.Architecture, err)
	}
	if config, err := image.ConfigFile(); err != nil {
		return Image{}, fmt.Errorf("fetch %s: %w", ref, err)
	} else if config.Architecture != runtime.GOARCH {
		return Image{}, fmt.Errorf("%s is an image for %s, and this machine is %s", ref, config.Architecture, runtime.GOARCH)
	}
	options.say("fetching %s", ref)
	saved, err := images.save(key, ref, image)
	if errors.Is(err, syscall.ENOSPC) {
		return Image{}, fmt.Errorf("fetch %s: %w: %w", ref, errDisk, err)
	}
	if err != nil {
		return Image{}, fmt.Errorf("fetch %s: %w", ref, err)
	}
	return saved, nil
}

// answers asks the registry for the image. An error says what the registry said, and the remedy.
func answers(ctx context.Context, tag name.Tag, with []remote.Option) error {
	asked, cancel := context.WithTimeout(ctx, registryAnswers)
	defer cancel()
	// Asked once: one that says 429 says it again some seconds later.
	found, err := remote.Get(tag, append(with, remote.WithContext(asked), remote.WithRetryStatusCodes())...)
	if err == nil && !found.MediaType.IsImage() && !found.MediaType.IsIndex() {
		err = fmt.Errorf("%s is what came, as from a page to log in to a network", found.MediaType)
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if asked.Err() != nil {
		err = fmt.Errorf("nothing within %s", registryAnswers)
	}
	registry := tag.RegistryStr()
	var said *transport.Error
	if !errors.As(err, &said) {
		return fmt.Errorf("no registry answers for %s: %w (behind a proxy set HTTPS_PROXY, and trust its certificate)", tag, err)
	}
	switch said.StatusCode {
	case http.StatusNotFound:
		return fmt.Errorf("registry %s does not have %s (a mirror of it has to be filled with `docker push`): %w", registry, tag, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("registry %s gives %s only to those who log in: run `docker login %s`: %w", registry, tag, registry, err)
	case http.StatusTooManyRequests:
		return fmt.Errorf("registry %s gives no more images for now: run `docker login %s`, which allows more, or wait: %w", registry, registry, err)
	}
	return fmt.Errorf("registry %s cannot give %s now: %w", registry, tag, err)
}

// Push brings an image to a registry, under a name there; with the logins of docker.
func (i Image) Push(ctx context.Context, ref string) error {
	to, err := name.NewTag(ref)
	if err != nil {
		return err
	}
	image, err := tarball.ImageFromPath(i.Archive, nil)
	if err != nil {
		return fmt.Errorf("read %s: %w", i.Archive, err)
	}
	if err := remote.Write(to, image, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", ref, err)
	}
	return nil
}
