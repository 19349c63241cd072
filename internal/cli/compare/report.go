package compare

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// The forms of plimsoll report.
const (
	reportOfRun  = "the report of a run"
	figuresOfRun = "the figures of runs"
)

type reportOptions struct {
	File       string `flag:"out"`
	in, format string
	dir        string // of the run
}

// NewReport is the command plimsoll report.
func NewReport(env *form.Env) *cobra.Command {
	var o reportOptions
	cmd := form.Command(env, "report", func(_ *cobra.Command, args []string) error {
		if len(args) > 1 && !o.figures(args) {
			return errors.New("want one run")
		}
		return nil
	}, &o, o.print)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if slices.Contains(runs.ExportFormats(), page.Format(o.format)) {
			return form.CompleteRuns(cmd, args, begun)
		}
		return form.CompleteUpTo(1, form.CompleteRuns)(cmd, args, begun)
	}
	addIn(cmd, &o.in)
	form.AddFormat(cmd, &o.format, append(page.Formats(), runs.OpenMetrics))
	form.TakesForms(cmd, []string{reportOfRun, figuresOfRun}, func(_ *cobra.Command, args []string) string {
		if o.figures(args) {
			return figuresOfRun
		}
		return reportOfRun
	})
	return cmd
}

// figures says that figures are wanted for other programs, and no report: always as OpenMetrics, as CSV
// where more than one run is meant.
func (o *reportOptions) figures(args []string) bool {
	many := len(args) > 1 || len(args) == 1 && sys.IsDir(args[0]) && !holdsRun(args[0])
	return page.Format(o.format) == runs.OpenMetrics || page.Format(o.format) == page.CSV && many
}

func (o *reportOptions) print(ctx context.Context, env *form.Env, args []string) error {
	if o.File == "" {
		return o.write(env, args)
	}
	var out bytes.Buffer
	into := *env
	into.Out = &out
	if err := sys.Reading(ctx, func() error { return o.write(&into, args) }); err != nil {
		return err
	}
	mode := form.FileMode(o.File)
	if info, err := sys.Stat(o.dir); err == nil && info.Mode().Perm()&0o005 == 0 {
		mode &= 0o600 // what only the run's owner may read
	}
	return sys.WriteFile(o.File, text.Harmless(out.Bytes()), mode)
}

func (o *reportOptions) write(env *form.Env, args []string) error {
	if o.figures(args) {
		return exportRuns(env, args, page.Format(o.format))
	}
	dir, err := findReport(strings.Join(args, ""), o.in)
	if err != nil {
		return err
	}
	o.dir = dir
	if bundle.IsFleet(dir) {
		return printFleet(env, dir, o.format)
	}
	b, err := bundle.Open(dir)
	if err != nil {
		return err
	}
	return form.Render(env, o.format, runs.Run(b))
}

// ReportRun prints a run, with what a gate says of it where one was asked, writes the reports that belong to its
// bundle, and says where they are. The verdict is printed even where they cannot be written.
func ReportRun(env *form.Env, b *bundle.Bundle, format string, j *Judged) error {
	d := runs.Run(b)
	if j != nil {
		j.Gate(d)
	}
	d.More = "plimsoll report " + text.ShellQuote(b.Dir) + " --details"
	if len(b.Run.Imported) > 0 && filepath.Dir(b.Dir) == DefaultRuns { // where the newest is meant
		d.More = "plimsoll report --details"
	}
	err := errors.Join(form.Render(env, format, d), KeepReports(b))
	if err == nil && page.Format(format) == page.Text {
		env.Printf("report: %s", filepath.Join(b.Dir, "report.html"))
	}
	return err
}

// KeepReports writes report.md and report.html into the bundle.
func KeepReports(b *bundle.Bundle) error {
	dir, err := sys.OpenOwnDir(b.Dir)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only a handle
	return WriteReports(dir, runs.Run(b))
}

// WriteReports writes a document as report.md and report.html.
func WriteReports(dir *sys.Dir, d *page.Document) error {
	for _, kind := range []page.Format{page.Markdown, page.HTML} {
		var file bytes.Buffer
		err := page.Write(&file, kind, d, page.Options{})
		if err == nil {
			err = dir.WriteFile("report."+string(kind), text.Harmless(file.Bytes()), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printFleet prints a stored fleet run.
func printFleet(env *form.Env, dir, format string) error {
	f, err := bundle.OpenFleet(dir)
	if err != nil {
		return err
	}
	f.Inspect(dir)
	return form.Render(env, format, runs.Fleet(f))
}

// exportRuns writes the figures of runs for other programs.
func exportRuns(env *form.Env, args []string, format page.Format) error {
	found, notes, err := openRuns(args)
	if err != nil {
		return err
	}
	for _, n := range notes {
		env.Notef("note: %s", n)
	}
	return runs.Export(env.Out, format, found)
}
