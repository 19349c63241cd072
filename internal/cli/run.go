package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/report"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

type runOptions struct {
	layoutOptions
	args      []string
	data, wal string
	runtime   time.Duration
	ramp      time.Duration
	cooldown  time.Duration
	size      units.Bytes
	selection suite.Selection
	out       string
	resume    string
	keep      bool
	fresh     bool
	dryRun    bool
	allowExec bool
	destroy   []string
	serial    []string
	labels    []string
	progress  string
	json      bool
	given     func(flag string) bool
}

func newRunCmd(env *Env) *cobra.Command {
	o := runOptions{}
	cmd := &cobra.Command{
		Use:   "run [SUITE | SCENARIO | FILE.fio]...",
		Short: "Measure: run scenarios with fio and give a verdict",
		Long: `Run scenarios with fio, watch the machine meanwhile, and hold the results against what the storage should carry.

Without arguments the suite db runs. Scenarios are named by number or name; a job file of fio's own runs as it is, and
where it points: the storage of a whole filename= or directory= in it is what is watched. Files are made only below
.plimsoll in the target directories, or where a job file names them, and removed at the end. Files that are there are
read only, unless --destroy names them.`,
		Example: `  plimsoll run --data /data --wal /wal --volumes 8xgp3 --level raid10 --chunk 64KiB
  plimsoll run db --only sync-latency,4-6 --runtime 10s --size 1g
  plimsoll run nightly.fio --data /data
  plimsoll run old-database.fio --destroy /data/scratch.dat`,
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args, o.given = args, cmd.Flags().Changed
			return runRun(cmd.Context(), env, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.data, "data", "", "`PATH` of the data role: a directory, or a raw device that is only read")
	f.StringVar(&o.wal, "wal", "", "`PATH` of the log role; with one path both roles use it, with none the current directory")
	f.DurationVar(&o.runtime, "runtime", 0, "measure each scenario this `LONG` instead of the suite's time")
	f.DurationVar(&o.ramp, "ramp", 0, "run each scenario this `LONG` before measuring")
	f.DurationVar(&o.cooldown, "cooldown", 0, "pause this `LONG` between scenarios")
	f.TextVar(&o.size, "size", units.Bytes(0), "work on `SIZE` bytes instead of the suite's sizes")
	f.Lookup("size").DefValue = "" // which keeps "(default 0B)" out of the help
	f.StringVar(&o.selection.Only, "only", "", "run only these `SCENARIOS`, by name, number or range: sync-latency,4-6")
	f.StringVar(&o.selection.Phase, "phase", "", "run only the scenarios of this `PHASE`")
	f.StringArrayVar(&o.labels, "label", nil, "keep `TEXT`, or KEY=VALUE, with the run; may be repeated")
	f.StringVar(&o.out, "out", "runs", "keep runs below this `DIR`")
	f.StringVar(&o.resume, "resume", "", "go on with the interrupted run in `DIR`")
	f.BoolVar(&o.keep, "keep-files", false, "leave the laid-out files for the next run")
	f.BoolVar(&o.fresh, "fresh-extents", false, "let scenarios that only write do so into allocated, never written extents")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would run and stop")
	f.BoolVar(&o.allowExec, "allow-exec", false, "let a job file's exec_prerun and exec_postrun run shell commands")
	f.StringArrayVar(&o.destroy, "destroy", nil, "let scenarios write over `FILE`, or over a raw device, which needs its --serial")
	f.StringArrayVar(&o.serial, "serial", nil, "serial `S` of the device of the --destroy before it")
	f.StringVar(&o.progress, "progress", "auto", "show progress as `KIND`: auto, tty, plain, json or none")
	f.BoolVar(&o.json, "json", false, "print the report as JSON")
	o.addFlags(f)
	completeValues(cmd, "progress", progressKinds)
	return cmd
}

func runRun(ctx context.Context, env *Env, o runOptions) error {
	if o.resume != "" {
		return resumeRun(ctx, env, o)
	}
	if err := o.check(); err != nil {
		return usage(err)
	}
	s, err := suite.Select(o.args, o.selection)
	if err != nil {
		return usage(err)
	}
	labels, err := runLabels(o.labels)
	if err != nil {
		return usage(err)
	}
	o.adjust(s)
	if err := o.follow(s); err != nil {
		return usage(err)
	}
	return o.carryOut(ctx, env, s, bundle.Settings{
		Data: o.data, WAL: o.wal, Runtime: o.runtime, Ramp: o.ramp, Size: o.sizeText(), Cooldown: s.Cooldown,
		FreshExtents: o.fresh, KeepFiles: o.keep,
	}, func(p bench.Plan, emit func(bench.Event)) (*bundle.Bundle, error) {
		p.Labels = labels
		return bench.Run(ctx, env.Machine, p, emit)
	})
}

// resumeRun takes suite and paths from the bundle, so that the same thing is measured.
func resumeRun(ctx context.Context, env *Env, o runOptions) error {
	if len(o.args) > 0 {
		return usage(errors.New("--resume takes the scenarios from the run itself: leave them out"))
	}
	b, err := bundle.Open(o.resume)
	if err != nil {
		return err
	}
	if len(b.Run.Imported) > 0 {
		return usage(fmt.Errorf("%s was imported: there is nothing to go on with", o.resume))
	}
	set := b.Run.Settings
	if flags := o.against(&b.Run); len(flags) > 0 {
		return usage(fmt.Errorf("%s: %s is gone on with as it was begun; leave the flags out, or begin a new run", strings.Join(flags, ", "), o.resume))
	}
	// As absolute paths, since this may be another working directory.
	for role, path := range map[topology.Role]*string{topology.Data: &o.data, topology.WAL: &o.wal} {
		if t := b.Run.Topology.For(role); t != nil {
			*path = t.Path
		}
	}
	if o.given("keep-files") {
		set.KeepFiles = o.keep
	}
	o.fresh = set.FreshExtents
	return o.carryOut(ctx, env, &b.Run.Suite, set, func(p bench.Plan, emit func(bench.Event)) (*bundle.Bundle, error) {
		return bench.Resume(ctx, env.Machine, o.resume, p, emit)
	})
}

// against are the flags given that say something else than the run was begun with.
func (o runOptions) against(run *bundle.Run) []string {
	set := run.Settings
	path := func(role topology.Role, given string) bool {
		abs, err := filepath.Abs(given)
		t := run.Topology.For(role)
		return err == nil && t != nil && t.Path == abs
	}
	same := map[string]bool{
		"data": path(topology.Data, o.data), "wal": path(topology.WAL, o.wal),
		"runtime": o.runtime == set.Runtime, "ramp": o.ramp == set.Ramp, "cooldown": o.cooldown == run.Suite.Cooldown,
		"size": o.sizeText() == set.Size, "fresh-extents": o.fresh == set.FreshExtents,
	}
	var flags []string
	for _, flag := range []string{
		"data", "wal", "only", "phase", "runtime", "ramp", "cooldown", "size", "fresh-extents", "label", "out",
		"topology", "volumes", "level", "chunk", "instance",
	} {
		if o.given(flag) && !same[flag] {
			flags = append(flags, "--"+flag)
		}
	}
	return flags
}

// check refuses values that no run can have. An empty path is refused since it is most often a variable that is not set, and would
// otherwise mean the current directory.
func (o runOptions) check() error {
	for flag, path := range map[string]string{"data": o.data, "wal": o.wal} {
		if o.given(flag) && path == "" {
			return fmt.Errorf("--%s is empty: name a directory, such as --%s /%s", flag, flag, flag)
		}
	}
	switch {
	case o.given("runtime") && o.runtime <= 0:
		return fmt.Errorf("--runtime %s: want more than 0, such as 30s", o.runtime)
	case o.ramp < 0:
		return fmt.Errorf("--ramp %s: want 0 or more, such as 5s", o.ramp)
	case o.cooldown < 0:
		return fmt.Errorf("--cooldown %s: want 0 or more, such as 5s", o.cooldown)
	case o.given("size") && o.size == 0:
		return errors.New("--size 0: want more than 0, such as 1GiB")
	case o.size > suite.MostSize:
		return fmt.Errorf("--size %s: no file is that large; want such as 1GiB", o.size.Arg())
	}
	return nil
}

// adjust applies the flags to the suite's scenarios. Job files from elsewhere, and scenarios of several jobs, keep their own times.
func (o runOptions) adjust(s *suite.Suite) {
	if o.given("cooldown") {
		s.Cooldown = o.cooldown
	}
	for i := range s.Scenarios {
		c := &s.Scenarios[i]
		if o.given("size") && !c.AsIs {
			c.Size = o.size
		}
		if c.AsIs || len(c.Job.Sections) > 1 {
			continue
		}
		if o.given("runtime") {
			c.Runtime = o.runtime
		}
		if o.given("ramp") {
			c.Ramp = o.ramp
		}
	}
}

// follow takes the path of a job file that names one itself, and puts jobs that name none on the device that --data names.
func (o *runOptions) follow(s *suite.Suite) error {
	var err error
	if o.data == "" && o.wal == "" {
		if o.data, err = bench.Pointed(s); err != nil || o.data == "" {
			return err
		}
	}
	for _, path := range []*string{&o.data, &o.wal} {
		if *path, err = bench.Device(*path); err != nil {
			return err
		}
	}
	paths, err := o.paths()
	if err != nil {
		return err
	}
	for i, c := range s.Scenarios {
		if info, err := os.Stat(paths[c.Role]); err == nil && !info.IsDir() {
			s.Scenarios[i] = c.On(paths[c.Role])
		}
	}
	return nil
}

func (o runOptions) sizeText() string {
	if o.size == 0 {
		return ""
	}
	return o.size.String()
}

// paths gives each role its path.
func (o runOptions) paths() (map[topology.Role]string, error) {
	data, wal := o.data, o.wal
	switch {
	case data == "" && wal == "":
		data, wal = ".", "."
	case data == "":
		data = wal
	case wal == "":
		wal = data
	}
	paths := map[topology.Role]string{}
	for role, path := range map[topology.Role]string{topology.Data: data, topology.WAL: wal} {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		paths[role] = abs
	}
	return paths, nil
}

// carryOut plans, shows progress, measures and reports.
func (o runOptions) carryOut(ctx context.Context, env *Env, s *suite.Suite, set bundle.Settings,
	do func(bench.Plan, func(bench.Event)) (*bundle.Bundle, error),
) error {
	p, err := o.plan(ctx, env, s, set)
	if err != nil {
		return err
	}
	if o.dryRun {
		if err := bench.Check(env.Machine, p); err != nil {
			return err
		}
		return report.DryRun(env.Out, p)
	}
	show, err := newProgress(env, o.progress)
	if err != nil {
		return usage(err)
	}
	// A reader of the progress that goes away, such as head, must not end the run with files left behind.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	b, err := do(p, show.Event)
	show.Close()
	signal.Stop(broken)
	if errors.Is(err, context.Canceled) && b != nil {
		fmt.Fprintf(env.Err, "interrupted; go on with: plimsoll run --resume %s\n", b.Dir)
		return &told{err}
	}
	if err != nil {
		return err
	}
	if err := reportRun(env, b, o.json); err != nil {
		return err
	}
	return verdictError(b.Run.Verdict)
}

func (o runOptions) plan(ctx context.Context, env *Env, s *suite.Suite, set bundle.Settings) (bench.Plan, error) {
	p := bench.Plan{Suite: *s, Settings: set, Out: o.out, Tool: "plimsoll " + Version, AllowExec: o.allowExec}
	var err error
	if p.Destroy, err = o.mayLose(); err != nil {
		return p, usage(err)
	}
	paths, err := o.paths()
	if err != nil {
		return p, err
	}
	if err := bench.CheckPaths(paths); err != nil {
		return p, err
	}
	decl, err := o.declaration()
	if err != nil {
		return p, err
	}
	if p.Fio, err = fio.Installed(ctx, env.Machine); err != nil {
		return p, err
	}
	table, err := fio.InstalledOptions(ctx, env.Machine, s.Engines()...)
	if err != nil {
		return p, err
	}
	if err := s.Check(table); err != nil {
		return p, usage(err)
	}
	topo, err := topology.Detect(ctx, env.Machine, paths, decl)
	if err != nil {
		return p, err
	}
	if o.progress != "json" && o.progress != "none" {
		for _, note := range topo.Notes { // such as what to declare, for the ceiling to be known
			fmt.Fprintf(env.Err, "note: %s\n", clean(note))
		}
	}
	p.Topology, p.Host = *topo, facts(ctx, env.Machine)
	return p, nil
}

// mayLose pairs the devices of --destroy with the serials; files have none.
func (o runOptions) mayLose() (map[string]string, error) {
	lose, serials := map[string]string{}, o.serial
	for _, name := range o.destroy {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			lose[name] = ""
			continue
		}
		if len(serials) == 0 {
			return nil, fmt.Errorf("--destroy %s needs its --serial S (see: plimsoll inspect %s)", name, name)
		}
		lose[name], serials = serials[0], serials[1:]
	}
	if len(serials) > 0 {
		return nil, fmt.Errorf("--serial %s has no device: name it with --destroy", serials[0])
	}
	return lose, nil
}

// verdictError turns a verdict into the exit code's error.
func verdictError(v verdict.Verdict) error {
	switch v {
	case verdict.Invalid:
		return errInvalid
	case verdict.Fail:
		return errVerdict
	case verdict.Pass, verdict.Warn:
	}
	return nil
}
