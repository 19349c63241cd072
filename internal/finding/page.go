package finding

import (
	"fmt"
	"strings"
)

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
	case '8':
		return "several machines"
	case '7':
		return "PostgreSQL"
	case '9':
		return "a machine at work"
	}
	return ""
}

// section is one heading of a page. Code is shown as typed.
type section struct {
	head, body string
	code       bool
}

func (p Page) sections() []section {
	var out []section
	for _, s := range []section{
		{"When it fires", p.When, false},
		{"Why it matters", p.Why, false},
		{"Bad", p.Bad, true},
		{"Good", p.Good, true},
		{"What to do", p.Fix, false},
		{"In a result that somebody else measured", p.Read, false},
		{"When to ignore it", p.Ignore, false},
	} {
		if s.body != "" {
			out = append(out, s)
		}
	}
	return out
}

// Text renders the page for a terminal.
func (p Page) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s, about %s, since %s\n", p.Code, p.Title, p.Severity, p.Code.Family(), p.Since)
	for _, s := range p.sections() {
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

// Markdown renders docs/findings/CODE.md.
func (p Page) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"<!-- made from the rules by: go test ./internal/verdict -update -->\n\n# %s: %s\n\n",
		p.Code,
		p.Title,
	)
	fmt.Fprintf(&b, "Severity: %s. Family: %s. Since %s.", p.Severity, p.Code.Family(), p.Since)
	if len(p.After) > 0 {
		fmt.Fprintf(&b, " Silent where %s already explains it.", list(p.After))
	}
	b.WriteString("\n")
	for _, s := range p.sections() {
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

// Index renders docs/findings/README.md.
func Index(pages []Page) string {
	var b strings.Builder
	b.WriteString("<!-- made from the rules by: go test ./internal/verdict -update -->\n\n# Findings\n\n" +
		"Every diagnosis that plimsoll can make, by code. `plimsoll explain PL204` prints a page. A severity is the\n" +
		"rule's own; a case may be milder or worse, and shows it. `--disable PL206=REASON` on run, check and " +
		"import, or `policy:`\n" +
		"in plimsoll.yaml, lists a finding without counting it.\n\n" +
		"| severity | meaning | verdict |\n| --- | --- | --- |\n" +
		"| info | a fact worth knowing | none |\n| warning | look at it before you rely on the figure | warn |\n" +
		"| error | the storage does not do what it must | fail |\n| invalid | the measurement must not be trusted " +
		"| invalid |\n")
	family := ""
	for _, p := range pages {
		if f := p.Code.Family(); f != family {
			family = f
			fmt.Fprintf(
				&b,
				"\n## %sxx: %s\n\n| code | severity | diagnosis |\n| --- | --- | --- |\n",
				string(p.Code[:3]),
				family,
			)
		}
		fmt.Fprintf(
			&b,
			"| [%s](%s.md) | %s | %s |\n",
			p.Code,
			p.Code,
			p.Severity,
			strings.ReplaceAll(p.Title, "|", `\|`),
		)
	}
	return b.String()
}
