// Package extract finds a value in a file of another format: in a Kubernetes manifest, in Helm values, in TOML, in a file of
// environment variables, or in source code of any language. A Selector says exactly where; nothing is guessed. What it finds
// comes with line and column, so that whoever reads a finding can go there.
//
// Manifests are read with another YAML library than Squall's own files: they have anchors, merge keys and a thousand lines, which
// a scenario may not have, and of their mistakes only the place matters.
package extract

import "fmt"

// Selector says where in a file a value stands. Exactly one of Path, Field, Env, Helm, Dotenv and Regex is set.
type Selector struct {
	Path      string  `yaml:"path,omitempty" doc:"A path in YAML, JSON or TOML: spec.template.spec.containers[name=main].image; * stands for any one step."`
	Field     string  `yaml:"field,omitempty" doc:"A field of a Kubernetes or Argo object that Squall knows the place of, by its own name, such as activeDeadlineSeconds or schedule; needs object."`
	Env       string  `yaml:"env,omitempty" doc:"An environment variable of a container; needs object."`
	Helm      string  `yaml:"helm,omitempty" doc:"A path in Helm values; of several files the later ones override the earlier ones, as with helm -f."`
	Dotenv    string  `yaml:"dotenv,omitempty" doc:"A variable in a .env file."`
	Regex     string  `yaml:"regex,omitempty" doc:"A regular expression with a group named value, (?P<value>...), for source code in any language."`
	Object    *Object `yaml:"object,omitempty" doc:"The Kubernetes object to look into, in a file of one or many."`
	Template  string  `yaml:"template,omitempty" doc:"The template of an Argo object to look into."`
	Container string  `yaml:"container,omitempty" doc:"The container whose environment is meant, by name."`
}

// Object is a Kubernetes object by what identifies it in a file.
type Object struct {
	Kind      string `yaml:"kind" doc:"As in the manifest: CronJob, Workflow, Deployment."`
	Name      string `yaml:"name,omitempty" doc:"metadata.name; without it every object of the kind is meant."`
	Namespace string `yaml:"namespace,omitempty" doc:"metadata.namespace, where a name alone does not tell."`
}

// String names the object as kubectl would.
func (o Object) String() string {
	text := o.Kind
	if o.Name != "" {
		text += "/" + o.Name
	}
	if o.Namespace != "" {
		text += " in " + o.Namespace
	}
	return text
}

// Match is a value as it stands in the file.
type Match struct {
	Text      string
	Line, Col int    // counted from 1, in characters
	In        string // the object that it is part of, or ""
}

// Error says why a file cannot be looked into, and where.
type Error struct {
	Line, Col int
	Message   string
	Fix       string
}

// Error is the message without the place.
func (e *Error) Error() string { return e.Message }

func broken(line, col int, fix, format string, args ...any) error {
	return &Error{Line: max(line, 1), Col: max(col, 1), Message: fmt.Sprintf(format, args...), Fix: fix}
}

// String says in words what is looked for.
func (s Selector) String() string {
	text := ""
	switch {
	case s.Path != "":
		text = "path " + s.Path
	case s.Field != "":
		text = "field " + s.Field
	case s.Env != "":
		text = "environment variable " + s.Env
	case s.Helm != "":
		text = "Helm value " + s.Helm
	case s.Dotenv != "":
		text = "variable " + s.Dotenv
	default:
		text = "regular expression " + s.Regex
	}
	if s.Container != "" {
		text += " of container " + s.Container
	}
	if s.Template != "" {
		text += " of template " + s.Template
	}
	if s.Object != nil {
		text += " of " + s.Object.String()
	}
	return text
}
