package dumps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Most is how large a dump may be: it is read as a whole.
const Most = 1 << 30

const howTo = "kubectl get events,pods,nodes -A -o json > dump.json"

// Read adds what a dump says to what is known of the cluster. The error is a *Problem; what was read before it stays.
func (c *Cluster) Read(file string, text []byte) error {
	if err := readable(file, text); err != nil {
		return err
	}
	text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
	r := &reader{file: file, text: text, cluster: c}
	d := json.NewDecoder(bytes.NewReader(text))
	for n := 0; ; n++ {
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF) && n > 0:
			return nil
		case err != nil:
			return r.syntax(int(d.InputOffset()))
		}
		if err := r.top(raw, int(d.InputOffset())-len(raw)); err != nil {
			return err
		}
	}
}

// readable refuses what is no JSON at all, with what it seems to be.
func readable(file string, text []byte) error {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF")))
	refuse := func(fix, format string, args ...any) error {
		return problemAt(file, text, 0, CodeDump, fix, format, args...)
	}
	switch {
	case len(text) > Most:
		return refuse("dump one namespace or one kind at a time", "the dump has more than %d bytes", Most)
	case len(trimmed) == 0:
		return refuse(howTo, "the file is empty")
	case bytes.HasPrefix(text, []byte("\xFF\xFE")), bytes.HasPrefix(text, []byte("\xFE\xFF")):
		return refuse("in PowerShell: kubectl ... -o json | Out-File -Encoding utf8 dump.json", "the file is UTF-16, not UTF-8")
	case bytes.HasPrefix(text, []byte("\x1f\x8b")):
		return refuse("gunzip it first", "the file is compressed")
	case bytes.HasPrefix(trimmed, []byte("apiVersion:")), bytes.HasPrefix(trimmed, []byte("---")):
		return refuse("kubectl get ... -o json", "the file is YAML, and JSON is expected")
	case bytes.HasPrefix(trimmed, []byte("NAME")), bytes.HasPrefix(trimmed, []byte("LAST SEEN")):
		return refuse(howTo, "the file is a table for people, and JSON is expected")
	case trimmed[0] != '{':
		return problemAt(file, text, bytes.Index(text, trimmed), CodeDump, howTo, "expected an object of Kubernetes, found %q", brief(firstLine(trimmed)))
	}
	return nil
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

type reader struct {
	file    string
	text    []byte
	cluster *Cluster
}

// syntax is the problem with what begins behind an offset and is no JSON.
func (r *reader) syntax(from int) error {
	var raw json.RawMessage
	err := json.Unmarshal(r.text[from:], &raw)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return problemAt(r.file, r.text, from, CodeDamaged, "", "%v", err)
	}
	offset := from + int(syntax.Offset)
	if strings.Contains(syntax.Error(), "unexpected end") {
		return problemAt(r.file, r.text, len(r.text), CodeDamaged, "dump it again: "+howTo, "the JSON ends here in the middle: the file is cut off")
	}
	return problemAt(r.file, r.text, offset-1, CodeDamaged, "", "%s", syntax)
}

// envelope is what tells objects, lists and watch events apart.
type envelope struct {
	Kind   string          `json:"kind"`
	Items  json.RawMessage `json:"items"`
	Object json.RawMessage `json:"object"`
	Type   string          `json:"type"`
	Meta   json.RawMessage `json:"metadata"`
}

// top reads a list, an object, or an event of a watch.
func (r *reader) top(raw json.RawMessage, at int) error {
	var e envelope
	if err := r.unmarshal(raw, at, &e); err != nil {
		return err
	}
	switch {
	case e.Object != nil && e.Kind == "":
		return r.watched(e, at+bytes.Index(raw, e.Object))
	case e.Kind == "" && e.Items == nil:
		return problemAt(r.file, r.text, at, CodeDump, howTo, "the object has no kind, so it is none of Kubernetes")
	case e.Kind == "Status":
		return problemAt(r.file, r.text, at, CodeDump, "", "the server answered with an error instead of a list: %s", brief(messageOf(raw)))
	case e.Items != nil:
		return r.list(raw, at, e)
	case !known(e.Kind):
		return problemAt(r.file, r.text, at, CodeDump, howTo, "expected a list, a pod, a node, an event or a lease, found kind %q", brief(e.Kind))
	}
	return r.object(e.Kind, raw, at)
}

func messageOf(raw json.RawMessage) string {
	var status struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(raw, &status)
	return status.Message
}

// watched reads an event of kubectl's watch.
func (r *reader) watched(e envelope, at int) error {
	var inner envelope
	if err := r.unmarshal(e.Object, at, &inner); err != nil {
		return err
	}
	if e.Type == "BOOKMARK" || !known(inner.Kind) {
		r.cluster.skip(inner.Kind)
		return nil
	}
	return r.object(inner.Kind, e.Object, at)
}

// list reads the items one by one. Those of a typed list (PodList) have no kind of their own.
func (r *reader) list(raw json.RawMessage, at int, e envelope) error {
	offset := bytes.Index(raw, e.Items)
	d := json.NewDecoder(bytes.NewReader(e.Items))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return problemAt(r.file, r.text, at+offset, CodeDump, howTo, "items is no list")
	}
	single := strings.TrimSuffix(e.Kind, "List")
	for d.More() {
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return problemAt(r.file, r.text, at+offset+int(d.InputOffset()), CodeDamaged, "", "%v", err)
		}
		where := at + offset + int(d.InputOffset()) - len(item)
		var head struct {
			Kind string `json:"kind"`
		}
		if err := r.unmarshal(item, where, &head); err != nil {
			return err
		}
		kind := head.Kind
		if kind == "" {
			kind = single
		}
		switch {
		case kind == "":
			return problemAt(r.file, r.text, where, CodeDump, howTo, "the item has no kind, and neither has its list")
		case !known(kind):
			r.cluster.skip(kind)
			continue
		}
		if err := r.object(kind, item, where); err != nil {
			return err
		}
	}
	return nil
}

func known(kind string) bool {
	return kind == "Pod" || kind == "Node" || kind == "Event" || kind == "Lease"
}

// object reads one object of a known kind.
func (r *reader) object(kind string, raw json.RawMessage, at int) error {
	var err error
	var m meta
	var add func()
	switch kind {
	case "Pod":
		var o podObject
		err = r.unmarshal(raw, at, &o)
		m, add = o.Meta, func() { r.cluster.addPod(&o) }
	case "Node":
		var o nodeObject
		err = r.unmarshal(raw, at, &o)
		m, add = o.Meta, func() { r.cluster.addNode(&o) }
	case "Event":
		var o eventObject
		err = r.unmarshal(raw, at, &o)
		m, add = o.Meta, func() { r.cluster.addEvent(&o) }
	case "Lease":
		var o leaseObject
		err = r.unmarshal(raw, at, &o)
		m, add = o.Meta, func() { r.cluster.addLease(&o) }
	}
	if err != nil {
		return err
	}
	if m.Name == "" {
		return problemAt(r.file, r.text, at, CodeDump, "", "the %s has no name", strings.ToLower(kind))
	}
	add()
	r.cluster.Counts[kind]++
	return nil
}

// unmarshal reads a value that begins at an offset.
func (r *reader) unmarshal(raw json.RawMessage, at int, to any) error {
	err := json.Unmarshal(raw, to)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return problemAt(r.file, r.text, at+int(wrong.Offset)-1, CodeDump, "", "field %s: expected %s, found %s", wrong.Field, article(fmt.Sprint(wrong.Type)), wrong.Value)
	}
	return problemAt(r.file, r.text, at, CodeDump, "", "%v", err)
}

func article(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "*int"):
		return "a whole number"
	case strings.HasPrefix(kind, "map"), strings.HasPrefix(kind, "struct"), strings.HasPrefix(kind, "dumps."):
		return "an object"
	case strings.HasPrefix(kind, "[]"):
		return "a list"
	}
	return "text"
}
