package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

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

// ShellQuote writes an argument so that every POSIX shell reads exactly it back, on one line that hides
// nothing: a plain word as it is, else in single quotes, else as what printf prints. What no shell can read so, a
// zero byte and a line's end at the end, becomes a replacement character, so that nothing of another name is meant.
func ShellQuote(arg string) string {
	plain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) ||
			strings.ContainsRune("-_=+./:,@%", r)
	}
	switch {
	case arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !plain(r) }) < 0:
		return arg
	case utf8.ValidString(arg) && strings.IndexFunc(arg, func(r rune) bool { return !unicode.IsPrint(r) }) < 0:
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	kept := strings.TrimRight(arg, "\n")
	arg = kept + strings.Repeat("\uFFFD", len(arg)-len(kept))
	var s strings.Builder
	for i, b := range []byte(strings.ReplaceAll(arg, "\x00", "\uFFFD")) {
		switch {
		case b == '\\' || b == '%':
			s.WriteByte(b)
			s.WriteByte(b)
		case b < ' ' || b >= 0x7f || b == '\'' || b == '!' || b == '-' && i == 0: // history; an option
			fmt.Fprintf(&s, `\%03o`, b)
		default:
			s.WriteByte(b)
		}
	}
	return `"$(printf '` + s.String() + `')"`
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
