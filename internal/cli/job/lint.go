// Package job has the commands about job files, demands and rules: lint, convert, workload and
// explain. They start nothing.
package job

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/lint"
	"plimsoll/internal/lint/settings"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/script"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

type lintOptions struct {
	what             []string
	Format           string      `formats:"all"`
	Fix              bool        `flag:"fix"`
	Installed        bool        `flag:"installed"`
	Chunk            units.Bytes `flag:"chunk"`
	Memory           units.Bytes `flag:"memory"`
	Disable          []string    `flag:"disable"`
	Exclude          []string    `flag:"exclude"`
	Version          string      `flag:"fio"`
	severity, failOn string
	Baseline         string `flag:"baseline"`
	Config           string `flag:"config"`
	UpdateBaseline   bool   `flag:"update-baseline"`
}

// never is the value of --fail-on that lets every finding pass.
const never = "never"

// NewLint is the command plimsoll lint.
func NewLint(env *form.Env) *cobra.Command {
	o := lintOptions{failOn: string(finding.Fail)}
	cmd := form.Command(env, "lint", cobra.MinimumNArgs(1), &o, o.run)
	form.AddChoice(cmd, &o.severity, "severity", "show findings of `LEVEL` and above", settings.Severities())
	form.AddChoice(
		cmd,
		&o.failOn,
		"fail-on",
		"exit with 3 for findings at `LEVEL` or above",
		append(settings.Severities(), never),
	)
	return cmd
}

// linting is one run of lint.
type linting struct {
	env    *form.Env
	o      lintOptions
	set    settings.Config
	dir    string // that paths of the settings are counted from
	codes  []finding.Code
	docs   []document
	passed []script.Passed // below a folder, and not read
	c      lint.Case
	judged lint.Judged
}

func (o *lintOptions) run(ctx context.Context, env *form.Env, args []string) error {
	o.what = args
	l := &linting{env: env, o: *o, c: lint.Case{Chunk: o.Chunk, Memory: o.Memory, Own: map[string]string{}}}
	if err := l.settings(ctx); err != nil {
		return err
	}
	missing := l.documents(ctx)
	if len(l.docs) == 0 && missing != nil {
		return missing
	}
	for _, d := range l.docs {
		l.c.Scripts = append(l.c.Scripts, d.parse())
	}
	l.jobless()
	l.judged = lint.Judge(lint.NewCase(l.c), l.codes...)
	if o.Fix {
		if err := l.applyFixes(); err != nil {
			return err
		}
	}
	err := l.report()
	if missing != nil && (err == nil || errors.Is(err, form.ErrVerdict)) {
		return missing
	}
	return err
}

// settings reads the file of settings, what flags add to it, and which fio is meant.
func (l *linting) settings(ctx context.Context) error {
	if err := l.configured(); err != nil {
		return err
	}
	l.codes = slices.Clone(l.set.Disable)
	for _, name := range l.o.Disable {
		code := ruleCode(name)
		if !lint.Knows(code) {
			return form.Usage(unknownCode(name))
		}
		l.codes = append(l.codes, code)
	}
	if l.o.UpdateBaseline && l.o.Baseline == "" {
		return form.Usagef("--update-baseline: give the file with --baseline")
	}
	return l.version(ctx)
}

func (l *linting) version(ctx context.Context) error {
	if l.o.Version != "" {
		l.set.Fio = strings.TrimPrefix(l.o.Version, "fio-")
	}
	switch {
	case l.o.Installed:
		table, err := running.InstalledOptions(ctx, l.env.Machine)
		if err != nil {
			return err
		}
		l.c.Fio = table
	case l.set.Fio != "":
		v, err := fio.ParseVersion("fio-" + l.set.Fio)
		if err != nil {
			return form.Usagef("--fio %s: want a version such as 3.33", text.Clean(l.o.Version, 40))
		}
		l.c.Fio = fio.OptionsOf(v)
	}
	return nil
}

// configured reads the settings of the tree: those of --config, else of the nearest folder upwards
// that has them, up to where a repository begins.
func (l *linting) configured() error {
	name := l.o.Config
	dir, err := filepath.Abs(".")
	if err != nil {
		return fmt.Errorf("the current folder: %w", err)
	}
	for up := ""; name == ""; dir = up {
		at := filepath.Join(dir, settings.ConfigName)
		up = filepath.Dir(dir)
		switch err := sys.Found(at); {
		case errors.Is(err, sys.ErrOthers):
			l.env.Notef("note: %s is not read, because %v; --config %s reads it", at, err, text.ShellQuote(at))
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			name = at
		case sys.Exists(filepath.Join(dir, ".git")) || up == dir:
			return nil
		}
	}
	body, err := sys.Text(name)
	if err != nil {
		return err
	}
	l.dir = filepath.Dir(name)
	if l.set, err = settings.ReadConfig(name, body); err != nil {
		return form.Usage(err)
	}
	return nil
}

// report weighs the findings, prints them and decides the exit code.
func (l *linting) report() error {
	dir := l.dir
	if dir == "" {
		dir = "."
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	found := l.weigh(dir)
	source := func(f finding.Finding) string {
		for _, file := range l.c.Scripts {
			if file.Name == f.File {
				return file.Source(f.Line)
			}
		}
		return ""
	}
	found, err := l.against(found, source)
	if err != nil {
		return err
	}
	shown := found
	if least := l.least(); least != finding.Info {
		shown = settings.AtLeast(found, least)
	}
	err = form.Render(l.env, l.o.Format, plans.Lint(plans.Linted{
		Files: l.c.Scripts, Findings: shown, Tool: l.env.Version, Silenced: l.judged.Silenced, Passed: l.passed,
	}))
	if err != nil {
		return err
	}
	if l.o.failOn != never && len(settings.AtLeast(found, finding.Severity(l.o.failOn))) > 0 {
		return form.ErrVerdict
	}
	return nil
}

// weigh applies the settings' severities; names are made absolute for their paths.
func (l *linting) weigh(dir string) []finding.Finding {
	var kept []finding.Finding
	for _, f := range l.judged.Found {
		g := f
		if abs, err := filepath.Abs(f.File); err == nil {
			g.File = abs
		}
		for _, w := range l.set.Weigh([]finding.Finding{g}, dir) {
			w.File = f.File
			kept = append(kept, w)
		}
	}
	return kept
}

// least is the least severity that is shown. Pipelines show warnings and errors, unless infos are
// asked for.
func (l *linting) least() finding.Severity {
	switch {
	case l.o.severity != "":
		return finding.Severity(l.o.severity)
	case slices.Contains([]string{"github", "sarif", "junit"}, l.o.Format):
		return finding.Warn
	}
	return finding.Info
}
