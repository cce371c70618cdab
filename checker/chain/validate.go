package chain

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/chain/extract"
	"github.com/squall-chaos/squall/checker/strictyaml"
)

// identifier is what formulas can name.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// finder is how a link's value is found: in files, or by a formula.
type finder struct {
	in      *extract.Finder
	formula *Formula
	missing *Formula // the default
}

// validate checks what can be checked without looking at any input, and makes finders and relations of it.
func (p *parsed) validate() {
	f := &p.file
	p.exactly("apiVersion", f.APIVersion, APIVersion)
	p.exactly("kind", f.Kind, Kind)
	if len(f.Links) == 0 {
		p.at("links", CodeEmpty, "", "the chain has no links")
	}
	p.validateInputs()
	p.finder, p.units = make([]finder, len(f.Links)), make([]unit, len(f.Links))
	first := map[string]int{}
	settings := map[string]string{}
	for i, l := range f.Links {
		path := fmt.Sprintf("links[%d]", i)
		if !identifier.MatchString(l.Name) || l.Name == "min" || l.Name == "max" {
			p.at(path+".name", CodeName, "letters, digits and underscores: formulas name links", "unusable name %q", strictyaml.Brief(l.Name))
		} else if j, twice := first[l.Name]; twice {
			p.at(path+".name", CodeDuplicate, "name one of them differently", "two links are named %q, the first in line %d", l.Name, p.place(fmt.Sprintf("links[%d].name", j)).Line)
		}
		first[l.Name] = i
		if other := settings[l.Setting]; l.Setting != "" && other != "" {
			p.at(path+".setting", CodeDuplicate, "leave it out of one of them", "two links are the setting %s: %s and %s", l.Setting, other, l.Name)
		}
		settings[l.Setting] = l.Name
		p.validateLink(i, l, path)
	}
	for i, r := range f.Relations {
		p.validateRelation(r, fmt.Sprintf("relations[%d]", i))
	}
	p.validateSuppressions()
	if len(p.problems) == 0 {
		p.cycles()
	}
}

func (p *parsed) exactly(path, got, want string) {
	if got != want {
		p.at(path, CodeVersion, fmt.Sprintf("write %s: %s", path, want), "%s is %q, expected %q", path, strictyaml.Brief(got), want)
	}
}

func (p *parsed) validateInputs() {
	seen := map[string]bool{}
	for i, in := range p.file.Inputs {
		path := fmt.Sprintf("inputs[%d]", i)
		switch {
		case in.Name == "" || strings.ContainsAny(in.Name, "=# "):
			p.at(path+".name", CodeName, "a short name, such as platform", "unusable name %q", strictyaml.Brief(in.Name))
		case seen[in.Name]:
			p.at(path+".name", CodeDuplicate, "name one of them differently", "two inputs are named %q", in.Name)
		case in.From == "":
			p.at(path+".from", CodeMissing, "", "the input %s comes from nowhere", in.Name)
		}
		seen[in.Name] = true
	}
}

// input is the one of that name, or nil.
func (p *parsed) input(name string) *Input {
	i := slices.IndexFunc(p.file.Inputs, func(in Input) bool { return in.Name == name })
	if i < 0 {
		return nil
	}
	return &p.file.Inputs[i]
}

func (p *parsed) linkNames() []string {
	var names []string
	for _, l := range p.file.Links {
		names = append(names, l.Name)
	}
	return names
}

func (p *parsed) validateLink(i int, l Link, path string) {
	if l.Setting != "" {
		if _, known := settingKinds[l.Setting]; !known {
			p.at(path+".setting", CodeName, suggestion(l.Setting, SettingNames(), "the settings are "), "unknown setting %q", strictyaml.Brief(l.Setting))
		}
	}
	if l.Input != "" && p.input(l.Input) == nil {
		var names []string
		for _, in := range p.file.Inputs {
			names = append(names, in.Name)
		}
		p.at(path+".input", CodeName, suggestion(l.Input, names, "the inputs are "), "no input is named %q", strictyaml.Brief(l.Input))
	}
	p.validateSource(i, l, path)
	if p.ownerOf(l) == "" && (p.finder[i].formula == nil || len(p.finder[i].formula.names()) == 0) {
		p.at(path, CodeMissing, "owner: TEAM, here or at the input", "link %s has no owner: a finding must name who can change the value", l.Name)
	}
	r := Relation{Name: l.Name + "-in-" + string(l.Below+l.AtMost), Left: Expression(l.Name), Below: l.Below, AtMost: l.AtMost, Margin: l.Margin,
		Because: l.Because, Otherwise: l.Otherwise}
	if l.Below == "" && l.AtMost == "" {
		if l.Margin != "" {
			p.at(path+".margin", CodeMissing, "below: LINK", "margin means nothing without below or at_most")
		}
		return
	}
	if l.Because == "" {
		p.at(path, CodeMissing, "because: why it must be so", "link %s says what must hold and not why", l.Name)
	}
	p.addRelation(r, path, path+".name")
}

func (p *parsed) ownerOf(l Link) string {
	if in := p.input(l.Input); l.Owner == "" && in != nil {
		return in.Owner
	}
	return l.Owner
}

// validateSource checks where the value comes from.
func (p *parsed) validateSource(i int, l Link, path string) {
	switch {
	case l.Value != "":
		for name, given := range map[string]bool{"file": len(l.File) > 0, "extract": l.Extract != nil, "input": l.Input != "", "default": l.Default != "", "unit": l.Unit != "", "each": l.Each} { // order does not matter: problems are sorted
			if given {
				p.at(path+"."+name, CodeExtractor, "leave one of them out", "value and %s exclude each other: a value that is given is not looked for", name)
			}
		}
		p.finder[i].formula = p.formula(l.Value, path+".value")
		return
	case l.Extract == nil || len(l.File) == 0:
		p.at(path, CodeMissing, "file: PATH and extract: {path: spec.timeout}, or value: 30s", "link %s does not say where its value stands", l.Name)
		return
	}
	in, err := extract.New(*l.Extract)
	if err != nil {
		p.at(path+".extract", CodeExtractor, "", "%s", err)
		return
	}
	p.finder[i].in = in
	p.units[i] = unit(l.Unit)
	if l.Unit == "" {
		p.units[i] = fieldUnits[l.Extract.Field]
	}
	if !slices.Contains(unitNames(), string(p.units[i])) {
		if l.Unit == "" {
			p.at(path, CodeMissing, "unit: "+strings.Join(unitNames(), ", "), "link %s does not say what its value is written in", l.Name)
		} else {
			p.at(path+".unit", CodeUnit, suggestion(l.Unit, unitNames(), "the units are "), "unknown unit %q", strictyaml.Brief(l.Unit))
		}
		return
	}
	if count, known := settingKinds[l.Setting]; known && count != p.units[i].isCount() {
		p.at(path, CodeUnit, "", "%s is %s, and the unit is %s", l.Setting, map[bool]string{true: "a number", false: "a duration"}[count], p.units[i])
	}
	if l.Default != "" {
		p.finder[i].missing = p.formula(l.Default, path+".default")
	}
}

// formula reads a formula of the chain file; all that it names must be links.
func (p *parsed) formula(text Expression, path string) *Formula {
	at := p.place(path)
	f, err := parseFormula(string(text))
	var bad *formulaError
	if errors.As(err, &bad) {
		at.Col, at.Width = at.Col+bad.at, 1
		p.add(at, CodeFormula, "", "formula %q, character %d: %s", strictyaml.Brief(string(text)), bad.at+1, bad.message)
		return nil
	}
	for _, name := range f.names() {
		if !slices.Contains(p.linkNames(), name) {
			p.add(at, CodeLink, suggestion(name, p.linkNames(), "the links are "), "no link is named %q", strictyaml.Brief(name))
			return nil
		}
	}
	return &f
}

func (p *parsed) validateRelation(r Relation, path string) {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`).MatchString(r.Name) {
		p.at(path+".name", CodeName, "letters, digits, hyphens and underscores", "unusable name %q", strictyaml.Brief(r.Name))
	}
	if r.Because == "" {
		p.at(path+".because", CodeMissing, "because: why it must be so", "relation %s says what must hold and not why", r.Name)
	}
	p.addRelation(r, path, path+".left")
}

// addRelation makes a relation of what a link or the chain file says.
func (p *parsed) addRelation(r Relation, path, leftPath string) {
	made := relation{path: path, name: r.Name, because: r.Because, harm: r.Otherwise}
	var rights []string
	for _, c := range []struct {
		field      string
		text       Expression
		comparison Comparison
	}{{"below", r.Below, Below}, {"at_most", r.AtMost, AtMost}, {"differs_from", r.Differs, Differs}} {
		if c.text == "" {
			continue
		}
		rights = append(rights, c.field)
		made.comparison = c.comparison
		if f := p.formula(c.text, path+"."+c.field); f != nil {
			made.right = *f
			if f.isLink() && r.Name == string(r.Left)+"-in-"+string(r.Below+r.AtMost) {
				made.name = string(r.Left) + "-in-" + f.root.name
			}
		}
	}
	switch {
	case len(rights) == 0:
		p.at(path, CodeMissing, "below: LINK", "relation %s compares %s with nothing: it needs below, at_most or differs_from", r.Name, r.Left)
		return
	case len(rights) > 1:
		p.at(path, CodeExtractor, "make it two relations", "%s exclude each other", strings.Join(rights, " and "))
		return
	}
	if f := p.formula(r.Left, leftPath); f != nil {
		made.left = *f
	}
	if r.Margin != "" {
		made.margin = p.formula(r.Margin, path+".margin")
	}
	if i := slices.IndexFunc(p.relations, func(o relation) bool { return o.name == made.name }); i >= 0 {
		p.at(path, CodeDuplicate, "name one of them differently", "two relations are named %q: suppressions could not tell them apart", made.name)
	}
	p.relations = append(p.relations, made)
}

// dateForm is how days are written.
const dateForm = "2006-01-02"

func (p *parsed) validateSuppressions() {
	for i, s := range p.file.Suppress {
		path := fmt.Sprintf("suppress[%d]", i)
		if _, err := time.Parse(dateForm, s.Until); err != nil {
			p.at(path+".until", CodeDate, "write it as 2027-06-30", "until is no day: %q", strictyaml.Brief(s.Until))
		}
		for _, f := range []struct{ name, text string }{{"reason", s.Reason}, {"owner", s.Owner}} {
			if strings.TrimSpace(f.text) == "" {
				p.at(path+"."+f.name, CodeMissing, "", "a suppression needs a%s %s", map[bool]string{true: "n"}[f.name == "owner"], f.name)
			}
		}
		var names []string
		for _, r := range p.relations {
			names = append(names, r.name)
		}
		for _, r := range rules {
			names = append(names, r.Name)
		}
		if !slices.Contains(names, s.Relation) {
			p.at(path+".relation", CodeName, suggestion(s.Relation, names, "there are "), "no relation or rule is named %q", strictyaml.Brief(s.Relation))
		}
		if s.Link != "" && !slices.Contains(p.linkNames(), s.Link) {
			p.at(path+".link", CodeLink, suggestion(s.Link, p.linkNames(), "the links are "), "no link is named %q", strictyaml.Brief(s.Link))
		}
	}
}
