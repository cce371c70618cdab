package extract

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/squall-chaos/squall/checker/history"
)

// Near suggests what was probably meant, for a file in which nothing was found; "" when nothing is near. It reads the whole file.
func (f *Finder) Near(name string, data []byte) string {
	s := f.selector
	switch {
	case len(data) > maxBytes || s.Regex != "" || strings.HasSuffix(name, ".toml"):
		return ""
	case s.Dotenv != "":
		return near("variable", s.Dotenv, dotenvNames(data))
	}
	roots, err := documents(data)
	if err != nil {
		return ""
	}
	if s.Object == nil {
		return nearStep(roots, f.steps)
	}
	var found []*yaml.Node
	for _, root := range roots {
		found = append(found, objects(root, s.Object)...)
	}
	if len(found) == 0 {
		return nearObject(roots, s.Object)
	}
	switch {
	case s.Path != "":
		return nearStep(found, f.steps)
	case s.Env != "":
		return nearVariable(found, s)
	}
	return ""
}

func near(what, name string, known []string) string {
	if meant := history.Nearest(name, known); meant != "" {
		return fmt.Sprintf("did you mean the %s %q?", what, meant)
	}
	return ""
}

func dotenvNames(data []byte) []string {
	var names []string
	for _, line := range bytes.Split(data, []byte("\n")) {
		if m := assignment.FindSubmatch(line); m != nil {
			names = append(names, string(m[1]))
		}
	}
	return names
}

// nearStep finds the first step of a path that leads nowhere, and the key that is nearest to it.
func nearStep(roots []*yaml.Node, steps []step) string {
	for i, s := range steps {
		next := []*yaml.Node{}
		for _, root := range roots {
			next = append(next, walk(root, steps[:i+1])...)
		}
		if len(next) > 0 {
			continue
		}
		var keys []string
		for _, root := range roots {
			for _, n := range walk(root, steps[:i]) {
				if n = resolved(n); n.Kind == yaml.MappingNode {
					for k := 0; k+1 < len(n.Content); k += 2 {
						keys = append(keys, n.Content[k].Value)
					}
				}
			}
		}
		return near("key", s.key, keys)
	}
	return ""
}

// nearObject finds objects of the kind with another name, or with a kind that is nearly the same.
func nearObject(roots []*yaml.Node, want *Object) string {
	var names, kinds []string
	for _, root := range roots {
		root = resolved(root)
		kind := text(root, "kind")
		kinds = append(kinds, kind)
		if meta := child(root, "metadata"); kind == want.Kind && meta != nil {
			names = append(names, text(resolved(meta), "name"))
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	if hint := near("name", want.Name, names); hint != "" {
		return hint
	}
	if len(names) > 0 && len(names) <= 10 {
		return fmt.Sprintf("there is a %s named %s", want.Kind, strings.Join(names, ", "))
	}
	if slices.Contains(kinds, want.Kind) {
		return ""
	}
	return near("kind", want.Kind, kinds)
}

func nearVariable(found []*yaml.Node, s Selector) string {
	var names []string
	for _, o := range found {
		for _, c := range containers(o, text(o, "name")) {
			if env := child(c.node, "env"); env != nil && (s.Container == "" || c.name == s.Container) {
				for _, e := range resolved(env).Content {
					names = append(names, text(resolved(e), "name"))
				}
			}
		}
	}
	return near("variable", s.Env, names)
}
