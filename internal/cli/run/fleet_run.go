package run

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/bundle"
	comparecli "plimsoll/internal/cli/compare"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/fleet"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/screen"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

// fleetHosts are the flags that say which hosts are meant and how they are reached.
type fleetHosts struct {
	Hosts  string `flag:"hosts"`
	Via    string `flag:"via"`
	Remote string `flag:"remote"`
	copy   string
}

func (o *fleetHosts) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.copy, o.Via, o.Remote = fleet.Copies[0], "ssh", "plimsoll"
	form.BindAll(f, "fleet", o)
	form.AddChoice(cmd, &o.copy, "copy", "`WHEN` to copy this plimsoll to the hosts", fleet.Copies)
	form.TypedOnly(f, "copy")
}

// run is what runs on the hosts, as far as these flags say. All names are checked before anything
// is started.
func (o fleetHosts) run(env *form.Env) (r fleet.Run, err error) {
	hosts, err := fleet.ParseHosts(o.Hosts,
		func(file string) ([]byte, error) { return sys.ReadFile(file, sys.ConfigLimit) })
	if err != nil {
		return r, form.Usage(err)
	}
	engine, err := fleet.ParseEngine(o.Via)
	if err != nil {
		return r, form.Usage(err)
	}
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	return fleet.Run{
		Hosts:   hosts,
		Engine:  engine,
		Remote:  o.Remote,
		Copy:    o.copy,
		Self:    self,
		Tool:    env.Tool(),
		Version: env.Version,
		Now:     env.Now,
		Note:    screen.FleetNotes(env.Screen()),
	}, nil
}

type fleetRunOptions struct {
	run    runOptions // only parsed here: each host plans for itself
	to     fleetHosts
	shared sharedOptions

	schedule, gone, out, progress string

	Format string `formats:"all"`

	Lose     int           `flag:"lose"`
	AtOnce   int           `flag:"at-once"`
	Patience time.Duration `flag:"patience"`
	Rounds   int           `flag:"rounds"`
	OnShared bool          `flag:"shared"`
}

func newFleetRunCmd(env *form.Env) *cobra.Command {
	o := fleetRunOptions{
		schedule: fleet.Orders[0], gone: "stop", progress: screen.FleetKinds()[0], Rounds: 1, Patience: fleet.Patience,
	}
	cmd := form.Command(env, "fleet run", nil, &o, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return runFleetRun(cmd.Context(), env, o, passedOn(cmd.Flags(), args), args)
	}
	o.run.measuring(cmd)
	f := cmd.Flags()
	o.out = comparecli.DefaultRuns
	f.Lookup("dry-run").Hidden = true // it has no meaning here
	f.Lookup("out").Usage = "store the fleet run in `DIR`; on the hosts, runs are stored in runs"
	f.Lookup("resume").Usage = "fetch what the hosts of the fleet run in `DIR` have kept, and merge it again"
	o.to.addFlags(cmd)
	form.BindAll(f, "fleet", &o.shared)
	form.AddChoice(cmd, &o.schedule, "schedule", "`ORDER` in which the hosts measure", fleet.Orders)
	form.AddChoice(
		cmd,
		&o.gone,
		"on-disconnect",
		"`ACTION` that a host takes after 15 s without contact",
		[]string{"stop", "finish"},
	)
	form.AddChoice(cmd, &o.progress, "progress", "`KIND` of progress display", screen.FleetKinds())
	return cmd
}

// ofFleet are the flags of fleet commands that are not passed on to the hosts.
var ofFleet = strings.Fields(
	"hosts via remote shared shared-iops shared-bandwidth schedule copy on-disconnect lose rounds " +
		"progress format json out resume dry-run help patience at-once engine members image start-in",
)

// passedOn are the arguments for the hosts: the flags that were given, without those of the fleet,
// and what follows them.
func passedOn(flags *pflag.FlagSet, behind []string) []string {
	var args []string
	flags.Visit(func(f *pflag.Flag) {
		if slices.Contains(ofFleet, f.Name) || slices.Contains(form.TalkFlags(), f.Name) {
			return
		}
		if all, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range all.GetSlice() {
				args = append(args, "--"+f.Name+"="+v)
			}
			return
		}
		args = append(args, "--"+f.Name+"="+f.Value.String())
	})
	return append(append(args, "--"), behind...)
}

func runFleetRun(ctx context.Context, env *form.Env, o fleetRunOptions, passed, args []string) error {
	shared, err := o.shared.limits()
	if err != nil {
		return err
	}
	policy, err := o.run.Policy(nil)
	if err != nil {
		return err
	}
	if o.run.SharedHost != "" {
		if policy, err = policy.OnSharedHost(o.run.SharedHost); err != nil {
			return form.Usagef("--shared-host: %w", err)
		}
	}
	if o.run.DryRun {
		return form.Usagef("--dry-run is not for fleets; use plimsoll run --dry-run on a host")
	}
	if o.OnShared && o.run.Data == "" && o.run.WAL == "" {
		return form.Usagef("--shared: with --data or --wal, name the storage that all hosts share")
	}
	if o.AtOnce < 0 {
		return form.Usagef("--at-once %d: use 1 or more", o.AtOnce)
	}
	if o.Rounds < 1 || o.Rounds > 1000 {
		return form.Usagef("--rounds %d: use 1 to 1000", o.Rounds)
	}
	if o.run.Resume != "" {
		o.to.Hosts = "of-the-run" // it names them
	}
	r, err := o.to.run(env)
	if err != nil {
		return err
	}
	r.Args, r.What, r.Out = passed, cmp.Or(strings.Join(args, "-"), "db"), cmp.Or(o.run.Out, o.out)
	r.Order, r.Finish, r.Lose, r.Patience = o.schedule, o.gone == "finish", o.Lose, o.Patience
	r.OnShared, r.AtOnce = o.OnShared, o.AtOnce
	if r.Labels, err = comparecli.RunLabels(o.run.labels); err != nil {
		return form.Usage(err)
	}
	r.Shared, r.Disabled = shared, policy.Disabled()
	get := func() (*sys.Dir, *bundle.Fleet, error) { return oneFleet(ctx, env, o, r) }
	if o.run.Resume != "" {
		get = func() (*sys.Dir, *bundle.Fleet, error) { return r.Fetch(ctx, o.run.Resume) }
	} else if o.Rounds > 1 {
		return fleetRounds(ctx, env, o, r, policy)
	}
	dir, f, err := get()
	if dir != nil {
		defer dir.Close() //nolint:errcheck // only a handle
	}
	if err != nil {
		return err
	}
	return reportFleet(env, dir, f, o.Format, policy)
}

// oneFleet measures once on all hosts, and shows it. The directory is held: close it.
func oneFleet(ctx context.Context, env *form.Env, o fleetRunOptions, r fleet.Run) (*sys.Dir, *bundle.Fleet, error) {
	end := screen.Fleet(env.Screen(), o.progress, &r)
	dir, f, err := r.Run(ctx)
	end()
	if err == nil && ctx.Err() != nil {
		env.Sayf("interrupted; what was measured is in %s", text.ShellQuote(dir.Name()))
		err = form.Reported(context.Canceled)
	}
	return dir, f, err
}

// fleetRounds measures several times, each a fleet run of its own with its number as a label, and
// prints what they have in common. Its exit code is that of the worst round.
func fleetRounds(ctx context.Context, env *form.Env, o fleetRunOptions, r fleet.Run, policy verdict.Policy) error {
	var all []*bundle.Fleet
	var ends error
	labels := r.Labels
	for round := 1; round <= o.Rounds; round++ {
		r.Labels = maps.Clone(labels)
		r.Labels[compare.LabelRound] = strconv.Itoa(round)
		env.Notef("round %d of %d", round, o.Rounds)
		dir, f, err := oneFleet(ctx, env, o, r)
		if err == nil {
			err = keepFleet(dir, f)
		}
		if dir != nil {
			err = errors.Join(err, dir.Close())
		}
		if err != nil {
			return err
		}
		all = append(all, f)
		if err := form.VerdictError(f.Verdict, policy, f.Findings); form.ExitCode(err) > form.ExitCode(ends) {
			ends = err
		}
	}
	if err := form.Render(env, o.Format, runs.FleetRounds(all)); err != nil {
		return err
	}
	return ends
}
