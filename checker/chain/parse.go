package chain

import (
	"reflect"
	"strings"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

// form is what a chain file is to people who write one.
var form = strictyaml.Form{Noun: "chain", Empty: "`squall init` writes one to begin with", TooLarge: "split the chain",
	TooMany: "use `each` and a glob instead of many links", Useless: "write the value out, and quote what begins with & * ! or %"}

// parsed is a chain file that makes sense by itself; what it points to has not been looked at.
type parsed struct {
	*notes
	file   File
	finder []finder // of each link, by index
	units  []unit
	// relations are those of links and those that stand by themselves.
	relations []relation
}

// Parse reads a chain file. The name is what errors call it. The error is an *InputError.
func Parse(name string, data []byte) (*File, error) {
	p, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	return &p.file, nil
}

func parse(name string, data []byte) (*parsed, error) {
	text := strictyaml.Plain(data)
	p := &parsed{notes: &notes{file: name, lines: strings.Split(text, "\n"), spots: strictyaml.Spots{}}}
	root := form.Read(text, p.lines, p.sink())
	if root == nil {
		return nil, p.err()
	}
	p.decode(root, reflect.ValueOf(&p.file).Elem(), "")
	if err := p.err(); err != nil {
		return nil, err // what is misspelt would be reported as missing once more
	}
	p.validate()
	if err := p.err(); err != nil {
		return nil, err
	}
	return p, nil
}
