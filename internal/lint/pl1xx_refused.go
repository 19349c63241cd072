package lint

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

// options calls visit for each option written in the scripts, once.
func (c *Case) options(
	visit func(f *script.File, j *script.Job, at func(says string) *fault, o fio.Option) *fault,
	report reporter,
) {
	for file, j := range c.commands() {
		for _, s := range append([]fio.Section{{Options: j.File.Settings}}, j.File.Sections...) {
			for _, o := range s.Options {
				if o.File != "" {
					continue
				}
				at := func(message string) *fault {
					f := foundAt(file, o.Line, o.Col, "")
					f.Message = message
					return f
				}
				if f := visit(file, j, at, o); f != nil {
					report(*f)
				}
			}
		}
	}
}

func (c *Case) table() *fio.OptionTable {
	if c.Fio != nil {
		return c.Fio
	}
	return fio.BuiltinOptions()
}

// pluginOption says whether an option is by its name that of an engine which is loaded into fio.
func pluginOption(name string) bool {
	return strings.HasPrefix(name, "spdk_") || strings.HasPrefix(name, "xnvme_") ||
		strings.HasPrefix(name, "conf_") && name != "conf"
}

// written is a section of a script's job as fio judges it, with the options that stand there.
type written struct {
	file    *script.File
	job     *script.Job
	section int
	fio.JobText
	refusals []fio.Refusal
}

func (c *Case) textsOf(file *script.File, j *script.Job) []written {
	var all []written
	globals := slices.Clone(j.Passed)
	before := []string{}
	named := j.Command && !j.Partial // whether the text has a say in the engine
	for _, s := range j.File.Sections {
		_, has := s.Get("ioengine")
		named = named || has && !j.Partial
	}
	for i, s := range j.File.Sections {
		w := written{file: file, job: j, section: i}
		w.Command, w.Open, w.Global, w.Free = j.Command, c.filledIn, s.Global(), !named || len(j.Passed) > 0
		for _, o := range s.Options {
			if o.File == "" && !standsForName(file, j, o.Name) && !cutOff(file, o) {
				w.Own = append(w.Own, o)
			}
		}
		w.All = append(slices.Clip(globals), s.Options...)
		if s.Global() {
			globals = w.All
		} else {
			name := s.Name
			if n, ok := s.Get("name"); ok {
				name = n
			}
			if !j.Partial {
				w.Before = slices.Clip(before)
			}
			before = append(before, name)
		}
		all = append(all, w)
	}
	return all
}

// says is a finding at one of the section's options.
func (w written) says(o fio.Option, format string, args ...any) *fault {
	return foundAt(w.file, o.Line, o.Col, format, args...)
}

func unknownOption(c *Case, report reporter) {
	table := c.table()
	var stopped *script.Job
	for _, w := range c.sections {
		for _, r := range w.refusals {
			f := c.refused(table, w, r)
			if f == nil {
				continue
			}
			behind := len(w.job.File.Sections) - w.section - 1
			refused := f.Severity != finding.Info // empty is the rule's own, an error
			if refused && stopped != w.job && !w.Command && behind > 0 {
				*f = f.Saw("not run either", text.Plural(behind, "section")+" after it: fio reads no further", "", "")
			}
			if refused {
				stopped = w.job
			}
			report(*f)
		}
	}
	c.readOnly(report)
}

// refused puts a refusal into words; nil where another rule speaks of it.
func (c *Case) refused(table *fio.OptionTable, w written, r fio.Refusal) *fault {
	o := r.Option
	if o.File != "" || o.Line == 0 || w.job.Partial && r.Kind == fio.RefusedBetween {
		return nil
	}
	if old, was := successors[o.Name]; was && (r.Kind == fio.RefusedName || old.gone && !c.leftToRefused(old, o)) {
		return nil // PL124
	}
	if r.Near == "" && r.Kind == fio.RefusedValue && fromVariable(w.file, o) {
		return nil // the script may ask for the word before it starts fio: all, none
	}
	name, value := text.Clean(o.Name, 120), text.Clean(o.String(), 120)
	switch r.Kind {
	case fio.RefusedName:
		f := c.unknownName(table, w, r)
		if f != nil {
			f.Message += w.instead(table, r)
		}
		return f
	case fio.RefusedSetting:
		f := w.says(o, "%s %s: fio drops the job.", name, r.Says)
		f.Fix = says("Give it on the command line: fio --%s ...", value)
		return f
	case fio.RefusedEngine:
		if o.Pad != "" {
			return nil // PL127
		}
		return unknownEngine(w, r)
	case fio.RefusedBetween:
		if slices.ContainsFunc(table.Misreadings(w.JobText), func(m fio.Misreading) bool { return m.Option == o }) {
			return nil // PL128
		}
		f := w.says(o, "fio refuses the job: %s %s.", value, r.Says)
		f.Fix = "Change it, or what it conflicts with."
		return f
	case fio.RefusedValue:
	}
	if o.Pad != "" && blankMatters(table, w, o) {
		return nil // PL127
	}
	f := w.says(o, "fio refuses %s: it %s.", value, r.Says)
	f.Fix = describes(table, o)
	if strings.TrimSpace(o.Value) == "" && !o.Bare && !w.Command {
		f.Severity = finding.Info // a script fills it in before the job runs
	}
	switch {
	case r.Near == "":
	case r.Sure:
		f.Fix = says("Write %s=%s.", name, r.Near)
		f.Edits = set(w.file, o, o.Name, r.Near)
	default:
		f.Message = says("fio refuses %s: it %s; did you mean %s?", value, r.Says, r.Near)
		f.Fix = says("Write %s=%s, if that is what was meant.", name, r.Near)
	}
	return f
}

// describes is a fix: what says which values an option takes. One that fio does not know has the rule's.
func describes(table *fio.OptionTable, o fio.Option) string {
	info, known := table.Lookup(o.Name)
	switch {
	case !known:
		return ""
	case len(info.Engines) > 0:
		return says("Give a value that fio takes: fio --enghelp=%s,%s describes it.", info.Engines[0], info.Name)
	}
	return says("Give a value that fio takes: fio --cmdhelp=%s describes it.", info.Name)
}

// instead is what fio 3.33 makes of an option of a command line that it does not know.
func (w written) instead(table *fio.OptionTable, r fio.Refusal) string {
	name := r.Option.Name
	rest := w.file.From(r.Option.Line, r.Option.Col)
	if !w.Command || rest == "" || r.Says != "" {
		return ""
	}
	if letter, short := command.Short(rest[:min(len(rest), 2)]); short && len(name) > 1 {
		return says(" With one hyphen fio takes it for %s (--%s), and may run without it.", rest[:2], letter)
	}
	if n := table.Begins(name, ""); n > 1 && r.Near == "" {
		return says(" %s begin with it, and fio refuses ambiguous ones.", text.Plural(n, "option"))
	}
	return ""
}

// ownProgram is a fio that somebody built: one in a folder whose name is no system's.
var ownProgram = regexp.MustCompile(`^(?:[^/]*/)*[^/]*[fF][iI][oO][^/]*/fio$|^\.\.?/fio$`)

func (c *Case) unknownName(table *fio.OptionTable, w written, r fio.Refusal) *fault {
	o := r.Option
	if pluginOption(o.Name) {
		return nil
	}
	name := text.Clean(o.Name, 120)
	f := w.says(o, "fio has no option %q.", name)
	if unmerged(o) {
		f.Message = says("%s is git's mark of an unresolved merge: fio drops the job.", o)
		f.Fix = "Resolve the merge."
		return f
	}
	if w.Command && ownProgram.MatchString(w.job.Program) {
		f.Message = says("No released fio knows the option %q; %s may be a different fio.", name,
			w.job.Program)
		f.Severity, f.Fix = finding.Info, "State which fio it is, in a comment."
		return f
	}
	if n := len(c.strangers[w.file]); r.Near == "" && r.Says == "" && n > 1 && c.Fio == nil &&
		optionForm.MatchString(o.Name) {
		f.Message = says("No released fio knows the option %q, nor %s beside it: another fio, or another program, "+
			"may be meant.", name, text.Plural(n-1, "option"))
		f.Severity = finding.Warn
	}
	if source, own := c.Own[o.Name]; own {
		f.Message = says("No released fio knows the option %q; the one whose source is %s does.", name,
			source)
		f.Severity, f.Fix = finding.Info, "State in a comment that it needs this fio."
		return f
	}
	if r.Says != "" {
		f.Message = says("fio drops the job: %s %s.", name, r.Says)
		f.Fix = "Drop it, or run the job with a fio that has it."
		if info, known := table.Lookup(o.Name); known && len(info.Engines) > 0 {
			f.Fix = says("Drop it, or write ioengine=%s.", info.Engines[0])
		}
		return f
	}
	if r.Near == "" {
		return f
	}
	f.Message = says("fio has no option %q; did you mean %s?", name, r.Near)
	f.Fix = says("Write %s, if that is what was meant.", r.Near)
	if clean := strings.ToLower(strings.ReplaceAll(o.Name, "-", "_")); r.Near == clean {
		fixed := o
		fixed.Name = r.Near
		if _, known := table.Lookup(r.Near); known {
			f.Edits = set(w.file, o, r.Near, o.Value)
		}
	}
	return f
}

// unknownEngine is an error where one of fio's engines is near; another name may be that of a plugin
// which is loaded into fio, or of a newer fio.
func unknownEngine(w written, r fio.Refusal) *fault {
	value := strings.TrimSpace(r.Option.Value)
	if r.Near == "" || strings.HasPrefix(value, "spdk") || strings.ContainsAny(value, "-.") {
		f := w.says(r.Option, "ioengine=%s is not one of fio's own engines: its options are not judged.",
			value)
		f.Severity, f.Fix = finding.Info, "If one of fio's own is meant: fio --enghelp lists them."
		return f
	}
	f := w.says(r.Option, "fio has no ioengine %s; did you mean %s?", value, r.Near)
	f.Fix = says("Write ioengine=%s, if that is what was meant.", r.Near)
	return f
}

// blankMatters says whether fio refuses an option for the blank behind its =: no word of fio's begins
// with one, whatever stands behind it, nor does a folder that
// anybody has.
func blankMatters(table *fio.OptionTable, w written, o fio.Option) bool {
	info, _ := table.Lookup(o.Name)
	return len(info.Words) > 0 && info.Name != "kb_base" && info.Name != "unit_base" || info.Name == "directory" ||
		slices.ContainsFunc(w.refusals, func(r fio.Refusal) bool { return r.Option == o && r.Kind == fio.RefusedValue }) &&
			blankRefused(table, w, o)
}

// blankRefused says whether it is the blank behind = that fio refuses.
func blankRefused(table *fio.OptionTable, w written, o fio.Option) bool {
	if o.Pad == "" {
		return false
	}
	o.Pad = ""
	alone := fio.JobText{Own: []fio.Option{o}, All: []fio.Option{o}, Open: w.Open, Free: true, Global: true}
	return len(table.Refusals(alone)) == 0
}

func blankValue(c *Case, report reporter) {
	table := c.table()
	for _, w := range c.sections {
		for _, o := range w.Own {
			if o.Pad == "" || !blankMatters(table, w, o) {
				continue
			}
			f := w.says(o, "fio takes the space in %q as part of the value and drops the job.",
				o.Name+"="+o.Pad+o.Value)
			f.Edits = set(w.file, o, o.Name, o.Value)
			report(*f)
		}
	}
}

func inverseUnit(c *Case, report reporter) {
	table := c.table()
	for _, w := range c.sections {
		for _, m := range table.Misreadings(w.JobText) {
			report(*misread(w, m))
		}
		homePath(w, report)
		sectionMisread(w, report)
	}
}

// sectionMisread reports a line whose section is not the one that it looks like.
func sectionMisread(w written, report reporter) {
	s := w.job.File.Sections[w.section]
	line := w.file.Source(s.Line)
	m, odd := script.MisreadSection(line, s.Name)
	if w.Command || !odd {
		return
	}
	col := 1 + len([]rune(line[:strings.IndexByte(line, '[')]))
	f := foundAt(w.file, s.Line, col, "%s.", m.Says)
	switch {
	case m.New != "":
		f.Fix = says("Write %s.", m.New)
		f.Edits = replaced(w.file, s.Line, col, m.Old, m.New)
	case m.Hint != "":
		f.Fix = says("Write %s, if that is what was meant.", m.Hint)
	default:
		f.Fix = "Close the name with ] and put nothing after it."
		if !strings.Contains(line, "=") { // the job has all its options, under another name
			f.Severity = finding.Warn
		}
	}
	report(*f)
}

func misread(w written, m fio.Misreading) *fault {
	o := m.Option
	f := w.says(o, "%s %s.", o, m.Says)
	switch {
	case m.New != "":
		value := strings.Replace(o.Pad+o.Value, m.Old, m.New, 1)
		f.Fix = says("Write %s=%s.", o.Name, strings.TrimSpace(value))
		f.Edits = set(w.file, o, o.Name, value)
	case m.Hint == "":
	case m.Kind == fio.MisreadValue:
		f.Fix = says("Write %s=%s, if that is what was meant.", o.Name, m.Hint)
	default:
		f.Fix = says("Write %s, if that is what was meant.", m.Hint)
	}
	return f
}
