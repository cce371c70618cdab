package images

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/squall-chaos/squall/clusters/binaries"
)

const (
	// PostgresUser runs Postgres, in the official image as in the one made here. The official image's default user is root: a manifest has to name this one.
	PostgresUser = 999

	postgresMajor = "17"
	officialRef   = OfficialPostgres

	// OfficialPostgres is the one that most clusters can pull.
	OfficialPostgres = "docker.io/library/postgres:" + postgresMajor
)

// Postgres returns an image of Postgres 17: one that was made or fetched earlier, else the official one if a registry answers, else one made of Debian's packages.
//
// Both take POSTGRES_PASSWORD, POSTGRES_USER, POSTGRES_DB and PGDATA, and settings as arguments (-c name=value). Both run as PostgresUser with a read-only root file system
// if /var/run/postgresql and the volume can be written and PGDATA is a directory below the volume.
func Postgres(ctx context.Context, options Options) (Image, error) {
	return postgres(ctx, officialRef, debianPostgres, options)
}

// postgres has the official image under ref, and another way to one that needs no registry.
func postgres(ctx context.Context, ref string, otherwise func(context.Context, store, Options) (Image, error), options Options) (Image, error) {
	images, err := openStore()
	if err != nil {
		return Image{}, err
	}
	if image, ok := cachedPostgres(images); ok {
		return image, nil
	}
	unlock, err := binaries.Lock(ctx, filepath.Join(string(images), "lock-postgres"), "building the image of Postgres", options.Progress)
	if err != nil {
		return Image{}, err
	}
	defer unlock()
	if image, ok := cachedPostgres(images); ok {
		return image, nil // somebody else made it meanwhile
	}
	image, pullErr := pull(ctx, images, officialKey(), ref, options)
	if pullErr == nil {
		return image, nil
	}
	if ctx.Err() != nil || errors.Is(pullErr, errDisk) { // nothing else would come of another way
		return Image{}, fmt.Errorf("image of Postgres: %w", pullErr)
	}
	options.say("%v: making Postgres of Debian's packages instead", pullErr)
	image, err = otherwise(ctx, images, options)
	if err != nil {
		return Image{}, fmt.Errorf("image of Postgres: %w", errors.Join(pullErr, err))
	}
	return image, nil
}

func cachedPostgres(images store) (Image, bool) {
	if image, ok := images.find(officialKey()); ok {
		return image, true
	}
	return images.find(debianKey())
}
