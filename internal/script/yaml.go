package script

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio/shell"
)

// YAML is read a line at a time and not by a YAML parser: half of what holds fio commands is a
// template of Ansible or Helm, which is YAML only once it is filled in.
var (
	yamlKey  = regexp.MustCompile(`^( *)((?:- +)*)["']?([A-Za-z0-9_.\-/]+)["']? *:(?: +(.*))?$`)
	yamlItem = regexp.MustCompile(`^( *)((?:- +)+)(.*)$`)
	blockOf  = regexp.MustCompile(`^([|>])[-+0-9]*\s*(?:#.*)?$`)
	// itemComment is a comment behind an item.
	itemComment = regexp.MustCompile(`^("[^"]*"|'[^']*'|[^"'#][^#]*?)\s+#.*$`)
	// silentKeys hold text for people.
	silentKeys = strings.Fields(`name description title msg message when summary help comment`)
)

// yamlReader reads the commands of a YAML document.
type yamlReader struct {
	*reader
	block int
	// argv are the words of a command: key, for which args: may follow at the same column.
	argv []shell.Word
	col  int
}

func (r *reader) yaml(from, to, block int) {
	r.code = append(r.code, span{from, to, block})
	y := &yamlReader{reader: r, block: block}
	for i := from; i < to && !r.spent.over; {
		i = y.line(i, to)
	}
	y.flush()
}

func (y *yamlReader) flush() {
	if len(y.argv) > 0 {
		y.command(y.argv, y.block, true, 0)
	}
	y.argv = nil
}

// line reads what begins in line i and returns the line behind it.
func (y *yamlReader) line(i, to int) int {
	line := strings.TrimRight(y.lines[i], " \t\r")
	if t := strings.TrimSpace(line); t == "" || t[0] == '#' || y.tooLong(line, i+1) {
		return i + 1
	}
	key, value, col := "", "", 0
	if m := yamlKey.FindStringSubmatch(line); m != nil {
		key, value, col = m[3], m[4], len(m[1])+len(m[2])
	} else if m := yamlItem.FindStringSubmatch(line); m != nil {
		value, col = m[3], len(m[1])
	} else {
		return i + 1
	}
	if key != "args" || col != y.col {
		y.flush()
	}
	at := len(line) - len(value)
	switch {
	case slices.Contains(silentKeys, key):
		return i + 1
	case blockOf.MatchString(value):
		return y.scalar(i, to, col, key, value[0] == '>')
	case strings.HasPrefix(value, "["):
		return y.flow(i, to, at, key, col)
	case value == "" && key != "":
		return y.sequence(i+1, to, col, key)
	case value != "":
		return y.plain(i, to, at, col)
	}
	return i + 1
}

// scalar reads a block: a job file, another YAML document or a script, whose lines are one when it
// is folded.
func (y *yamlReader) scalar(i, to, col int, key string, folded bool) int {
	end := i + 1
	for end < to && (strings.TrimSpace(y.lines[end]) == "" || indentOf(y.lines[end]) > col) {
		end++
	}
	body := y.lines[i+1 : end]
	switch {
	case len(body) == 0:
	case looksLikeJob(body):
		y.job(i+1, end, y.block+1)
	case strings.HasSuffix(key, ".yaml") || strings.HasSuffix(key, ".yml"):
		y.yaml(i+1, end, y.block)
	case folded:
		y.piece(foldedLines(body), place{i + 2, 1}, y.block, 0)
	default:
		y.shell(i+1, end, y.block, true)
	}
	return end
}

// foldedLines is a folded block as a shell reads it: a line break is a blank, except beside lines that
// are indented deeper than the first.
func foldedLines(body []string) string {
	var b strings.Builder
	first := indentOf(body[0])
	for i, line := range body {
		switch {
		case i == 0:
		case indentOf(line) > first || indentOf(body[i-1]) > first || strings.TrimSpace(line) == "":
			b.WriteByte('\n')
		default:
			b.WriteString(" \\\n")
		}
		b.WriteString(line)
	}
	return b.String()
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// mostQuoted is how many lines a job file in quotes has.
const mostQuoted = 500

// quoted reads a job file in a scalar in quotes, which begins at a column, and returns the line
// behind it; i where it is none. In single quotes an empty line ends a line of the text, in double
// quotes \n does.
func (y *yamlReader) quoted(i, to, at int) int {
	quote := y.lines[i][at : at+1]
	m := madeFile{block: y.block, lines: []string{""}, at: []int{i + 1}}
	for n := i; n < min(to, i+mostQuoted); n++ {
		line := strings.TrimSpace(y.lines[n])
		if n == i {
			line = y.lines[n][at+1:]
		}
		parts, next := []string{line}, n+1
		before := strings.TrimRight(line, quote)
		ends := (len(line)-len(before))%2 == 1
		switch {
		case quote == `"`:
			ends = ends && !strings.HasSuffix(before, `\`)
			parts = strings.Split(strings.TrimPrefix(strings.TrimSuffix(line, `\`), `\ `), `\n`)
		case line == "":
			parts, next = []string{"", ""}, n+2
		}
		last := len(m.lines) - 1
		m.lines[last] = strings.TrimSpace(m.lines[last] + " " + parts[0])
		for _, part := range parts[1:] {
			m.lines, m.at = append(m.lines, part), append(m.at, next)
		}
		if !ends {
			continue
		}
		last = len(m.lines) - 1
		m.lines[last] = strings.TrimSuffix(m.lines[last], quote)
		if !sectionLine.MatchString(m.lines[0]) {
			break
		}
		y.made = append(y.made, m)
		return n + 1
	}
	return i
}

// plain reads a scalar that may go on in deeper lines.
func (y *yamlReader) plain(i, to, at, col int) int {
	if text := strings.TrimLeft(y.lines[i][at:], `"'`); text != y.lines[i][at:] && strings.HasPrefix(text, "[") {
		if end := y.quoted(i, to, at); end > i {
			return end
		}
	}
	end := i + 1
	for end < to && strings.TrimSpace(y.lines[end]) != "" && indentOf(y.lines[end]) > col &&
		!yamlItem.MatchString(y.lines[end]) &&
		!yamlKey.MatchString(y.lines[end]) {
		end++
	}
	text := strings.Join(y.lines[i:end], " \\\n")[at:]
	if !strings.Contains(text, "fio") {
		return end
	}
	if q := text[0]; q == '"' || q == '\'' {
		text = strings.TrimRight(text, " \r")
		text = " " + strings.TrimSuffix(text[1:], string(q))
		if q == '"' {
			text = strings.ReplaceAll(text, `\"`, ` "`)
		}
	}
	if first := strings.Fields(text); len(first) > 1 && (isFio(first[0]) || innerFio.MatchString(text)) {
		y.piece(text, place{i + 1, at + 1}, y.block, 0)
	}
	return end
}

// flowPart is an item of a list in brackets, in double quotes, in single ones or in none, or the end of the list.
var flowPart = regexp.MustCompile(`"((?:\\.?|[^"\\])*)"?|'([^']*)'?|([^\][, \t\r"'][^],]*)|\]`)

// mostFlow is how many lines a list in brackets has.
const mostFlow = 200

// flow reads ["fio", "--name=a"], which may go over lines.
func (y *yamlReader) flow(i, to, at int, key string, col int) int {
	var words []shell.Word
	for n := i; n < min(to, i+mostFlow); n++ {
		line := y.lines[n][at:]
		for _, m := range flowPart.FindAllStringSubmatchIndex(line, -1) {
			group := slices.IndexFunc(m[2:], func(at int) bool { return at >= 0 })
			if group < 0 {
				y.words(words, key, col)
				return n + 1
			}
			begin := m[2+group]
			text := line[begin:m[3+group]]
			if begin == m[0] {
				text = strings.TrimSpace(text)
			} else {
				text = strings.ReplaceAll(text, `\"`, `"`)
			}
			words = append(words, shell.Word{Text: text, Line: n + 1, Col: at + begin + 1})
		}
		at = 0
	}
	return i + 1
}

// sequence reads the items below a key, one a line, when they are the words of a command; others
// are read line by line.
func (y *yamlReader) sequence(i, to, col int, key string) int {
	if key != "command" && key != "args" && key != "argv" && key != "entrypoint" {
		return i
	}
	var words []shell.Word
	n := i
	for ; n < to; n++ {
		m := yamlItem.FindStringSubmatch(strings.TrimRight(y.lines[n], " \r"))
		if m == nil || len(m[1]) < col || blockOf.MatchString(m[3]) {
			break
		}
		at, text := len(m[1])+len(m[2]), itemComment.ReplaceAllString(m[3], "$1")
		if len(text) > 1 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
			at, text = at+1, text[1:len(text)-1]
		}
		words = append(words, shell.Word{Text: text, Line: n + 1, Col: at + 1})
	}
	if len(words) == 0 || n < to && blockOf.MatchString(strings.TrimLeft(y.lines[n], " -")) {
		return i
	}
	y.words(words, key, col)
	return n
}

// words takes the items of a list as a command, or as the arguments of the one before.
func (y *yamlReader) words(words []shell.Word, key string, col int) {
	y.place(words)
	switch {
	case len(words) == 0:
	case key == "command" || key == "entrypoint":
		y.argv, y.col = words, col
	case key == "args" && len(y.argv) > 0:
		y.argv = append(y.argv, words...)
		y.flush()
	case key == "args" && slices.ContainsFunc(words, func(w shell.Word) bool {
		name, _, sets := strings.Cut(w.Text, "=")
		return sets && slices.Contains([]string{"rw", "readwrite", "ioengine"}, strings.TrimLeft(name, "-")) && name[0] == '-'
	}): // of an image whose program is fio
		y.appended = true
		y.command(append([]shell.Word{{Text: "fio", Line: words[0].Line, Col: words[0].Col}}, words...), y.block, true, 0)
		y.appended = false
	default:
		y.command(words, y.block, true, 0)
	}
}
