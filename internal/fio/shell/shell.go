// Package shell splits text as a shell does, without expanding anything, and quotes words so that a
// shell reads them back.
package shell

import (
	"errors"
	"fmt"
	"regexp"
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

// Words splits shell text into words and operators: quotes, backslashes, comments and
// continued lines are resolved. The words before an unclosed quote come back with the error.
func Words(text string) ([]Word, error) {
	l := &lexer{src: text, line: 1}
	for l.i < len(l.src) {
		if err := l.next(); err != nil {
			l.endWord()
			return l.words, err
		}
	}
	l.endWord()
	return l.words, nil
}

type lexer struct {
	src       string
	i         int
	line      int
	lineStart int
	words     []Word
	word      strings.Builder
	open      bool // a word is being read
	at        Word // where it began
}

func (l *lexer) begin() {
	if !l.open {
		l.open, l.at = true, l.place()
	}
}

func (l *lexer) place() Word { return Word{Line: l.line, Col: l.i - l.lineStart + 1} }

func (l *lexer) endWord() {
	if l.open {
		l.at.Text = l.word.String()
		l.words = append(l.words, l.at)
	}
	l.open = false
	l.word.Reset()
}

// take moves over n bytes of the source, counting lines, and adds them to the word when keep is
// set.
func (l *lexer) take(n int, keep bool) {
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

func (l *lexer) next() error {
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

func (l *lexer) operator(rest string) {
	l.endWord()
	op := l.place()
	op.Op = true
	op.Text = operators.FindString(rest)
	l.words = append(l.words, op)
	l.take(len(op.Text), false)
}

var operators = regexp.MustCompile(`^(?:<<<|<<-|&>>|&&|\|\||>>|<<|&>|>&|<&|;;|[\n;&|()<>])`)

func (l *lexer) doubleQuoted() error {
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

// Split splits one command into the words that a program would see. It ends at the first
// operator that would end the command; redirections are left out. Nothing is expanded.
func Split(line string) (argv []string, err error) {
	words, err := Words(line)
	if err != nil {
		return nil, err
	}
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

var (
	plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)
	escaped   = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	variable  = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
)

// Line quotes words so that a shell reads them back. ${NAME} is left for the shell to fill in,
// as fio would have from its environment.
func Line(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = quote(a)
	}
	return strings.Join(quoted, " ")
}

func quote(s string) string {
	switch {
	case plainWord.MatchString(s):
		return s
	case !variable.MatchString(s):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	from := 0
	for _, at := range variable.FindAllStringIndex(s, -1) {
		b.WriteString(escaped.Replace(s[from:at[0]]) + s[at[0]:at[1]])
		from = at[1]
	}
	return `"` + b.String() + escaped.Replace(s[from:]) + `"`
}
