package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
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
		return printJSON(env.Out, runs)
	}
	if len(runs) == 0 {
		where, err := filepath.Abs(out)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Err, "no runs in %s; name another directory with --out\n", clean(where))
		return nil
	}
	t := tabwriter.NewWriter(env.Out, 0, 0, 2, ' ', 0)
	for _, r := range runs {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.Created.Local().Format("2006-01-02 15:04"), filepath.Join(out, r.ID), strings.Join(about(r), "\t"))
	}
	return t.Flush()
}

// about is a run in a few words: how it ended, how much it measured, how it is labelled.
func about(r bundle.Run) []string {
	return []string{r.Outcome(), plural(len(r.Suite.Scenarios), "scenario"), clean(labelText(r.Labels))}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// plainLabel is the key of a label that was given without one.
const plainLabel = "label"

// runLabels reads --label TEXT and --label KEY=VALUE.
func runLabels(given []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, l := range given {
		key, value, ok := strings.Cut(l, "=")
		if !ok {
			key, value = plainLabel, l
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

// labelText prints labels as they were given.
func labelText(labels map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if key == plainLabel {
			all = append(all, labels[key])
		} else {
			all = append(all, key+"="+labels[key])
		}
	}
	return strings.Join(all, ", ")
}
