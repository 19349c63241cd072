package plans

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"plimsoll/internal/finding"
	"plimsoll/internal/lint/settings"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

// Linted is what lint found, in which documents.
type Linted struct {
	Files    []*script.File
	Findings []finding.Finding
	Tool     string // version of plimsoll, for SARIF
	// Silenced are findings that comments in place silence, for SARIF's suppressions.
	Silenced []finding.Finding
}

// Lint is the document of what lint found, in the order of the files. The fix is printed once for
// each rule, unless a case has its own. data is its JSON.
func Lint(l Linted) *page.Document {
	d := &page.Document{
		Kind: "lint",
		Tool: l.Tool,
		Data: page.DataOf("findings", append([]finding.Finding{}, l.Findings...)),
	}
	count := map[finding.Severity]int{}
	fixes := map[string]bool{}
	var unread []string // where fio commands stand that could not be read
	for i, f := range l.Findings {
		count[f.Severity]++
		p := l.block(f, i)
		p.Brief = fixes[f.Fix]
		if p.Folded = f.Code == "PL147" && len(l.Files) > 1; p.Folded {
			unread = append(unread, fmt.Sprintf("%s:%d", f.File, f.Line))
		} else {
			fixes[f.Fix] = true
		}
		d.Add(p)
	}
	for i, f := range l.Silenced {
		d.Silenced = append(d.Silenced, l.block(f, i))
	}
	d.Tests = l.tests()
	rows := d.FindingRecords()
	d.Records = &rows
	if len(unread) > 0 {
		d.Add(page.Note{Lines: []string{fmt.Sprintf("PL147 info: what looks like fio could not be read in %s: %s",
			text.Plural(len(unread), "document"), text.Some(unread, mostUnread))}})
	}
	jobs, storage := 0, 0
	for _, f := range l.Files {
		jobs += len(f.Jobs)
		storage += len(f.Commands)
	}
	read := text.Plural(jobs, "fio command or job file", "fio commands and job files")
	if jobs == 0 && storage > 0 {
		read = text.Plural(storage, "storage command")
	}
	d.Head.Word = fmt.Sprintf(
		"%s in %s: %s, %s, %d info",
		read,
		text.Plural(len(l.Files), "document"),
		text.Plural(count[finding.Fail], "error"),
		text.Plural(count[finding.Warn],
			"warning"),
		count[finding.Info],
	)
	if len(l.Files) == 0 {
		d.Head.Word = "nothing to lint: no fio job, and no script or Markdown with one"
	}
	d.Head.Tone = "pass"
	d.Head.Main = &page.Figure{Name: "findings", Value: float64(len(l.Findings)), Unit: "count"}
	switch {
	case count[finding.Fail] > 0:
		d.Head.Tone = "fail"
	case count[finding.Warn] > 0:
		d.Head.Tone = "warn"
	}
	return d
}

// mostUnread is how many documents a note names.
const mostUnread = 5

// block is a finding on a document, with what code hosts show and follow of it.
func (l Linted) block(f finding.Finding, i int) page.Finding {
	p := words.Finding(f, i)
	p.File, p.Subject = f.File, text.Clean(f.Subject, 2*words.LongName)
	if n := utf8.RuneCountInString(l.word(f)); n > 0 {
		p.EndCol = f.Col + n
	}
	p.Fingerprint = settings.Fingerprint(f, l.source(f, f.Line))
	for _, e := range f.Edits {
		p.Edits = append(p.Edits, page.Edit{
			Line: e.Line, Col: e.Col, EndCol: e.Col + utf8.RuneCountInString(e.Old), New: e.New,
		})
	}
	return p
}

// source is a line of the document that a finding is on.
func (l Linted) source(f finding.Finding, line int) string {
	for _, file := range l.Files {
		if file.Name == f.File {
			return file.Source(line)
		}
	}
	return ""
}

// word is what stands at the finding's column, up to the next blank.
func (l Linted) word(f finding.Finding) string {
	runes := []rune(l.source(f, f.Line))
	if f.Col < 1 || f.Col > len(runes) {
		return ""
	}
	word, _, _ := strings.Cut(string(runes[f.Col-1:]), " ")
	return strings.TrimRight(word, "\r\t\\")
}

// tests are a suite for each document, a case for each finding; errors are failures, and a document
// without any is one case that passed.
func (l Linted) tests() []page.Suite {
	by := map[string][]finding.Finding{}
	for _, f := range l.Findings {
		by[f.File] = append(by[f.File], f)
	}
	var all []page.Suite
	for _, file := range l.Files {
		s := page.Suite{Name: file.Name}
		for _, f := range by[file.Name] {
			t := page.Test{
				Name:    fmt.Sprintf("%s %d:%d %s", f.Code, f.Line, f.Col, f.Title),
				Message: string(f.Severity) + ": " + f.Message + " " + f.Fix,
			}
			if f.Severity == finding.Fail {
				t.Outcome, t.Message, t.Type = page.Failed, f.Message+" "+f.Fix, string(f.Code)
			}
			s.Tests = append(s.Tests, t)
		}
		if len(s.Tests) == 0 {
			s.Tests = []page.Test{{Name: "fio jobs"}}
		}
		all = append(all, s)
	}
	return all
}
