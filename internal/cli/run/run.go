// Package run has the commands that measure, here or on many hosts: run, ab, sweep, fleet, and the
// suites that they take.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/bench"
	"plimsoll/internal/bundle"
	comparecli "plimsoll/internal/cli/compare"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/screen"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

type runOptions struct {
	form.LayoutOptions
	form.PolicyOptions
	bench.Request
	repeat     roundOptions
	pg         postgresOptions
	labels     []string
	Resume     string `flag:"resume"`
	StartAt    string `flag:"start-at"`
	Against    string `flag:"against"` // a baseline: last:10, a run, or a table of expected figures
	profile    string // of a program whose limit judges the syncs
	DryRun     bool   `flag:"dry-run"`
	SharedHost string `flag:"shared-host"`
	probe      bool
	ProbeFor   time.Duration `flag:"probe-time"`
	progress   string
	Format     string `formats:"all"`
}

// NewRun is the command plimsoll run.
func NewRun(env *form.Env) *cobra.Command {
	o := runOptions{progress: screen.Kinds()[0]}
	cmd := form.Command(env, "run", nil, &o, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Scenarios, o.Given, o.Tool = args, cmd.Flags().Changed, env.Tool()
		if o.profile != "" && len(args) == 0 && o.Resume == "" {
			o.Scenarios = []string{syncsOf}
		}
		if err := o.fromSuite(cmd); err != nil {
			return form.Usage(err)
		}
		if err := o.pg.apply(env, &o.Request); err != nil {
			return form.Usage(err)
		}
		return runRun(cmd.Context(), env, o)
	}
	cmd.ValidArgsFunction = form.CompleteScenarios
	o.measuring(cmd)
	o.repeat.addFlags(cmd)
	comparecli.AddProfile(cmd, &o.profile, " (if no scenarios are named, the etcd suite runs)")
	o.pg.addFlags(cmd.Flags())
	form.AddChoice(cmd, &o.FirstTouch, "first-touch", "`WHEN` to test whether volumes made from snapshots are loaded",
		[]string{"auto", bench.SkipFirstTouch})
	form.AddChoice(cmd, &o.progress, "progress", "`KIND` of progress display", screen.Kinds())
	return cmd
}

// measuring adds the flags that shape what is measured.
func (o *runOptions) measuring(cmd *cobra.Command) {
	o.addFlags(cmd.Flags())
	o.LayoutOptions.AddFlags(cmd.Flags())
	o.PolicyOptions.AddFlags(cmd.Flags())
}

// runRun plans, shows progress, measures and reports.
func runRun(ctx context.Context, env *form.Env, o runOptions) error {
	gate, err := o.gate()
	if err != nil {
		return form.Usage(err)
	}
	p, err := o.plan(ctx, env)
	if err != nil {
		return err
	}
	if o.DryRun {
		if err := bench.Check(env.Machine, p); err != nil {
			return err
		}
		return form.Render(env, o.Format, plans.DryRun(p))
	}
	b, err := o.measured(ctx, env, p, "run")
	if err != nil {
		return err
	}
	if o.profile != "" {
		return errors.Join(comparecli.ReportFit(env, b, o.profile, o.Format), comparecli.KeepReports(b))
	}
	var judged *comparecli.Judged
	if o.Against != "" {
		judged, err = comparecli.JudgeAgainst(b.Dir, o.Against, o.Out, gate,
			comparecli.Options{Margin: units.ShareArg(compare.Margin)})
	}
	if err := errors.Join(comparecli.ReportRun(env, b, o.Format, judged), err); err != nil {
		return err
	}
	if judged == nil {
		return form.RunError(b)
	}
	to := *env
	if o.Format != string(page.Text) { // whose reader wants that document only
		to.Out = env.Err
	}
	fmt.Fprintln(to.Out)
	return comparecli.Worst(form.RunError(b), judged.Print(&to, string(page.Text)))
}

// syncsOf is the suite that measures what --for judges: small writes, each of them synced.
const syncsOf = "etcd"

// gate takes what --fail-on asks of the baseline out of what it asks of the run.
func (o *runOptions) gate() (compare.Gate, error) {
	ofBaseline := func(w string) bool {
		return w == "cannot-tell" || strings.HasPrefix(w, "regression") || strings.HasPrefix(w, "p99:")
	}
	var words []string
	o.FailOn = slices.DeleteFunc(slices.Clone(o.FailOn), func(w string) bool {
		if ofBaseline(w) {
			words = append(words, w)
		}
		return ofBaseline(w)
	})
	if len(words) > 0 && o.Against == "" {
		return compare.Gate{}, fmt.Errorf("--fail-on %s needs --against: a baseline such as last:10", words[0])
	}
	if count, isLast := strings.CutPrefix(o.Against, "last:"); isLast {
		if n, err := strconv.Atoi(count); err != nil || n < 1 {
			return compare.Gate{}, fmt.Errorf("--against %q: give a number of runs such as last:10", o.Against)
		}
	} else if o.Against != "" && !comparecli.IsRun(o.Against) {
		if _, err := compare.ReadExpectations(o.Against); err != nil { // before an hour of measuring, not after it
			return compare.Gate{}, err
		}
	}
	return comparecli.ParseGate(words)
}

// measured is the bundle of a plan that was measured to its end by a command.
func (o runOptions) measured(
	ctx context.Context,
	env *form.Env,
	p bench.Plan,
	by string,
) (b *bundle.Bundle, err error) {
	show := screen.Of(env.Screen(), o.progress)
	// A reader of the progress that goes away, such as head, must not end the run with files left
	// behind.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	p.Resumable = true
	if o.Resume != "" {
		b, err = bench.Resume(ctx, env.Machine, o.Resume, p, show.Event)
	} else {
		b, err = bench.Run(ctx, env.Machine, p, show.Event)
	}
	show.Close()
	signal.Stop(broken)
	if errors.Is(err, context.Canceled) && b != nil {
		env.Sayf("interrupted; to resume: plimsoll %s --resume %s", by, text.ShellQuote(b.Dir))
		err = form.Reported(err)
	}
	return b, err
}

func (o runOptions) plan(ctx context.Context, env *form.Env) (p bench.Plan, err error) {
	if o.Labels, err = comparecli.RunLabels(o.labels); err != nil {
		return p, form.Usage(err)
	}
	if o.Rounds, err = o.repeat.plan(o.Given); err != nil {
		return p, form.Usage(err)
	}
	if o.Sustained = o.repeat.Sustained; o.Sustained && o.repeat.Stop == "" {
		return p, form.Usagef("--sustained needs --stop: without it each scenario runs for its whole --runtime")
	}
	if o.repeat.Stop != "" {
		if o.Stop, err = comparecli.ParsePercent("--stop", o.repeat.Stop); err != nil {
			return p, form.Usage(err)
		}
	}
	if o.probe {
		o.Probe = o.ProbeFor
	}
	decl, err := o.Declaration(env)
	if err != nil {
		return p, err
	}
	if o.Resume != "" {
		p, err = o.PlanResume(ctx, env.Machine, decl, o.Resume)
	} else {
		p, err = o.Plan(ctx, env.Machine, decl)
	}
	if err != nil {
		return p, directoryHint(err, o.Scenarios)
	}
	if p.Policy, err = o.Policy(decl); err != nil {
		return p, err
	}
	if o.StartAt != "" {
		if p.StartAt, err = time.Parse(time.RFC3339, o.StartAt); err != nil {
			return p, form.Usagef("--start-at %q: use an instant such as 2026-11-26T03:00:00Z", o.StartAt)
		}
	}
	if o.Given("shared-host") {
		if p.Policy, err = p.Policy.OnSharedHost(o.SharedHost); err != nil {
			return p, form.Usagef("--shared-host: %w", err)
		}
	}
	if o.progress != "json" && o.progress != "none" {
		for _, note := range slices.Concat(p.Topology.Notes, p.Changed()) { // such as what to declare
			form.PrintNote(env, note)
		}
	}
	return p, nil
}

func (o *runOptions) addFlags(f *pflag.FlagSet) {
	o.Out, o.ProbeFor = comparecli.DefaultRuns, bench.ProbeTime
	form.Bind(f, "measure", "data", &o.Data, "wal", &o.WAL, "runtime", &o.Runtime, "ramp", &o.Ramp,
		"cooldown", &o.Cooldown, "size", &o.Size, "only", &o.Selection.Only, "phase", &o.Selection.Phase,
		"label", &o.labels, "out", &o.Out, "probe", &o.probe, "keep-files", &o.KeepFiles,
		"fresh-extents", &o.FreshExtents, "allow-exec", &o.AllowExec, "destroy", &o.Destroy, "serial", &o.Serials)
	form.BindAll(f, "measure", o)
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
