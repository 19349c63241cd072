package finding

import (
	"fmt"
	"strings"

	"plimsoll/docs/findings"
	"plimsoll/internal/text"
)

// Family names what the rules of a code's hundred are about.
func (c Code) Family() string {
	if len(c) < 3 {
		return ""
	}
	return map[byte]string{
		'1': "the job", '2': "the layout", '3': "the host", '4': "the measurement", '5': "the verdict against ceilings",
		'6': "the cloud", '7': "PostgreSQL", '8': "several machines", '9': "a machine at work",
	}[c[2]]
}

// Page is what a rule says of itself.
type Page struct {
	Code     Code
	Severity Severity // of a case that does not say another
	Since    string   // the version of plimsoll that had it first
	Title    string
	// After names rules whose finding on the same subject explains this one away.
	After    []Code
	Sections []Section
}

// Section is one heading of a page. Code is shown as typed.
type Section struct {
	Head, Body string
	Code       bool
}

// The sections that are asked for by name.
const (
	Why = "Why"
	Fix = "Fix"
	// Read is what to make of a result that somebody else measured, where Fix would measure again.
	Read = "In other people's results"
)

// Pages are all pages, in the order of their codes.
func Pages() []Page {
	files, err := findings.Pages.ReadDir(".")
	if err != nil {
		panic(err) // it is in the binary
	}
	all := make([]Page, len(files))
	for i, f := range files {
		all[i], _ = PageOf(Code(strings.TrimSuffix(f.Name(), ".md")))
	}
	return all
}

// PageOf is the page of a code; false where there is none.
//
//	# CODE: title
//
//	severity, since version; suppressed by [CODE](CODE.md), [CODE](CODE.md)
//
//	**Head.** text
//
// Examples stand below their head without a full stop, in a block of code.
func PageOf(code Code) (Page, bool) {
	data, err := findings.Pages.ReadFile(string(code) + ".md")
	if err != nil {
		return Page{}, false
	}
	blocks := strings.Split(strings.TrimSpace(string(data)), "\n\n**")
	title, about, _ := strings.Cut(blocks[0], "\n\n")
	about, after, _ := strings.Cut(about, "; suppressed by ")
	severity, since, _ := strings.Cut(about, ", since ")
	p := Page{Code: code, Severity: Severity(severity), Since: since}
	_, p.Title, _ = strings.Cut(title, ": ")
	for link := range strings.SplitSeq(after, "[") {
		if cause, _, ok := strings.Cut(link, "]"); ok {
			p.After = append(p.After, Code(cause))
		}
	}
	for _, block := range blocks[1:] {
		head, body, _ := strings.Cut(block, "**")
		s := Section{Body: strings.TrimSpace(body)}
		if head, prose := strings.CutSuffix(head, "."); prose {
			s.Head = head
		} else {
			s.Head, s.Code = head, true
			s.Body = strings.TrimSuffix(strings.TrimPrefix(s.Body, "```\n"), "\n```")
		}
		p.Sections = append(p.Sections, s)
	}
	return p, true
}

// Says is the text below a head; empty where the page has none.
func (p Page) Says(head string) string {
	for _, s := range p.Sections {
		if s.Head == head {
			return s.Body
		}
	}
	return ""
}

// Text renders the page for a terminal.
func (p Page) Text() string {
	const width = 80
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s, about %s, since %s\n", p.Code, p.Title, p.Severity, p.Code.Family(), p.Since)
	for _, s := range p.Sections {
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
