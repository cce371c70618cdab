package images

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const (
	registryAnswers = 6 * time.Second
	registryFetches = 10 * time.Minute
)

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
		return Image{}, fmt.Errorf("no registry answers for %s: %w", ref, err)
	}
	ctx, cancel := context.WithTimeout(ctx, registryFetches)
	defer cancel()
	image, err := remote.Image(tag, append(with, remote.WithContext(ctx))...)
	if err != nil {
		return Image{}, fmt.Errorf("fetch %s: %w", ref, err)
	}
	if config, err := image.ConfigFile(); err != nil {
		return Image{}, fmt.Errorf("fetch %s: %w", ref, err)
	} else if config.Architecture != runtime.GOARCH {
		return Image{}, fmt.Errorf("%s is an image for %s, and this machine is %s", ref, config.Architecture, runtime.GOARCH)
	}
	options.say("fetching %s", ref)
	saved, err := images.save(key, ref, image)
	if err != nil {
		return Image{}, fmt.Errorf("fetch %s: %w", ref, err)
	}
	return saved, nil
}

func answers(ctx context.Context, tag name.Tag, with []remote.Option) error {
	ctx, cancel := context.WithTimeout(ctx, registryAnswers)
	defer cancel()
	_, err := remote.Get(tag, append(with, remote.WithContext(ctx))...)
	return err
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
