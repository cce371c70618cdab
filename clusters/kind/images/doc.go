// Package images makes the container images that run inside a kind cluster, without a Dockerfile and without an engine: the programs under test and squall itself from Go source, Postgres from
// a registry where one answers and from Debian's packages where none does.
//
// An image is an archive as `docker save` writes it, which `docker load`, `kind load image-archive` and `ctr -n k8s.io images import` all take. Archives are cached; what goes into
// one decides its name, and the same content has the same digest wherever and whenever it was made (no timestamps, no owners of the building machine).
package images
