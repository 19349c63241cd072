package compare

import (
	"errors"

	"github.com/spf13/pflag"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
)

// pickOptions choose and order the results of a library.
type pickOptions struct {
	where       []string
	sort, group string
}

func (o *pickOptions) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.where, "where", nil, "only results with `KEY=VALUE` (rw, bs, engine, work, file, name, a label), KEY~PART, or "+
		"KEY>VALUE of a figure (iops, bw, p50, p99, mean, depth, jobs, runtime); several with commas, or repeated")
	f.StringVar(&o.sort, "sort", "", "order results by `KEY`; -KEY begins with the largest")
	f.StringVar(&o.group, "group", "", "divide --summary by `KEY`, such as work")
}

// addRunFlags are those of a list of runs: a run counts with a result that fulfils --where.
func (o *pickOptions) addRunFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.where, "where", nil, "only runs that have a result with `KEY=VALUE`, as plimsoll import has it")
	f.StringVar(&o.sort, "sort", "", "order runs by `KEY` of that result; -KEY begins with the largest")
	form.ReadBy(f, []string{listOfRuns}, "it has --scenario, --host and --last", "where", "sort")
}

func (o *pickOptions) pick() (bundle.Pick, error) { return bundle.NewPick(o.where, o.sort, o.group) }

// pickError makes a key that no result has an error of usage.
func pickError(err error) error {
	if errors.Is(err, bundle.ErrKey) {
		return form.Usage(err)
	}
	return err
}
