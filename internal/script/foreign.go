package script

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"unicode/utf16"
)

// Texts of other worlds: with a byte order mark, in UTF-16, for the shells of Windows, and notebooks.
// They are turned into what the readers know, line by line, so that places stay those of the document.

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

var (
	// windowsFio is fio with its folder as it is written on Windows: .\fio.exe, "C:\Program Files\fio\fio.exe".
	windowsFio = regexp.MustCompile(`(?i)(?:"[^"\n]*\\fio(?:\.exe)?"|[\w:.\\%$-]*\\fio(?:\.exe)?|\bfio\.exe)(\s)`)
	// callOperator is how PowerShell runs a program by its path.
	callOperator = regexp.MustCompile(`^(\s*)&(\s)`)
)

// fromWindows gives lines of a batch file or of PowerShell the form of a POSIX shell: the folder and
// ending of fio become blanks, and the mark that continues a line a backslash.
func fromWindows(name string, lines []string) {
	mark := ""
	switch strings.ToLower(path.Ext(name)) {
	case ".bat", ".cmd":
		mark = "^"
	case ".ps1":
		mark = "`"
	default:
		return
	}
	for i, line := range lines {
		line = callOperator.ReplaceAllString(line, "$1 $2")
		line = windowsFio.ReplaceAllStringFunc(line, func(m string) string {
			return strings.Repeat(" ", len(m)-len("fio")-1) + "fio" + m[len(m)-1:]
		})
		bare := strings.TrimRight(line, "\r")
		if cut, ok := strings.CutSuffix(bare, mark); ok {
			line = cut + `\` + line[len(bare):]
		}
		lines[i] = line
	}
}

var (
	// sourceLine is a line of a notebook's JSON with one line of a cell.
	sourceLine = regexp.MustCompile(`^((?:.*"source"\s*:\s*\[)?\s*")((?:[^"\\]|\\.)*)"\s*(,|\]|\}|$)`)
	cellMagic  = regexp.MustCompile(`^%%(?:bash|sh|shell|script\s+(?:ba)?sh)\b`)
	// inJSON are the escapes of a string that commands hold.
	inJSON = strings.NewReplacer(`\n`, "", `\"`, `"`, `\\`, `\`, `\t`, "\t", `\r`, "")
)

// fromNotebook leaves of a notebook's lines what a shell runs: lines that begin with ! and cells of
// %%bash. All others become empty.
func fromNotebook(lines []string) {
	shell, goesOn := false, false
	for i, line := range lines {
		lines[i] = ""
		m := sourceLine.FindStringSubmatch(line)
		if m == nil {
			if strings.Contains(line, "]") { // the cell ends
				shell, goesOn = false, false
			}
			continue
		}
		if strings.Contains(m[1], `"source"`) {
			shell, goesOn = false, false
		}
		code := inJSON.Replace(m[2])
		pad := strings.Repeat(" ", len(m[1]))
		switch rest, bang := strings.CutPrefix(strings.TrimLeft(code, " \t"), "!"); {
		case cellMagic.MatchString(code):
			shell = true
			continue
		case bang && !shell:
			lines[i] = pad + strings.Repeat(" ", len(code)-len(rest)) + rest
		case shell || goesOn:
			lines[i] = pad + code
		default:
			continue
		}
		goesOn = strings.HasSuffix(code, `\`)
	}
}
