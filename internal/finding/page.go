package finding

import (
	"fmt"
	"strings"

	"plimsoll/internal/text"
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

// Section is one heading of a page. Code is shown as typed.
type Section struct {
	Head, Body string
	Code       bool
}

// Sections are those of a page that say something.
func (r *Rule[C]) Sections() []Section {
	var out []Section
	for _, s := range []Section{
		{"Fires when", r.When, false},
		{"Why", r.Why, false},
		{"Measured", r.Seen, false},
		{"Bad", r.Bad, true},
		{"Good", r.Good, true},
		{"Fix", r.Fix, false},
		{"In results of others", r.Read, false},
		{"Ignore", r.Ignore, false},
	} {
		if s.Body != "" {
			out = append(out, s)
		}
	}
	return out
}

// Text renders the page for a terminal.
func (r *Rule[C]) Text() string {
	const width = 80
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s, about %s, since %s\n", r.Code, r.Title, r.Severity, r.Code.Family(), r.Since)
	for _, s := range r.Sections() {
		fmt.Fprintf(&b, "\n%s\n", s.Head)
		lines := strings.Split(strings.TrimRight(s.Body, "\n"), "\n")
		if !s.Code {
			lines = text.Wrap(s.Body, width-2, "", "")
		}
		for _, line := range lines {
			b.WriteString(strings.TrimRight("  "+line, " ") + "\n")
		}
	}
	return b.String()
}
