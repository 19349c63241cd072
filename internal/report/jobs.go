package report

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/tune"
)

// Job is a scenario as fio is given it.
type Job struct {
	ID         int           `json:"id"`
	Name       string        `json:"name"`
	Title      string        `json:"title,omitempty"`
	Why        string        `json:"why,omitempty"`
	Role       topology.Role `json:"role"`
	Before     []string      `json:"before,omitempty"` // shell lines that make what the command works on
	Command    []string      `json:"command"`
	Shell      []string      `json:"shell,omitempty"` // of a scenario that is PostgreSQL's, a line each
	JobFile    string        `json:"job_file"`
	Thresholds []string      `json:"thresholds,omitempty"`
}

// NewJob is scenario c with its job placed on a path.
func NewJob(c suite.Scenario, job *fio.JobFile) Job {
	j := Job{
		ID: c.ID, Name: c.Name, Title: c.Title, Why: c.Why, Role: c.Role,
		Command: fio.CommandLine(job), JobFile: string(job.Text()),
	}
	for _, t := range c.Thresholds {
		j.Thresholds = append(j.Thresholds, t.Text)
	}
	return j
}

// NewPostgresJob is a scenario of PostgreSQL with the commands that do it by hand.
func NewPostgresJob(c suite.Scenario, lines []string) Job {
	j := Job{ID: c.ID, Name: c.Name, Title: c.Title, Why: c.Why, Role: c.Role, Shell: lines}
	for _, t := range c.Thresholds {
		j.Thresholds = append(j.Thresholds, t.Text)
	}
	return j
}

// Jobs prints the command line and the job file of each scenario, as a shell script: what the
// scenarios work on is made first, and what is no command is a comment.
func Jobs(w io.Writer, all []Job) error {
	var b strings.Builder
	for i, j := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "# %d %s: %s\n", j.ID, text.Clean(j.Name, 0), text.Clean(j.Title, 0))
		if j.Why != "" {
			fmt.Fprintf(&b, "# %s\n", text.Clean(j.Why, 0))
		}
		if len(j.Shell) > 0 {
			fmt.Fprintf(&b, "%s\n", strings.Join(j.Shell, "\n"))
		} else {
			for _, line := range j.Before {
				fmt.Fprintf(&b, "%s\n", line)
			}
			fmt.Fprintf(&b, "%s\n# as a job file:\n", fio.ShellLine(j.Command))
			for line := range strings.Lines(j.JobFile) {
				fmt.Fprintf(&b, "%s\n", strings.TrimRight("#   "+line, " \n"))
			}
		}
		for _, t := range j.Thresholds {
			fmt.Fprintf(&b, "# threshold: %s\n", text.Clean(t, 0))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Changes prints settings before and after, and the finding that recommends each.
func Changes(w io.Writer, all []tune.Change) error {
	for _, c := range all {
		if _, err := fmt.Fprintf(w, "%s: %s -> %s (%s)\n", c.At, text.Clean(c.Old, 0), c.Value, c.Code); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "nothing to change: all settings are already as recommended")
		return err
	}
	return nil
}
