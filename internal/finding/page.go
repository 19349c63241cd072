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

func (p *Rule[C]) sections() []section {
	var out []section
	for _, s := range []section{
		{"Fires when", p.When, false},
		{"Why", p.Why, false},
		{"Measured", p.Seen, false},
		{"Bad", p.Bad, true},
		{"Good", p.Good, true},
		{"Fix", p.Fix, false},
		{"In results of others", p.Read, false},
		{"Ignore", p.Ignore, false},
	} {
		if s.body != "" {
			out = append(out, s)
		}
	}
	return out
}

// Text renders the page for a terminal.
func (p *Rule[C]) Text() string {
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
func (p *Rule[C]) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!--generated-->\n\n# %s: %s\n\n%s", p.Code, p.Title, p.Severity)
	if len(p.After) > 0 {
		fmt.Fprintf(&b, "; silent after %s", list(p.After))
	}
	b.WriteString("\n")
	for _, s := range p.sections() {
		if s.code {
			fmt.Fprintf(&b, "\n**%s**\n```\n%s\n```\n", s.head, strings.Trim(s.body, "\n"))
		} else {
			fmt.Fprintf(&b, "\n**%s.** %s\n", s.head, strings.TrimSpace(s.body))
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
	b.WriteString(`<!-- generated, as all pages here: go test ./internal/verdict -update -->

# Findings

Every diagnosis that plimsoll can make. ` + "`plimsoll explain PL204`" + ` prints a page. A case may be milder or worse than its rule.
` + "`--disable PL206=REASON` on run, check and import, or `policy:`" + ` in plimsoll.yaml, lists a finding without counting it.

| severity | meaning | verdict |
| --- | --- | --- |
| info | worth knowing | none |
| warning | look at it before you rely on the figure | warn |
| error | the storage does not work as it must | fail |
| invalid | the measurement must not be trusted | invalid |
`)
	family := ""
	for _, p := range pages {
		if f := p.Code.Family(); f != family {
			family = f
			fmt.Fprintf(&b, "\n## %sxx: %s\n\n", string(p.Code[:3]), family)
		}
		fmt.Fprintf(&b, "- [%s](%s.md) %s: %s\n", p.Code, p.Code, p.Severity, p.Title)
	}
	return b.String()
}
