package lint

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/script"
)

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
		f.Fix = "Drop --readonly, or read only."
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
		f := w.says(o, "%s is below a folder named ~ in the current one: neither fio nor the shell replaces "+
			"~ here.",
			o)
		f.Fix = "Write the path of the folder out, or $HOME in a command and ${HOME} in a job file."
		report(*f)
	}
}
