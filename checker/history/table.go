package history

// Table interns names as IDs in order of first sight.
type Table struct {
	names []string
	ids   map[string]ID
}

// NewTable returns an empty table.
func NewTable() *Table { return &Table{ids: map[string]ID{}} }

// Clear forgets all names. Who has asked for Names may not look at them any more.
func (t *Table) Clear() {
	clear(t.ids)
	t.names = t.names[:0]
}

// ID returns the name's ID, new or known; the empty name is 0.
func (t *Table) ID(name string) ID {
	if name == "" {
		return 0
	}
	if id, ok := t.ids[name]; ok {
		return id
	}
	t.names = append(t.names, name)
	id := ID(len(t.names))
	t.ids[name] = id
	return id
}

// Names returns all names, by ID-1.
func (t *Table) Names() []string { return t.names }

// Name returns the name of an ID, empty for 0.
func (t *Table) Name(id ID) string {
	if id == 0 {
		return ""
	}
	return t.names[id-1]
}
