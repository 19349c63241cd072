package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report"
)

// compared is what --json prints.
type compared struct {
	bundle.Comparison
	BeforeLabels map[string]string `json:"before_labels,omitempty"`
	AfterLabels  map[string]string `json:"after_labels,omitempty"`
}

func newCompareCmd(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare BEFORE AFTER",
		Short: "Hold one run against another, scenario by scenario",
		Args:  cobra.ExactArgs(2),

		ValidArgsFunction: completeUpTo(2, completeRuns),
		Example: `  plimsoll compare runs/20261121T031200Z-db-db1 runs/20261122T031200Z-db-db1
  plimsoll compare runs/before runs/after --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			before, err := bundle.Open(args[0])
			if err != nil {
				return err
			}
			after, err := bundle.Open(args[1])
			if err != nil {
				return err
			}
			c := bundle.Compare(before, after)
			if asJSON {
				return report.WriteJSON(env.Out, "comparison", compared{c, before.Run.Labels, after.Run.Labels})
			}
			c.Before = strings.TrimSpace(c.Before + "  " + report.LabelText(before.Run.Labels))
			c.After = strings.TrimSpace(c.After + "  " + report.LabelText(after.Run.Labels))
			return report.Compare(env.Out, c)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
