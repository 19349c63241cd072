package plans

import (
	"cmp"
	"fmt"
	"slices"
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
	// Passed are files of a folder that start fio and were not read.
	Passed []script.Passed
	// Silenced are findings that comments in place silence, for SARIF's suppressions.
	Silenced []finding.Finding
}

// Read is what lint read: jobs in documents, and of the commands those with words that the text does not give.
type Read struct {
	Documents int `json:"documents"`
	Commands  int `json:"fio_commands"`
	InPart    int `json:"fio_commands_in_part"`
	JobFiles  int `json:"job_files"`
	Storage   int `json:"storage_commands"`
}

// Coverage is what was read and what was passed over.
type Coverage struct {
	Read   Read            `json:"read"`
	Passed []script.Passed `json:"passed_over"`
}

// LintData is what lint says to programs.
type LintData struct {
	Findings []finding.Finding `json:"findings"`
	Coverage
}

// mostAlike is in how many documents an info that repeats is printed.
const mostAlike = 3

// Lint is the document of what lint found, in the order of the files. What repeats in a document is printed once for
// people, with its lines, an info that repeats in document after document three times, and the fix once for each rule,
// unless a case has its own. It ends with what was passed over.
func Lint(l Linted) *page.Document {
	data := LintData{
		append([]finding.Finding{}, l.Findings...),
		Coverage{l.read(), append([]script.Passed{}, l.Passed...)},
	}
	for _, f := range l.Files {
		data.Passed = append(data.Passed, f.Passed...)
	}
	d := page.New("lint", "", "findings", data)
	d.Tool, d.Run = l.Tool, data.Coverage
	// What repeats is a rule at an option, in a document with one thing to do; an error is what it says.
	type kind struct {
		code     finding.Code
		severity finding.Severity
		option   string
	}
	type of struct {
		kind
		file, does string
	}
	count := map[finding.Severity]int{}
	fixes := map[string]bool{}
	files := map[kind]int{}
	var more text.Groups // documents, by rule
	lines, first := map[of][]string{}, map[of]*page.Finding{}
	var blocks []*page.Finding
	for i, f := range l.Findings {
		p := l.block(f, i)
		option, _, _ := strings.Cut(strings.TrimLeft(script.Repaired(l.word(f)), `-"'`), "=")
		k := kind{f.Code, f.Severity, option}
		at := of{k, f.File, f.Fix + f.Alike}
		if f.Severity == finding.Fail {
			at.does = f.Message
		}
		switch before := first[at]; {
		case f.Code == "PL147": // what was passed over stands at the end
			p.Folded = true
			count[f.Severity]++
		case before != nil:
			p.Folded = true
			if f.Line != before.Line {
				lines[at] = text.Once(lines[at], fmt.Sprint(f.Line))
			}
		default:
			first[at] = &p
			if files[k]++; f.Severity == finding.Info && files[k] > mostAlike {
				p.Folded = true
				more.Add(fmt.Sprint(k.code, " ", k.severity), f.File)
			}
		}
		if !p.Folded {
			count[f.Severity]++
			p.Brief, fixes[f.Fix] = fixes[f.Fix], true
		}
		blocks = append(blocks, &p)
	}
	for at, all := range lines {
		first[at].Evidence.Add("also on lines", strings.Join(all, ", "), "", "")
	}
	for _, p := range blocks {
		d.Add(*p)
	}
	for i, f := range l.Silenced {
		d.Silenced = append(d.Silenced, l.block(f, i))
	}
	d.Tests = l.tests()
	d.Records = d.FindingRecords()
	var note page.Note
	for _, rule := range slices.Sorted(slices.Values(more.Heads)) {
		slices.Sort(more.Of[rule])
		note.Say("%s: also in %s", rule, text.Plural(len(slices.Compact(more.Of[rule])), "more document"))
	}
	note.Lines = append(note.Lines, passedOver(data.Passed)...)
	d.Add(note)
	d.Head.Word = fmt.Sprintf("%s: %s, %s, %d info", data.Read, text.Plural(count[finding.Fail], "error"),
		text.Plural(count[finding.Warn], "warning"), count[finding.Info])
	if len(l.Files) == 0 {
		d.Head.Word = "nothing to lint: no fio job, and no script or Markdown with one"
	}
	d.Head.Tone = "pass"
	found := count[finding.Fail] + count[finding.Warn] + count[finding.Info]
	d.Head.Main = page.NewFigure("", "findings", found, "count")
	switch {
	case count[finding.Fail] > 0:
		d.Head.Tone = "fail"
	case count[finding.Warn] > 0:
		d.Head.Tone = "warn"
	}
	return d
}

// read counts what was read.
func (l Linted) read() Read {
	r := Read{Documents: len(l.Files)}
	for _, f := range l.Files {
		r.Storage += len(f.Commands)
		for _, j := range f.Jobs {
			switch {
			case !j.Command:
				r.JobFiles++
			case j.Partial:
				r.InPart++
				fallthrough
			default:
				r.Commands++
			}
		}
	}
	return r
}

// String is what was read in words: 2 fio commands (1 in part) and 1 job file in 3 documents.
func (r Read) String() string {
	commands := words.Some(r.Commands, "fio command") + words.When(r.InPart > 0, fmt.Sprintf(" (%d in part)", r.InPart))
	all := text.Present(commands, words.Some(r.JobFiles, "job file"), words.Some(r.Storage, "storage command"))
	return cmp.Or(text.List(all), "no fio job") + " in " + text.Plural(r.Documents, "document")
}

// mostPassed is how many places of one reason are named.
const mostPassed = 5

// passedOver says what was passed over, by reason.
func passedOver(all []script.Passed) (lines text.Lines) {
	var where text.Groups
	for _, p := range all {
		where.Add(p.Why, text.Clean(p.File, words.LongName)+words.When(p.Line > 0, fmt.Sprintf(":%d", p.Line)))
	}
	for _, why := range where.Heads {
		lines.Say("skipped because %s: %s", why, text.Some(where.Of[why], mostPassed))
	}
	return lines
}

// block is a finding on a document, with what code hosts show and follow of it.
func (l Linted) block(f finding.Finding, i int) page.Finding {
	p := words.Finding(f, i)
	p.File, p.Subject = f.File, text.Clean(f.Subject, 2*words.LongName)
	if n := utf8.RuneCountInString(l.word(f)); n > 0 {
		p.EndCol = f.Col + n
	}
	p.Fingerprint = settings.Fingerprint(f, l.source(f))
	for _, e := range f.Edits {
		p.Edits = append(p.Edits, page.Edit{
			Line: e.Line, Col: e.Col, EndCol: e.Col + utf8.RuneCountInString(e.Old), New: e.New,
		})
	}
	return p
}

// source is the line of the document that a finding is on.
func (l Linted) source(f finding.Finding) string {
	for _, file := range l.Files {
		if file.Name == f.File {
			return file.Source(f.Line)
		}
	}
	return ""
}

// word is what stands at the finding's column, up to the next blank.
func (l Linted) word(f finding.Finding) string {
	runes := []rune(l.source(f))
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
