package yamlfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestMistakes: an error has the file, the line, the line's text and a caret below the place.
func TestMistakes(t *testing.T) {
	const text = "name: x\nlist:\n  - {a: 1}\n  - {a: 2}\nother: 5\n"
	var into struct {
		Name string
		List []struct{ A int }
	}
	err := Wrong("f.yaml", []byte(text), Decode([]byte(text), &into))
	check(t, err, `f.yaml:5: unknown field "other": correct its name or remove it`, "   5 | other: 5\n     | ^")

	file, broken := Parse([]byte(text))
	if broken != nil {
		t.Fatal(broken)
	}
	err = Wrong("f.yaml", []byte(text), At(Find(file, "$.list[1].a"), errors.New("want 1")))
	check(t, err, "f.yaml:4: want 1", "   4 |   - {a: 2}\n     |         ^")
	err = Wrong("f.yaml", []byte(text), At(Find(file, "$.list[1].b"), errors.New("b is missing: add it")))
	check(t, err, "f.yaml:4: b is missing: add it", "   4 |   - {a: 2}\n     |     ^")
	err = Wrong("f.yaml", []byte(text), &Place{Line: 3, Err: errors.New("no")})
	check(t, err, "f.yaml:3: no", "   3 |   - {a: 1}\n     |     ^")
	check(t, Wrong("f.yaml", nil, errors.New("empty: write it")), "f.yaml: empty: write it", "")
	check(t, Wrong("f.yaml", nil, &Place{Line: 9, Err: errors.New("no")}), "f.yaml: no", "")
}

func check(t *testing.T, err error, message, excerpt string) {
	t.Helper()
	m, ok := errors.AsType[*Mistake](err)
	if !ok || m.Error() != message || m.Excerpt() != excerpt {
		t.Errorf("%v\n%s\nwant %s\n%s", err, m.Excerpt(), message, excerpt)
	}
	if strings.Contains(m.Excerpt(), "\t") {
		t.Errorf("a tab moves the caret: %q", m.Excerpt())
	}
}

// amount reads its own text, of whose errors the library does not say the place.
type amount int

func (a *amount) UnmarshalText(text []byte) error {
	if string(text) != "5" {
		return errors.New("want 5, not " + string(text))
	}
	*a = 5
	return nil
}

// TestPlaceOfAValue: the first value that its type refuses is named, however deep, and no other 6;
// numbers that are no amounts are too.
func TestPlaceOfAValue(t *testing.T) {
	for text, want := range map[string]string{
		"a: 5\nlist:\n  - {b: 5, c: 5}\n  - {b: 5, c: 6}\n": "f:4: want 5, not 6 at 15",
		"list:\n- b:\n    x: 1\n":                           "f:3: want one value here, not a list or mapping at 6",
		"a: 5\nlist:\n- b: [5]\n":                           "f:3: want one value here, not a list or mapping at 6",
		"a: 5\nlist: [{b: 5}]\n":                            "",
		"n: 6\nlist:\n- {'b': 5} # 6\n- ? c\n  : 6\n":       "f:5: want 5, not 6 at 5",
		"n: &n 6\na: *n\n":                                  "f: want 5, not 6 at 0",
		"n: &n 5\nlist:\n- {b: *n, c: 6}\n":                 "f:3: want 5, not 6 at 14",
	} {
		var into struct {
			A    amount
			N    int
			List []struct{ B, C amount }
		}
		got := ""
		if err := Decode([]byte(text), &into); err != nil {
			m, _ := errors.AsType[*Mistake](Wrong("f", []byte(text), err))
			got = fmt.Sprintf("%v at %d", m, m.Column)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, refused := range map[string]bool{
		"a: -1": true, "a: [.nan]": true, "a: .inf": true, "a: 1e99": true, "a: NaN": true,
		"a: 0": false, "a: '-1'": false, "a: 2026-11": false, "- b: 1e9": false, "a: 1 #-1": false,
	} {
		if err := Amounts([]byte(text)); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}
