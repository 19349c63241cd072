package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report"
)

func newRunsCmd(env *Env) *cobra.Command {
	out := "runs"
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs below a directory, newest first",
		Args:  cobra.NoArgs,
		Example: `  plimsoll runs
  plimsoll runs --out /var/lib/plimsoll --json`,
		RunE: func(*cobra.Command, []string) error { return runRuns(env, out, asJSON) },
	}
	cmd.Flags().StringVar(&out, "out", out, "look below this `DIR`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	_ = cmd.MarkFlagDirname("out") // it is there
	return cmd
}

func runRuns(env *Env, out string, asJSON bool) error {
	runs, err := bundle.List(out)
	if err != nil {
		return err
	}
	if asJSON {
		return report.WriteJSON(env.Out, "runs", runs)
	}
	if len(runs) == 0 {
		where, err := filepath.Abs(out)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Err, "no runs in %s; name another directory with --out\n", clean(where))
		return nil
	}
	return report.Runs(env.Out, out, runs)
}

// runLabels reads --label TEXT and --label KEY=VALUE.
func runLabels(given []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, l := range given {
		key, value, ok := strings.Cut(l, "=")
		if !ok {
			key, value = report.PlainLabel, l
		}
		if key == "" || value == "" {
			return nil, fmt.Errorf("--label %q: want TEXT or KEY=VALUE", l)
		}
		if _, twice := labels[key]; twice {
			return nil, errors.New("--label " + key + " is given twice: put both into one, or use KEY=VALUE")
		}
		labels[key] = value
	}
	return labels, nil
}
