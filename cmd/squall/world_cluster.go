//go:build kind

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/kind/images"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/clusters/shared"
)

func init() {
	provideWorld(sharedWorld, provision{begin: beginShared, check: checkShared, adapt: adaptShared})
}

func beginShared(ctx context.Context, o worldOptions) (*session, error) {
	s, err := openShared(ctx, o)
	if ctx.Err() != nil {
		return s, err // an interruption, whatever it looks like
	}
	return s, sharedError(ctx, err)
}

func openShared(ctx context.Context, o worldOptions) (*session, error) {
	site, err := shared.Open(o.context, o.namespace)
	if err == nil {
		err = site.Prepare(ctx)
	}
	if err != nil {
		return nil, err
	}
	options := shared.Options{Log: kindLog(o.progress)}
	if options.Programs, options.Postgres, err = sharedImages(ctx, o); err != nil {
		return nil, err
	}
	mesh, err := findMesh(ctx, site)
	if err != nil {
		mesh = nil // the faults that need it were refused before
	}
	open := func(ctx context.Context, c clusters.Config) (clusters.Cluster, error) {
		w, err := site.New(ctx, c, options)
		if err != nil {
			return nil, sharedError(ctx, err) // not a typed nil
		}
		return mesh.wrap(w, c), nil
	}
	return &session{open: open, lanes: 1, about: fmt.Sprintf("namespace %s of context %s", o.namespace, o.context)}, nil
}

// sharedError tells what whoever typed the command can mend (2) from a failure of Squall (4).
func sharedError(ctx context.Context, err error) error {
	for _, theirs := range []error{shared.ErrContext, shared.ErrNamespace, shared.ErrRights, shared.ErrRemains, shared.ErrImage} {
		if errors.Is(err, theirs) {
			return usage("%w", err)
		}
	}
	return kindError(ctx, err)
}

// sharedImages are the names by which the cluster gets the images. A kind cluster has them loaded, any other has to pull them.
func sharedImages(ctx context.Context, o worldOptions) (programs, postgres string, err error) {
	programs, postgres = o.image, o.postgres
	name, isKind := strings.CutPrefix(o.context, "kind-"+testbed.Prefix)
	if isKind && (programs == "" || postgres == "") {
		return loadShared(ctx, o, name)
	}
	if programs == "" {
		return "", "", usage("which image has the programs? Context %s is no kind cluster of Squall's, into which one could be loaded. Make one of this "+
			"checkout: squall image programs%s --push REGISTRY/NAME:TAG; then add --image REGISTRY/NAME:TAG", o.context, plantedFlag(o))
	}
	if postgres == "" {
		postgres = images.OfficialPostgres
	}
	return programs, postgres, nil
}

func plantedFlag(o worldOptions) string {
	if o.planted {
		return " --planted"
	}
	return ""
}

// loadShared brings to the nodes what was not named.
func loadShared(ctx context.Context, o worldOptions, cluster string) (programs, postgres string, err error) {
	bed, err := testbed.Open(ctx, cluster)
	if err != nil {
		return "", "", fmt.Errorf("%w; or name an image that the cluster can pull with --image and --postgres-image", err)
	}
	bring := func(named string, get func() (images.Image, error)) (string, error) {
		if named != "" {
			return named, nil
		}
		image, err := get()
		if err != nil {
			return "", err
		}
		return image.Ref, bed.Load(ctx, image.Archive, image.Ref)
	}
	programs, err = bring(o.image, func() (images.Image, error) {
		return images.Programs(ctx, images.Options{Planted: o.planted, Progress: o.progress})
	})
	if err != nil {
		return "", "", err
	}
	postgres, err = bring(o.postgres, func() (images.Image, error) { return images.Postgres(ctx, images.Options{Progress: o.progress}) })
	return programs, postgres, err
}

// checkShared is what kubectl auth can-i would say, and what else a run would meet.
func checkShared(ctx context.Context, o worldOptions) []finding {
	if o.context == "" || o.namespace == "" {
		return []finding{{what: "context", detail: "none was named, so no cluster was asked", remedy: "squall doctor --world cluster --context C -n NS"}}
	}
	site, err := shared.Open(o.context, o.namespace)
	if err != nil {
		return []finding{{what: "context", detail: err.Error(), remedy: "kubectl config get-contexts"}}
	}
	version, err := site.Version(ctx)
	if err != nil {
		return []finding{{what: "context", detail: err.Error(), remedy: "kubectl --context " + o.context + " version"}}
	}
	found := []finding{{what: "context", ok: true, detail: fmt.Sprintf("%s, Kubernetes %s", o.context, version)}}
	allowed := finding{what: "namespace", ok: true, detail: o.namespace + " allows chaos"}
	if err := site.Allowed(ctx); err != nil {
		detail, remedy, _ := cutRemedy(err.Error())
		allowed = finding{what: "namespace", detail: detail, remedy: remedy}
	}
	found = append(found, allowed)
	found = append(found, sharedRights(ctx, site)...)
	found = append(found, sharedRest(ctx, site, o)...)
	return append(found, checkMesh(ctx, site))
}

// cutRemedy parts a message of what is wrong from what to do.
func cutRemedy(text string) (what, remedy string, found bool) {
	if i := strings.LastIndex(text, ": kubectl "); i >= 0 {
		return text[:i], text[i+2:], true
	}
	return text, "", false
}

func sharedRights(ctx context.Context, site *shared.Site) []finding {
	var found []finding
	for _, r := range shared.Rights {
		f := finding{what: "right", ok: true, detail: fmt.Sprintf("%s: %s", r, strings.Join(r.Verbs, ", "))}
		missing, err := site.Missing(ctx, []shared.Right{r})
		switch {
		case err != nil:
			return append(found, finding{what: "right", detail: err.Error()})
		case len(missing) > 0:
			f = finding{what: "right", detail: missing[0].String(), remedy: site.Grant()}
		}
		found = append(found, f)
	}
	return found
}

// sharedRest is what is left of other runs, and where work can go.
func sharedRest(ctx context.Context, site *shared.Site, o worldOptions) []finding {
	f := finding{what: "remains", ok: true, detail: "nothing of earlier runs"}
	left, err := site.Remains(ctx)
	switch {
	case err != nil:
		f = finding{what: "remains", detail: err.Error()}
	case len(left) > 0:
		f = finding{what: "remains", detail: fmt.Sprintf("%s of a run that was killed, or still goes on", count(len(left), "object", "objects")),
			remedy: fmt.Sprintf("squall clean --context %s -n %s", o.context, o.namespace)}
	}
	found := []finding{f}
	switch n, known := site.OnDemandNodes(ctx); {
	case !known:
		found = append(found, finding{what: "nodes", ok: true, detail: "they may not be listed, which no run needs; work with start deadlines asks for one with the label " + shared.OnDemandLabel})
	case n == 0:
		found = append(found, finding{what: "nodes", detail: "none has the label " + shared.OnDemandLabel + ", and work with start deadlines waits for one",
			remedy: "kubectl label node NODE " + shared.OnDemandLabel})
	default:
		found = append(found, finding{what: "nodes", ok: true, detail: count(n, "node has", "nodes have") + " the label " + shared.OnDemandLabel})
	}
	return found
}
