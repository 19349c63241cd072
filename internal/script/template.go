package script

import (
	"regexp"
	"strings"
)

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
