package yamlfile

import (
	"testing"

	"github.com/goccy/go-yaml/ast"

	"plimsoll/internal/sys/bounded"
)

// TestSurvives holds the input on which the library panics.
func TestSurvives(t *testing.T) {
	var into struct {
		Streams []struct{ Name string }
	}
	for _, text := range []string{"streams: ! ", "streams: !\nother: 1"} {
		if err := Decode([]byte(text), &into); err == nil {
			t.Errorf("%q is read without an error", text)
		}
	}
	if err := Decode([]byte("streams: [{name: a}]"), &into); err != nil || len(into.Streams) != 1 {
		t.Errorf("%+v %v", into, err)
	}
	if err := Decode([]byte("stream: []"), &into); err == nil {
		t.Error("an unknown key is accepted")
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"a: 1", "a: !", "- [1, {b: c}]", "a: &x 1\nb: *x", "a: |\n  text\n", "{", "a:\n\t- b"} {
		f.Add([]byte(s))
	}
	bounded.Fuzz(f, func(_ *testing.T, data []byte) {
		if len(data) > 256 {
			return
		}
		var into struct {
			A any
			B ast.Node
		}
		_ = Decode(data, &into)
		_, _ = Parse(data)
	})
}
