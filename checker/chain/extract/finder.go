package extract

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Finder is a Selector that was found usable.
type Finder struct {
	selector Selector
	steps    []step
	regex    *regexp.Regexp
}

// New checks a selector. The error says what does not make sense, and names the field.
func New(s Selector) (*Finder, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	f := &Finder{selector: s}
	var err error
	switch {
	case s.Regex != "":
		f.regex, err = compile(s.Regex)
	case s.Path != "":
		f.steps, err = parsePath(s.Path)
	case s.Helm != "":
		f.steps, err = parsePath(s.Helm)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (s Selector) check() error {
	var ways []string
	for _, w := range []struct{ name, value string }{
		{"path", s.Path}, {"field", s.Field}, {"env", s.Env}, {"helm", s.Helm}, {"dotenv", s.Dotenv}, {"regex", s.Regex},
	} {
		if w.value != "" {
			ways = append(ways, w.name)
		}
	}
	switch {
	case len(ways) == 0:
		return fmt.Errorf("an extractor needs one of path, field, env, helm, dotenv and regex")
	case len(ways) > 1:
		return fmt.Errorf("an extractor has one way to find its value, not %s", strings.Join(ways, " and "))
	case (s.Field != "" || s.Env != "") && s.Object == nil:
		return fmt.Errorf("%s needs the object to look into: object: {kind: CronJob, name: NAME}", ways[0])
	case s.Object != nil && !slices.Contains([]string{"path", "field", "env"}, ways[0]):
		return fmt.Errorf("%s does not look into objects: leave object out", ways[0])
	case s.Object != nil && s.Object.Kind == "":
		return fmt.Errorf("object needs a kind")
	case s.Container != "" && s.Env == "":
		return fmt.Errorf("container goes with env only")
	case s.Template != "" && s.Env == "" && s.Field == "":
		return fmt.Errorf("template goes with field or env only")
	}
	if s.Field != "" {
		return checkField(s)
	}
	return nil
}

// valueGroup is what the group of a regular expression is named.
const valueGroup = "value"

func compile(pattern string) (*regexp.Regexp, error) {
	r, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return nil, fmt.Errorf("the regular expression cannot be read: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if n := r.SubexpIndex(valueGroup); n < 0 {
		return nil, fmt.Errorf("the regular expression has no group named value: (?P<value>[0-9]+)")
	}
	return r, nil
}

// maxBytes of a file. Rendered manifests of a whole cluster are smaller.
const maxBytes = 8 << 20

// Find returns every match in a file. That there is none is no error; that the file cannot be looked into is an *Error.
func (f *Finder) Find(name string, data []byte) ([]Match, error) {
	if len(data) > maxBytes {
		return nil, broken(1, 1, "point the link at the one file that has the value", "the file has %d bytes; the limit is %d", len(data), maxBytes)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	s := f.selector
	switch {
	case f.regex != nil:
		return f.findRegex(data), nil
	case s.Dotenv != "":
		return findDotenv(s.Dotenv, data)
	case s.Object == nil && path.Ext(name) == ".toml":
		return findTOML(f.steps, data)
	case !f.mayHold(data):
		return nil, nil
	}
	found, err := f.findYAML(data)
	if bad := new(Error); errors.As(err, &bad) && templateMark(data, bad.Line) && !strings.HasPrefix(bad.Message, aTemplate) {
		return nil, template(data, bad.Message) // a value that is {{ x }} can be read, as a mapping
	}
	return found, err
}

// findYAML looks into one document after the other. Those that cannot have the object are not even parsed.
func (f *Finder) findYAML(data []byte) ([]Match, error) {
	var all []Match
	line := 0
	for len(data) > 0 {
		document, rest := cutDocument(data)
		data = rest
		if f.mayHold(document) {
			found, err := f.findIn(document)
			if bad := new(Error); errors.As(err, &bad) {
				bad.Line += line
				return nil, bad
			}
			for _, m := range found {
				m.Line += line
				all = append(all, m)
			}
		}
		line += bytes.Count(document, []byte("\n"))
	}
	return all, nil
}

func (f *Finder) findIn(document []byte) ([]Match, error) {
	if f.selector.Object == nil {
		return f.findPath(document)
	}
	return f.findInObjects(document)
}

// cutDocument cuts a stream before its second document. Three hyphens at the beginning of a line are nothing else in YAML.
func cutDocument(data []byte) (document, rest []byte) {
	for from := 0; ; {
		at := bytes.Index(data[from:], []byte("\n---"))
		if at < 0 {
			return data, nil
		}
		at += from + 1
		if after := data[at+3:]; len(after) == 0 || bytes.IndexByte([]byte(" \t\r\n"), after[0]) >= 0 {
			return data[:at], data[at:]
		}
		from = at
	}
}

// mayHold tells quickly that a file cannot have the object: of a thousand manifests only a few have to be parsed.
func (f *Finder) mayHold(data []byte) bool {
	o := f.selector.Object
	return o == nil || bytes.Contains(data, []byte(o.Kind)) && bytes.Contains(data, []byte(o.Name))
}

func (f *Finder) findRegex(data []byte) []Match {
	var found []Match
	group := f.regex.SubexpIndex(valueGroup)
	for _, at := range f.regex.FindAllSubmatchIndex(data, -1) {
		from, to := at[2*group], at[2*group+1]
		if from < 0 {
			continue // an alternative without the group
		}
		line, col := position(data, from)
		found = append(found, Match{Text: string(data[from:to]), Line: line, Col: col})
	}
	return found
}

// position is the line and the column, in characters, of an offset.
func position(data []byte, offset int) (line, col int) {
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, len([]rune(string(before[start:]))) + 1
}
