package history

import (
	"math"
	"strconv"
	"time"
)

// text is a string.
func text[T any](name string, at func(*T) *string) field[T] {
	return field[T]{name: name, key: key(name),
		put: func(b []byte, f *field[T], _ *names, v *T) []byte {
			if s := *at(v); s != "" {
				b = appendString(append(b, f.key...), s)
			}
			return b
		},
		take: func(d *decoder, v *T, raw value) problem {
			if raw.kind != stringValue {
				return wanted("a string")
			}
			*at(v) = d.intern(raw.text)
			return problem{}
		},
	}
}

// unsigned is a whole number.
func unsigned[T any, N ~uint32 | ~uint64](name string, at func(*T) *N) field[T] {
	return field[T]{name: name, key: key(name),
		put: func(b []byte, f *field[T], _ *names, v *T) []byte {
			if n := *at(v); n != 0 {
				b = strconv.AppendUint(append(b, f.key...), uint64(n), 10)
			}
			return b
		},
		take: func(_ *decoder, v *T, raw value) problem {
			n, ok := parseUint(raw.text)
			if raw.kind != numberValue || !ok {
				return wanted("a whole number")
			}
			if *at(v) = N(n); uint64(*at(v)) != n {
				return wanted("a whole number up to " + strconv.FormatUint(uint64(^N(0)), 10))
			}
			return problem{}
		},
	}
}

// exact is a number of all 64 bits, in quotes because most JSON readers keep only 53 of them.
func exact[T any](name string, at func(*T) *uint64) field[T] {
	return field[T]{name: name, key: key(name),
		put: func(b []byte, f *field[T], _ *names, v *T) []byte {
			if n := *at(v); n != 0 {
				b = append(strconv.AppendUint(append(append(b, f.key...), '"'), n, 10), '"')
			}
			return b
		},
		take: func(_ *decoder, v *T, raw value) problem {
			n, ok := parseUint(raw.text)
			if raw.kind != stringValue || !ok {
				return wanted("a whole number in quotes")
			}
			*at(v) = n
			return problem{}
		},
	}
}

// integer is a whole number that may be negative.
func integer[T any, N ~int | ~int32](name string, at func(*T) *N) field[T] {
	return field[T]{name: name, key: key(name),
		put: func(b []byte, f *field[T], _ *names, v *T) []byte {
			if n := *at(v); n != 0 {
				b = strconv.AppendInt(append(b, f.key...), int64(n), 10)
			}
			return b
		},
		take: func(_ *decoder, v *T, raw value) problem {
			n, ok := parseInt(raw.text)
			if raw.kind != numberValue || !ok || int64(N(n)) != n {
				return wanted("a whole number")
			}
			*at(v) = N(n)
			return problem{}
		},
	}
}

// seconds is a duration as decimal seconds, exact to the nanosecond.
func seconds[T any](name string, at func(*T) *time.Duration) field[T] {
	return field[T]{name: name, key: key(name),
		put: func(b []byte, f *field[T], _ *names, v *T) []byte {
			if d := *at(v); d != 0 {
				b = appendSeconds(append(b, f.key...), d)
			}
			return b
		},
		take: func(_ *decoder, v *T, raw value) problem {
			d, ok := parseSeconds(raw.text)
			if raw.kind != numberValue || !ok {
				return wanted("a number of seconds")
			}
			*at(v) = d
			return problem{}
		},
	}
}

// flag is true or false.
func flag[T any](name string, at func(*T) *bool) field[T] {
	return field[T]{name: name, key: key(name),
		put: func(b []byte, f *field[T], _ *names, v *T) []byte {
			if *at(v) {
				b = append(append(b, f.key...), "true"...)
			}
			return b
		},
		take: func(_ *decoder, v *T, raw value) problem {
			if raw.kind != boolValue {
				return wanted("true or false")
			}
			*at(v) = raw.text[0] == 't'
			return problem{}
		},
	}
}

// enum is one of a list of words.
func enum[T any, N ~uint8](name string, words []string, at func(*T) *N) field[T] {
	return field[T]{name: name, key: key(name),
		put: func(b []byte, f *field[T], _ *names, v *T) []byte {
			if n := *at(v); n != 0 {
				b = append(append(append(append(b, f.key...), '"'), word(words, uint8(n), name)...), '"')
			}
			return b
		},
		take: func(_ *decoder, v *T, raw value) problem {
			if raw.kind != stringValue {
				return wanted("a word")
			}
			n, ok := valueOf[N](words, raw.text)
			if !ok {
				return unknownWord(string(raw.text), words)
			}
			*at(v) = n
			return problem{}
		},
	}
}

// reference is an ID, written as the name that it stands for.
func reference[T any](name, what string, table func(*names) *Table, at func(*T) *ID) field[T] {
	return field[T]{name: name, key: key(name),
		put: func(b []byte, f *field[T], n *names, v *T) []byte {
			if id := *at(v); id != 0 {
				b = appendString(append(b, f.key...), table(n).Name(id))
			}
			return b
		},
		take: func(d *decoder, v *T, raw value) problem {
			if raw.kind != stringValue {
				return wanted("the name of a " + what)
			}
			known := table(&d.names)
			id, ok := known.ids[string(raw.text)]
			if !ok {
				return undeclared(what, string(raw.text), known.names)
			}
			*at(v) = id
			return problem{}
		},
	}
}

func key(name string) string { return `,"` + name + `":` }

const maxInt64 = uint64(math.MaxInt64)
