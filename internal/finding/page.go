package finding

import (
	"fmt"
	"strings"
)

// Explain renders a rule's page as plain text; false when no rule has that code.
func Explain(code Code) (string, bool) {
	for _, r := range Rules() {
		if strings.EqualFold(string(r.Code), string(code)) {
			return r.text(), true
		}
	}
	return "", false
}

// Family names what the rules of a code's hundred are about.
func (c Code) Family() string {
	if len(c) < 3 {
		return ""
	}
	switch c[2] {
	case '1':
		return "the job"
	case '2':
		return "the layout"
	case '3':
		return "the host"
	case '4':
		return "the measurement"
	case '5':
		return "the verdict against ceilings"
	case '6':
		return "the cloud"
	}
	return ""
}

// section is one heading of a page. Code is shown as typed.
type section struct {
	head, body string
	code       bool
}

func (r *Rule) sections() []section {
	var out []section
	for _, s := range []section{
		{"When it fires", r.When, false},
		{"Why it matters", r.Why, false},
		{"Bad", r.Bad, true},
		{"Good", r.Good, true},
		{"What to do", r.Fix, false},
		{"When to ignore it", r.Ignore, false},
	} {
		if s.body != "" {
			out = append(out, s)
		}
	}
	return out
}

func (r *Rule) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s, about %s, since %s\n", r.Code, r.Title, r.Severity, r.Code.Family(), r.Since)
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "\n%s\n", s.head)
		body := s.body
		if !s.code {
			body = wrap(body, pageWidth-2)
		}
		for line := range strings.SplitSeq(strings.TrimRight(body, "\n"), "\n") {
			b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
		}
	}
	return b.String()
}

// pageWidth is the width of explained pages on a terminal.
const pageWidth = 80

func wrap(text string, width int) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// page renders docs/findings/CODE.md.
func (r *Rule) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- made from internal/finding by: go test ./internal/finding -update -->\n\n# %s: %s\n\n", r.Code, r.Title)
	fmt.Fprintf(&b, "Severity: %s. Family: %s. Since %s.", r.Severity, r.Code.Family(), r.Since)
	if len(r.After) > 0 {
		fmt.Fprintf(&b, " Silent where %s already explains it.", list(r.After))
	}
	b.WriteString("\n")
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "\n## %s\n\n", s.head)
		if s.code {
			fmt.Fprintf(&b, "```\n%s\n```\n", strings.Trim(s.body, "\n"))
		} else {
			fmt.Fprintf(&b, "%s\n", strings.TrimSpace(s.body))
		}
	}
	return b.String()
}

func list(codes []Code) string {
	var s []string
	for _, c := range codes {
		s = append(s, fmt.Sprintf("[%s](%s.md)", c, c))
	}
	return strings.Join(s, ", ")
}

// index renders docs/findings/README.md.
func index(rules []*Rule) string {
	var b strings.Builder
	b.WriteString("<!-- made from internal/finding by: go test ./internal/finding -update -->\n\n# Findings\n\n" +
		"Every diagnosis that plimsoll can make, by code. `plimsoll explain PL204` prints a page. A severity is the\n" +
		"rule's own; a case may be milder or worse, and says so. `--disable PL206` silences a rule.\n\n" +
		"| severity | meaning | verdict |\n| --- | --- | --- |\n" +
		"| info | a fact worth knowing | none |\n| warning | look at it before you rely on the figure | warn |\n" +
		"| error | the storage does not do what it must | fail |\n| invalid | the measurement must not be trusted | invalid |\n")
	family := ""
	for _, r := range rules {
		if f := r.Code.Family(); f != family {
			family = f
			fmt.Fprintf(&b, "\n## %sxx: %s\n\n| code | severity | diagnosis |\n| --- | --- | --- |\n", string(r.Code[:3]), family)
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s |\n", r.Code, r.Code, r.Severity, strings.ReplaceAll(r.Title, "|", `\|`))
	}
	return b.String()
}
