package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Door is where text leaves for a terminal or a pipe. Whatever was printed, and whichever record it
// came from, control characters, C1 and bidirectional marks do not pass: a replacement character
// stands for each. Line ends and tabs pass, and on a terminal sequences that only set colours and
// weights (SGR, ECMA-48 8.3.117), which plimsoll prints itself.
//
// What begins with { is taken for JSON, where an escape stands for each such character, so that a
// reader gets the value. For a text that only looks so this is as harmless.
type Door struct {
	mu      sync.Mutex
	to      io.Writer
	styled  bool
	begun   bool
	json    bool   // all of it is
	pending []byte // the beginning of a character or of a sequence
}

// NewDoor leads to w; styled lets colours pass.
func NewDoor(w io.Writer, styled bool) *Door { return &Door{to: w, styled: styled} }

// longestStyle is more than lipgloss prints in one sequence: two colours of 24 bits and attributes.
const longestStyle = 64

func (d *Door) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, instead := p, replaced
	if !d.begun && len(p) > 0 {
		d.begun, d.json = true, p[0] == '{'
	}
	if d.json || bytes.HasPrefix(p, []byte("{")) { // a line of events on standard error
		instead = escaped
	}
	if len(d.pending) > 0 {
		text = slices.Concat(d.pending, p)
		d.pending = nil
	}
	whole := len(text)
	if d.styled {
		if i := bytes.LastIndexByte(text, '\x1b'); i >= 0 && len(text)-i < longestStyle && style(text[i:]) < 0 {
			whole = i
		}
	}
	for i := max(whole-utf8.UTFMax+1, 0); i < whole; i++ { // a character that goes on in the next call
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:whole]) {
			whole = i
		}
	}
	if whole > 0 && text[whole-1] == '\r' && whole == len(text) {
		whole--
	}
	d.pending = bytes.Clone(text[whole:])
	if _, err := d.to.Write(harmless(text[:whole], d.styled, instead)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was begun and not finished, at the end of all text.
func (d *Door) Flush() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	rest := d.pending
	d.pending = nil
	_, err := d.to.Write(harmless(rest, d.styled, replaced))
	return err
}

// Harmless is what a Door would let through to a file: text, or JSON.
func Harmless(p []byte) []byte {
	if bytes.HasPrefix(p, []byte("{")) {
		return harmless(p, false, escaped)
	}
	return harmless(p, false, replaced)
}

// HarmlessJSON is a record in JSON without characters that steer whoever shows the file: the same
// values are read back.
func HarmlessJSON(p []byte) []byte { return harmless(p, false, escaped) }

// JSON is a file of plimsoll's own, which people may look into.
func JSON(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", " ")
	return append(HarmlessJSON(data), '\n'), err
}

// HarmlessScreen is what a Door would let through to a terminal, for a picture that another draws there.
func HarmlessScreen(picture string) string { return string(harmless([]byte(picture), true, replaced)) }

// escaped is a character as in JSON's strings, the only place of JSON in which it can stand.
func escaped(r rune) string { return fmt.Sprintf(`\u%04x`, r) }

func replaced(rune) string { return string(unicode.ReplacementChar) }

func harmless(p []byte, styled bool, instead func(rune) string) []byte {
	var out []byte // nil while nothing had to go
	kept := 0
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == '\x1b' && styled {
			if length := style(p[i:]); length > 0 {
				i += length
				continue
			}
		}
		if !steers(r) || r == '\r' && i+1 < len(p) && p[i+1] == '\n' {
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			r = unicode.ReplacementChar // a byte that is no UTF-8: 0x9b alone is C1 to some terminals
		}
		out = append(append(out, p[kept:i]...), instead(r)...)
		i += n
		kept = i
	}
	if kept == 0 {
		return p
	}
	return append(out, p[kept:]...)
}

// steers says that a character moves, hides or reorders others where it is shown.
func steers(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	}
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || r >= '\u2028' && r <= '\u202e' ||
		r >= '\u2066' && r <= '\u2069'
}

// style is the length of the sequence that sets colours or weights at the beginning of text: 0 for
// another one, -1 where it is not finished.
func style(text []byte) int {
	for i, b := range text {
		switch {
		case i == 0 && b == '\x1b', i == 1 && b == '[', i > 1 && (b >= '0' && b <= '9' || b == ';' || b == ':'):
		case i > 1 && b == 'm':
			return i + 1
		default:
			return 0
		}
		if i == longestStyle {
			return 0
		}
	}
	return -1
}
