package yamlfile

import (
	"errors"
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
