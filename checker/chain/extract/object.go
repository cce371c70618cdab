package extract

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/squall-chaos/squall/checker/history"
)

// fields are the places of fields that a link may name by their own name, by kind of object. A field with two places is
// looked for in both: where both are set the link has to say which it means, with a path.
var fields = map[string]map[string][]string{
	"activeDeadlineSeconds": {
		"Pod": {"spec.activeDeadlineSeconds"}, "Job": {"spec.activeDeadlineSeconds", "spec.template.spec.activeDeadlineSeconds"},
		"CronJob":  {"spec.jobTemplate.spec.activeDeadlineSeconds", "spec.jobTemplate.spec.template.spec.activeDeadlineSeconds"},
		"Workflow": {"spec.activeDeadlineSeconds"}, "WorkflowTemplate": {"spec.activeDeadlineSeconds"},
		"ClusterWorkflowTemplate": {"spec.activeDeadlineSeconds"}, "CronWorkflow": {"spec.workflowSpec.activeDeadlineSeconds"},
	},
	"terminationGracePeriodSeconds": {
		"Pod": {"spec.terminationGracePeriodSeconds"}, "Job": {"spec.template.spec.terminationGracePeriodSeconds"},
		"CronJob":    {"spec.jobTemplate.spec.template.spec.terminationGracePeriodSeconds"},
		"Deployment": {"spec.template.spec.terminationGracePeriodSeconds"}, "StatefulSet": {"spec.template.spec.terminationGracePeriodSeconds"},
		"DaemonSet": {"spec.template.spec.terminationGracePeriodSeconds"}, "ReplicaSet": {"spec.template.spec.terminationGracePeriodSeconds"},
		// Argo has no field of its own: the pod is patched.
		"Workflow": {"spec.podSpecPatch"}, "WorkflowTemplate": {"spec.podSpecPatch"}, "ClusterWorkflowTemplate": {"spec.podSpecPatch"},
		"CronWorkflow": {"spec.workflowSpec.podSpecPatch"},
	},
	"schedule":                {"CronJob": {"spec.schedule"}, "CronWorkflow": {"spec.schedule", "spec.schedules[*]"}},
	"startingDeadlineSeconds": {"CronJob": {"spec.startingDeadlineSeconds"}, "CronWorkflow": {"spec.startingDeadlineSeconds"}},
	"backoffLimit":            {"Job": {"spec.backoffLimit"}, "CronJob": {"spec.jobTemplate.spec.backoffLimit"}},
	"leaseDurationSeconds":    {"Lease": {"spec.leaseDurationSeconds"}},
}

// templateFields are those of an Argo template.
var templateFields = map[string]string{
	"activeDeadlineSeconds": "activeDeadlineSeconds", "timeout": "timeout", "terminationGracePeriodSeconds": "podSpecPatch",
}

// templatesOf are where Argo objects have their templates.
var templatesOf = map[string]string{
	"Workflow": "spec.templates", "WorkflowTemplate": "spec.templates", "ClusterWorkflowTemplate": "spec.templates",
	"CronWorkflow": "spec.workflowSpec.templates",
}

func checkField(s Selector) error {
	if s.Template != "" {
		if _, ok := templateFields[s.Field]; !ok {
			return unknownField(s.Field, slices.Sorted(maps.Keys(templateFields)), "of an Argo template")
		}
		return checkTemplates(s)
	}
	places, ok := fields[s.Field]
	if !ok {
		return unknownField(s.Field, slices.Sorted(maps.Keys(fields)), "")
	}
	if _, ok := places[s.Object.Kind]; !ok {
		return fmt.Errorf("a %s has no %s that Squall knows the place of; it is known for %s: name it with path instead",
			s.Object.Kind, s.Field, strings.Join(slices.Sorted(maps.Keys(places)), ", "))
	}
	return nil
}

func checkTemplates(s Selector) error {
	if _, ok := templatesOf[s.Object.Kind]; !ok {
		return fmt.Errorf("a %s has no templates: they are in %s", s.Object.Kind, strings.Join(slices.Sorted(maps.Keys(templatesOf)), ", "))
	}
	return nil
}

func unknownField(name string, known []string, of string) error {
	hint := "known are " + strings.Join(known, ", ") + "; any other is named with path"
	if near := history.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return fmt.Errorf("unknown field %q %s: %s", name, of, hint)
}

// findInObjects looks into every object that the selector means.
func (f *Finder) findInObjects(data []byte) ([]Match, error) {
	roots, err := documents(data)
	if err != nil {
		return nil, err
	}
	var found []Match
	for _, root := range roots {
		for _, o := range objects(root, f.selector.Object) {
			matches, err := f.inObject(o, data)
			if err != nil {
				return nil, err
			}
			found = append(found, matches...)
		}
	}
	return found, nil
}

// objects are those in a document that fit: the document itself, or items of a List.
func objects(root *yaml.Node, want *Object) []*yaml.Node {
	left := maxNodes
	return objectsOf(root, want, &left)
}

func objectsOf(root *yaml.Node, want *Object, left *int) []*yaml.Node {
	root = resolved(root)
	if *left--; root.Kind != yaml.MappingNode || *left < 0 {
		return nil
	}
	kind := text(root, "kind")
	if strings.HasSuffix(kind, "List") {
		var found []*yaml.Node
		if items := child(root, "items"); items != nil {
			for _, item := range resolved(items).Content {
				found = append(found, objectsOf(item, want, left)...)
			}
		}
		return found
	}
	meta := child(root, "metadata")
	if kind != want.Kind || meta == nil && want.Name != "" {
		return nil
	}
	if want.Name != "" && text(resolved(meta), "name") != want.Name || want.Namespace != "" && text(resolved(meta), "namespace") != want.Namespace {
		return nil
	}
	return []*yaml.Node{root}
}

func text(n *yaml.Node, key string) string {
	if v := child(n, key); v != nil {
		return resolved(v).Value
	}
	return ""
}

func (f *Finder) inObject(o *yaml.Node, data []byte) ([]Match, error) {
	s := f.selector
	in := s.Object.Kind
	if meta := child(o, "metadata"); meta != nil && text(resolved(meta), "name") != "" {
		in += "/" + text(resolved(meta), "name")
	}
	roots := []*yaml.Node{o}
	if s.Template != "" {
		roots = nil
		steps, _ := parsePath(templatesOf[s.Object.Kind])
		for _, list := range walk(o, steps) {
			roots = append(roots, elements(resolved(list), "name", s.Template)...)
		}
	}
	switch {
	case s.Env != "":
		return environment(roots, s, in)
	case s.Path != "":
		return scalars(walk(o, f.steps), in)
	}
	paths := fields[s.Field][s.Object.Kind]
	if s.Template != "" {
		paths = []string{templateFields[s.Field]}
	}
	var found []Match
	for _, p := range paths {
		steps, _ := parsePath(p) // our own
		for _, root := range roots {
			matches, err := field(walk(root, steps), s.Field, in, data)
			if err != nil {
				return nil, err
			}
			found = append(found, matches...)
		}
	}
	return found, nil
}

// field reads the nodes, and looks inside those that are a patch of the pod, written as text.
func field(nodes []*yaml.Node, name, in string, data []byte) ([]Match, error) {
	found, err := scalars(nodes, in)
	if err != nil || name != "terminationGracePeriodSeconds" {
		return found, err
	}
	var inside []Match
	for i, m := range found {
		if !strings.Contains(m.Text, name) {
			if resolved(nodes[i]).Tag == "!!int" {
				inside = append(inside, m)
			}
			continue
		}
		patch, err := documents([]byte(m.Text))
		if err != nil {
			return nil, broken(m.Line, m.Col, "", "the patch is %s", err)
		}
		for _, root := range patch {
			if v := child(resolved(root), name); v != nil {
				line, col := placeInText(data, m, name)
				inside = append(inside, Match{Text: resolved(v).Value, Line: line, Col: col, In: in})
			}
		}
	}
	return inside, nil
}

// placeInText is where a key's value stands in the lines of a text from a match on.
func placeInText(data []byte, m Match, key string) (line, col int) {
	lines := bytes.Split(data, []byte("\n"))
	for i := m.Line - 1; i < len(lines); i++ {
		at := bytes.Index(lines[i], []byte(key))
		if at < 0 {
			continue
		}
		rest := string(lines[i][at+len(key):])
		skipped := len(rest) - len(strings.TrimLeft(rest, `"': `))
		return i + 1, len([]rune(string(lines[i][:at]))) + len(key) + skipped + 1
	}
	return m.Line, m.Col
}

// environment finds a variable in every container below the nodes, wherever the kind of object has them.
func environment(roots []*yaml.Node, s Selector, in string) ([]Match, error) {
	var found []Match
	for _, root := range roots {
		for _, c := range containers(root, text(root, "name")) {
			if s.Container != "" && c.name != s.Container {
				continue
			}
			env := child(c.node, "env")
			if env == nil {
				continue
			}
			for _, e := range elements(resolved(env), "name", s.Env) {
				e = resolved(e)
				value := child(e, "value")
				if value == nil {
					if from := child(e, "valueFrom"); from != nil {
						return nil, broken(e.Line, e.Column, "point the link at the place that the value comes from",
							"the value of %s is not here: it comes from elsewhere (valueFrom)", s.Env)
					}
					continue
				}
				matches, err := scalars([]*yaml.Node{value}, in)
				if err != nil {
					return nil, err
				}
				found = append(found, matches...)
			}
		}
	}
	return found, nil
}

type container struct {
	name string
	node *yaml.Node
}

// containers are all below a node: lists of them in pods, single ones in Argo's templates, which are named after the template.
func containers(n *yaml.Node, owner string) []container {
	left := 10 * maxNodes
	return containersOf(n, owner, maxObjectDepth, &left)
}

// maxObjectDepth is deeper than any object; it ends aliases of themselves, as the number of nodes ends those that fan out.
const maxObjectDepth = 24

func containersOf(n *yaml.Node, owner string, depth int, left *int) []container {
	n = resolved(n)
	if *left--; depth == 0 || *left < 0 {
		return nil
	}
	var found []container
	if n.Kind == yaml.SequenceNode {
		for _, e := range n.Content {
			found = append(found, containersOf(e, text(resolved(e), "name"), depth-1, left)...)
		}
		return found
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		value := resolved(n.Content[i+1])
		switch n.Content[i].Value {
		case "containers", "initContainers", "sidecars":
			for _, e := range value.Content {
				found = append(found, container{text(resolved(e), "name"), resolved(e)})
			}
		case "container", "script":
			name := text(value, "name")
			if name == "" {
				name = owner
			}
			found = append(found, container{name, value})
		default:
			found = append(found, containersOf(value, owner, depth-1, left)...)
		}
	}
	return found
}
