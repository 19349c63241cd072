package script

import (
	"bytes"
	"unicode/utf16"
)

// unread are the endings of scripts that are not for a POSIX shell: batch files, PowerShell, notebooks.
var unread = endings(`.bat .cmd .ps1 .ipynb`)

const byteOrderMark = "\ufeff"

// decoded is a text as UTF-8 without a byte order mark, and what fio would mind of it in a job file;
// empty where there is nothing.
func decoded(text []byte) (plain, minds string, by Obstacle) {
	switch {
	case bytes.HasPrefix(text, []byte(byteOrderMark)):
		return string(text[len(byteOrderMark):]), "a byte order mark stands before the first line: fio takes it for " +
			"a part of it", OrderMark
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}), bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		low, high := 0, 1 // FF FE stands before little-endian units
		if text[0] == 0xfe {
			low, high = 1, 0
		}
		units := make([]uint16, 0, len(text)/2)
		for i := 2; i+1 < len(text); i += 2 {
			units = append(units, uint16(text[i+low])|uint16(text[i+high])<<8)
		}
		return string(utf16.Decode(units)), "the file is UTF-16, which fio does not read", ""
	}
	return string(text), "", ""
}
