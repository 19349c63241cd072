package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report"
	"plimsoll/internal/sys"
)

func newReportCmd(env *Env) *cobra.Command {
	format := "tty"
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Render a run again, in any format",
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: completeUpTo(1, completeRuns),
		Example: `  plimsoll report runs/20261121T031200Z-db-db1
  plimsoll report runs/20261121T031200Z-db-db1 --format html > report.html`,
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(report.Formats(), report.Format(format)) {
				return usage(fmt.Errorf("unknown format %q: use one of %s", format, report.Names(report.Formats())))
			}
			b, err := bundle.Open(args[0])
			if err != nil {
				return err
			}
			return report.Write(env.Out, report.Format(format), b, reportOptions(env))
		},
	}
	cmd.Flags().StringVar(&format, "format", format, "`FORMAT`: "+report.Names(report.Formats()))
	completeValues(cmd, "format", report.Formats())
	return cmd
}

// reportOptions fits a report to the stream it goes to.
func reportOptions(env *Env) report.Options {
	o := report.Options{Width: 80}
	if f, ok := fileOf(env.Out); ok && term.IsTerminal(int(f.Fd())) {
		o.Color = os.Getenv("NO_COLOR") == ""
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 40 {
			o.Width = w
		}
	}
	return o
}

// reportRun prints a run and writes the reports that belong to its bundle. The verdict is printed even where they cannot be written.
func reportRun(env *Env, b *bundle.Bundle, asJSON bool) error {
	if asJSON {
		return errors.Join(report.Write(env.Out, report.JSON, b, report.Options{}), keepReports(b))
	}
	o := reportOptions(env)
	o.Brief = true
	if err := errors.Join(report.Write(env.Out, report.TTY, b, o), keepReports(b)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Out, "\nreport: %s\n", filepath.Join(b.Dir, "report.html"))
	return err
}

// keepReports writes report.md and report.html into the bundle.
func keepReports(b *bundle.Bundle) error {
	for _, kind := range []report.Format{report.Markdown, report.HTML} {
		var text bytes.Buffer
		if err := report.Write(&text, kind, b, report.Options{}); err != nil {
			return err
		}
		if err := sys.WriteFile(filepath.Join(b.Dir, "report."+string(kind)), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
