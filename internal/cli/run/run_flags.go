package run

import (
	"github.com/spf13/pflag"

	"plimsoll/internal/bench"
	"plimsoll/internal/cli/compare"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

func (o *runOptions) addFlags(f *pflag.FlagSet) {
	o.Out, o.ProbeFor = compare.DefaultRuns, bench.ProbeTime
	form.Bind(f, "run", "data", &o.Data, "wal", &o.WAL, "runtime", &o.Runtime, "ramp", &o.Ramp, "cooldown", &o.Cooldown, "size", &o.Size, "only", &o.Selection.Only, "phase", &o.Selection.Phase, "label", &o.labels, "out", &o.Out, "probe", &o.probe, "keep-files", &o.KeepFiles, "fresh-extents", &o.FreshExtents, "allow-exec", &o.AllowExec, "destroy", &o.Destroy, "serial", &o.Serials)
	form.BindAll(f, "run", o)
}

// directoryHint shows how to name a directory where a suite is expected.
func directoryHint(err error, args []string) error {
	for _, arg := range args {
		if sys.IsDir(arg) {
			return form.Hint(err, "plimsoll run --data "+text.ShellQuote(arg))
		}
	}
	return err
}
