package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/bench"
	comparecli "plimsoll/internal/cli/compare"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/screen"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/tune"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

type abOptions struct {
	runOptions
	form.VariantOptions
	Yes    bool     `flag:"yes"`
	On     []string `flag:"on"`
	Each   []string `flag:"volumes"` // --volumes
	rounds int
	Seed   uint64   `flag:"seed"`
	Margin string   `flag:"margin"`
	State  string   `flag:"state"`
	typed  []string // what was typed after plimsoll ab, for resuming
}

// NewAB is the command plimsoll ab.
func NewAB(env *form.Env) *cobra.Command {
	o := &abOptions{}
	cmd := newABFlags(env, o)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Scenarios, o.Given, o.Tool = args, cmd.Flags().Changed, env.Tool()
		if o.Resume != "" {
			return resumeAB(cmd.Context(), env, o, cmd)
		}
		o.typed = typed(env.Args)
		return runAB(cmd.Context(), env, *o, "")
	}
	return cmd
}

// newABFlags is the command without what it does: a resumed measurement is compared with the flags
// that its record says were typed.
func newABFlags(env *form.Env, o *abOptions) *cobra.Command {
	o.progress, o.rounds, o.State = screen.Kinds()[0], 8, "/var/lib/plimsoll/ab-tune.json"
	o.Margin = units.ShareArg(compare.Margin)
	cmd := form.Command(env, "ab", nil, o, nil)
	cmd.ValidArgsFunction = form.CompleteScenarios
	f := cmd.Flags()
	o.addFlags(f)
	_ = f.MarkHidden("keep-files")
	form.BindAll(f, "variants", &o.VariantOptions)
	form.Bind(f, "ab", "rounds", &o.rounds)
	form.Bind(f, "gate", "fail-on", &o.FailOn)
	form.AddChoice(cmd, &o.progress, "progress", "`KIND` of progress display", screen.Kinds())
	o.AddOthers(f)
	return cmd
}

// typed is what was typed after plimsoll ab.
func typed(args []string) []string {
	if i := slices.Index(args, "ab"); i >= 0 {
		return args[i+1:]
	}
	return nil
}

// resumeAB does what is missing of a measurement. What its record says was typed is not run: the
// command is typed again, and compared.
func resumeAB(ctx context.Context, env *form.Env, o *abOptions, cmd *cobra.Command) error {
	dir := o.Resume
	ab, found, err := compare.ReadAB(dir)
	if err != nil {
		return err
	}
	if !found {
		return form.Usagef("%s was not made by plimsoll ab; it has no %s", dir, compare.ABFile)
	}
	own, err := sys.OpenOwnDir(dir)
	if err != nil {
		return err
	}
	if err := own.Close(); err != nil { // the runs in it are made by handle
		return err
	}
	before := newABFlags(env, &abOptions{})
	new(form.Env).AddFlags(before.Flags())
	if err := before.ParseFlags(ab.Command); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, compare.ABFile), err)
	}
	rest, consents, err := withoutConsent(before.Flags(), ab.Command)
	if err != nil {
		return err
	}
	if differ := differing(before.Flags(), cmd.Flags()); len(differ) > 0 ||
		!slices.Equal(before.Flags().Args(), o.Scenarios) {
		why, again := "different scenarios were given", ""
		if len(differ) > 0 {
			why = "not the original options: " + text.List(differ)
		}
		if len(consents) > 0 {
			again = " and what gives consent (" + text.List(consents) + ")"
		}
		return form.Hint(form.Usagef("%s: %s; a record is not a command to run, so type the original command again, "+
			"with --resume%s", dir, why, again), resumeABWith(dir, rest))
	}
	o.Resume, o.Seed, o.typed = "", ab.Seed, rest
	return runAB(ctx, env, *o, dir)
}

// withoutConsent leaves out of the words of a record the flags that permit something or say where else to write, and
// names them: the record may come from elsewhere. What is a flag and what its value, its own parser says.
func withoutConsent(flags *pflag.FlagSet, words []string) (rest, consents []string, err error) {
	err = flags.ParseAll(words, func(f *pflag.Flag, value string) error {
		switch {
		case !slices.Contains([]string{"yes", "destroy", "on", "serial", "allow-exec", "state", "out"}, f.Name):
			if f.NoOptDefVal != "" || strings.HasPrefix(value, "-") {
				rest = append(rest, "--"+f.Name+"="+value)
			} else {
				rest = append(rest, "--"+f.Name, value)
			}
		case !slices.Contains(consents, "--"+f.Name):
			consents = append(consents, "--"+f.Name)
		}
		return nil
	})
	args := flags.Args()
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }) {
		return slices.Concat(rest, []string{"--"}, args), consents, err
	}
	return slices.Concat(args, rest), consents, err
}

// resumeABWith is the command that resumes a measurement, for people to read and type.
func resumeABWith(dir string, command []string) string {
	return text.ShellLine(append([]string{"plimsoll", "ab", "--resume", dir}, command...))
}

// differing are the flags by which two commands measure something else.
func differing(before, now *pflag.FlagSet) []string {
	free := append(form.TalkFlags(), "resume", "rounds", "progress", "format", "json", "out", "fail-on", "yes")
	var names []string
	before.VisitAll(func(f *pflag.Flag) {
		other := now.Lookup(f.Name)
		if !slices.Contains(free, f.Name) && (other == nil || other.Value.String() != f.Value.String()) {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// runAB measures the variants into dir, a new one when it is empty, and compares them.
func runAB(ctx context.Context, env *form.Env, o abOptions, dir string) error {
	margin, err := comparecli.ParsePercent("--margin", o.Margin)
	if err != nil {
		return form.Usage(err)
	}
	gate, err := comparecli.ParseGate(o.FailOn)
	if err != nil {
		return form.Usage(err)
	}
	o.FailOn = nil // a gate of the comparison, not of single runs
	parsed, err := o.Parse(o.File, ofVariant, "data=PATH, wal=PATH, fio.OPTION=VALUE, tune.SETTING=VALUE, ")
	if err != nil {
		return form.Usage(err)
	}
	laid := slices.ContainsFunc(parsed, func(v form.Variant) bool { return v.Layout.YAML != nil })
	if o.DryRun && !laid {
		return form.Usagef("--dry-run applies only when layouts are compared; use plimsoll run --dry-run on what a variant " +
			"changes")
	}
	if laid && !o.Given("rounds") {
		o.rounds = 4
	}
	if o.rounds < 2 || o.rounds > 1000 {
		return form.Usagef("--rounds %d: use 2 to 1000; one round cannot show a difference", o.rounds)
	}
	tuner := tune.Here(env.Machine)
	tuner.State = o.State
	release, err := restoreLeft(env, tuner, parsed)
	if err != nil {
		return form.AsRoot(env, err)
	}
	defer release()
	var variants []bench.Variant
	var s *study
	if laid {
		s, variants, err = o.study(ctx, env, tuner, parsed, dir)
	} else {
		variants, err = o.plans(ctx, env, tuner, parsed)
	}
	if err != nil || o.DryRun {
		return err
	}
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.Name
	}
	ab := compare.AB{
		Schema:   1,
		Created:  env.Now(),
		Variants: names,
		Rounds:   o.rounds,
		Seed:     o.Seed,
		Command:  o.typed,
		Margin:   margin,
		Layouts:  laid,
	}
	if dir == "" {
		if !o.Given("seed") {
			ab.Seed = uint64(rand.IntN(1_000_000))
		}
		if dir, err = newABDir(o.Out, ab, variants[0].Plan.Suite.Name); err != nil {
			return err
		}
	}
	if err := s.begin(dir); err != nil {
		return err
	}
	env.Notef("%s, %s, seed %d, into %s", text.Plural(len(names), "variant"),
		text.Plural(ab.Rounds, "round"), ab.Seed, dir)
	show := screen.Of(env.Screen(), o.progress)
	s.watch(show.Event)
	err = bench.AB(ctx, env.Machine, dir, ab, variants, show.Event)
	show.Close()
	if errors.Is(err, context.Canceled) {
		env.Sayf("interrupted; to resume: %s", resumeABWith(dir, o.typed))
		return form.Reported(err)
	}
	if err != nil {
		return form.Hint(fmt.Errorf("%w; what was measured is in %s", err, dir), resumeABWith(dir, o.typed))
	}
	return comparecli.Runs(env, []string{dir}, comparecli.Options{Format: o.Format}, margin, gate)
}

// restoreLeft puts back what a variant had set when its plimsoll was killed, and keeps others from doing that to
// variants of this one.
func restoreLeft(env *form.Env, tuner *tune.Tuner, variants []form.Variant) (release func(), err error) {
	recorded := sys.Exists(tuner.State)
	if !recorded && !slices.ContainsFunc(variants, form.Variant.Tunes) {
		return func() {}, nil
	}
	release, err = tuner.Hold()
	if err != nil || !recorded {
		return release, err
	}
	n, _, err := tuner.Revert(func(tune.Change, string) error {
		return errors.New("something else has changed it since then")
	})
	if n > 0 {
		env.Notef("restored %s changed by a killed measurement", text.Plural(n, "setting"))
	}
	if err != nil {
		release()
		return nil, form.Hint(err, "plimsoll tune --revert --state "+text.ShellQuote(tuner.State))
	}
	return release, nil
}

func newABDir(out string, ab compare.AB, suiteName string) (string, error) {
	runs, err := sys.MakePath(out, 0o755)
	if err != nil {
		return "", err
	}
	defer runs.Close() //nolint:errcheck // only a handle
	name := ab.Created.UTC().Format("20060102T150405Z") + "-ab-" + strings.Map(workload.PlainRune, suiteName)
	dir, err := runs.MakeOwnSub(name, 0o755)
	if err != nil {
		return "", err
	}
	return filepath.Join(out, name), errors.Join(compare.WriteAB(dir, ab), dir.Close())
}

// ofVariant says whether a key, other than those of layouts, is one that a variant changes.
func ofVariant(key string) bool {
	return key == "data" || key == "wal" || strings.HasPrefix(key, "fio.") && len(key) > 4 ||
		strings.HasPrefix(key, "tune.") && len(key) > 5
}

// plans turns the variants into plans, the base first.
func (o abOptions) plans(
	ctx context.Context,
	env *form.Env,
	tuner *tune.Tuner,
	parsed []form.Variant,
) ([]bench.Variant, error) {
	var all []bench.Variant
	volumes, err := o.volumesOf()
	if err != nil {
		return nil, form.Usage(err)
	}
	for _, p := range parsed {
		one := o
		one.Volumes = volumes(p.Name, -1)
		v, err := one.variant(ctx, env, tuner, p.Name, p.Changes)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	if len(o.On) > 0 && len(o.Serials) != len(o.On) {
		return nil, form.Usagef("%d --on and %d --serial: each device needs its serial number", len(o.On), len(o.Serials))
	}
	for i, device := range o.On {
		one := o
		one.Data, one.WAL, one.Destroy, one.Serials = device, "", []string{device}, []string{o.Serials[i]}
		one.Volumes = volumes(filepath.Base(device), i)
		v, err := one.variant(ctx, env, tuner, filepath.Base(device), nil)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	if len(all) < 2 {
		return nil, form.Usagef("fewer than two variants: add --variant NAME:CHANGE for each of them")
	}
	for i, v := range all {
		if slices.ContainsFunc(all[:i], func(o bench.Variant) bool { return o.Name == v.Name }) {
			return nil, form.Usagef("two variants are called %s", v.Name)
		}
	}
	return all, nil
}

// volumesOf reads --volumes and returns what lies behind each variant, by its name and, where it is
// a device of --on, by that one's place among them; -1 for another.
func (o abOptions) volumesOf() (func(name string, on int) string, error) {
	named, inOrder := map[string]string{}, []string{}
	for _, s := range o.Each {
		name, spec, ok := strings.Cut(s, "=")
		if !ok {
			inOrder = append(inOrder, s)
			continue
		}
		known := slices.ContainsFunc(o.On, func(d string) bool { return filepath.Base(d) == name }) ||
			slices.ContainsFunc(o.Variants, func(v string) bool { before, _, _ := strings.Cut(v, ":"); return before == name })
		if !known || named[name] != "" {
			return nil, fmt.Errorf("--volumes %s: name each variant once, as in --variant or by the device's name", s)
		}
		named[name] = spec
	}
	if n := len(inOrder); n > 1 && n != len(o.On) {
		return nil, fmt.Errorf("%d --volumes and %d --on: give one for all, or one for each device", n, len(o.On))
	}
	return func(name string, on int) string {
		switch {
		case named[name] != "":
			return named[name]
		case len(inOrder) == 1:
			return inOrder[0]
		case on >= 0 && on < len(inOrder):
			return inOrder[on]
		}
		return ""
	}, nil
}

// variant is the plan of one.
func (o abOptions) variant(
	ctx context.Context,
	env *form.Env,
	tuner *tune.Tuner,
	name string,
	changes []topology.KeyChange,
) (bench.Variant, error) {
	v := bench.Variant{Name: name}
	var options []fio.Option
	var set []topology.KeyChange
	for _, c := range changes {
		switch {
		case c.Key == "data":
			o.Data = c.Value
		case c.Key == "wal":
			o.WAL = c.Value
		case strings.HasPrefix(c.Key, "fio."):
			options = append(options, fio.Option{Name: strings.TrimPrefix(c.Key, "fio."), Value: c.Value})
		default:
			set = append(set, topology.KeyChange{Key: strings.TrimPrefix(c.Key, "tune."), Value: c.Value})
		}
	}
	given := o.Given
	o.Given = func(flag string) bool { return !slices.Contains(roundFlags(), flag) && given(flag) } // its rounds are turns
	var err error
	if v.Plan, err = o.plan(ctx, env); err != nil {
		return v, err
	}
	v.Plan.Suite = bench.WithOptions(v.Plan.Suite, options)
	if err := checkJobs(ctx, env, &v.Plan.Suite); err != nil {
		return v, form.Usagef("variant %s: %w", name, err)
	}
	if len(set) == 0 {
		return v, nil
	}
	v.Enter = func(_ context.Context, p *bench.Plan) (func() error, error) {
		var devices []string
		for _, t := range p.Topology.Targets {
			devices = append(devices, t.Devices...)
		}
		changes, err := tuner.Plan(p.Topology.Tree, []finding.Finding{{Code: "ab", Settings: settingsOf(set, devices)}}, nil)
		if err != nil {
			return nil, err
		}
		if err := tuner.Apply(changes, false); err != nil {
			return nil, form.AsRoot(env, err)
		}
		return func() error { _, _, err := tuner.Revert(nil); return err }, nil
	}
	return v, nil
}

// checkJobs lets the installed fio's table judge the options of a variant.
func checkJobs(ctx context.Context, env *form.Env, s *suite.Suite) error {
	table, err := running.InstalledOptions(ctx, env.Machine)
	if err != nil {
		return err
	}
	return s.Check(table)
}

// settingsOf are the files of tune.SETTING: vm.* and governor by their own names, all others of the
// devices' queues.
func settingsOf(set []topology.KeyChange, devices []string) []finding.Setting {
	slices.Sort(devices)
	devices = slices.Compact(devices)
	var all []finding.Setting
	for _, c := range set {
		var files []string
		vm, isVM := strings.CutPrefix(c.Key, "vm.")
		switch {
		case c.Key == "governor":
			files = []string{"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"}
		case isVM:
			files = []string{"/proc/sys/vm/" + vm}
		default:
			for _, d := range devices {
				files = append(files, "/sys/block/"+d+"/queue/"+c.Key)
			}
		}
		for _, file := range files {
			all = append(all, finding.Setting{File: file, Value: c.Value})
		}
	}
	return all
}
