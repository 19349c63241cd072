package script

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"plimsoll/internal/fio/shell"
)

// Variables that a command fills in, and not an assignment.

// readers are commands that set the variables that they name.
var readers = []string{"read", "mapfile", "readarray", "getopts"}

// variableName is one.
var variableName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// filledIn notes that the variables which read and its like name have values that nobody knows.
func (r *reader) filledIn(g *region, call *syntax.CallExpr) {
	var words []shell.Word
	for _, w := range call.Args {
		text, _ := g.text(w)
		words = append(words, shell.Word{Text: text})
	}
	r.filledByCommand(words)
}

// filledByCommand is filledIn for the words of a command.
func (r *reader) filledByCommand(words []shell.Word) {
	if len(words) < 2 {
		return
	}
	named := words[1:]
	switch {
	case slices.Contains(readers, words[0].Text):
	case words[0].Text == "printf" && len(words) > 2 && words[1].Text == "-v":
		named = words[2:3]
	default:
		return
	}
	for _, w := range named {
		if variableName.MatchString(w.Text) {
			r.set(w.Text, "", false)
		}
	}
}

// counted notes that the variables in ((n *= 2)) or let n++ change.
func (r *reader) counted(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		var changed syntax.ArithmExpr
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			if strings.HasSuffix(n.Op.String(), "=") && !slices.Contains([]string{"==", "!=", "<=", ">="}, n.Op.String()) {
				changed = n.X
			}
		case *syntax.UnaryArithm:
			if op := n.Op.String(); op == "++" || op == "--" {
				changed = n.X
			}
		}
		if w, ok := changed.(*syntax.Word); ok && variableName.MatchString(w.Lit()) {
			r.set(w.Lit(), "", false)
		}
		return true
	})
}

var (
	// directive steers a template: what stands between two of them may be there or not.
	directive = regexp.MustCompile(
		`\{%.*?%\}|\{\{-?\s*(?:if|else|end|range|with|define|template|include|block|toYaml|tpl|/\*|#|/)\b.*?\}\}|<%.*?%>|\{#.*?#\}`,
	)
	// unknownValue is a value that a template fills in.
	unknownValue = regexp.MustCompile(
		`\{%.*?%\}|<%.*?%>|\{#.*?#\}|\{\{.*?\}\}|@[A-Za-z_][A-Za-z0-9_]*@|=<[A-Za-z][^<>\n]*>|[=\[\w-]#[A-Za-z]\w*#|%[A-Z][A-Z0-9_]+%`,
	)
	// wordFor is a word in angle brackets behind an option: --size <size>. No shell redirects so.
	wordFor = regexp.MustCompile(`(\s--?[a-z][a-z_-]*\s+)<([A-Za-z](?:[^<>\n]*[^<>\s])?)>`)
)

// untemplated puts ${…} of the same length in the place of what a template fills in, so that
// columns stay, and blanks what steers it. It says whether something steers it: then options may be
// there or not.
func untemplated(line string) (string, bool) {
	steered := false
	if strings.Contains(line, "{%") || strings.Contains(line, "{{") || strings.Contains(line, "<%") ||
		strings.Contains(line, "{#") {
		blank := directive.ReplaceAllStringFunc(line, func(s string) string {
			steered = true
			return strings.Repeat(" ", len([]rune(s)))
		})
		if steered && strings.TrimSpace(blank) == "" {
			line = blank
		}
	}
	filled := func(s string) string { return "${" + strings.Repeat("_", max(len([]rune(s))-3, 0)) + "}" }
	if strings.Contains(line, " <") {
		line = wordFor.ReplaceAllStringFunc(line, func(s string) string {
			at := strings.IndexByte(s, '<')
			return s[:at] + filled(s[at:])
		})
	}
	if strings.ContainsAny(line, "{@<%#") {
		line = unknownValue.ReplaceAllStringFunc(line, func(s string) string {
			before := ""
			if s[0] == '=' || s[1] == '#' && s[0] != '{' { // size=<SIZE>, [job_#N#]
				before, s = s[:1], s[1:]
			}
			return before + filled(s)
		})
	}
	return line, steered
}

// templated replaces templates in all lines of a document. Lines that had none stay as they are.
func (f *File) templated() {
	f.steered = map[int]bool{}
	for i, line := range f.lines {
		if !strings.ContainsAny(line, "{@<%#") {
			continue
		}
		now, steered := untemplated(line)
		if steered {
			f.steered[i] = true
		}
		f.lines[i] = now
	}
}

// steers says whether a template steers one of lines from..to, counted from 0, to not included.
func (f *File) steers(from, to int) bool {
	if len(f.steered) == 0 {
		return false
	}
	for i := from; i < to; i++ {
		if f.steered[i] {
			return true
		}
	}
	return false
}
