package lint

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

func unreadable(c *Case, report reporter) {
	for _, file := range c.Scripts {
		for _, u := range file.Unread {
			why := text.Clean(u.Why, 120)
			f := foundAt(file, u.Line, 1, "%s.", strings.ToUpper(why[:1])+why[1:])
			if u.Outside {
				f.Severity = finding.Info // it may stand where the jobs run
				f.Fix = "Keep the file beside the one that includes it."
			}
			switch u.By {
			case script.Printed:
				f.Fix = "Pass it to plimsoll import, or give it another extension."
			case script.Limit:
				f.Severity, f.Fix = finding.Info, "Split it, or use job files."
			case script.NoJob:
				f.Message = why + "." // a file's name keeps its case
				f.Fix = "Put a [name] before the job's options, or lint it together with the file that includes it."
			case script.OrderMark:
				f.Fix = "Save the file as UTF-8 without a byte order mark."
				f.Edits = []finding.Edit{{Line: 1, Col: 1, Old: "\ufeff"}}
			}
			report(*f)
		}
		for _, j := range file.Jobs {
			if at, ok := blankWord(j); ok && file.Kind != script.Docker { // which may have blanks behind a backslash
				f := foundAt(file, at.Line, at.Col,
					"The backslash is before a space, not at the end of the line: fio takes the space for a job file and stops.")
				f.Fix = "Remove the spaces after the backslash, or the backslash."
				report(*f)
			}
		}
	}
}

// blankWord is the first word of a command that is made of blanks: a backslash that was to continue
// the line keeps the blank behind it.
func blankWord(j script.Job) (shell.Word, bool) {
	at := slices.IndexFunc(j.Words, func(w shell.Word) bool {
		rest := strings.TrimLeft(w.Text, " \t")
		return rest != w.Text && (rest == "" || strings.HasPrefix(rest, "--"))
	})
	if at < 1 || !slices.Contains(j.File.Files, j.Words[at].Text) {
		return shell.Word{}, false
	}
	return j.Words[at], true
}

func notRead(c *Case, report reporter) {
	for _, file := range c.Scripts {
		for _, p := range file.Passed {
			report(*foundAt(file, p.Line, 1, "A fio command is skipped: %s.", p.Why))
		}
	}
}

func longDash(c *Case, report reporter) {
	for file, j := range c.commands() {
		if len(j.Typos) == 0 {
			continue
		}
		t := j.Typos[0]
		f := foundAt(file, t.Line, t.Col,
			"%s spelled with a long dash or typographic quotes, the first %q: fio takes them for names of job "+
				"files.", text.Plural(len(j.Typos), "word is", "words are"), t.Found,
		)
		f.Commands = []string{commandOf(j.Words)}
		for _, t := range j.Typos {
			if strings.Contains(t.Meant, `"`) && strings.Contains(file.Source(t.Line), `"`) {
				f.Edits = nil // a straight quote may end another string of the line
				break
			}
			f.Edits = append(f.Edits, replaced(file, t.Line, t.Col, t.Found, t.Meant)...)
		}
		report(*f)
	}
}

func commandOf(words []shell.Word) string {
	argv := make([]string, len(words))
	for i, w := range words {
		argv[i] = w.Text
	}
	return shell.Line(argv)
}

func noJob(c *Case, report reporter) {
	for file, j := range c.commands() {
		if c.nameless(*j) {
			report(*foundAt(file, j.Line, j.Col, "The command has options and no --name: fio has no job to run."))
		}
	}
}

// nameless says whether a command has options of a job, and no job. The name of an option that lost its dashes is no
// job file.
func (c *Case) nameless(j script.Job) bool {
	f := j.File
	if !j.Command || j.Partial || j.Appended || len(f.Jobs()) > 0 || len(f.Sections) == 0 ||
		slices.ContainsFunc(f.Files, func(name string) bool { return !c.optionName(name) }) ||
		len(f.Settings) > 0 && !onlyOutput(f.Settings) {
		return false
	}
	_, merges := f.Sections[0].Get("merge_blktrace_file")
	return !merges
}

// onlyOutput says whether the settings leave it to the command line to define jobs.
func onlyOutput(settings []fio.Option) bool {
	return !slices.ContainsFunc(settings, func(o fio.Option) bool {
		return slices.Contains(
			strings.Fields(`server client remote-config cmdhelp enghelp help version profile`), o.Name,
		)
	})
}

// setWord is a word that sets an option: rwmixread=70.
var setWord = regexp.MustCompile(`^([a-z][a-z0-9_-]*)=`)

// swallowed is an option in the value of another one: /data/f--iodepth=1.
var swallowed = regexp.MustCompile(`--([a-z][a-z0-9_-]*)(?:=|$)`)

// freeText are options whose value may hold the options of any program.
var freeText = strings.Fields(`exec_prerun exec_postrun description name program trigger trigger-remote`)

// writtenNames are options that name a file for what fio reports.
var writtenNames = strings.Fields(`output write_bw_log write_lat_log write_iops_log write_hist_log write_iolog`)

func lostDash(c *Case, report reporter) {
	for file, j := range c.commands() {
		if j.Command {
			c.barePairs(file, j, report)
		}
	}
	c.options(func(_ *script.File, j *script.Job, at func(string) *fault, o fio.Option) *fault {
		m := swallowed.FindStringSubmatch(o.Value)
		if !j.Command || m == nil || !c.optionName(m[1]) || slices.Contains(freeText, o.Name) ||
			strings.HasSuffix(m[0], m[1]) && command.TakesNext(m[1]) { // /data/x--name
			return nil
		}
		f := at(says("--%s is in the value of %s without a space before it: fio does not see it.",
			m[1], o.Name))
		switch {
		case strings.HasPrefix(o.Value, "--"):
			f.Message = says("%s has no value of its own: fio takes %s for it.", o.Name,
				o.Value)
			f.Fix = says("Write --%s=VALUE.", o.Name)
		case slices.Contains(writtenNames, o.Name):
			f.Severity = finding.Info // the file may be named after the options: out--bs=4k.json
		}
		return f
	}, report)
}

// barePairs are the words of a command that set an option without dashes.
func (c *Case) barePairs(file *script.File, j *script.Job, report reporter) {
	for _, w := range j.Words {
		m := setWord.FindStringSubmatch(w.Text)
		if m == nil || !c.optionName(m[1]) || !slices.Contains(j.File.Files, w.Text) {
			continue
		}
		f := foundAt(file, w.Line, w.Col, "%s has no dashes: fio takes it for the name of a job file.",
			w.Text)
		f.Fix = says("Write --%s.", w.Text)
		report(*f)
	}
}

// optionName says whether a word is the whole name of an option of a job or of fio's command line.
func (c *Case) optionName(word string) bool {
	_, known := c.table().Lookup(word)
	return known || command.Setting(word)
}

// readOnly reports commands with --readonly whose jobs write, which fio refuses in a run.
func (c *Case) readOnly(report reporter) {
	for _, j := range c.jobs {
		o, only := j.readOnly()
		if !only || j.partial || j.open("rw") || !j.Writes() && j.TrimShare == 0 || !j.measures() {
			continue
		}
		f := foundAt(j.file, o.Line, o.Col, "fio refuses the command: --readonly does not allow %s.",
			j.setting("rw", "read"))
		f.Fix = "Drop --readonly, or make the job only read."
		report(*f)
	}
}

// readOnly is the --readonly of the job's command, with which fio starts no job that writes.
func (j *lintJob) readOnly() (o fio.Option, given bool) {
	at := slices.IndexFunc(j.src.File.Settings, func(o fio.Option) bool { return o.Name == "readonly" })
	if at < 0 {
		return o, false
	}
	return j.src.File.Settings[at], true
}

// homePath reports a path that begins with ~ where no shell replaces it: in a job file, and behind =
// on a command line.
func homePath(w written, report reporter) {
	for _, o := range w.Own {
		if o.Name != "filename" && o.Name != "directory" || !strings.HasPrefix(o.Value, "~/") {
			continue
		}
		if w.Command && !strings.Contains(w.file.From(o.Line, o.Col), o.Name+"=~/") {
			continue // a shell replaces it: --directory ~/x
		}
		f := w.says(o, "%s is in a directory named ~ in the current one: neither fio nor the shell replaces "+
			"~ here.",
			o)
		f.Fix = "Write out the path of the directory, or use $HOME in a command and ${HOME} in a job file."
		report(*f)
	}
}
