package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/script"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

var convertForms = []string{"job", "command", "suite"}

type convertOptions struct {
	args []string
	to   string
}

// NewConvert is the command plimsoll convert.
func NewConvert(env *form.Env) *cobra.Command {
	var o convertOptions
	cmd := form.Command(env, "convert", cobra.MinimumNArgs(1), nil, o.run)
	form.AddChoice(
		cmd,
		&o.to,
		"to",
		"convert to `FORM` (default: a command to a job, a job file to a command)",
		convertForms,
	)
	return cmd
}

func (o *convertOptions) run(ctx context.Context, env *form.Env, args []string) error {
	o.args = args
	job, typed, err := readJob(ctx, env, o.args)
	if err != nil {
		return err
	}
	to := o.to
	if to == "" {
		to = map[bool]string{true: "job", false: "command"}[typed]
	}
	if len(job.Jobs()) == 0 {
		return fmt.Errorf("%s: no job in it: fio needs --name=NAME or a [section]", job.Name)
	}
	var converted string
	switch to {
	case "command":
		line := command.Line(job)
		if again, err := command.Parse(line); err != nil {
			return fmt.Errorf("%s: it cannot be written as a command line: %w", job.Name, err)
		} else if err := same(job, again); err != nil {
			return err
		}
		converted = shell.Line(line) + "\n"
	case "job":
		if err := job.Writable(); err != nil {
			return err
		}
		if again, err := fio.ParseJobFile(job.Name, job.Text(), fio.ParseOptions{}); err != nil {
			return err
		} else if err := same(job, again); err != nil {
			return err
		}
		converted = suite.SettingsComment(job, ";") + string(job.Text())
	case "suite":
		if converted, err = suite.YAML(job); err != nil {
			return err
		}
		if _, err := suite.Parse(job.Name, []byte(converted)); err != nil {
			return fmt.Errorf("the job cannot be written as a suite: %w", err)
		}
	}
	_, err = io.WriteString(env.Out, converted)
	return err
}

// same refuses a conversion that, read again, is not the same jobs with the same options.
func same(job, again *fio.JobFile) error {
	differ := command.Differences(job, again)
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%s: fio would read the converted text differently: %s", job.Name,
		text.Clean(text.Some(differ, 3), 240))
}

// readJob reads a job file, or a command line given as one argument or as words; typed tells
// which.
func readJob(ctx context.Context, env *form.Env, args []string) (job *fio.JobFile, typed bool, err error) {
	words := args
	if len(args) == 1 {
		name := args[0]
		var body []byte
		switch info, err := sys.Stat(name); {
		case name == "-":
			body, err = sys.ReadAll("standard input", sys.Interruptible(ctx, env.In), sys.TextLimit)
			if err != nil {
				return nil, false, err
			}
		case err == nil && info.Mode().IsRegular():
			if body, err = sys.Text(name); err != nil {
				return nil, false, err
			}
		case err == nil:
			return nil, false, form.Hint(form.Usagef("%s is not a job file: it is not a regular file", name),
				`plimsoll convert "fio --name=a --rw=randread"`)
		case command.At(strings.Fields(name)) < 0 && !strings.HasPrefix(name, "-") && !strings.Contains(name, " --") &&
			!slices.ContainsFunc(strings.Fields(name), hasLongDash):
			return nil, false, form.Hint(form.Usage(err), `plimsoll convert "fio --name=a --rw=randread"`)
		default:
			if words, err = shell.Split(name); err != nil {
				return nil, true, form.Usage(err)
			}
		}
		if body != nil {
			include := func(include string) ([]byte, error) { return sys.Included(name, include) }
			job, err = script.JobFile(name, body, fio.ParseOptions{Include: include})
			noteSections(env, name, body, job)
			return job, false, err
		}
	}
	if slices.ContainsFunc(words, hasLongDash) {
		words = slices.Clone(words)
		for i, w := range words {
			words[i] = script.Repaired(w)
		}
		form.PrintNote(env, "long dashes are read as --: fio itself takes such words for job file names")
	}
	words, front := fromFio(words)
	if len(front) > 0 {
		form.PrintNote(env, "only the fio part is converted; left out: "+text.ShellLine(front))
	}
	if job, err = command.Parse(words); err != nil {
		return nil, true, form.Usage(err)
	}
	if len(job.Files) > 0 {
		return nil, true, form.Hint(form.Usage(errors.New("the command names a job file: "+job.Files[0])),
			"plimsoll convert "+text.ShellQuote(job.Files[0]))
	}
	return job, true, nil
}

// noteSections says of each section of a job file that fio reads in another way than it looks.
func noteSections(env *form.Env, name string, body []byte, job *fio.JobFile) {
	if job == nil {
		return
	}
	lines := strings.Split(string(body), "\n")
	for _, s := range job.Sections {
		if s.Line < 1 || s.Line > len(lines) {
			continue
		}
		if m, odd := script.MisreadSection(lines[s.Line-1], s.Name); odd {
			form.PrintNote(env, fmt.Sprintf("%s:%d: %s", text.Clean(name, 0), s.Line, text.Clean(m.Says, 240)))
		}
	}
}

// hasLongDash says that a word processor made a long dash of the -- that a word begins with.
func hasLongDash(word string) bool {
	return !strings.HasPrefix(word, "-") && strings.HasPrefix(script.Repaired(word), "--")
}

// fromFio is a command from the word fio on, and what stands in front of it: sudo, taskset with its
// options, an assignment.
func fromFio(words []string) (fromIt, front []string) {
	i := command.At(words)
	if i < 0 || strings.HasPrefix(words[0], "-") || strings.HasSuffix(words[0], ".fio") {
		return words, nil
	}
	return words[i:], words[:i]
}
