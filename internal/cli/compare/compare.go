// Package compare has the commands that read what was measured, here or elsewhere: compare,
// import, report and runs.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/compared"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Options are the flags of compare, some of which ab and run take, too.
type Options struct {
	source compare.Source
	Where  []string `flag:"where"`
	Base   string   `flag:"base"`
	Margin string   `flag:"margin"`
	Format string   `formats:"all"`
	failOn []string
	// against is last:10, a table of expected figures, or a run.
	Against string                 `flag:"against"`
	given   func(flag string) bool // whether a flag was given
	// demand is the file of a demand that results are compared with.
	Demand string `flag:"demand"`
	Layout string `flag:"yaml"` // whose plimsoll.yaml is printed
}

// NewCompare is the command plimsoll compare.
func NewCompare(env *form.Env) *cobra.Command {
	o := Options{Margin: units.ShareArg(compare.Margin)}
	cmd := form.Command(env, "compare", cobra.MinimumNArgs(1), &o, o.run)
	cmd.ValidArgsFunction = form.CompleteRuns
	f := cmd.Flags()
	o.given = f.Changed
	o.source.In = "runs"
	form.Bind(f, "compare", "by", &o.source.By, "in", &o.source.In)
	f.Lookup("against").Usage += " (built in: " + strings.Join(compare.Tables(), ", ") + ")"
	form.Bind(f, "gate", "fail-on", &o.failOn)
	const sides, demand, run, expected = "sides", "--demand", "--against a run", "--against earlier runs or a table"
	form.TakesForms(cmd, []form.Form{sides, demand, run, expected}, func(*cobra.Command, []string) form.Form {
		switch {
		case o.Demand != "":
			return demand
		case o.Against == "":
			return sides
		case IsRun(o.Against):
			return run
		}
		return expected
	})
	_ = cmd.MarkFlagDirname("in") // it is there
	return cmd
}

func (o *Options) run(ctx context.Context, env *form.Env, args []string) error {
	switch {
	case o.Layout != "":
		return printLayout(env, args, *o)
	case o.Demand != "":
		return compareDemand(ctx, env, args, *o)
	case o.Against != "":
		return compareAgainst(env, args, *o)
	}
	return runCompare(env, args, *o)
}

// printLayout prints the file by which a layout that was measured is built.
func printLayout(env *form.Env, words []string, o Options) error {
	if len(words) != 1 {
		return form.Usagef("--yaml: name the directory of one measurement")
	}
	data, err := compare.LayoutYAML(words[0], o.Layout)
	if err == nil {
		_, err = env.Out.Write(data)
	}
	return err
}

func runCompare(env *form.Env, words []string, o Options) error {
	margin, err := ParsePercent("--margin", o.Margin)
	if err != nil {
		return form.Usage(err)
	}
	gate, err := ParseGate(o.failOn)
	if err != nil {
		return form.Usage(err)
	}
	if err = Runs(env, words, o, margin, gate); errors.Is(err, bundle.ErrNotBundle) {
		return importFirst(env, words, err)
	}
	return err
}

// importFirst adds how outputs of fio that are no runs are compared, where the words name such.
func importFirst(env *form.Env, words []string, err error) error {
	var folders []string
	for _, w := range words {
		if !sys.Exists(w) {
			return err
		}
		folders = append(folders, w)
	}
	if outputs, _, _ := bundle.Gather(words, env.In); len(words) < 2 || len(outputs) == 0 {
		return err
	}
	return form.Hint(
		err,
		"plimsoll import "+text.ShellLine(folders)+" --out imported; plimsoll compare imported --by dir",
	)
}

// Runs compares what words stand for, and holds it to a gate.
func Runs(env *form.Env, words []string, o Options, margin float64, gate compare.Gate) error {
	j, err := judgeSides(words, o, margin, gate)
	if err != nil {
		return err
	}
	return j.Print(env, o.Format)
}

func judgeSides(words []string, o Options, margin float64, gate compare.Gate) (*Judged, error) {
	words, err := runWords(words, o.source.In)
	if err != nil {
		return nil, err
	}
	if o.source.Pick, err = bundle.NewPick(o.Where, "", ""); err != nil {
		return nil, form.Usage(err)
	}
	loaded, err := compare.Load(words, o.source)
	if err != nil {
		return nil, pickError(err)
	}
	loaded.Margin, loaded.Base = margin, cmp.Or(o.Base, loaded.Base)
	t, err := compare.New(loaded.Sides, loaded.Options)
	if err != nil {
		return nil, form.Usage(err)
	}
	t.Notes = append(t.Notes, loaded.Notes...)
	return &Judged{compared.Compare(t), gate, t.Judge(gate)}, nil
}

// compareAgainst judges one run by a baseline.
func compareAgainst(env *form.Env, words []string, o Options) error {
	if len(words) != 1 {
		return form.Usagef("--against judges one run: name that run only")
	}
	gate, err := ParseGate(o.failOn)
	if err != nil {
		return form.Usage(err)
	}
	dir, err := findRun(words[0], o.source.In)
	if err != nil {
		return err
	}
	against, in := o.Against, ""
	if o.given("in") {
		in = o.source.In
	}
	o.Against = ""
	j, err := JudgeAgainst(dir, against, in, gate, o)
	if err != nil {
		return err
	}
	return j.Print(env, o.Format)
}

// runWords turns the names of runs into their directories; KEY=VALUE stays.
func runWords(words []string, in string) ([]string, error) {
	var all []string
	for _, word := range words {
		var parts []string
		for part := range strings.SplitSeq(word, ",") {
			if !strings.Contains(part, "=") {
				dir, err := findRun(part, in)
				if err != nil {
					return nil, err
				}
				part = dir
			}
			parts = append(parts, part)
		}
		all = append(all, strings.Join(parts, ","))
	}
	return all, nil
}

// ParsePercent reads "3%", "3 %" or "0.03" as a share.
func ParsePercent(what, s string) (float64, error) {
	v, err := units.ParsePercent(s)
	if !strings.Contains(s, "%") {
		v, err = strconv.ParseFloat(strings.TrimSpace(s), 64)
	}
	if err != nil || !(v > 0) || v >= 1 {
		return 0, fmt.Errorf("%s %q: give a share such as 3%%", what, s)
	}
	return v, nil
}

// ParseGate reads --fail-on of comparisons.
func ParseGate(words []string) (compare.Gate, error) {
	var g compare.Gate
	for _, w := range words {
		what, limit, has := strings.Cut(w, ":")
		switch {
		case what == "regression":
			g.Regression = true
			if has {
				v, err := ParsePercent("--fail-on regression:", limit)
				if err != nil {
					return g, err
				}
				g.By = v
			}
		case w == "cannot-tell":
			g.CannotTell = true
		case what == "p99" && has:
			v, err := ParsePercent("--fail-on p99:", limit)
			if err != nil {
				return g, err
			}
			g.P99 = v
		default:
			return g, fmt.Errorf("--fail-on %q: use regression, regression:5%%, p99:20%% or cannot-tell", w)
		}
	}
	return g, nil
}
