// Package manifests holds what it takes to run the reference dispatcher and its reconciler in a cluster: a kustomize base, embedded,
// with the least rights that the two need. `squall manifests` prints it.
package manifests

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

//go:embed base
var base embed.FS

// Base is the folder of the kustomize base: its kustomization.yaml and the files that this names.
func Base() fs.FS {
	sub, err := fs.Sub(base, "base")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sub
}

// Image is the image that the base names, for an overlay to replace.
const Image = "squall-programs:latest"

// resources are the files of the base in the order in which they are applied. A test holds it to the kustomization.
var resources = []string{"serviceaccounts.yaml", "config.yaml", "dispatcher-role.yaml", "reconciler-role.yaml", "reconciler-nodes.yaml",
	"dispatcher.yaml", "reconciler.yaml", "disruption.yaml"}

var (
	validNamespace = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`) // DNS label, RFC 1123
	validImage     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`)
)

// The places of the base that a namespace goes to. Everything in it is written in this one way, which a test sees to.
var (
	metadata = regexp.MustCompile(`(?m)^metadata:\n`)
	subject  = regexp.MustCompile(`(?m)^(  - kind: ServiceAccount\n    name: .*\n)`)
	nodes    = regexp.MustCompile(`(?m)^  name: squall-reconciler-nodes$`)
)

// Render is the base as kustomize would make it of an overlay that sets the namespace and the image: documents for
// `kubectl apply -f -`. The objects that belong to no namespace bear its name, so that two installations do not share them. An empty
// image leaves the one of the base.
func Render(namespace, image string) (string, error) {
	if err := CheckNamespace(namespace); err != nil {
		return "", err
	}
	if image == "" {
		image = Image
	}
	if !validImage.MatchString(image) {
		return "", fmt.Errorf("image %q: expected a reference like registry.example.com/squall/programs:v1", image)
	}
	var out strings.Builder
	for _, file := range resources {
		text, err := fs.ReadFile(base, path.Join("base", file))
		if err != nil {
			return "", errors.Join(errors.New("read the embedded manifests"), err)
		}
		for document := range strings.SplitSeq(string(text), "---\n") {
			out.WriteString("---\n")
			out.WriteString(place(document, namespace, image))
		}
	}
	return out.String(), nil
}

// CheckNamespace returns an error unless the name can be one of a namespace.
func CheckNamespace(name string) error {
	if !validNamespace.MatchString(name) {
		return fmt.Errorf("namespace %q: expected a name of lower-case letters, digits and hyphens, of 63 characters at most", name)
	}
	return nil
}

// place puts one document into the namespace.
func place(document, namespace, image string) string {
	if strings.Contains(document, "\nkind: Cluster") {
		document = nodes.ReplaceAllString(document, "  name: squall-reconciler-nodes-"+namespace)
	} else {
		document = metadata.ReplaceAllString(document, "metadata:\n  namespace: "+namespace+"\n")
	}
	document = subject.ReplaceAllString(document, "${1}    namespace: "+namespace+"\n")
	return strings.ReplaceAll(document, Image, image)
}
