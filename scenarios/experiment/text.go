package experiment

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Text is the file of the workload as the cell has it. Settings are not in it: bundles keep them apart. Only where other machines take
// the place of the workload's own is it another file; that has no faults, as they are named after machines that are not there, and a
// bundle brings its plan along.
func (c Cell) Text(w Workload) ([]byte, error) {
	if c.SpotShare >= 1 {
		return w.Text, nil
	}
	file, err := parser.ParseBytes(w.Text, parser.ParseComments)
	if err != nil || len(file.Docs) != 1 {
		return nil, fmt.Errorf("the scenario %s cannot be written with other machines: %w", w.Scenario.Name, err)
	}
	root, ok := file.Docs[0].Body.(*ast.MappingNode)
	if !ok {
		return nil, fmt.Errorf("the scenario %s cannot be written with other machines: it is no mapping", w.Scenario.Name)
	}
	keep := root.Values[:0:0]
	for _, v := range root.Values {
		if name := v.Key.GetToken().Value; name != "faults" && name != "swarm" && name != "expect" && name != "control" {
			keep = append(keep, v)
		}
	}
	root.Values = keep
	path, err := yaml.PathString("$.nodes")
	if err != nil {
		return nil, err
	}
	var nodes strings.Builder
	for _, n := range converted(w.Scenario.Nodes, c.SpotShare) {
		fmt.Fprintf(&nodes, "- {name: %s, capacity_type: %s, count: %d, pods: %d", n.Name, n.CapacityType, n.Count, n.Pods)
		if n.Max > 0 {
			fmt.Fprintf(&nodes, ", max: %d", n.Max)
		}
		nodes.WriteString("}\n")
	}
	if err := path.ReplaceWithReader(file, strings.NewReader(nodes.String())); err != nil {
		return nil, fmt.Errorf("the scenario %s cannot be written with other machines: %w", w.Scenario.Name, err)
	}
	return []byte(file.String()), nil
}
