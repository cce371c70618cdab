package chain

import (
	"fmt"
	"slices"
	"strings"
)

// edges lead from link to link.
type edges map[string][]edge

type edge struct{ to, path string }

// cycles refuses values that are made of each other, and links each of which must lie below the next one, round and round.
func (p *parsed) cycles() {
	made, below := edges{}, edges{}
	for i, l := range p.file.Links {
		for _, f := range []*Formula{p.finder[i].formula, p.finder[i].missing} {
			if f == nil {
				continue
			}
			for _, name := range f.names() {
				made[l.Name] = append(made[l.Name], edge{name, fmt.Sprintf("links[%d]", i)})
			}
		}
	}
	for _, r := range p.relations {
		if r.comparison == Below && r.left.isLink() && r.right.isLink() {
			below[r.left.root.name] = append(below[r.left.root.name], edge{r.right.root.name, r.path})
		}
	}
	for _, g := range []struct {
		edges edges
		says  string
	}{{made, "the value is made of itself"}, {below, "no value can lie below itself"}} {
		if names, path := g.edges.cycle(p.linkNames()); names != nil {
			p.at(path, CodeCycle, "take one of these apart", "a cycle: %s: %s", strings.Join(names, " -> "), g.says)
		}
	}
}

// cycle is the first cycle, as the names of its links, and where its last edge is declared.
func (g edges) cycle(names []string) ([]string, string) {
	done := map[string]bool{}
	var way []string
	var visit func(name, path string) ([]string, string)
	visit = func(name, path string) ([]string, string) {
		if i := slices.Index(way, name); i >= 0 {
			return append(slices.Clone(way[i:]), name), path
		}
		if done[name] {
			return nil, ""
		}
		way = append(way, name)
		for _, e := range g[name] {
			if found, at := visit(e.to, e.path); found != nil {
				return found, at
			}
		}
		way = way[:len(way)-1]
		done[name] = true
		return nil, ""
	}
	for _, name := range names {
		if found, at := visit(name, ""); found != nil {
			return found, at
		}
	}
	return nil, ""
}
