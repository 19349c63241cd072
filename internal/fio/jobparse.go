package fio

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseOptions lead from a job file to the outside.
type ParseOptions struct {
	// Env looks ${NAME} up; false stands for a variable that is not set, which fio reads as
	// nothing. A nil Env leaves ${NAME} as written.
	Env func(name string) (value string, ok bool)
	// Include reads a file named by an include line. fio tries the name as given and then beside
	// the including file; so does the parser. A nil Include makes such lines an error.
	Include func(name string) ([]byte, error)
}

// Limits of fio's reader: fgets into 4,096 bytes; the parser's own bound on includes within
// includes.
const (
	maxJobLine  = 4095
	maxIncludes = 16
)

// ParseJobFile reads a job file as fio 3.33 does (init.c, parse_jobs_ini): ; and # start a comment
// anywhere in a line, and nothing escapes them; a section whose name begins with "global" sets
// defaults for the jobs behind it; blanks around an option's name do not count. Whether the options
// exist is not its business (OptionTable). An error that has a line is a *JobError.
func ParseJobFile(name string, text []byte, opts ParseOptions) (*JobFile, error) {
	p := jobParser{opts: opts, file: &JobFile{Name: name}}
	if err := p.read(name, text, 0); err != nil {
		return nil, err
	}
	return p.file, nil
}

// JobError is what is wrong in a line of a job file.
type JobError struct {
	File    string
	Line    int
	Missing string // the file that the line includes, where it could not be read
	Err     error
}

func (e *JobError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

func (e *JobError) Unwrap() error { return e.Err }

type jobParser struct {
	opts ParseOptions
	file *JobFile
	cost jobCost
}

// What a job file may hold: the jobs that fio runs (fio.h, REAL_MAX_JOBS), and the options of all
// jobs together with those they inherit, which reading it costs.
const (
	mostJobs    = 4096
	mostOptions = 250_000
	// mostOfOne bounds the options of one section, and of all global ones: fio has fewer than 300, and
	// judging them costs the square.
	mostOfOne = 2048
)

// jobCost counts the jobs of a file and their options, inherited ones too.
type jobCost struct{ jobs, global, options int }

// section counts one that begins; its own options follow.
func (c *jobCost) section(s *Section) error {
	if !s.Global() {
		c.jobs++
		c.options += c.global
	}
	return c.check()
}

func (c *jobCost) option(s *Section) error {
	if s.Global() {
		c.global++
	}
	c.options++
	if len(s.Options) > mostOfOne || c.global > mostOfOne {
		return fmt.Errorf("more than %d options of one section, or of all [global]: fio has fewer than 300", mostOfOne)
	}
	return c.check()
}

func (c *jobCost) check() error {
	switch {
	case c.jobs > mostJobs:
		return fmt.Errorf("more than %d jobs, the most that fio runs: use numjobs, or several files", mostJobs)
	case c.options > mostOptions:
		return fmt.Errorf("the jobs have more than %d options with those of [global]: use several files", mostOptions)
	}
	return nil
}

// Bounded refuses more jobs and options than a job file may hold.
func (f *JobFile) Bounded() error {
	var cost jobCost
	for i := range f.Sections {
		s := &f.Sections[i]
		if err := cost.section(s); err != nil {
			return err
		}
		for range s.Options {
			if err := cost.option(s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *jobParser) read(name string, text []byte, nested int) error {
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		fail := func(format string, args ...any) error {
			return &JobError{File: name, Line: n, Err: fmt.Errorf(format, args...)}
		}
		if len(raw) > maxJobLine {
			return fail("the line has %d bytes; fio reads %d", len(raw), maxJobLine)
		}
		line := StripComment(string(raw))
		if line == "" {
			continue
		}
		col := 1 + strings.Index(string(raw), line)
		if line[0] == '[' {
			if nested > 0 {
				return fail("an included file may hold options only, no [section]")
			}
			// fio takes what follows the bracket less its last character, whatever that is.
			p.file.Sections = append(p.file.Sections, Section{Name: SectionName(line), Line: n})
			if err := p.cost.section(&p.file.Sections[len(p.file.Sections)-1]); err != nil {
				return fail("%w", err)
			}
			continue
		}
		if len(p.file.Sections) == 0 {
			switch {
			case strings.HasPrefix(line, "\ufeff"):
				return fail("a byte order mark stands before the first section; fio does not skip it")
			case strings.HasPrefix(line, "{"):
				return fail("this is JSON, not a job file; plimsoll import reads what fio wrote")
			}
			return fail("option %q stands before the first [section]", Clip(line))
		}
		if rest, ok := strings.CutPrefix(line, "include"); ok {
			if missing, err := p.include(name, rest, nested); err != nil {
				return &JobError{name, n, missing, err}
			}
			continue
		}
		o := p.option(line)
		o.Line, o.Col = n, col
		if nested > 0 {
			o.File = name
		}
		s := &p.file.Sections[len(p.file.Sections)-1]
		s.Options = append(s.Options, o)
		if err := p.cost.option(s); err != nil {
			return fail("%w", err)
		}
	}
	return nil
}

// SectionName is the name in a line that begins a section, as fio cuts it out.
func SectionName(line string) string {
	name := line[1:min(len(line), 256)]
	return name[:max(len(name)-1, 0)]
}

// StripComment cuts the comment and the blanks and control characters around a line
// (is_empty_or_comment, strip_blank_front, strip_blank_end).
func StripComment(line string) string {
	if i := strings.IndexAny(line, ";#"); i >= 0 {
		line = line[:i]
	}
	blank := func(r rune) bool { return r <= ' ' || r == 0x7f }
	return strings.TrimLeft(strings.TrimRightFunc(line, blank), " \t\n\v\f\r")
}

// include reads the file behind "include", whose one next character fio does not look at; missing
// names one that cannot be read.
func (p *jobParser) include(from, rest string, nested int) (missing string, err error) {
	if p.opts.Include == nil {
		return "", errors.New("include lines are not followed here")
	}
	if nested >= maxIncludes {
		return "", fmt.Errorf("includes are nested more than %d deep", maxIncludes)
	}
	if rest == "" {
		return "", errors.New("include needs a file name")
	}
	file := rest[1:]
	text, err := p.opts.Include(file)
	if err != nil && !path.IsAbs(file) && strings.Contains(from, "/") {
		if beside, err2 := p.opts.Include(path.Join(path.Dir(from), file)); err2 == nil {
			text, err, file = beside, nil, path.Join(path.Dir(from), file)
		}
	}
	if err != nil {
		return file, fmt.Errorf("include %s: %w", Clip(file), err)
	}
	return "", p.read(file, text, nested+1)
}

func (p *jobParser) option(line string) Option {
	if p.opts.Env != nil {
		line = expand(line, p.opts.Env)
	}
	name, value, has := strings.Cut(line, "=")
	o := Option{Name: strings.TrimRight(name, " \t"), Bare: !has}
	o.Value = strings.TrimLeft(value, " \t")
	o.Pad = value[:len(value)-len(o.Value)]
	return o
}

// expand replaces ${NAME} as option_dup_subs does: what is not set becomes nothing, what is not
// closed stays.
func expand(s string, env func(string) (string, bool)) string {
	return variable.ReplaceAllStringFunc(s, func(named string) string {
		value, _ := env(named[len("${") : len(named)-1])
		return value
	})
}

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// Clip shortens hostile text for a message.
func Clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Global says whether the section sets defaults instead of being a job; fio looks at the first six
// letters only.
func (s Section) Global() bool { return strings.HasPrefix(s.Name, "global") }

// Jobs are the indexes of the sections that are jobs, in order.
func (f *JobFile) Jobs() (jobs []int) {
	for i, s := range f.Sections {
		if !s.Global() {
			jobs = append(jobs, i)
		}
	}
	return jobs
}

// Effective is section i with the options of every global section before it in front of its own,
// named as fio names the job: by its last name=, else by the section.
func (f *JobFile) Effective(i int) Section {
	var global []Option
	for _, s := range f.Sections[:i] {
		if s.Global() {
			global = append(global, s.Options...)
		}
	}
	return f.effective(i, global)
}

// EachJob gives the index of each section that is a job, with its Effective, in a time that grows
// with the number of sections only.
func (f *JobFile) EachJob() iter.Seq2[int, Section] {
	return func(yield func(int, Section) bool) {
		var global []Option
		for i, s := range f.Sections {
			if s.Global() {
				global = append(global, s.Options...)
			} else if !yield(i, f.effective(i, global)) {
				return
			}
		}
	}
}

// effective is section i below global options.
func (f *JobFile) effective(i int, global []Option) Section {
	job := Section{Name: f.Sections[i].Name, Line: f.Sections[i].Line}
	// A job does not inherit its name.
	job.Options = slices.DeleteFunc(slices.Clone(global), func(o Option) bool { return o.Name == "name" })
	job.Options = append(job.Options, f.Sections[i].Options...)
	if name, ok := f.Sections[i].Get("name"); ok && name != "" {
		job.Name, job.Heading = name, job.Name
	}
	return job
}

// Text prints the job file; ParseJobFile reads back the same sections. Settings of fio itself are
// no part of a job file.
func (f *JobFile) Text() []byte {
	var b bytes.Buffer
	for i, s := range f.Sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[%s]\n", s.Name)
		for _, o := range s.Options {
			b.WriteString(o.String() + "\n")
		}
	}
	return b.Bytes()
}

// String is the option as in a job file.
func (o Option) String() string {
	if o.Bare {
		return o.Name
	}
	return o.Name + "=" + o.raw()
}

// Writable says why Text would not be read as these sections and options: fio has no way to write
// ; # or a line break into a job file, a line break in a value would be another option, and a # the
// end of one.
func (f *JobFile) Writable() error {
	foreign := func(text string) bool {
		return !utf8.ValidString(text) || // which no record keeps
			strings.ContainsFunc(text, func(c rune) bool { return c == ';' || c == '#' || c < ' ' && c != 9 || c == 0x7f })
	}
	for _, s := range f.Sections {
		if foreign(s.Name) || len(s.Name) > 254 {
			return fmt.Errorf("section %q: fio cannot read this name from a job file", Clip(s.Name))
		}
		for _, o := range s.Options {
			if text := o.String(); foreign(text) || len(text) >= maxJobLine {
				return fmt.Errorf("[%s] %s: a job file cannot hold ; # line breaks, control characters or what is not "+
					"UTF-8 in a value, nor lines over %d bytes", Clip(s.Name), strconv.Quote(Clip(text)), maxJobLine)
			}
		}
	}
	// fio puts variables of its own environment in as well, for what is left of ${.
	back, err := ParseJobFile("job", f.Text(), ParseOptions{Env: func(string) (string, bool) { return "", false }})
	if err != nil {
		return err
	}
	same := slices.EqualFunc(f.Sections, back.Sections, func(a, b Section) bool {
		return a.Name == b.Name && slices.EqualFunc(a.Options, b.Options, func(a, b Option) bool {
			return a.Name == b.Name && a.Bare == b.Bare && strings.TrimSpace(a.Value) == strings.TrimSpace(b.Value)
		})
	})
	if !same {
		return errors.New("fio would read other options in the job file than these: a value or a name holds what " +
			"a job file cannot")
	}
	return nil
}
