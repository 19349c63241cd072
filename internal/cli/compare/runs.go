package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/script"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// DefaultRuns is the directory that runs are stored below.
const DefaultRuns = "runs"

// NewRuns is the command plimsoll runs.
func NewRuns(env *form.Env) *cobra.Command {
	var o historyOptions
	var p pickOptions
	history := false
	cmd := form.Command(env, "runs", nil, &o, func(_ context.Context, env *form.Env, args []string) error {
		if history {
			return runHistory(env, args, o)
		}
		for _, dir := range args {
			if _, err := sys.Stat(dir); err != nil {
				return err
			}
		}
		return runRuns(env, orRuns(args), o.Format, p)
	})
	cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	form.Bind(cmd.Flags(), "runs", "history", &history)
	o.addFlags(cmd.Flags())
	form.BindAll(cmd.Flags(), "pick runs", &p) // a run counts with a result that fulfils --where
	cmd.AddCommand(newAccept(env))
	return cmd
}

// newAccept is the command plimsoll runs accept.
func newAccept(env *form.Env) *cobra.Command {
	in, reason := "", ""
	accept := func(_ context.Context, env *form.Env, args []string) error {
		if strings.TrimSpace(reason) == "" {
			return form.Usagef("--reason: say why this level is expected from now on")
		}
		dir, err := findRun(args[0], in)
		if err != nil {
			return err
		}
		return compare.Accept(dir, reason, env.Now())
	}
	cmd := form.Command(env, "runs accept", cobra.ExactArgs(1), nil, accept)
	cmd.ValidArgsFunction = form.CompleteUpTo(1, form.CompleteRuns)
	addIn(cmd, &in)
	form.Bind(cmd.Flags(), "runs accept", "reason", &reason)
	return cmd
}

// addIn adds --in to a command that reads runs.
func addIn(cmd *cobra.Command, in *string) {
	*in = DefaultRuns
	form.Bind(cmd.Flags(), "runs", "in", in)
	_ = cmd.MarkFlagDirname("in") // it fails only for a flag that does not exist
}

func runRuns(env *form.Env, dirs []string, format string, o pickOptions) error {
	pick, err := o.pick()
	if err != nil {
		return form.Usage(err)
	}
	var all []runs.Listed
	n, left := 0, 0
	for _, dir := range dirs {
		found, err := bundle.List(dir)
		if err != nil {
			return err
		}
		fleets, err := bundle.ListFleets(dir)
		if err != nil {
			return err
		}
		for i := range found {
			found[i].Inspect(filepath.Join(dir, found[i].ID))
		}
		left += len(found) + len(fleets)
		if !pick.Empty() { // of the results of single runs
			if found, err = pick.Runs(dir, found); err != nil {
				return pickError(err)
			}
			fleets = nil
		}
		n += len(found) + len(fleets)
		all = append(all, runs.Listed{Dir: dir, Runs: found, Fleets: fleets})
	}
	if n == 0 && format == form.TextFormat {
		where, err := filepath.Abs(dirs[0])
		if err != nil {
			return err
		}
		if left > 0 {
			env.Sayf("%s in %s, and none of them matches", text.Plural(left, "run"), where)
			return nil
		}
		env.Sayf("no runs in %s; name another directory: plimsoll runs DIR", where)
		return nil
	}
	return form.Render(env, format, runs.List(all...))
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
			return "", form.Hint(form.Usagef("no runs in %s; name a run, or another directory with --in", out),
				"plimsoll run")
		}
		return filepath.Join(out, found[0].ID), nil
	}
	switch {
	case sys.IsDir(name):
		return name, nil
	case sys.Exists(name):
		return runOf(name)
	}
	if dir := filepath.Join(out, name); !strings.ContainsRune(name, filepath.Separator) && name != ".." {
		if holdsRun(dir) {
			return dir, nil
		}
	}
	return "", unknownRun(name, out)
}

// holdsRun says that a directory has the record of a run or a fleet run, whatever state it is in.
func holdsRun(dir string) bool {
	return sys.Exists(filepath.Join(dir, "run.json")) || bundle.IsFleet(dir)
}

// runOf is the directory of the run, or of the variants, that a file is part of.
func runOf(file string) (string, error) {
	dir := filepath.Dir(file)
	if sys.Exists(filepath.Join(dir, compare.ABFile)) || holdsRun(dir) {
		return dir, nil
	}
	if script.NamesJob(file) {
		return "", form.Hint(form.Usagef("%s is a job file, not part of a run", file),
			"plimsoll run "+text.ShellQuote(file))
	}
	return "", form.Hint(form.Usagef(
		"%s is not part of a run; import turns results from elsewhere into a run", file),
		"plimsoll import "+text.ShellQuote(file))
}

// findReport is findRun for what can be printed: the newest may be a fleet run.
func findReport(name, out string) (string, error) {
	if sys.Exists(filepath.Join(name, compare.ABFile)) && !holdsRun(name) {
		return "", form.Hint(form.Usagef("%s holds the variants of plimsoll ab; each of them is a run", name),
			"plimsoll compare "+text.ShellQuote(name))
	}
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
	return form.Hint(form.Usage(errors.New(msg)), "plimsoll runs")
}

// RunLabels reads --label TEXT and --label KEY=VALUE.
func RunLabels(given []string) (map[string]string, error) {
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

// pickOptions choose and order the results of a library.
type pickOptions struct {
	Where []string `flag:"where"`
	Sort  string   `flag:"sort"`
	Group string   `flag:"group"`
}

func (o *pickOptions) pick() (bundle.Pick, error) { return bundle.NewPick(o.Where, o.Sort, o.Group) }

// pickError makes a key that no result has an error of usage.
func pickError(err error) error {
	if errors.Is(err, bundle.ErrKey) {
		return form.Usage(err)
	}
	return err
}
