package page

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"plimsoll/internal/units"
)

// Field is a field of a struct in what plimsoll prints as JSON.
type Field struct {
	Name  string // in JSON
	Of    reflect.StructField
	In    string // the type whose field it is: bundle.Run
	Index []int  // from the struct, through what it embeds
	// Empty and Zero are omitempty and omitzero.
	Empty, Zero bool
	// Through says that an embedded pointer leads to it, which may be nil.
	Through bool
}

// Fields are those of a struct in JSON. Their names are those of the tags, or of Go in snake case, and end
// with the unit of their type: a duration is in nanoseconds whatever it is called, so clat.mean is
// mean_ns. Files of a run keep the names of the tags alone, which their readers know. As in
// encoding/json an outer field hides an inner one of its name.
func Fields(t reflect.Type) []Field {
	var all []Field
	var embedded []reflect.StructField
	for f := range t.Fields() {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			embedded = append(embedded, f)
		case f.IsExported() && tag != "-":
			has := strings.Split(options, ",")
			all = append(all, Field{
				Name: withUnit(cmp.Or(tag, snake(f.Name)), f), Of: f, In: path.Base(t.PkgPath()) + "." + t.Name(), Index: f.Index,
				Empty: slices.Contains(has, "omitempty"), Zero: slices.Contains(has, "omitzero"),
			})
		}
	}
	for _, e := range embedded {
		inner := e.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		for _, f := range Fields(inner) {
			if !slices.ContainsFunc(all, func(o Field) bool { return o.Name == f.Name }) {
				f.Index, f.Through = append(slices.Clone(e.Index), f.Index...), f.Through || inner != e.Type
				all = append(all, f)
			}
		}
	}
	return all
}

// withUnit is a field's name with its unit behind it, where that is not in it. The tag unit names the unit of
// a field whose type does not.
func withUnit(name string, f reflect.StructField) string {
	unit := cmp.Or(f.Tag.Get("unit"), unitOf(f.Type))
	if unit == "per_s" && (strings.Contains(name, "iops") || strings.Contains(name, "tps")) {
		return name
	}
	if unit == "" || name == unit || strings.HasSuffix(name, "_"+unit) {
		return name
	}
	return name + "_" + unit
}

// unitOf is the unit in which values of a type are printed, "" where it has none.
func unitOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Duration](), reflect.TypeFor[units.Latency]():
		return "ns"
	case reflect.TypeFor[units.Bytes]():
		return "bytes"
	case reflect.TypeFor[units.Rate]():
		return "bytes_per_s"
	case reflect.TypeFor[units.IOPS]():
		return "per_s"
	}
	return ""
}

// snake is ReadIOPS as read_iops.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		begins := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Marshal is v as JSON, as encoding/json writes it but for the names of fields: see Fields.
func Marshal(v any) ([]byte, error) { return marshal(v, false) }

func marshal(v any, drawn bool) ([]byte, error) {
	e := &encoder{fields: map[reflect.Type][]Field{}, drawn: drawn}
	err := e.value(reflect.ValueOf(v))
	return e.Bytes(), err
}

// encoder writes one document.
type encoder struct {
	bytes.Buffer

	fields map[reflect.Type][]Field
	// drawn says that figures are those of charts: with five significant digits, half the bytes of
	// encoding/json's and more than a chart can show, and null for what was not measured.
	drawn bool
}

func (e *encoder) value(v reflect.Value) error {
	if !v.IsValid() {
		e.WriteString("null")
		return nil
	}
	t := v.Type()
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return e.plain(v)
	}
	if v.CanAddr() && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return e.plain(v.Addr())
	}
	switch t.Kind() { //nolint:exhaustive // the others have no fields
	case reflect.Float64:
		if e.drawn {
			return e.figure(v.Float())
		}
	case reflect.Pointer, reflect.Interface:
		return e.value(v.Elem())
	case reflect.Struct:
		return e.object(v)
	case reflect.Map:
		return e.table(v)
	case reflect.Slice, reflect.Array:
		return e.list(v)
	}
	return e.plain(v)
}

func (e *encoder) figure(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return e.value(reflect.Value{})
	}
	e.Write(strconv.AppendFloat(nil, v, 'g', 5, 64))
	return nil
}

// plain writes what has no fields.
func (e *encoder) plain(v reflect.Value) error {
	data, err := json.Marshal(v.Interface())
	e.Write(data)
	return err
}

func (e *encoder) list(v reflect.Value) error {
	if v.Kind() == reflect.Slice && (v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8) {
		return e.plain(v)
	}
	e.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.WriteByte(',')
		}
		if err := e.value(v.Index(i)); err != nil {
			return err
		}
	}
	e.WriteByte(']')
	return nil
}

// table writes a map, its keys in order.
func (e *encoder) table(v reflect.Value) error {
	if v.IsNil() {
		return e.plain(v)
	}
	names := map[string]reflect.Value{} // keys are words and numbers
	for _, k := range v.MapKeys() {
		name, err := json.Marshal(fmt.Sprint(k))
		if err != nil {
			return err
		}
		names[string(name)+":"] = v.MapIndex(k)
	}
	e.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(names)) {
		if i > 0 {
			e.WriteByte(',')
		}
		e.WriteString(name)
		if err := e.value(names[name]); err != nil {
			return err
		}
	}
	e.WriteByte('}')
	return nil
}

func (e *encoder) object(v reflect.Value) error {
	fields, known := e.fields[v.Type()]
	if !known {
		fields = Fields(v.Type())
		e.fields[v.Type()] = fields
	}
	e.WriteByte('{')
	first := true
	for _, f := range fields {
		of, err := v.FieldByIndexErr(f.Index)
		if err != nil || f.Empty && empty(of) || f.Zero && zero(of) { // err: an embedded pointer is nil
			continue
		}
		if !first {
			e.WriteByte(',')
		}
		first = false
		fmt.Fprintf(e, "%q:", f.Name)
		if err := e.value(of); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	e.WriteByte('}')
	return nil
}

// empty is what omitempty leaves out.
func empty(v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // of the others the zero value
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// zero is what omitzero leaves out.
func zero(v reflect.Value) bool {
	if z, ok := reflect.TypeAssert[interface{ IsZero() bool }](v); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return z.IsZero()
	}
	return v.IsZero()
}
