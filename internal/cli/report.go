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
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
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
			return render(env, format, runs.Run(b))
		},
	}
	addOut(cmd, &out)
	addFormat(cmd, &format, page.Formats())
	return cmd
}

// pageOptions fits a document to the stream it goes to.
func pageOptions(env *Env) page.Options {
	o := page.Options{Width: 80, Rows: 120} // of a pipe: a row is a line that a filter finds, as far as possible
	if f, ok := fileOf(env.Out); ok && term.IsTerminal(int(f.Fd())) {
		o.Color = os.Getenv("NO_COLOR") == ""
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 40 {
			o.Width, o.Rows = w, w
		}
	}
	return o
}

// reportRun prints a run and writes the reports that belong to its bundle. The verdict is printed
// even where they cannot be written.
func reportRun(env *Env, b *bundle.Bundle, format string) error {
	o := pageOptions(env)
	o.Brief = true
	err := errors.Join(page.Write(env.Out, page.Format(format), runs.Run(b), o), keepReports(b))
	if err == nil && page.Format(format) == page.Text {
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
	for _, kind := range []page.Format{page.Markdown, page.HTML} {
		var file bytes.Buffer
		if err := page.Write(&file, kind, runs.Run(b), page.Options{}); err != nil {
			return err
		}
		if err := dir.WriteFile("report."+string(kind), text.Harmless(file.Bytes()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
