package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

func newReportCmd(env *Env) *cobra.Command {
	var out, format string
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Print the report of a run (by default the newest) in any format",
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: completeUpTo(1, completeRuns),
		Example: `  plimsoll report
  plimsoll report 20261121T031200Z-db-db1
  plimsoll report runs/20261121T031200Z-db-db1 --format html > report.html`,
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := findReport(strings.Join(args, ""), out)
			if err != nil {
				return err
			}
			if bundle.IsFleet(dir) {
				return printFleet(env, dir, format)
			}
			b, err := bundle.Open(dir)
			if err != nil {
				return err
			}
			return report.Write(env.Out, report.Format(format), b, reportOptions(env))
		},
	}
	addOut(cmd, &out)
	addFormat(cmd, &format, report.Formats())
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

// reportRun prints a run and writes the reports that belong to its bundle. The verdict is printed
// even where they cannot be written.
func reportRun(env *Env, b *bundle.Bundle, format string) error {
	o := reportOptions(env)
	o.Brief = true
	err := errors.Join(report.Write(env.Out, report.Format(format), b, o), keepReports(b))
	if err == nil && report.Format(format) == report.TTY {
		_, err = fmt.Fprintf(env.Out, "\nreport: %s\n", filepath.Join(b.Dir, "report.html"))
	}
	return err
}

// keepReports writes report.md and report.html into the bundle.
func keepReports(b *bundle.Bundle) error {
	dir, err := sys.OpenOwnDir(b.Dir)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only a handle
	for _, kind := range []report.Format{report.Markdown, report.HTML} {
		var page bytes.Buffer
		if err := report.Write(&page, kind, b, report.Options{}); err != nil {
			return err
		}
		if err := dir.WriteFile("report."+string(kind), text.Harmless(page.Bytes()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
