package lint

import (
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
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
				f.Fix = "Give it to plimsoll import, or rename it with another extension."
			case script.Limit:
				f.Severity, f.Fix = finding.Info, "Split it, or use job files."
			case script.NoJob:
				f.Message = why + "." // a file's name keeps its case
				f.Fix = "Put a [name] before the job's options, or lint the file that includes this one with it."
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
		f := foundAt(
			file,
			t.Line,
			t.Col,
			"%s spelled with a long dash or typographic quotes, the first %q: fio takes them for names of job "+
				"files.", are(len(j.Typos), "word"), t.Found,
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

func are(n int, one string) string {
	if n == 1 {
		return text.Plural(n, one) + " is"
	}
	return text.Plural(n, one) + " are"
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
