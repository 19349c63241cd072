package text

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Clean makes text from outside fit to print on one line: control characters, bidirectional
// overrides and what is not UTF-8 become a replacement character, white space folds, and what is
// longer than most columns ends in an ellipsis. A most of 0 does not cut.
func Clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
	s = strings.Join(strings.Fields(s), " ")
	if most > 0 && Width(s) > most {
		s = ansi.Truncate(s, most, "…")
	}
	return s
}

// Quote puts text from outside into double quotes for a message: cleaned, at most 80 columns.
func Quote(s string) string { return `"` + strings.ReplaceAll(Clean(s, 80), `"`, `\"`) + `"` }

// ShellQuote writes an argument so that a shell reads exactly it back, on one line that hides
// nothing: a plain word as it is, else in single quotes, else with $'…' escapes (bash, ksh, zsh).
func ShellQuote(arg string) string {
	plain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) ||
			strings.ContainsRune("-_=+./:,@%", r)
	}
	hidden := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	switch {
	case arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !plain(r) }) < 0:
		return arg
	case strings.IndexFunc(arg, hidden) < 0:
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	var s strings.Builder
	for _, b := range []byte(arg) {
		switch {
		case b == '\'' || b == '\\':
			s.WriteByte('\\')
			s.WriteByte(b)
		case b < ' ' || b >= 0x7f:
			fmt.Fprintf(&s, `\x%02x`, b)
		default:
			s.WriteByte(b)
		}
	}
	return "$'" + s.String() + "'"
}

// Destroying are the options by which a user gives up what is on a device, or, without a serial number, a
// thing of a name, to be typed behind a command.
func Destroying(name, serial string) string {
	argv := []string{"--destroy", name, "--serial", serial}
	if serial == "" {
		argv = argv[:2]
	}
	return ShellLine(argv)
}

// ShellLine writes a command so that a shell reads exactly its arguments back.
func ShellLine(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = ShellQuote(a)
	}
	return strings.Join(quoted, " ")
}
