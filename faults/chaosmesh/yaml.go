package chaosmesh

import (
	"bytes"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/squall-chaos/squall/clusters"
)

// YAML prints what was rendered for `kubectl apply -f -`: first, as comments, what becomes of each fault.
func (r Rendered) YAML(s Site, title string) ([]byte, error) {
	var b bytes.Buffer
	comment(&b, "", title)
	comment(&b, "", fmt.Sprintf("namespace %s; API server %s; database %s", s.Namespace, orNone(s.APIServer), s.Database))
	for _, port := range []clusters.Port{clusters.API, clusters.Store} {
		if server, ok := s.HTTP[port]; ok {
			comment(&b, "", fmt.Sprintf("calls to %s go to a plain HTTP server: Pods %s, port %d", port, labelText(server.Pods), server.Port))
		}
	}
	told := map[string]int{}
	for _, m := range r.Faults {
		b.WriteString("#\n")
		comment(&b, "", m.line())
		m.remarks(&b, told)
	}
	for _, o := range r.Objects {
		b.WriteString("---\n")
		if text := r.when(o, s); text != "" {
			comment(&b, "", text)
		}
		text, err := yaml.Marshal(o.Sent.Object)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	return b.Bytes(), nil
}

// remarks says what becomes of the fault, once for all faults of which the same is to be said.
func (m Mapped) remarks(b *bytes.Buffer, told map[string]int) {
	said := "left out: " + m.Why
	if m.Maps() {
		said = strings.Join(m.Differs, "\n")
	}
	first, again := told[said]
	switch {
	case said == "":
	case again && !m.Maps():
		comment(b, "  ", fmt.Sprintf("left out, as fault %d is", first))
	case again:
		comment(b, "  ", fmt.Sprintf("in part, as fault %d is", first))
	case !m.Maps():
		comment(b, "  ", said)
	default:
		for _, d := range m.Differs {
			comment(b, "  ", "in part: "+d)
		}
	}
	if !again {
		told[said] = m.Index + 1
	}
}

// line is the fault in one line, for comments and messages.
func (m Mapped) line() string {
	return fmt.Sprintf("fault %d, at %s: %s", m.Index+1, single(m.Fault.At), m.Fault)
}

// Complaint says of a fault that nothing expresses why; for whoever reads no comments.
func (m Mapped) Complaint() string { return m.line() + ": left out: " + m.Why }

// when says when to apply an object that stands for itself.
func (r Rendered) when(o Object, s Site) string {
	if o.Sent.GetKind() == "Workflow" || len(o.Faults) == 0 {
		return ""
	}
	first := r.Faults[o.Faults[0]].Fault
	if len(o.Faults) == 1 {
		return "apply at " + single(first.At)
	}
	x := series{index: o.Faults, every: r.Faults[o.Faults[1]].Fault.At - first.At}
	return fmt.Sprintf("apply at %s, delete at %s", single(first.At-x.every), single(first.At-x.every+x.span()))
}

// width is where comments are broken.
const width = 120

func comment(b *bytes.Buffer, indent, text string) {
	line := "# " + indent
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > width && strings.TrimLeft(line, "# ") != "" {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = "# " + indent + "  "
		}
		line += word + " "
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "not said"
	}
	return strings.Join(names, ", ")
}

// String says where the database is.
func (d Database) String() string {
	if len(d.Pods) > 0 {
		return "Pods " + labelText(d.Pods)
	}
	return orNone(d.Hosts)
}
