package text

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/internal/sys/bounded"
)

// TestDoor writes each text whole and byte by byte: what passes does not depend on how it is cut.
func TestDoor(t *testing.T) {
	for _, c := range []struct{ in, plain, styled string }{
		{"a\tb\nc – é 日本\r\n", "a\tb\nc – é 日本\r\n", ""},
		{"\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m", "\x1b[31mred\x1b[0m"},
		{"\x1b[38;2;1;2;3;1m", "\ufffd[38;2;1;2;3;1m", "\x1b[38;2;1;2;3;1m"},
		{"\x1b]0;title\x07", "\ufffd]0;title\ufffd", ""},
		{"\x1b[2J\x1b[1;1H\x1bc\x1b", "\ufffd[2J\ufffd[1;1H\ufffdc\ufffd", ""},
		{"\u009b31m \x9b31m \xff", "\ufffd31m \ufffd31m \ufffd", ""},
		{"\u202eevil\u2069 \u200f\u061c\u2028", "\ufffdevil\ufffd \ufffd\ufffd\ufffd", ""},
		{"over\rwritten\b\x00\x7f\v", "over\ufffdwritten\ufffd\ufffd\ufffd\ufffd", ""},
		{"\x1b[" + strings.Repeat("1;", 40) + "m", "\ufffd[" + strings.Repeat("1;", 40) + "m", ""},
		{"cut \xe2\x80", "cut \ufffd\ufffd", ""},
	} {
		for _, styled := range []bool{false, true} {
			want := c.plain
			if styled && c.styled != "" {
				want = c.styled
			}
			for _, step := range []int{1, 2, 3, len(c.in)} {
				var out bytes.Buffer
				d := NewDoor(&out, styled)
				for rest := []byte(c.in); len(rest) > 0; {
					n, err := d.Write(rest[:min(step, len(rest))])
					if err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
				if err := d.Flush(); err != nil || out.String() != want {
					t.Errorf("%q in steps of %d, styled %v: %q, want %q", c.in, step, styled, out.String(), want)
				}
			}
		}
		if got := string(Harmless([]byte(c.in))); got != c.plain {
			t.Errorf("%q: %q", c.in, got)
		}
	}
}

// TestDoorEscapesJSON: from a Door and from a file the same value is read back.
func TestDoorEscapesJSON(t *testing.T) {
	value := map[string]string{"x": "a\u009b31m\u202e\x7f\u2028é\x1b"}
	plain, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := NewDoor(&out, true)
	if _, err := d.Write(plain); err != nil {
		t.Fatal(err)
	}
	for _, escaped := range [][]byte{out.Bytes(), Harmless(plain)} {
		var back map[string]string
		if err := json.Unmarshal(escaped, &back); err != nil || back["x"] != value["x"] || bytes.ContainsFunc(escaped, steers) {
			t.Errorf("%s: %q %v", escaped, back, err)
		}
	}
}

func FuzzDoor(f *testing.F) {
	f.Add("\x1b[1m\x1b]\u202e\r\n", 3)
	bounded.Fuzz(f, func(t *testing.T, text string, at int) {
		var out bytes.Buffer
		d := NewDoor(&out, true)
		at = min(max(at, 0), len(text))
		_, _ = d.Write([]byte(text[:at]))
		_, _ = d.Write([]byte(text[at:]))
		_ = d.Flush()
		left := out.Bytes()
		for i := 0; i < len(left); {
			if n := style(left[i:]); n > 0 {
				i += n
				continue
			}
			r, n := utf8.DecodeRune(left[i:])
			if steers(r) && (r != '\r' || !bytes.HasPrefix(left[i:], []byte("\r\n"))) || r == utf8.RuneError && n == 1 {
				t.Fatalf("%q cut at %d: %q", text, at, left)
			}
			i += n
		}
	})
}
