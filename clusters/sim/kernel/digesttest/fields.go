// Package digesttest proves that a digest takes in every field of what it is of: whoever adds a field has to say what becomes of it.
package digesttest

import (
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/squall-chaos/squall/clusters/sim/kernel"
)

// Fields changes each field of the struct that p points to, for a moment, and expects another digest. leftOut says of fields that
// make no difference, or cannot be changed so easily, why they need not: by name, those of structs within as "Outer.Inner". Timer is one that is active,
// to take the place of those that are not.
func Fields(t *testing.T, p any, digest func() uint64, timer kernel.Timer, leftOut map[string]string) {
	t.Helper()
	f := fields{t: t, digest: digest, before: digest(), timer: timer, leftOut: leftOut, used: map[string]bool{}}
	v := reflect.ValueOf(p).Elem()
	f.walk(v, "")
	for name := range leftOut {
		if !f.used[name] {
			t.Errorf("%s has no field %s to be left out", v.Type(), name)
		}
	}
}

type fields struct {
	t       *testing.T
	digest  func() uint64
	before  uint64
	timer   kernel.Timer
	leftOut map[string]string
	used    map[string]bool
}

func (f *fields) walk(v reflect.Value, within string) {
	f.t.Helper()
	for i := range v.NumField() {
		name := within + v.Type().Field(i).Name
		if _, left := f.leftOut[name]; left {
			f.used[name] = true
			continue
		}
		field := reflect.NewAt(v.Field(i).Type(), unsafe.Pointer(v.Field(i).UnsafeAddr())).Elem()
		if changed, ok := f.changed(field); ok {
			f.try(field, changed, name)
		} else if field.Kind() == reflect.Struct {
			f.walk(field, name+".")
		} else {
			f.t.Errorf("%s is a %s: say in the test why the digest can do without it, or what it takes in instead", name, field.Type())
		}
	}
}

// changed is another value for a field; false when it is not plain.
func (f *fields) changed(v reflect.Value) (reflect.Value, bool) {
	c := reflect.New(v.Type()).Elem()
	switch x := v.Interface().(type) {
	case kernel.Timer:
		return reflect.ValueOf(f.timer), true
	case time.Time:
		return reflect.ValueOf(x.Add(time.Hour)), true
	case time.Duration:
		return reflect.ValueOf(x + time.Hour), true
	}
	switch {
	case v.Kind() == reflect.Bool:
		c.SetBool(!v.Bool())
	case v.CanInt():
		c.SetInt(v.Int() + 1)
	case v.CanUint():
		c.SetUint(v.Uint() + 1)
	case v.Kind() == reflect.String:
		c.SetString(v.String() + "x")
	default:
		return c, false
	}
	return c, true
}

func (f *fields) try(v, changed reflect.Value, name string) {
	f.t.Helper()
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	v.Set(changed)
	if f.digest() == f.before {
		f.t.Errorf("%s makes no difference to the digest", name)
	}
	v.Set(old)
}
