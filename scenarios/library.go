package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/squall-chaos/squall/checker/history"
)

//go:embed library/*.yaml
var files embed.FS

// libraryPrefix begins the file names of library scenarios in messages.
const libraryPrefix = "library:"

var library = sync.OnceValue(func() []*Scenario {
	entries, err := files.ReadDir("library")
	if err != nil {
		panic(err)
	}
	var all []*Scenario
	for _, e := range entries {
		data, err := files.ReadFile("library/" + e.Name())
		if err != nil {
			panic(err)
		}
		s, err := Parse(libraryPrefix+e.Name(), data)
		if err != nil {
			panic(fmt.Sprintf("the library holds a bad scenario:\n%v", err))
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Scenario) int { return strings.Compare(a.Name, b.Name) })
	return all
})

// Library returns the scenarios that come with Squall, in order of name. They are shared: do not change them.
func Library() []*Scenario { return library() }

// LibraryFile returns the text of a library scenario's file.
func LibraryFile(name string) ([]byte, bool) {
	data, err := files.ReadFile("library/" + name + ".yaml")
	return data, err == nil
}

// Find returns the library scenario of that name; fs.ErrNotExist tells that there is none.
func Find(name string) (*Scenario, error) {
	var names []string
	for _, s := range Library() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	hint := "`squall list` shows all"
	if near := history.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, fmt.Errorf("the library has no scenario %q (%s): %w", name, strings.TrimSpace(hint), fs.ErrNotExist)
}
