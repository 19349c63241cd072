package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// spoil takes each value of a record in turn away, or puts one of another kind or size in its place, as no plimsoll
// would have written it, and runs one of the commands that read the record. Whatever it says, it does not crash, and what
// it prints is harmless. A sample, and a hundred times as many with all. It says how many were tried.
func (h *hostileWalk) spoil(all bool) int {
	h.t.Helper()
	tree, ok := h.doc.(*hostileTree)
	if !ok {
		return 0
	}
	data, err := os.ReadFile(h.path())
	if err != nil {
		h.t.Fatal(err)
	}
	values := 0
	spoilt(tree.of, func(v any) any { values++; return v })
	share := min(5, values)
	if all {
		share = min(100*share, values*len(spoils()))
	}
	random := rand.New(rand.NewPCG(1, 1))
	for n, at := range random.Perm(values * len(spoils()))[:share] {
		i := -1
		text, err := json.MarshalIndent(spoilt(tree.of, func(v any) any {
			if i++; i == at%values {
				return spoils()[at/values](v)
			}
			return v
		}), "", " ")
		if err != nil {
			h.t.Fatal(err)
		}
		if err := os.WriteFile(h.path(), text, 0o600); err != nil {
			h.t.Fatal(err)
		}
		h.survive(h.commands[n%len(h.commands)], string(text))
	}
	if err := os.WriteFile(h.path(), data, 0o600); err != nil {
		h.t.Fatal(err)
	}
	return share
}

// survive runs a command on what is there, which must not panic.
func (h *hostileWalk) survive(command, text string) {
	h.t.Helper()
	defer func() {
		if broken := recover(); broken != nil {
			h.t.Fatalf("%v\n%s\n%s", broken, debug.Stack(), text)
		}
	}()
	_, complaint, code := h.say(strings.NewReplacer(" --format FORMATS", "", "FIGURES", "csv").Replace(command))
	if code < 0 || code > 4 {
		h.t.Errorf("exit status %d: %s\n%s", code, complaint, text)
	}
}

// gone is a value that is not there.
type gone struct{}

// spoils are ways to spoil a value.
func spoils() []func(any) any {
	other := func(to any) func(any) any { return func(any) any { return to } }
	return []func(any) any{
		other(gone{}), other(nil), other(""), other("x"), other(-1), other(0), other(1e300), other(int64(1) << 62),
		other(true), other([]any{}), other(map[string]any{}),
		func(v any) any { return []any{v, v} },
		func(v any) any {
			if list, ok := v.([]any); ok {
				return slices.Concat(list, list)
			}
			return fmt.Sprint(v, v)
		},
	}
}

// spoilt is a document with each value, keys of maps aside, as change makes it.
func spoilt(v any, change func(any) any) any {
	made := change(v)
	if _, is := made.(gone); is {
		return made
	}
	switch v := made.(type) {
	case map[string]any:
		all := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if value := spoilt(v[key], change); value != any(gone{}) {
				all[key] = value
			}
		}
		return all
	case []any:
		all := []any{}
		for i := range v {
			if value := spoilt(v[i], change); value != any(gone{}) {
				all = append(all, value)
			}
		}
		return all
	}
	return made
}
