package proxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

func TestStatements(t *testing.T) {
	keywords := func(sql string) (out []string) {
		for _, s := range statements(sql) {
			out = append(out, s.keyword)
		}
		return out
	}
	for sql, want := range map[string]string{
		"":                                            "",
		" ; -- ping\n; /* */":                         "",
		"begin; update t; end":                        "BEGIN UPDATE END",
		"select ';commit;'; Commit":                   "SELECT COMMIT",
		"select 'it''s; x'; commit":                   "SELECT COMMIT",
		`select E'\';commit'; rollback`:               "SELECT ROLLBACK",
		`insert into "a;b" values (1); x`:             "INSERT X",
		"do $body$ begin; commit; end $body$; commit": "DO COMMIT",
		"select $1; commit":                           "SELECT COMMIT",
		"select $$;$$; commit":                        "SELECT COMMIT",
		"/* a /* ; */ b; */ commit":                   "COMMIT",
		"-- x; y\ncommit":                             "COMMIT",
		"(select 1); commit":                          "( COMMIT",
		"select a$1; commit":                          "SELECT COMMIT",
		"select 'open":                                "SELECT",
	} {
		if got := strings.Join(keywords(sql), " "); got != want {
			t.Errorf("%q: got %s, want %s", sql, got, want)
		}
	}
}

func TestTags(t *testing.T) {
	for sql, want := range map[string]tag{
		"/* squall:requeue task=$1 */ SELECT 1":      {verb: "requeue", param: 1},
		"  -- squall:claim\nUPDATE x":                {verb: "claim"},
		"/* squall:submit task=a-1 */ INSERT":        {verb: "submit", task: "a-1"},
		"/* squall:scan more */ SELECT":              {verb: "scan", more: true},
		"/* traceparent */ /* squall:read */ SELECT": {verb: "read"},
		"SELECT 1 /* squall:read */":                 {},
		"/* squall: */ SELECT":                       {},
		"/* squall:read task=$99999999 */ SELECT":    {verb: "read"},
	} {
		if got := first(sql).tag; got != want {
			t.Errorf("%q: got %+v, want %+v", sql, got, want)
		}
	}
	n := names{map[string]statement{}, map[string]portal{}}
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.Parse{Name: "s", Query: "/* squall:read task=$2 */ SELECT"},
		&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte("x"), []byte("task-7")}},
	} {
		raw, _ := m.Encode(nil)
		if _, is, err := n.note(raw[0], body(raw)); is || err != nil {
			t.Fatal(is, err)
		}
	}
	raw, _ := (&pgproto3.Execute{}).Encode(nil)
	p, is, err := n.note('E', body(raw))
	if verb, task := p.about(); !is || err != nil || verb != "read" || task != "task-7" {
		t.Errorf("executes %q of %q, error %v", verb, task, err)
	}
}

// FuzzStatements: the lexer ends, and a statement behind another one is seen wherever the first is whole.
func FuzzStatements(f *testing.F) {
	for _, seed := range []string{"select 1", "/* squall:read task=$1 */ select 'a;b'", `E'\'`, "$a$;$a$", "/*/*", "--", `"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		before := statements(sql)
		whole := sql + "\n;commit"
		l := lexer{rest: sql + "\n;"}
		last := other
		for l.rest != "" {
			last, _ = l.next()
		}
		if last != semicolon {
			return // the semicolon is inside of something
		}
		after := statements(whole)
		if len(after) != len(before)+1 || after[len(after)-1].keyword != "COMMIT" || len(before) > 0 && !reflect.DeepEqual(before, after[:len(before)]) {
			t.Fatalf("%q: %+v, then %+v", sql, before, after)
		}
	})
}

// TestALengthIsNotYetAMessage: memory is taken for what has come, not for what a header promises, and an end within a message is no
// regular one.
func TestALengthIsNotYetAMessage(t *testing.T) {
	long := func(promised uint32, come int) []byte {
		raw := binary.BigEndian.AppendUint32([]byte{'Q'}, promised+4)
		return append(raw, bytes.Repeat([]byte{'x'}, come)...)
	}
	for name, c := range map[string]struct {
		input []byte
		want  error
	}{
		"nothing":                {nil, io.EOF},
		"half a header":          {[]byte{'Q', 0}, io.EOF},
		"a header alone":         {long(maxFrame-6, 0), io.ErrUnexpectedEOF},
		"an end between steps":   {long(maxFrame-6, frameStep-5), io.ErrUnexpectedEOF},
		"an end within a step":   {long(maxFrame-6, 2*frameStep), io.ErrUnexpectedEOF},
		"all of a short message": {long(1, 1), nil},
		"all of a long message":  {long(3*frameStep, 3*frameStep), nil},
	} {
		_, out, err := readFrame(bufio.NewReader(bytes.NewReader(c.input)), []byte("held"))
		if err != c.want {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if got := strings.TrimPrefix(string(out), "held"); err == nil && got != string(c.input) {
			t.Errorf("%s: %d bytes passed on of %d", name, len(got), len(c.input))
		}
		if most := 4*len(c.input) + 2*frameStep; cap(out) > most {
			t.Errorf("%s: takes %d bytes of memory for %d that came", name, cap(out), len(c.input))
		}
	}
}

// FuzzWire: whatever a client sends is an error or passed on byte by byte.
func FuzzWire(f *testing.F) {
	var seed []byte
	for _, m := range []pgproto3.FrontendMessage{&pgproto3.Parse{Name: "s", Query: "/* squall:read task=$1 */ SELECT $1"},
		&pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "s", Parameters: [][]byte{[]byte("x")}}, &pgproto3.Execute{Portal: "p"},
		&pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Sync{}, &pgproto3.Query{String: "commit"}} {
		seed, _ = m.Encode(seed)
	}
	startup, _ := (&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"application_name": "a"}}).Encode(nil)
	f.Add(seed)
	f.Add(startup)
	f.Add([]byte{'Q', 0, 0, 0, 4})
	f.Add([]byte{'P', 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, input []byte) {
		if _, raw, err := readStartup(bufio.NewReader(bytes.NewReader(input))); err == nil {
			_, _ = processOf(raw)
		}
		n := names{map[string]statement{}, map[string]portal{}}
		from := bufio.NewReader(bytes.NewReader(input))
		var held []byte
		for {
			start := len(held)
			kind, with, err := readFrame(from, held)
			if err != nil {
				break
			}
			held = with
			if p, is, err := n.note(kind, body(held[start:])); is && err == nil {
				p.about()
			}
		}
		if !bytes.HasPrefix(input, held) {
			t.Fatalf("passes on %q of %q", held, input)
		}
	})
}
