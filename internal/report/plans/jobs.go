package plans

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/report/page"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/tune"
)

// Job is a scenario as fio is given it.
type Job struct {
	ID         int
	Name       string
	Title      string `json:"title,omitempty"`
	Why        string `json:"why,omitempty"`
	Role       topology.Role
	Before     []string `json:"before,omitempty"` // shell lines that make what the command works on
	Command    []string
	Shell      []string `json:"shell,omitempty"` // of a scenario that is PostgreSQL's, a line each
	JobFile    string
	Thresholds []string `json:"thresholds,omitempty"`
}

// NewJob is scenario c with its job placed on a path; one of PostgreSQL, which plimsoll starts a server of its own
// for, has none.
func NewJob(c suite.Scenario, job *fio.JobFile) Job {
	j := Job{ID: c.ID, Name: c.Name, Title: c.Title, Why: c.Why, Role: c.Role}
	for _, t := range c.Thresholds {
		j.Thresholds = append(j.Thresholds, t.Text)
	}
	if job == nil {
		j.Shell = []string{text.ShellLine([]string{"plimsoll", "run", c.Name})}
		return j
	}
	j.Command, j.JobFile = command.Line(job), string(job.Text())
	return j
}

// Jobs is the document of the command line and the job file of each scenario, as a shell script:
// what the scenarios work on is made first, and what is no command is a comment.
func Jobs(all []Job) *page.Document {
	d := page.New("scenarios", "# commands of "+text.Several(all, "scenario"), "scenarios", all) // a shell's comment
	rows := page.NewTable("id, name, title, role, command, thresholds")
	for _, j := range all {
		c := page.Code{Free: true, Lines: []string{fmt.Sprintf("# %d %s: %s", j.ID, text.Clean(j.Name, 0),
			text.Clean(j.Title, 0))}}
		if j.Why != "" {
			c.Say("# %s", text.Clean(j.Why, 0))
		}
		line := strings.Join(j.Shell, "; ")
		if len(j.Shell) > 0 {
			c.Lines = append(c.Lines, j.Shell...)
		} else {
			line = shell.Line(j.Command)
			c.Lines = append(append(c.Lines, j.Before...), line, "# as a job file:")
			for line := range strings.Lines(j.JobFile) {
				c.Say("%s", strings.TrimRight("#   "+line, " \n"))
			}
		}
		for _, t := range j.Thresholds {
			c.Say("# threshold: %s", text.Clean(t, 0))
		}
		d.Add(c)
		rows.Add(j.ID, j.Name, j.Title, j.Role, line, strings.Join(j.Thresholds, "; "))
	}
	d.Records = rows
	return d
}

// Suites is the document of the suites there are.
func Suites(all []*suite.Suite) *page.Document {
	d := page.New("suites", text.Several(all, "suite"), "suites", all)
	rows := page.NewTable("<suite, scenarios, <description")
	for _, s := range all {
		rows.Add(s.Name, len(s.Scenarios), s.Description)
	}
	d.Add(rows)
	return d
}

// Rules is the document of findings that plimsoll knows, with their pages where they were named. data is
// its JSON.
func Rules(all []finding.Page, named bool, data any) *page.Document {
	d := page.New("rules", text.Several(all, "finding"), "rules", data)
	rows := page.NewTable("<code, <severity, <title")
	texts := page.NewTable("code, severity, title, when, why, fix")
	var pages []page.Block
	for _, r := range all {
		rows.Add(r.Code, r.Severity, r.Title)
		texts.Add(r.Code, r.Severity, r.Title, r.Says("Fires when"), r.Says(finding.Why), r.Says(finding.Fix))
		if named {
			lines := strings.Split(strings.TrimRight(r.Text(), "\n"), "\n")
			pages = append(pages, page.Code{Fit: func(int, bool) []string { return slices.Clone(lines) }})
		}
	}
	d.Add(rows)
	d.Add(pages...)
	d.Records = texts
	return d
}

// Changes is the document of settings before and after, and of the finding that recommends each.
func Changes(all []tune.Change) *page.Document {
	d := page.New("changes", "", "changes", all)
	d.Records = page.NewTable("at, before, after, code")
	for _, c := range all {
		d.Add(page.Sentences(fmt.Sprintf("%s: %s -> %s (%s)", c.At, c.Old, c.Value, c.Code)))
		d.Records.Add(c.At, c.Old, c.Value, c.Code)
	}
	if len(all) == 0 {
		d.Add(page.Sentences("nothing to change: what check recommends here is already set"))
	}
	return d
}
