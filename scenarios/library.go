package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/squall-chaos/squall/checker/history"
)

//go:embed library/*.yaml
var files embed.FS

// libraryPrefix begins the file names of library scenarios in messages.
const libraryPrefix = "library:"

// members are the scenarios by name, which is that of the file. Each is read when it is asked for: to read all takes longer than most runs.
var members = sync.OnceValue(func() map[string]func() *Scenario {
	entries, err := files.ReadDir("library")
	if err != nil {
		panic(err)
	}
	all := map[string]func() *Scenario{}
	for _, e := range entries {
		all[strings.TrimSuffix(e.Name(), ".yaml")] = sync.OnceValue(func() *Scenario { return member(e.Name()) })
	}
	return all
})

func member(file string) *Scenario {
	data, err := files.ReadFile("library/" + file)
	if err != nil {
		panic(err)
	}
	s, err := Parse(libraryPrefix+file, data)
	if err != nil {
		panic(fmt.Sprintf("the library holds a bad scenario:\n%v", err))
	}
	return s
}

// library is every scenario, in order of name.
var library = sync.OnceValue(func() []*Scenario {
	var all []*Scenario
	for _, name := range slices.Sorted(maps.Keys(members())) {
		all = append(all, members()[name]())
	}
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
	if parsed, ok := members()[name]; ok {
		return parsed(), nil
	}
	names := slices.Sorted(maps.Keys(members()))
	hint := "`squall list` shows all"
	if near := history.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, fmt.Errorf("the library has no scenario %q (%s): %w", name, strings.TrimSpace(hint), fs.ErrNotExist)
}
