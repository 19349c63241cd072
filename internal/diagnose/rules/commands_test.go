package rules

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"plimsoll/internal/diagnose"
)

// What a record or a machine names is never a program: with shell meta-characters in any one field of
// every case, each command that is printed still has programs of plimsoll's own.
func TestCommandsHoldWhatIsForeign(t *testing.T) {
	cases := func() []labelled {
		unknown, stale := healthy(), healthy()
		unknown.Host.Boot.Arrays = nil
		stale.Host.Boot.Mdadm.Modified = time.Unix(2000, 0)
		for _, c := range []*diagnose.Case{unknown, stale} {
			c.Topology.Targets[0].Mount.Options = []string{"rw", "discard"}
		}
		two := []labelled{{name: "unknown", c: *unknown}, {name: "stale", c: *stale}}
		if testing.Short() { // make check takes all of them
			return append(two, touchCases()...)
		}
		return slices.Concat(two, layoutCases(), synthetic(), touchCases(), quick())
	}
	fields := map[string]bool{}
	for _, l := range cases() {
		foreign(reflect.ValueOf(&l.c), "", map[uintptr]bool{}, func(name string, _ reflect.Value) { fields[name] = true })
	}
	judged, commands, with := 0, 0, 0
	plants := []string{";evil #", "$(evil)", "`evil`", "'\nevil\n'", "\" | evil"}
	if testing.Short() {
		plants = plants[:1]
	}
	for field := range fields {
		for _, evil := range plants {
			for _, l := range cases() {
				hit := false
				foreign(reflect.ValueOf(&l.c), "", map[uintptr]bool{}, func(name string, v reflect.Value) {
					if name == field {
						v.SetString(v.String() + evil)
						hit = true
					}
				})
				if !hit {
					continue
				}
				judged++
				for _, f := range Judge(&l.c, nil) {
					for _, c := range f.Commands {
						commands++
						if strings.Contains(c, "evil") {
							with++
						}
						if ran := programsOf(c); slices.Contains(ran, "evil") || ran == nil {
							t.Errorf("%s with %q: %s of %s prints: %s", field, evil, f.Code, l.name, c)
						}
					}
				}
			}
		}
	}
	t.Logf("%d fields, %d cases, %d commands, %d of them with what was planted", len(fields), judged, commands, with)
	if with == 0 {
		t.Error("no command holds what was planted: the test tests nothing")
	}
}

// programsOf are the first words of all commands in a line of shell; nil where it is none.
func programsOf(line string) []string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil
	}
	names := []string{}
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			names = append(names, call.Args[0].Lit())
		}
		return true
	})
	return names
}

// foreign visits the plain strings of a case once each, by TYPE.Field.
func foreign(v reflect.Value, name string, seen map[uintptr]bool, visit func(string, reflect.Value)) {
	switch v.Kind() { //nolint:exhaustive // of the others none holds text of a case
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			foreign(v.Elem(), name, seen, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && v.Type() != reflect.TypeFor[diagnose.Measurement]() {
				foreign(v.Field(i), v.Type().String()+"."+f.Name, seen, visit)
			}
		}
	case reflect.Slice:
		if seen[v.Pointer()] {
			return
		}
		seen[v.Pointer()] = v.Len() > 0
		for i := range v.Len() {
			foreign(v.Index(i), name, seen, visit)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			foreign(v.MapIndex(k), name, seen, visit)
		}
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() {
			visit(name, v)
		}
	}
}
