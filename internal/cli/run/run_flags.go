package run

import (
	"github.com/spf13/pflag"

	"plimsoll/internal/bench"
	"plimsoll/internal/cli/compare"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/script"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

func (o *runOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Data, "data", "", "`PATH` of the data role: a directory, or a raw device that is only read")
	f.StringVar(
		&o.WAL,
		"wal",
		"",
		"`PATH` of the WAL role; one path serves both roles, the default is the current directory",
	)
	form.AddDuration(
		f,
		&o.Runtime,
		"runtime",
		"run each scenario for `DURATION` instead of the suite's default; 60 is 60 seconds",
	)
	form.AddDuration(f, &o.Ramp, "ramp", "run each scenario for `DURATION` before measuring")
	form.AddDuration(f, &o.Cooldown, "cooldown", "pause for `DURATION` between scenarios")
	form.AddSize(f, &o.Size, "size", "use test files of `SIZE` instead of the suite's sizes")
	f.StringVar(&o.Selection.Only, "only", "", "run only these `SCENARIOS`, by name, number or range: sync-latency,4-6")
	f.StringVar(
		&o.Selection.Phase,
		"phase",
		"",
		"run only the scenarios of this `PHASE` of the suite, such as latency or bandwidth",
	)
	f.StringArrayVar(&o.labels, "label", nil, "store `TEXT`, or KEY=VALUE, with the run; may be repeated")
	f.StringVar(&o.Out, "out", compare.DefaultRuns, "store runs below `DIR`")
	f.BoolVar(&o.probe, "probe", false,
		"first read from the volumes of an array, so that a gap is explained by what each of them gives (root)")
	f.DurationVar(&o.probeFor, "probe-time", bench.ProbeTime,
		"`DURATION` for which --probe reads, and again from each volume that falls short")
	f.StringVar(&o.sharedHost, "shared-host", "", "measure, and judge nothing, for `REASON`: others always use this host, "+
		"as on a CI runner")
	f.StringVar(&o.resume, "resume", "", "resume the interrupted run in `DIR`")
	f.BoolVar(&o.KeepFiles, "keep-files", false, "keep the test files for the next run")
	f.BoolVar(&o.FreshExtents, "fresh-extents", false, "let write-only scenarios write to preallocated, unwritten extents")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would run and stop")
	f.BoolVar(&o.AllowExec, "allow-exec", false, "let a job file's exec_prerun and exec_postrun run shell commands")
	f.StringArrayVar(
		&o.Destroy,
		"destroy",
		nil,
		"let scenarios overwrite `FILE`, or a raw device together with its --serial",
	)
	f.StringArrayVar(&o.Serials, "serial", nil, "`SERIAL` number of the device of the --destroy before it")
	form.TypedOnly(f, "resume", "allow-exec", "destroy", "serial")
	form.Needs(f, "probe-time", "it is the time of that", "probe")
	form.Needs(f, "serial", "it is the serial number of that device", "destroy")
}

// isDocument says that a file is an article with fio commands in it, and no job file.
func isDocument(name string) bool {
	data, err := sys.ReadFile(name, sys.ConfigLimit)
	if err != nil {
		return false
	}
	f := script.Parse(name, data, script.Options{})
	return f.Kind != script.JobText && f.Kind != script.YAML && len(f.Jobs) > 0
}

// directoryHint shows how to name a directory where a suite is expected, and what reads a document.
func directoryHint(err error, args []string) error {
	for _, arg := range args {
		if sys.IsDir(arg) {
			return form.Hint(err, "plimsoll run --data "+text.ShellQuote(arg))
		}
		if isDocument(arg) {
			return form.Hint(err, "plimsoll lint "+text.ShellQuote(arg))
		}
	}
	return err
}
