// Package script finds what people wrote down about storage: fio jobs in job files, in shell
// scripts, in YAML and in the code blocks of Markdown, and the commands that make, format and mount
// arrays. Shell is read by a shell parser, or a line at a time where a text does not keep to the
// grammar; nothing is run. What a template or a variable fills in is not known. Rules read its
// File.
package script

import (
	"bytes"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/shell"
)

// Kind is what a document is made of.
type Kind string

// The kinds of document.
const (
	JobText  Kind = "job file"
	Shell    Kind = "shell"
	Markdown Kind = "markdown"
	YAML     Kind = "yaml"
	Docker   Kind = "dockerfile"
	Other    Kind = "other"
)

// File is one document and what was found in it, in order.
type File struct {
	Name     string
	Kind     Kind
	Jobs     []Job
	Commands []Command
	Disables []Disable
	// Unread are pieces that look like a fio job and could not be parsed.
	Unread []Unread
	// Passed are fio commands that were seen and could not be read.
	Passed []Passed
	// Env holds variables that the document sets to one plain value, such as NUM_JOBS=16.
	Env map[string]string

	lines   []string
	units   []unit
	tests   bool         // see Functional
	steered map[int]bool // lines, from 0, with a template's {% if %} and the like
	// silenced are the lines of Disables by code, in order and apart.
	silenced map[string][]unit
}

// Job is one fio invocation or one job file's text. Lines and columns of its options are those of
// the document.
type Job struct {
	File      *fio.JobFile
	Line, Col int // where it begins
	// Command is true for a command line, whose words are Words ("fio" first).
	Command bool
	Words   []shell.Word
	Program string // fio as it is written there, such as ./fio/fio
	Loop    bool   // in the body of a for or while loop
	// Varies are the variables of the for loops around it, with their values where the document says all of them.
	Varies map[string][]string
	Typos  []Typo
	Block  int // the code block it stands in, 0 in a script
	// Partial is true when options may be set that are not seen: fio $OPTS, or a template's
	// condition.
	Partial bool
	// Appended is true for a command that may get further words where it is run, a --name too: that of
	// xargs, of an image, in the string of a program, or in a sentence.
	Appended bool
	// Made is the file that a script writes the job file's text to; empty where it is not known.
	Made string
	// Passed are options that a command of the document gives together with a job file; they hold
	// where the job file is silent.
	Passed []fio.Option
}

// Typo is a character that a word processor put where fio needs another. The job was read as it was
// meant.
type Typo struct {
	Line, Col int
	Found     string // the word as written
	Meant     string
}

// Command is a mkfs, mdadm, lvcreate, mount or similar command. Words[0] is the program's base
// name.
type Command struct {
	Words     []shell.Word
	Line, Col int
	Block     int // the code block it stands in, 0 in a script
	// Loop is true in the body of a for or while loop: the words may hold a variable.
	Loop bool
	// Scope tells branches, functions and strings apart: commands of one scope run one after the other.
	Scope string
}

// Name is the program's base name.
func (c Command) Name() string { return c.Words[0].Text }

// Obstacle is why a piece could not be read, where that has a remedy of its own.
type Obstacle string

// The obstacles that have one.
const (
	Printed   Obstacle = "printed"    // it is what fio printed
	OrderMark Obstacle = "order mark" // a byte order mark stands before it
	NoJob     Obstacle = "no job"     // it is started or named as a job file, and holds no job
	Limit     Obstacle = "limit"      // it is more than lint reads
)

// Unread is a piece that could not be understood.
type Unread struct {
	Line int
	Why  string
	By   Obstacle // empty where Why says all
	// Outside is true where another folder or machine may have what is missing here.
	Outside bool
}

// Passed is what seems to start fio and was passed over, and why. Line is 0 for the whole file.
type Passed struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Why  string `json:"why"`
}

// Disable is "plimsoll: disable=PL107,PL110 reason" in a comment. Alone on its line it covers the
// option, section or command behind it, and ahead of everything the whole file; behind something it
// covers its line.
type Disable struct {
	Line  int
	Codes []string
	// Malformed is true for a comment that names plimsoll and silences nothing by its form.
	Malformed bool
	// from and to are the lines it covers; alone, while they are not known, that it has a line of
	// its own.
	from, to int
	alone    bool
}

// unit is a range of lines that belong together: a section, a command.
type unit struct{ from, to int }

// Options lead to what stands outside the document.
type Options struct {
	// Env are variables beside those the document sets. May be nil.
	Env func(string) (string, bool)
	// Include reads files that job files include. May be nil.
	Include func(string) ([]byte, error)
}

// Parse finds the jobs and commands of a document. It never fails: what looks like a job and is
// none goes to Unread.
func Parse(name string, text []byte, opts Options) *File {
	f := &File{Name: name, Env: map[string]string{}}
	plain, minds, by := decoded(text)
	f.lines = strings.Split(strings.TrimSuffix(strings.ToValidUTF8(plain, "\uFFFD"), "\n"), "\n")
	if ext := strings.ToLower(path.Ext(name)); unread[ext] {
		f.Kind = Other
		if fioWord.MatchString(plain) {
			f.pass(1, ext+" scripts are not read")
		}
		return f
	}
	f.templated()
	f.Kind = kindOf(name, f.lines)
	if f.Kind != JobText && strings.Contains(plain, "\x1b") { // pasted from a terminal
		for i, line := range f.lines {
			f.lines[i] = escapes.ReplaceAllString(line, "")
		}
	}
	if minds != "" && f.Kind == JobText {
		f.unread(1, by, minds)
	}
	f.tests = f.Kind == Shell && slices.ContainsFunc(f.lines, suiteMarks.MatchString)
	r := newReader(f, opts)
	if f.Kind == JobText && printed(f.lines) {
		f.Kind = Other
		f.unread(1, Printed, "this is fio's output, not a job: plimsoll import reads it")
		return f
	}
	switch f.Kind { //nolint:exhaustive // Other holds nothing to read
	case YAML:
		r.yaml(0, len(f.lines), 0)
	case JobText:
		r.job(0, len(f.lines), 0)
	case Shell:
		r.shell(0, len(f.lines), 0, true)
	case Markdown:
		r.markdown()
	case Docker:
		r.dockerfile()
	}
	r.finish()
	return f
}

// escapes are those with which a terminal sets colours.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// Functional says whether the document is a test of a functional suite, which runs fio to find
// faults and not to measure.
func (f *File) Functional() bool { return f.tests }

// suiteMarks are lines that every test of such a suite has: xfstests, blktests, ktest, zonefs-tools.
var suiteMarks = regexp.MustCompile(
	`_begin_fstest|\. \.?/?common/(?:rc|preamble)|^\. tests/|^_have_|^requires\(\)|^require_\w+|exit_failed|\. scripts/test_lib|_require_(?:fio|scratch)|^require-(?:lib|kernel)|` +
		`test-(?:libs|preamble)\.sh|^\. \$\{?(?:testdir|STF_SUITE|_TEST)|^log_must `,
)

// outputMarks are lines of fio's output, as text and as JSON.
var outputMarks = regexp.MustCompile(
	`^\S.*: \(g=\d+\): rw=|^Starting \d+ (?:process|thread)|^\s+(?:read|write|READ|WRITE)\s*: (?:IOPS=|io=|bw=)|^\s*"fio version" :`,
)

// printed says whether a text is fio's output: two of its lines, and no line of a job file before.
func printed(lines []string) bool {
	marks := 0
	for _, line := range lines {
		switch {
		case outputMarks.MatchString(line):
			marks++
		case sectionLine.MatchString(line):
			return marks > 1
		}
		if marks > 2 {
			return true
		}
	}
	return marks > 1
}

// Unreadable is a document of which nothing could be read; its reason stands in Unread, so that the
// others of a folder are judged.
func Unreadable(name string, err error) *File {
	return &File{Name: name, Kind: Shell, Env: map[string]string{}, Unread: []Unread{{Line: 1, Why: err.Error()}}}
}

// CommandText parses one fio command line, given as one argument to plimsoll.
func CommandText(text string, opts Options) *File {
	f := &File{Name: "command line", Kind: Shell, Env: map[string]string{}, lines: strings.Split(text, "\n")}
	f.templated()
	r := newReader(f, opts)
	r.shell(0, len(f.lines), 0, true)
	r.finish()
	return f
}

// templates are the endings of files that are made into others.
var templates = strings.Fields(`.j2 .jinja .jinja2 .tmpl .tpl .gotmpl .in .template .erb .mustache`)

func kindOf(name string, lines []string) Kind {
	ext := strings.ToLower(path.Ext(name))
	if slices.Contains(templates, ext) {
		ext = strings.ToLower(path.Ext(name[:len(name)-len(ext)]))
	}
	switch ext {
	case ".md", ".markdown", ".mdx", ".rst", ".org", ".adoc":
		return Markdown
	case ".fio", ".job":
		return kindOfJob(ext, lines)
	case ".sh", ".bash":
		if looksLikeJob(lines) && !strings.HasPrefix(lines[0], "#!") {
			return JobText // whatever it is called
		}
		return Shell
	case ".yml", ".yaml":
		return YAML
	}
	base := path.Base(name)
	switch {
	case looksLikeJob(lines):
		return JobText
	case strings.HasPrefix(base, "Dockerfile"), strings.HasPrefix(base, "Containerfile"), ext == ".dockerfile":
		return Docker
	case ext == ".ini", ext == ".conf", ext == ".cfg", ext == ".toml", ext == ".json":
		return Other
	case strings.HasPrefix(lines[0], "#!"):
		return Shell
	case slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "```") }):
		return Markdown
	}
	return Shell
}

var (
	sectionLine = regexp.MustCompile(`^\s*\[[^\[\]]+\]\s*([;#].*)?$`)
	optionLine  = regexp.MustCompile(`^\s*([a-z][a-z_0-9]*)\s*(=|$|[;#\s])`)
)

// tellTale are the options of which a job file has at least one; other INI files have none.
var tellTale = endings(
	`rw readwrite bs blocksize ioengine iodepth numjobs direct filename directory runtime fsync fdatasync
	rwmixread time_based`,
)

// looksLikeJob says whether the first line that is no comment is a [section], an option of fio
// follows, and most options are fio's: other tools have an iodepth too.
func looksLikeJob(lines []string) bool {
	begun, told := false, false
	own, foreign := 0, 0
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed[0] == ';' || trimmed[0] == '#' {
			continue
		}
		if !begun {
			if !sectionLine.MatchString(line) {
				return false
			}
			begun = true
			continue
		}
		m := optionLine.FindStringSubmatch(line)
		if m == nil {
			if !strings.HasPrefix(trimmed, "[") && !strings.Contains(line, "$") {
				foreign++
			}
			continue
		}
		told = told || tellTale[m[1]]
		if _, known := fio.BuiltinOptions().Lookup(m[1]); known || m[1] == "include" {
			own++
		} else {
			foreign++
		}
	}
	return told && foreign <= 1+own/2
}

var disableForm = regexp.MustCompile(`plimsoll:\s*disable=([A-Za-z0-9,]+)`)

// malformed is a comment that means to silence something: plimsoll: ignore PL107, plimsoll: disable
// PL107.
var malformed = regexp.MustCompile(`(?:#|;|//|<!--)\s*plimsoll:\s*(?i:disable|ignore|allow|off|skip|noqa|nolint)`)

// disables collects the comments that silence rules.
func (f *File) disables() {
	for i, line := range f.lines {
		before, _, ok := strings.Cut(line, "plimsoll:")
		if !ok {
			continue
		}
		m := disableForm.FindStringSubmatch(line)
		before = strings.TrimSpace(before)
		if len(f.Disables) == mostComments {
			f.unread(i+1, Limit, "more than 4,096 comments that silence rules: this one is "+
				"not read, nor what follows it; disable the rules for the whole file")
			return
		}
		if m == nil {
			if malformed.MatchString(line) {
				f.Disables = append(f.Disables, Disable{Line: i + 1, Malformed: true})
			}
			continue
		}
		f.Disables = append(f.Disables, Disable{
			Line: i + 1, Codes: strings.Split(strings.ToUpper(m[1]), ","),
			alone: before == "#" || before == ";" || before == "<!--" || before == "//",
		})
	}
}

// CoversOne says whether the comment holds for one of lines, which are in order.
func (d Disable) CoversOne(lines []int) bool {
	at, _ := slices.BinarySearch(lines, d.from)
	return at < len(lines) && lines[at] <= d.to
}

// cover works out what each Disable covers, in one pass over the document.
func (f *File) cover() {
	next := make([]int, len(f.lines)+2) // the first line behind one that is neither blank nor a comment nor a fence
	for i := len(f.lines); i > 0; i-- {
		next[i-1] = i
		if t := strings.TrimSpace(f.lines[i-1]); t == "" || t[0] == ';' || t[0] == '#' || strings.HasPrefix(t, "<!--") ||
			fence.MatchString(f.lines[i-1]) {
			next[i-1] = next[i]
		}
	}
	ends := map[int]int{}
	for _, u := range f.units {
		ends[u.from] = max(ends[u.from], u.to)
	}
	for i := range f.Disables {
		d := &f.Disables[i]
		d.from, d.to = d.Line, d.Line
		if !d.alone {
			continue
		}
		blankBehind := d.Line < len(f.lines) && strings.TrimSpace(f.lines[d.Line]) == ""
		if f.Kind != Markdown && next[0] > d.Line && blankBehind { // nothing but comments before
			d.to = len(f.lines)
		} else if n := next[d.Line]; n > 0 {
			d.to = max(n, ends[n])
		}
	}
	f.silence()
}

// Each gives the texts in the document that re matches, with their lines, in order. Lines that hold none of
// the hints are skipped.
func (f *File) Each(re *regexp.Regexp, hints ...string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, l := range f.lines {
			if !slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(l, h) }) {
				continue
			}
			for _, m := range re.FindAllString(l, -1) {
				if !yield(i+1, m) {
					return
				}
			}
		}
	}
}

// Match returns each text of Each once.
func (f *File) Match(re *regexp.Regexp, hints ...string) []string {
	var found []string
	for _, m := range f.Each(re, hints...) {
		if !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	return found
}

// Source is a line of the document, counted from 1.
func (f *File) Source(line int) string {
	if line < 1 || line > len(f.lines) {
		return ""
	}
	return f.lines[line-1]
}

// From is a line of the document from a column on, both counted from 1; empty where there is none.
func (f *File) From(line, col int) string {
	src := []rune(f.Source(line))
	if col < 1 || col > len(src) {
		return ""
	}
	return string(src[col-1:])
}

// column counts characters where the lexer counted bytes.
func (f *File) column(line, col int) int {
	src := f.Source(line)
	return utf8.RuneCountInString(src[:min(max(col-1, 0), len(src))]) + 1
}

// unread are the endings of scripts that are not for a POSIX shell: batch files, PowerShell, notebooks.
var unread = endings(`.bat .cmd .ps1 .ipynb`)

const byteOrderMark = "\ufeff"

// decoded is a text as UTF-8 without a byte order mark, and what fio would mind of it in a job file;
// empty where there is nothing.
func decoded(text []byte) (plain, minds string, by Obstacle) {
	switch {
	case bytes.HasPrefix(text, []byte(byteOrderMark)):
		return string(text[len(byteOrderMark):]), "a byte order mark precedes the first line: fio takes it as part " +
			"of that line", OrderMark
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}), bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		low, high := 0, 1 // FF FE stands before little-endian units
		if text[0] == 0xfe {
			low, high = 1, 0
		}
		units := make([]uint16, 0, len(text)/2)
		for i := 2; i+1 < len(text); i += 2 {
			units = append(units, uint16(text[i+low])|uint16(text[i+high])<<8)
		}
		return string(utf16.Decode(units)), "the file is UTF-16, which fio does not read", ""
	}
	return string(text), "", ""
}

// Files that are called as job files are, and are none: batch systems name their scripts *.job, beamlines
// their data *.fio, and people keep a command line in x.fio.

// shellShebang begins a script.
var shellShebang = regexp.MustCompile(`^#!.*\b(?:ba|da|k|z)?sh\b|^#!.*\b(?:python|perl|ruby)`)

// commandLine is a command of fio in a line of its own.
var commandLine = regexp.MustCompile(`^\s*(?:[$#]\s+)?(?:sudo\s+|time\s+)*(?:\S*/)?fio\s+(?:-|\S+\.fio\b)`)

// kindOfJob is what a file with the ending of a job file holds.
func kindOfJob(ending string, lines []string) Kind {
	switch {
	case printed(lines):
		return JobText
	case shellShebang.MatchString(lines[0]):
		return Shell
	}
	sections, own, foreign, commands := 0, 0, 0, 0
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == ';' || trimmed[0] == '#':
		case trimmed[0] == '[':
			sections++
		case commandLine.MatchString(line):
			commands++
		case ownOption(trimmed):
			own++
		default:
			foreign++
		}
	}
	switch {
	case commands > 0 && own == 0 && sections == 0:
		return Shell
	case sections == 0 && foreign > own, ending == ".job" && own == 0 && foreign > 0:
		return Other
	}
	return JobText
}

// ownOption says whether a line sets an option of fio's.
func ownOption(line string) bool {
	if rest, ok := strings.CutPrefix(line, "include"); ok && strings.HasPrefix(rest, " ") {
		return true
	}
	name, _, _ := strings.Cut(line, "=")
	_, known := fio.BuiltinOptions().Lookup(strings.TrimSpace(name))
	return known
}

// JobFile is the job file that a text is, or the jobs of a document as one: those of each command wait for the
// command before it. A word that the document does not give is an error.
func JobFile(name string, text []byte, opts fio.ParseOptions) (*fio.JobFile, error) {
	f := Parse(name, text, Options{Env: opts.Env, Include: opts.Include})
	if f.Kind == JobText || NamesJob(name) || len(f.Jobs) == 0 {
		return fio.ParseJobFile(name, text, opts)
	}
	all := &fio.JobFile{Name: name}
	for _, j := range f.Jobs {
		first := true
		for _, s := range j.File.EachJob() {
			if j.Partial {
				return nil, fmt.Errorf("%s:%d: not all words of this command are known: write them out", name, j.Line)
			}
			job := fio.Section{Name: s.Name, Line: s.Line}
			if first && len(all.Sections) > 0 {
				job.Options = []fio.Option{{Name: "stonewall", Bare: true}}
			}
			first = false
			for _, o := range s.Options {
				if j.Command && unknownWords(o.Value) {
					return nil, fmt.Errorf("%s:%d: %s is not known: write it out", name, o.Line, fio.Clip(o.Value))
				}
				if o.Name != "name" {
					job.Options = append(job.Options, o)
				}
			}
			all.Sections = append(all.Sections, job)
		}
	}
	return all, all.Bounded()
}

// MisreadSection says what fio makes of the line that begins a section, where that is not what it looks like;
// false for any other line, and for one that begins another section than that of the name.
func MisreadSection(raw, name string) (m fio.Misreading, odd bool) {
	line := fio.StripComment(raw)
	if !strings.HasPrefix(line, "[") || fio.SectionName(line) != name {
		return m, false
	}
	shown, global := fio.Clip(line), (fio.Section{Name: name}).Global()
	job := fmt.Sprintf("a job named %q", fio.Clip(name))
	if global {
		job = "a global section"
	}
	switch {
	case !strings.Contains(line, "]"):
		m.Says = fmt.Sprintf("%s has no ] at its end: fio drops the last character and reads %s", shown, job)
		m.Old, m.New = line, line+"]"
	case !strings.HasSuffix(line, "]"):
		m.Says = fmt.Sprintf("%s does not end with ]: fio takes all of the line but its last character, and reads %s",
			shown, job)
	case strings.EqualFold(strings.TrimSpace(name), "global") && !global:
		m.Says, m.Hint = fmt.Sprintf("%s is not [global] to fio: it reads %s", shown, job), "[global]"
	default:
		return m, false
	}
	if meant := strings.ToLower(strings.TrimLeft(line, "[ \t")); strings.HasPrefix(meant, "global") &&
		!global {
		m.Says += ", whose options reach no other"
	}
	return m, true
}
