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
	form.Bind(f, "pick", "where", &o.where, "sort", &o.sort, "group", &o.group)
}

// addRunFlags are those of a list of runs: a run counts with a result that fulfils --where.
func (o *pickOptions) addRunFlags(f *pflag.FlagSet) {
	form.Bind(f, "pick runs", "where", &o.where, "sort", &o.sort)
}

func (o *pickOptions) pick() (bundle.Pick, error) { return bundle.NewPick(o.where, o.sort, o.group) }

// pickError makes a key that no result has an error of usage.
func pickError(err error) error {
	if errors.Is(err, bundle.ErrKey) {
		return form.Usage(err)
	}
	return err
}
