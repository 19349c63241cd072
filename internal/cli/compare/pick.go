package compare

import (
	"errors"

	"github.com/spf13/pflag"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
)

// pickOptions choose and order the results of a library.
type pickOptions struct {
	Where []string `flag:"where"`
	Sort  string   `flag:"sort"`
	Group string   `flag:"group"`
}

func (o *pickOptions) addFlags(f *pflag.FlagSet) {
	form.BindAll(f, "pick", o)
}

// addRunFlags are those of a list of runs: a run counts with a result that fulfils --where.
func (o *pickOptions) addRunFlags(f *pflag.FlagSet) {
	form.BindAll(f, "pick runs", o)
}

func (o *pickOptions) pick() (bundle.Pick, error) { return bundle.NewPick(o.Where, o.Sort, o.Group) }

// pickError makes a key that no result has an error of usage.
func pickError(err error) error {
	if errors.Is(err, bundle.ErrKey) {
		return form.Usage(err)
	}
	return err
}
