package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/text"
)

// defaultRuns is the directory that runs are stored below.
const defaultRuns = "runs"

func newRunsCmd(env *Env) *cobra.Command {
	var out, format string
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs below a directory, newest first",
		Args:  cobra.NoArgs,
		Example: `  plimsoll runs
  plimsoll runs --out /var/lib/plimsoll --json`,
		RunE: func(*cobra.Command, []string) error { return runRuns(env, out, format) },
	}
	addOut(cmd, &out)
	addFormat(cmd, &format, page.Formats())
	return cmd
}

// addOut adds --out to a command that reads runs.
func addOut(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVar(out, "out", defaultRuns, "find runs below `DIR`")
	_ = cmd.MarkFlagDirname("out") // it fails only for a flag that does not exist
}

func runRuns(env *Env, out, format string) error {
	found, err := bundle.List(out)
	if err != nil {
		return err
	}
	fleets, err := bundle.ListFleets(out)
	if err != nil {
		return err
	}
	if len(found)+len(fleets) == 0 && format == textFormat {
		where, err := filepath.Abs(out)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Err, "no runs in %s; name another directory with --out\n", text.Clean(where, 0))
		return nil
	}
	return render(env, format, runs.List(out, found, fleets))
}

// findRun is the directory of the run that is named: a directory, a file in one such as its
// report.html, the ID of a run below out, or the newest run below out when name is empty or
// "latest".
func findRun(name, out string) (string, error) {
	if name == "" || name == "latest" {
		found, err := bundle.List(out)
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "", hint(
				usage(fmt.Errorf("no runs in %s; name a run, or another directory with --out", out)),
				"plimsoll run",
			)
		}
		return filepath.Join(out, found[0].ID), nil
	}
	if info, err := os.Stat(name); err == nil {
		if !info.IsDir() {
			name = filepath.Dir(name)
		}
		return name, nil
	}
	if dir := filepath.Join(out, name); !strings.ContainsRune(name, filepath.Separator) && name != ".." {
		if _, err := os.Stat(filepath.Join(dir, "run.json")); err == nil || bundle.IsFleet(dir) {
			return dir, nil
		}
	}
	return "", unknownRun(name, out)
}

// findReport is findRun for what can be printed: the newest may be a fleet run.
func findReport(name, out string) (string, error) {
	if name != "" && name != "latest" {
		return findRun(name, out)
	}
	fleets, err := bundle.ListFleets(out)
	if err != nil || len(fleets) == 0 {
		return findRun(name, out)
	}
	found, err := bundle.List(out)
	if err != nil || len(found) > 0 && found[0].Created.After(fleets[0].Created) {
		return findRun(name, out)
	}
	return filepath.Join(out, fleets[0].ID), nil
}

// unknownRun is the error for a run that does not exist.
func unknownRun(name, out string) error {
	msg := "no run " + text.Quote(name)
	if runs, err := bundle.List(out); err == nil {
		var ids []string
		for _, r := range runs {
			ids = append(ids, r.ID, filepath.Join(out, r.ID))
		}
		if like := text.Nearest(name, ids); like != "" {
			msg += "; did you mean " + like + "?"
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return hint(usage(errors.New(msg)), "plimsoll runs")
}

// runLabels reads --label TEXT and --label KEY=VALUE.
func runLabels(given []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, l := range given {
		key, value, ok := strings.Cut(l, "=")
		if !ok {
			key, value = runs.PlainLabel, l
		}
		if key == "" || value == "" {
			return nil, fmt.Errorf("--label %q: want TEXT or KEY=VALUE", l)
		}
		if _, twice := labels[key]; twice {
			return nil, errors.New("--label " + key + " is given twice; combine both texts, or use KEY=VALUE")
		}
		labels[key] = value
	}
	return labels, nil
}
