package script

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Programs in Python hold commands as strings and as lists of words, and job files as strings of
// several lines. They are turned into what a shell would be given, in the same lines and columns:
// all other code becomes blanks, and what the program fills in a variable.

// python reads what fromPython left: the job files at their lines, and commands between them.
func (r *reader) python(jobs []span) {
	from := 0
	for _, j := range append(jobs, span{len(r.lines), len(r.lines), 0}) {
		if from < j.from {
			r.shell(from, j.from, 0, true)
		}
		if j.from < j.to {
			r.job(j.from, j.to, 0)
		}
		from = j.to
	}
}

// isPython says whether a document is such a program.
func isPython(name string, lines []string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".py" || ext == "" && strings.HasPrefix(lines[0], "#!") && strings.Contains(lines[0], "python")
}

// pyKind is what a token of Python is, as far as it matters here.
type pyKind int

const (
	pyString pyKind = iota
	pyOpen          // ( [ {
	pyClose
	pyComma
	pyNewline // the end of a statement: not within brackets
	pyOther
)

// pyToken is a token between two places in the text, counted in characters. Of a string, from and
// to are those of its content.
type pyToken struct {
	kind     pyKind
	from, to int
	text     string
	format   bool // an f-string
	triple   bool
	line     int // counted from 0
	closer   int // of an opening bracket, the token that closes it
}

// python is a program while it is turned.
type python struct {
	text    []rune
	tokens  []pyToken
	out     []rune
	breaks  []int        // the places where lines end
	goes    map[int]bool // the lines that the next one continues, by their ends
	open    map[int]bool // those with a command that is added to
	jobs    []span
	printed map[int]bool    // lines, from 0, of strings that are texts for people
	grown   map[string]bool // variables that are added to; nil before one was looked for
}

// fromPython leaves of a program's lines the commands that it runs, and gives the lines of the job
// files that its strings are, and those, from 1, of commands that it could not turn.
func fromPython(lines []string) (jobs []span, missed []int) {
	p := &python{
		text: []rune(strings.Join(lines, "\n")), goes: map[int]bool{}, open: map[int]bool{}, printed: map[int]bool{},
	}
	p.out = make([]rune, len(p.text))
	for i, r := range p.text {
		if p.out[i] = ' '; r == '\n' {
			p.out[i], p.breaks = r, append(p.breaks, i)
		}
	}
	p.lex()
	for i := 0; i < len(p.tokens); {
		i = p.turn(i)
	}
	line, from := 0, 0
	for i := 0; i <= len(p.out); i++ {
		if i == len(p.out) || p.out[i] == '\n' {
			left := strings.TrimRight(string(p.out[from:i]), " ")
			comment := strings.HasPrefix(strings.TrimSpace(lines[line]), "#")
			if left == "" && seems.MatchString(lines[line]) && !p.printed[line] && !comment {
				missed = append(missed, line+1)
			}
			if p.open[i] {
				left += " $_"
			}
			if p.goes[i] {
				left += ` \`
			}
			lines[line] = left
			line, from = line+1, i+1
		}
	}
	return p.jobs, missed
}

// lex finds the tokens. Comments stay as they are, but within brackets, where a command may stand.
func (p *python) lex() {
	var open []int
	line, counted := 0, 0
	add := func(t pyToken) {
		for ; counted < t.from; counted++ {
			if p.text[counted] == '\n' {
				line++
			}
		}
		t.line = line
		p.tokens = append(p.tokens, t)
	}
	for i := 0; i < len(p.text); {
		switch r := p.text[i]; {
		case r == '#':
			end := p.lineEnd(i)
			if len(open) == 0 {
				copy(p.out[i:end], p.text[i:end])
			}
			i = end
		case r == '\\' && i+1 < len(p.text) && p.text[i+1] == '\n':
			i += 2
		case r == '\n':
			if len(open) == 0 {
				add(pyToken{kind: pyNewline, from: i, to: i})
			}
			i++
		case unicode.IsSpace(r):
			i++
		case r == '"' || r == '\'':
			t, end := p.lexString(i, false)
			add(t)
			i = end
		case strings.ContainsRune("([{", r):
			open = append(open, len(p.tokens))
			add(pyToken{kind: pyOpen, from: i, to: i + 1, text: string(r)})
			i++
		case strings.ContainsRune(")]}", r):
			if len(open) > 0 {
				p.tokens[open[len(open)-1]].closer = len(p.tokens)
				open = open[:len(open)-1]
			}
			add(pyToken{kind: pyClose, from: i, to: i + 1, text: string(r)})
			i++
		case r == ',':
			add(pyToken{kind: pyComma, from: i, to: i + 1})
			i++
		case pyName(r):
			end := i
			for end < len(p.text) && (pyName(p.text[end]) || p.text[end] == '.') {
				end++
			}
			word := strings.ToLower(string(p.text[i:end]))
			if end < len(p.text) && (p.text[end] == '"' || p.text[end] == '\'') && strings.Trim(word, "rbuf") == "" {
				t, behind := p.lexString(end, strings.Contains(word, "r"))
				t.format = strings.Contains(word, "f")
				add(t)
				i = behind
				continue
			}
			add(pyToken{kind: pyOther, from: i, to: end, text: string(p.text[i:end])})
			i = end
		case r == '.' && strings.HasPrefix(string(p.text[i:min(i+7, len(p.text))]), ".format"):
			add(pyToken{kind: pyOther, from: i, to: i + 7, text: ".format"})
			i += 7
		default:
			add(pyToken{kind: pyOther, from: i, to: i + 1, text: string(r)})
			i++
		}
	}
}

// pyName says whether a character may stand in a name.
func pyName(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// lineEnd is where the line of a place ends.
func (p *python) lineEnd(i int) int {
	if k, _ := slices.BinarySearch(p.breaks, i); k < len(p.breaks) {
		return p.breaks[k]
	}
	return len(p.text)
}

// lexString is the string that begins with a quote, and the place behind it. One that is not closed
// ends with its line, or with the text.
func (p *python) lexString(i int, raw bool) (t pyToken, behind int) {
	quote := p.text[i]
	closes := func(i int) bool {
		return i+2 < len(p.text) && p.text[i] == quote && p.text[i+1] == quote && p.text[i+2] == quote
	}
	width := 1
	if closes(i) {
		width = 3
	}
	end := i + width
	for ; end < len(p.text); end++ {
		if p.text[end] == '\\' && !raw {
			end++
			continue
		}
		if width == 1 && (p.text[end] == '\n' || p.text[end] == quote) || width == 3 && closes(end) {
			break
		}
	}
	end = min(end, len(p.text))
	t = pyToken{kind: pyString, from: i + width, to: end, triple: width == 3}
	t.from = min(t.from, end)
	t.text = string(p.text[t.from:end])
	return t, min(end+width, len(p.text))
}

// turn looks at the token and what follows it, and returns the next to look at.
func (p *python) turn(i int) int {
	t := p.tokens[i]
	if t.kind == pyOpen && t.text == "[" {
		if end := p.list(i); end > i {
			return end
		}
	}
	if t.kind != pyString {
		return i + 1
	}
	if t.triple && p.jobText(t) {
		return i + 1
	}
	if p.spoken(i) {
		for k := range strings.Count(t.text, "\n") + 1 {
			p.printed[t.line+k] = true
		}
		return i + 1
	}
	if !runsFio(t) {
		return i + 1
	}
	return p.command(i)
}

// jobText puts a string that is a job file in its place, and says whether it is one.
func (p *python) jobText(t pyToken) bool {
	content := p.filled(t, p.formatted(t))
	lines := strings.Split(string(content), "\n")
	if !looksLikeJob(lines) {
		return false
	}
	copy(p.out[t.from:], content)
	p.jobs = append(p.jobs, span{from: t.line, to: t.line + len(lines)})
	return true
}

// formatted says whether a format fills in a string: it is an f-string, or % or .format follows.
func (p *python) formatted(t pyToken) bool {
	behind := t.to + 1
	if t.triple {
		behind = t.to + 3
	}
	rest := string(p.text[min(behind, len(p.text)):min(behind+40, len(p.text))])
	rest = strings.TrimLeft(rest, " \n")
	return t.format || strings.HasPrefix(rest, "%") || strings.HasPrefix(rest, ".format")
}

// pyFilled are the parts of a string that a format fills in.
var pyFilled = regexp.MustCompile(`\{[^{}\n]*\}|%(?:\(\w+\))?[-\d.]*[sdifr]`)

// filled is a string's content with a variable in the place of each part that is filled in.
func (p *python) filled(t pyToken, format bool) []rune {
	s := strings.NewReplacer(`\"`, `""`, `\'`, `''`, `\n`, `; `).Replace(t.text)
	if !format {
		return []rune(s)
	}
	if at := pyProgram.FindStringSubmatchIndex(s); at != nil {
		s = s[:at[2]] + "$fio" + strings.Repeat(" ", len([]rune(s[at[2]:at[3]]))-len("$fio")) + s[at[3]:]
	}
	return []rune(pyFilled.ReplaceAllStringFunc(s, func(m string) string {
		return "$" + strings.Repeat("_", len([]rune(m))-1)
	}))
}

// pyProgram is the program at the start of a command, which a format fills in.
var pyProgram = regexp.MustCompile(`^\s*(?:(?:sudo|time|nice|exec)\s+)*(\{\w*(?i:fio)[\w.]*\})\s`)

// pyRuns begins a command of fio in a string, behind sudo and the like and what a format fills in.
var pyRuns = regexp.MustCompile(
	`^\s*(?:(?:sudo|time|nice|exec|timeout \S+|\w+=\S*)\s+)*(?:[\w./~-]*/)?(?:fio|\{\w*(?i:fio)[\w.]*\})\s+` +
		`(?:\\\n\s*)?(?:-|\{)`,
)

// runsFio says whether a string is a command of fio with options.
func runsFio(t pyToken) bool { return pyRuns.MatchString(t.text) && strings.Contains(t.text, "-") }

// spoken says whether a string is printed, or is a text by itself.
func (p *python) spoken(i int) bool {
	before := pyToken{kind: pyNewline}
	if i > 0 {
		before = p.tokens[i-1]
	}
	behind := i+1 == len(p.tokens) || p.tokens[i+1].kind == pyNewline
	if behind && (before.kind == pyNewline || before.text == ":") {
		return true
	}
	for k := i - 1; k >= max(0, i-8); k-- {
		t := p.tokens[k]
		if t.kind == pyNewline {
			return false
		}
		if t.kind != pyOther {
			continue
		}
		name := t.text[strings.LastIndexByte(t.text, '.')+1:]
		if name == "help" || name == "raise" || name == "warning" || slices.Contains(speakers, name) {
			return true
		}
	}
	return false
}

// command puts the string at i, and those that are joined to it, in their places.
func (p *python) command(i int) int {
	first, end, open, last := i, 0, false, ' '
	for {
		t := p.tokens[i]
		content := p.filled(t, p.formatted(t))
		if open || !unicode.IsSpace(last) { // what stands between two words is not known here
			for k := 0; k < len(content) && !unicode.IsSpace(content[k]); k++ {
				content[k] = ' '
			}
		}
		if i > first && !open && !unicode.IsSpace(last) {
			p.mark(end) // a word goes on in the next string
		}
		copy(p.out[t.from:], content)
		p.continued(t, content)
		end, open = t.to, false
		if len(content) > 0 {
			last = content[len(content)-1]
		}
		next, joined, expression := p.joined(i + 1)
		if expression {
			p.mark(end)
			open = true
		}
		if !joined {
			i = next
			break
		}
		p.join(end, p.tokens[next].from)
		i = next
	}
	if p.grows(first) {
		p.open[p.lineEnd(end)] = true
	}
	return i
}

// mark puts a variable behind a word whose rest is not known.
func (p *python) mark(at int) {
	for k, r := range "$_" {
		if at+k < len(p.out) && p.out[at+k] == ' ' {
			p.out[at+k] = r
		}
	}
}

// joined finds the string that is joined to the one before by standing behind it or with +; it
// skips what % and .format take. expression says that something that is no string is joined.
func (p *python) joined(i int) (next int, joined, expression bool) {
	plus := false
	for ; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; {
		case t.kind == pyString:
			return i, true, expression
		case t.kind == pyOther && t.text == "+":
			plus = true
		case t.kind == pyOther && (t.text == "%" || t.text == ".format"):
			return p.behind(i + 1), false, false
		case t.kind == pyOther && plus:
			expression = true
		case t.kind == pyOpen && plus && expression: // of a call
			i = p.behind(i) - 1
		default:
			return i, false, expression
		}
	}
	return i, false, expression
}

// behind is the token behind an operand: a name, or what brackets hold.
func (p *python) behind(i int) int {
	switch {
	case i >= len(p.tokens):
		return len(p.tokens)
	case p.tokens[i].kind != pyOpen:
		return i + 1
	case p.tokens[i].closer == 0: // it is never closed
		return len(p.tokens)
	}
	return p.tokens[i].closer + 1
}

// continued keeps the lines of a string together where the next one begins with an option.
func (p *python) continued(t pyToken, content []rune) {
	for k, r := range content {
		if r != '\n' || k > 0 && content[k-1] == '\\' {
			continue
		}
		next := k + 1
		for next < len(content) && (content[next] == ' ' || content[next] == '\t') {
			next++
		}
		if next < len(content) && content[next] == '-' {
			p.goes[t.from+k] = true
		}
	}
}

// join keeps the lines between two places together.
func (p *python) join(from, to int) {
	for k := from; k < to && k < len(p.text); k++ {
		if p.text[k] == '\n' {
			p.goes[k] = true
		}
	}
}

// pyGrown is a variable that is added to, or that something is added to where it is used.
var pyGrown = regexp.MustCompile(`\b([A-Za-z_][\w.]*?)(?:\.(?:append|extend|insert)\(|\s*\+)`)

// grows says whether the string or the list at i is assigned to what is added to somewhere.
func (p *python) grows(i int) bool {
	for i > 1 && p.tokens[i-1].text == "(" && p.tokens[i-1].kind == pyOpen {
		i--
	}
	if i < 2 || p.tokens[i-1].text != "=" {
		return false
	}
	if p.grown == nil {
		p.grown = map[string]bool{}
		for _, m := range pyGrown.FindAllStringSubmatch(string(p.text), -1) {
			p.grown[m[1]] = true
		}
	}
	return p.grown[p.tokens[i-2].text]
}

// list puts the words of a list that begins with fio in their places, and returns the token behind
// it; i where it is none.
func (p *python) list(i int) int {
	if p.tokens[i].closer == 0 {
		return i
	}
	end := p.behind(i)
	elements := p.elements(i+1, end-1)
	program, options := -1, 0
	for k, e := range elements {
		t := p.tokens[e[0]]
		switch {
		case t.kind == pyString && strings.HasPrefix(t.text, "-"):
			options++
		case program >= 0:
		case t.kind == pyString && fioProgram.MatchString(path.Base(t.text)):
			program = k
		case t.kind == pyOther && e[1] == e[0]+1 && strings.Contains(strings.ToLower(t.text), "fio"):
			program = k
		case k > 3:
			return i
		}
	}
	if program < 0 || options == 0 {
		return i
	}
	copy(p.out[p.tokens[elements[program][0]].from:], []rune("fio"))
	for _, e := range elements[program+1:] {
		p.word(e)
	}
	p.join(p.tokens[elements[program][0]].from, p.tokens[end-1].from)
	if p.grows(i) || end < len(p.tokens) && p.tokens[end].text == "+" {
		p.open[p.lineEnd(p.tokens[end-1].from)] = true
	}
	return end
}

// elements are the tokens from one to another, to not included, between commas.
func (p *python) elements(from, to int) (all [][2]int) {
	begin := from
	for k := from; k <= to; {
		if k == to || p.tokens[k].kind == pyComma {
			if begin < k {
				all = append(all, [2]int{begin, k})
			}
			k++
			begin = k
			continue
		}
		if p.tokens[k].kind == pyOpen {
			k = min(p.behind(k), to)
			continue
		}
		k++
	}
	return all
}

// word puts an element of a list in its place: a string in quotes, or a variable.
func (p *python) word(e [2]int) {
	t := p.tokens[e[0]]
	content := p.filled(t, p.formatted(t))
	if t.kind != pyString || t.triple || strings.ContainsAny(string(content), "'\n") {
		p.mark(t.from)
		return
	}
	copy(p.out[t.from:], content)
	p.out[t.from-1], p.out[t.to] = '\'', '\''
	if e[1] > e[0]+1 && !slices.Contains([]string{"%", ".format"}, p.tokens[e[0]+1].text) {
		p.mark(t.to + 1)
	}
}
