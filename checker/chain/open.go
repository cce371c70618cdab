package chain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/squall-chaos/squall/checker/chain/origin"
	"github.com/squall-chaos/squall/checker/strictyaml"
)

// Chain is a chain with the values of its links.
type Chain struct {
	Name  string
	File  string // the chain file
	Links []Resolved
	// Files is how many files were looked into.
	Files int

	parsed *parsed
}

// Resolved is a link with its values: one, or with `each` as many as were found.
type Resolved struct {
	Name    string
	Setting string // of the dispatcher; "" when it is none
	Owner   string
	Values  []Value
	// Derived tells that the value is given in the chain file itself: a constant, a default, or a formula.
	Derived bool

	unit unit
}

// Value is one value of a link.
type Value struct {
	Quantity
	Text  string // as it stands there
	Place Place
	In    string // the object that it is part of, or ""
}

// Options are what a chain is opened with.
type Options struct {
	// Inputs are where inputs come from instead of what the file says, by name.
	Inputs map[string]string
}

// Open reads a chain file and finds the values of its links. The error is an *InputError when it is about what was read.
func Open(ctx context.Context, file string, o Options) (*Chain, error) {
	data, err := read(file)
	if err != nil {
		return nil, err
	}
	dir, err := origin.Open(ctx, "", filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	return resolve(ctx, file, data, dir, openings{base: filepath.Dir(file), inputs: o.Inputs})
}

func read(file string) ([]byte, error) {
	data, err := origin.ReadFile(file)
	if err == nil {
		return data, nil
	}
	problem := Problem{Code: CodeFile, Place: Place{File: file, Line: 1, Col: 1}, Message: "cannot be read: " + cause(err).Error()}
	if errors.Is(err, fs.ErrNotExist) {
		problem.Message, problem.Fix = "there is no such file", "`squall init` writes one to begin with; --chain names another"
	}
	return nil, &InputError{Problems: []Problem{problem}}
}

// cause is the reason of a file error without the path that the message has already.
func cause(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// openings are how inputs are opened.
type openings struct {
	base   string
	inputs map[string]string
	// at, when set, is the reference that directories of the chain's own repository are read at.
	at string
}

// resolver finds the values of links.
type resolver struct {
	*parsed
	ctx    context.Context
	own    origin.Tree
	open   openings
	trees  map[string]origin.Tree
	files  map[string][]byte // read already, by what they are shown as
	values map[string][]Value
	chain  *Chain
}

// resolve closes the tree.
func resolve(ctx context.Context, file string, data []byte, own origin.Tree, o openings) (c *Chain, err error) {
	r := &resolver{ctx: ctx, own: own, open: o, trees: map[string]origin.Tree{}, files: map[string][]byte{}, values: map[string][]Value{}}
	defer func() {
		for _, name := range slices.Sorted(maps.Keys(r.trees)) {
			err = errors.Join(err, r.trees[name].Close())
		}
		err = errors.Join(err, own.Close())
		if err != nil {
			c = nil
		}
	}()
	if r.parsed, err = parse(file, data); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(o.inputs)) {
		if r.input(name) == nil {
			var names []string
			for _, in := range r.file.Inputs {
				names = append(names, in.Name)
			}
			r.at("inputs", CodeName, suggestion(name, names, "the inputs are "), "--input %s: the chain has no input of that name", name)
		}
	}
	r.chain = &Chain{Name: r.file.Name, File: file, parsed: r.parsed}
	for i := range r.file.Links {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r.link(i)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	r.derive()
	if err := r.err(); err != nil {
		return nil, err
	}
	r.chain.Files = len(r.files)
	return r.chain, nil
}

// link finds the values of a link that stands in files.
func (r *resolver) link(i int) {
	l := r.file.Links[i]
	found := Resolved{Name: l.Name, Setting: l.Setting, Owner: r.ownerOf(l), unit: r.units[i], Derived: l.Value != ""}
	if r.finder[i].in != nil {
		found.Values = r.lookUp(i, l)
		if len(found.Values) == 0 && l.Default != "" {
			found.Derived = true
		}
		r.values[l.Name] = found.Values
	}
	r.chain.Links = append(r.chain.Links, found)
}

// lookUp finds the values of a link in its files.
func (r *resolver) lookUp(i int, l Link) []Value {
	at := fmt.Sprintf("links[%d]", i)
	tree := r.tree(l.Input, at)
	if tree == nil {
		return nil
	}
	before := len(r.problems)
	var all []Value
	files := 0
	for _, pattern := range l.File {
		names, err := origin.Match(tree, pattern)
		if err != nil {
			r.at(at+".file", CodeInput, "", "link %s: %s", l.Name, err)
			continue
		}
		if len(names) == 0 {
			r.at(at+".file", CodeInput, "", "link %s: there is no file %s", l.Name, tree.Show(path.Clean(filepath.ToSlash(pattern))))
		}
		if len(names) > 1 && l.Extract.Helm != "" {
			r.at(at+".file", CodeSeveral, "list the files in the order of helm -f: the last one that sets the value wins",
				"link %s: %s means %d files, and which of them overrides the others would be a guess", l.Name, pattern, len(names))
			continue
		}
		for _, name := range names {
			files++
			values := r.lookInto(tree, name, i)
			if l.Extract.Helm != "" && len(values) > 0 {
				all = nil // later files override earlier ones
			}
			all = append(all, values...)
		}
	}
	if len(r.problems) > before {
		return nil
	}
	switch {
	case len(all) == 0 && l.Default == "":
		r.at(at+".extract", CodeNothing, either(r.near(tree, i, l), "if it is not set on purpose, say what holds then: default: VALUE"),
			"link %s: found nothing for %s in %s", l.Name, l.Extract, filesWord(files, tree, l))
	case len(all) > 1 && !l.Each:
		r.at(at+".extract", CodeSeveral, "name the one that is meant, or say each: true to check every one of them",
			"link %s: found %d values: %s", l.Name, len(all), someValues(all))
	}
	return all
}

// near suggests what the link probably means, from the first files that it names.
func (r *resolver) near(tree origin.Tree, i int, l Link) string {
	const most = 20
	for _, pattern := range l.File {
		names, err := origin.Match(tree, pattern)
		if err != nil {
			continue
		}
		for _, name := range names[:min(len(names), most)] {
			if hint := r.finder[i].in.Near(name, r.files[tree.Show(name)]); hint != "" {
				return hint
			}
		}
	}
	return ""
}

func filesWord(n int, tree origin.Tree, l Link) string {
	if n == 1 && len(l.File) == 1 {
		return tree.Show(path.Clean(filepath.ToSlash(l.File[0])))
	}
	return fmt.Sprintf("%d files", n)
}

func someValues(all []Value) string {
	const most = 4
	text := ""
	for i, v := range all[:min(len(all), most)] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s at %s", strictyaml.Brief(v.Text), v.Place)
	}
	if len(all) > most {
		text += fmt.Sprintf(" and %d more", len(all)-most)
	}
	return text
}

// lookInto finds values in one file.
func (r *resolver) lookInto(tree origin.Tree, name string, i int) []Value {
	shown := tree.Show(name)
	at := func(line, col int) Place { return Place{File: shown, Line: line, Col: col, Elsewhere: !tree.Local()} }
	data, known := r.files[shown]
	if !known {
		var err error
		if data, err = tree.Read(name); err != nil {
			r.report(Problem{Code: CodeInput, Place: at(1, 1), Message: "cannot be read: " + cause(err).Error()})
			return nil
		}
		r.files[shown] = data
	}
	matches, err := r.finder[i].in.Find(name, data)
	if err != nil {
		r.format(err, at, data)
		return nil
	}
	var values []Value
	for _, m := range matches {
		q, err := r.units[i].quantity(m.Text)
		if err != nil {
			bad := asUnit(err)
			r.report(Problem{Code: bad.code, Place: at(m.Line, m.Col), Fix: bad.fix,
				Message: fmt.Sprintf("link %s: %s", r.file.Links[i].Name, bad.message), Excerpt: excerptOf(data, m.Line, m.Col, len([]rune(m.Text)))})
			continue
		}
		values = append(values, Value{Quantity: q, Text: m.Text, Place: at(m.Line, m.Col), In: m.In})
	}
	return values
}
