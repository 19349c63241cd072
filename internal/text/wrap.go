package text

import "strings"

// Wrap breaks a paragraph into lines of at most width columns. It breaks at spaces only, so a flag,
// a path or a command's word is never split; a word that is wider than a line has one of its own.
// first stands before the first line, rest before the others. A no-break space holds words together
// and is printed as a space.
func Wrap(s string, width int, first, rest string) []string {
	var lines []string
	line, empty := first, true
	for _, word := range strings.FieldsFunc(s, func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' ||
			r == '\r'
	}) {
		if !empty && Width(line)+1+Width(word) > width {
			lines = append(lines, line)
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	lines = append(lines, line)
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(l, NoBreak, " "), " ")
	}
	return lines
}

// NoBreak is the space at which Wrap does not break.
const NoBreak = "\u00a0"
