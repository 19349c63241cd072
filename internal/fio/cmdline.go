package fio

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Word is one word of a shell line: what the program would see, and where it stood. Expansions ($x,
// $(…), {a,b}) are left as written.
type Word struct {
	Text string
	// Op is true for an operator that was not quoted: ; & | && || ( ) < > >> << and the end of a
	// line ("\n").
	Op bool
	// Line and Col count from 1; Col counts bytes.
	Line, Col int
}

// errUnclosed is in the chain of the error for a quote that is never closed.
var errUnclosed = errors.New("is never closed")

// ShellWords splits shell text into words and operators: quotes, backslashes, comments and
// continued lines are resolved. The words before an unclosed quote come back with the error.
func ShellWords(text string) ([]Word, error) {
	l := &shellLexer{src: text, line: 1}
	for l.i < len(l.src) {
		if err := l.next(); err != nil {
			l.endWord()
			return l.words, err
		}
	}
	l.endWord()
	return l.words, nil
}

type shellLexer struct {
	src       string
	i         int
	line      int
	lineStart int
	words     []Word
	word      strings.Builder
	open      bool // a word is being read
	at        Word // where it began
}

func (l *shellLexer) begin() {
	if !l.open {
		l.open, l.at = true, l.place()
	}
}

func (l *shellLexer) place() Word { return Word{Line: l.line, Col: l.i - l.lineStart + 1} }

func (l *shellLexer) endWord() {
	if l.open {
		l.at.Text = l.word.String()
		l.words = append(l.words, l.at)
	}
	l.open = false
	l.word.Reset()
}

// take moves over n bytes of the source, counting lines, and adds them to the word when keep is
// set.
func (l *shellLexer) take(n int, keep bool) {
	for range n {
		if keep {
			l.word.WriteByte(l.src[l.i])
		}
		if l.src[l.i] == '\n' {
			l.line++
			l.lineStart = l.i + 1
		}
		l.i++
	}
}

func (l *shellLexer) next() error {
	rest := l.src[l.i:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "\\\r\n"):
		l.take(3, false)
	case strings.HasPrefix(rest, "\\\n"):
		l.take(2, false)
	case c == '\\':
		l.begin()
		l.take(1, false)
		if l.i < len(l.src) {
			l.take(1, true)
		}
	case c == '\'':
		end := strings.IndexByte(rest[1:], '\'')
		if end < 0 {
			return fmt.Errorf("line %d: the quote ' %w", l.line, errUnclosed)
		}
		l.begin()
		l.take(1, false)
		l.take(end, true)
		l.take(1, false)
	case c == '"':
		return l.doubleQuoted()
	case strings.HasPrefix(rest, "$(") || c == '`':
		l.begin()
		l.take(substitution(rest), true)
	case c == '#' && !l.open:
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		l.take(end, false)
	case c == ' ' || c == '\t' || c == '\r':
		l.endWord()
		l.take(1, false)
	case strings.IndexByte("\n;&|()<>", c) >= 0:
		l.operator(rest)
	default:
		l.begin()
		l.take(1, true)
	}
	return nil
}

func (l *shellLexer) operator(rest string) {
	l.endWord()
	op := l.place()
	op.Op = true
	n := 1
	for _, long := range []string{"<<<", "<<-", "&>>", "&&", "||", ">>", "<<", "&>", ">&", "<&", ";;"} {
		if strings.HasPrefix(rest, long) {
			n = len(long)
			break
		}
	}
	op.Text = rest[:n]
	l.words = append(l.words, op)
	l.take(n, false)
}

func (l *shellLexer) doubleQuoted() error {
	line := l.line
	l.begin()
	l.take(1, false)
	for l.i < len(l.src) {
		switch c := l.src[l.i]; {
		case c == '"':
			l.take(1, false)
			return nil
		case c == '\\' && l.i+1 < len(l.src) && strings.IndexByte("\\\"$`\n", l.src[l.i+1]) >= 0:
			l.take(1, false)
			l.take(1, l.src[l.i] != '\n')
		default:
			l.take(1, true)
		}
	}
	return fmt.Errorf("line %d: the quote \" %w", line, errUnclosed)
}

// substitution is the length of $(…) or `…` at the start of s; what is not closed runs to the end
// of the line.
func substitution(s string) int {
	depth := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n':
			return i
		case s[0] == '`':
			if i > 0 && c == '`' {
				return i + 1
			}
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// SplitShell splits one command into the words that a program would see. It ends at the first
// operator that would end the command; redirections are left out. Nothing is expanded.
func SplitShell(line string) ([]string, error) {
	words, err := ShellWords(line)
	if err != nil {
		return nil, err
	}
	var argv []string
	for i, w := range words {
		switch {
		case w.Op && strings.ContainsAny(w.Text, "<>"):
		case w.Op && (w.Text != "\n" || len(argv) > 0):
			return argv, nil
		case !w.Op && !Redirected(words, i):
			argv = append(argv, w.Text)
		}
	}
	return argv, nil
}

// Redirected says whether word i belongs to a redirection: a file behind > or <, or the number in
// front of it.
func Redirected(words []Word, i int) bool {
	if i > 0 && words[i-1].Op && strings.ContainsAny(words[i-1].Text, "<>") {
		return true
	}
	w := words[i]
	return i+1 < len(words) && words[i+1].Op && strings.ContainsAny(words[i+1].Text, "<>") &&
		len(w.Text) == 1 && w.Text[0] >= '0' && w.Text[0] <= '9' &&
		words[i+1].Line == w.Line && words[i+1].Col == w.Col+1
}

// settings are fio's own options (init.c, l_opts) and whether each takes a value: no, only behind
// =, or always.
var settings = map[string]byte{
	"output":              '!',
	"output-format":       '!',
	"latency-log":         '!',
	"bandwidth-log":       '-',
	"minimal":             '?',
	"append-terse":        '?',
	"version":             '-',
	"help":                '-',
	"cpuclock-test":       '-',
	"crctest":             '?',
	"memcpytest":          '?',
	"idle-prof":           '!',
	"showcmd":             '?',
	"readonly":            '-',
	"eta":                 '!',
	"eta-newline":         '!',
	"eta-interval":        '!',
	"status-interval":     '!',
	"debug":               '!',
	"parse-only":          '-',
	"section":             '!',
	"alloc-size":          '!',
	"profile":             '!',
	"warnings-fatal":      '-',
	"max-jobs":            '!',
	"terse-version":       '!',
	"server":              '?',
	"daemonize":           '!',
	"client":              '!',
	"remote-config":       '!',
	"cmdhelp":             '?',
	"enghelp":             '?',
	"trigger-file":        '!',
	"trigger-timeout":     '!',
	"trigger":             '!',
	"trigger-remote":      '!',
	"aux-path":            '!',
	"merge-blktrace-only": '-',
	"inflate-log":         '!',
}

// Setting says whether a name is an option of fio itself, such as output, and no job option.
func Setting(name string) bool { return settings[name] != 0 }

// CommandAt is where fio's command begins among words, behind sudo, taskset with its options or an
// assignment; -1 without the word fio.
func CommandAt(words []string) int {
	return slices.IndexFunc(words, func(w string) bool { return path.Base(w) == "fio" })
}

// ParseCommandLine reads fio's arguments, with or without "fio" in front, as parse_cmd_line does:
// --name begins a job, what stands before the first one is global. Options that fio does not know
// are kept (OptionTable.Check finds them); they take a value only behind =.
func ParseCommandLine(argv []string) (*JobFile, error) {
	words := make([]Word, len(argv))
	for i, a := range argv {
		words[i] = Word{Text: a}
	}
	return ParseWords(words)
}

// ParseWords is ParseCommandLine with places: each option gets the line and column of its word.
func ParseWords(words []Word) (*JobFile, error) {
	f := &JobFile{Name: "command line"}
	if len(words) > 0 && path.Base(words[0].Text) == "fio" {
		words = words[1:]
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.Text == "--" {
			for _, rest := range words[i+1:] {
				f.Files = append(f.Files, rest.Text)
			}
			break
		}
		name := strings.TrimPrefix(
			strings.TrimPrefix(w.Text, "-"),
			"-",
		) // fio takes one dash for two (getopt_long_only)
		if name == w.Text || name == "" {
			f.Files = append(f.Files, w.Text)
			continue
		}
		name, value, has := strings.Cut(name, "=")
		o := Option{Name: name, Value: value, Bare: !has, Line: w.Line, Col: w.Col}
		if !has && TakesNext(name) {
			if i++; i == len(words) {
				return nil, fmt.Errorf("--%s: a value is missing behind it", clip(name))
			}
			o.Value, o.Bare = words[i].Text, false
		}
		f.place(o)
	}
	var cost jobCost
	for i := range f.Sections {
		s := &f.Sections[i]
		if err := cost.section(s); err != nil {
			return nil, err
		}
		for range s.Options {
			if err := cost.option(s); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// TakesNext says whether an option without = takes the next word as its value.
func TakesNext(name string) bool {
	if kind := settings[name]; kind != 0 {
		return kind == '!'
	}
	o, known := BuiltinOptions().Lookup(name)
	return known && !o.Optional
}

// place puts an option of a command line where it belongs.
func (f *JobFile) place(o Option) {
	switch {
	case Setting(o.Name):
		f.Settings = append(f.Settings, o)
		return
	case o.Name == "name":
		f.Sections = append(f.Sections, Section{Name: o.Value, Line: o.Line})
		return
	case len(f.Sections) == 0:
		f.Sections = append(f.Sections, Section{Name: "global", Line: o.Line})
	}
	s := &f.Sections[len(f.Sections)-1]
	s.Options = append(s.Options, o)
}

// CommandLine is the command that does what the job file does, "fio" first.
func CommandLine(f *JobFile) []string {
	argv := []string{"fio"}
	add := func(o Option) {
		if o.Bare {
			argv = append(argv, "--"+o.Name)
		} else {
			argv = append(argv, "--"+o.Name+"="+o.Pad+o.Value)
		}
	}
	for _, o := range f.Settings {
		add(o)
	}
	begun := false
	for i, s := range f.Sections {
		switch {
		case !s.Global():
			argv = append(argv, "--name="+f.Effective(i).Name)
			begun = true
		case begun:
			argv = append(argv, "--name=global")
		}
		for _, o := range s.Options {
			if o.Name != "name" { // a second --name would begin a second job
				add(o)
			}
		}
	}
	return append(argv, f.Files...)
}

var (
	plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)
	variable  = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
)

// ShellLine quotes words so that a shell reads them back. ${NAME} is left for the shell to fill in,
// as fio would have from its environment.
func ShellLine(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = shellQuote(a)
	}
	return strings.Join(quoted, " ")
}

func shellQuote(s string) string {
	switch {
	case plainWord.MatchString(s):
		return s
	case !variable.MatchString(s):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	escape := func(part string) {
		for i := range len(part) {
			if strings.IndexByte("\\\"$`", part[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(part[i])
		}
	}
	from := 0
	for _, at := range variable.FindAllStringIndex(s, -1) {
		escape(s[from:at[0]])
		b.WriteString(s[at[0]:at[1]])
		from = at[1]
	}
	escape(s[from:])
	return b.String() + `"`
}
