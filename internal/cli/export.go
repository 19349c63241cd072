package cli

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

func newExportCmd(env *Env) *cobra.Command {
	format, file := string(runs.OpenMetrics), ""
	cmd := &cobra.Command{
		Use:   "export RUN|DIR...",
		Short: "Write figures for other programs: OpenMetrics text, or a row per metric",
		Long: `Write figures for other programs. openmetrics is a text file for the textfile collector of Prometheus'
node_exporter, with the newest run of each suite and host; csv-long has a row per metric of every run, for pivot
tables. With -o the file is replaced whole or not at all.`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeRuns,
		Example: `  plimsoll export runs -o /var/lib/node_exporter/plimsoll.prom
  plimsoll export runs --format csv-long > all.csv`,
		RunE: func(_ *cobra.Command, args []string) error {
			found, notes, err := openRuns(args)
			if err != nil {
				return err
			}
			for _, n := range notes {
				fmt.Fprintf(env.Err, "note: %s\n", text.Clean(n, 0))
			}
			if file == "" {
				return runs.Export(env.Out, page.Format(format), found)
			}
			var out bytes.Buffer
			if err := runs.Export(&out, page.Format(format), found); err != nil {
				return err
			}
			return sys.WriteFile(file, text.Harmless(out.Bytes()), 0o644)
		},
	}
	addChoice(cmd, &format, "format", "output `FORMAT`", runs.ExportFormats())
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to `FILE`, replacing it whole")
	typedOnly(cmd.Flags(), "output")
	return cmd
}
