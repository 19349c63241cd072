package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/cli/job"
	"plimsoll/internal/compare"
	"plimsoll/internal/fio"
	"plimsoll/internal/postgres"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
	"plimsoll/internal/workload"
)

type importOptions struct {
	form.LayoutOptions
	form.PolicyOptions
	Labels    []string `flag:"label"`
	instances []string
	specs     []string
	Job       string `flag:"job"`
	Suite     string `flag:"suite"`
	profile   string
	Out       string `flag:"out"`
	Summary   bool   `flag:"summary"`
	Format    string `formats:"all"`
	pick      pickOptions
}

// NewImport is the command plimsoll import.
func NewImport(env *form.Env) *cobra.Command {
	o := importOptions{Out: "runs"}
	cmd := form.Command(env, "import", cobra.MinimumNArgs(1), &o, o.run)
	f := cmd.Flags()
	AddProfile(cmd, &o.profile, "")
	form.BindAll(f, "pick", &o.pick)
	o.LayoutOptions.AddFlags(f)
	o.PolicyOptions.AddFlags(f)
	form.BindEach(f, "import", "instance", &o.instances)
	form.BindEach(f, "import", "volumes", &o.specs)
	return cmd
}

// ofResults takes what a flag says of single results out of its values, NAME=VALUE; one value for all is kept in all.
func ofResults(flag, kind string, values []string, all *string, named func(of, value string) error) error {
	for _, given := range values {
		of, value, ok := strings.Cut(given, "=")
		switch {
		case !ok && *all != "":
			return form.Usagef("--%s names %s and %s for all results: write NAME=%s", flag, *all, given, given)
		case !ok:
			*all = given
		case of == "" || value == "":
			return form.Usagef("--%s %q: want %s or NAME=%s", flag, given, kind, kind)
		default:
			if err := named(of, value); err != nil {
				return form.Usage(err)
			}
		}
	}
	return nil
}

func (o *importOptions) run(ctx context.Context, env *form.Env, args []string) error {
	labels, err := RunLabels(o.Labels)
	if err != nil {
		return form.Usage(err)
	}
	pick, err := o.pick.pick()
	if err != nil {
		return form.Usage(err)
	}
	if o.profile != "" {
		if _, err := verdict.ProfileOf(o.profile); err != nil {
			return form.Usage(err)
		}
	}
	found := bundle.Found{Beside: besideJob}
	err = errors.Join(
		ofResults("instance", "TYPE", o.instances, &o.Instance, func(of, typ string) error {
			_, err := topology.FromFlags("", "", "", typ)
			found.Instances = append(found.Instances, bundle.NamedInstance{Of: of, Type: typ})
			return err
		}),
		ofResults("volumes", "SPEC", o.specs, &o.Volumes, func(of, spec string) error {
			decl, err := topology.FromFlags(spec, o.Level, o.Chunk, "")
			found.Volumes = append(found.Volumes, bundle.NamedVolumes{Of: of, Decl: decl})
			return err
		}))
	if err != nil {
		return err
	}
	if len(found.Volumes) > 0 && o.Volumes == "" {
		o.Level, o.Chunk = "", "" // they are those of the named ones
	}
	decl, err := o.Declaration(env)
	if err != nil {
		return err
	}
	policy, err := o.Policy(decl)
	if err != nil {
		return err
	}
	if o.Job != "" {
		if found.Job, err = suite.MeasuredJobFile(o.Job); err != nil {
			return form.Usage(err)
		}
	}
	if o.Suite != "" {
		s, err := suite.Select([]string{o.Suite}, suite.Selection{})
		if err != nil {
			return form.Usage(err)
		}
		found.Stated = func(r *result.Result) (*suite.Scenario, string) { return compare.StatedFor(s, r) }
	}
	err = sys.Reading(ctx, func() (err error) {
		found.Outputs, found.Documents, err = bundle.Gather(args, sys.Interruptible(ctx, env.In))
		return err
	})
	if err != nil {
		return err
	}
	// What pg_test_fsync printed explains pgbench's figures where both are given.
	others := func(o *fio.Output) bool { return o.Program != "pg_test_fsync" || o.Void != "" }
	if o.explains() && pick.Empty() && !slices.ContainsFunc(found.Outputs, others) {
		if r, ok, err := job.ReadPostgres(args); ok && err == nil {
			explainPostgres(env.Out, r, 0)
			var doubts []string
			for _, out := range found.Outputs {
				for _, doubt := range out.Doubts {
					doubts = text.Once(doubts, doubt)
				}
			}
			for _, doubt := range doubts {
				env.Notef("%s", doubt)
			}
			return nil
		}
	}
	if len(found.Outputs) == 0 {
		if _, ok, err := job.ReadPostgres(args); ok && err == nil {
			return fmt.Errorf("%s has pgbench's figures, which are only explained as text: drop --format and the "+
				"options that judge",
				strings.Join(args, ", "))
		}
		err := fmt.Errorf("no fio output found in %s%s", strings.Join(args, ", "), bundle.Unread(args))
		if counters(args[0]) {
			return form.Hint(err, "plimsoll why --from "+text.ShellQuote(args[0]))
		}
		return err
	}
	if over := bundle.PassedOver(args, found.Outputs); len(over) > 0 {
		reportPassedOver(env, over)
	}
	lost := reportUnread(env, found.Outputs)
	if found.Unreadable() {
		return fmt.Errorf("no result could be read from %s: %w", strings.Join(args, ", "), lost)
	}
	if o.Summary {
		return errors.Join(summarize(env, found, pick, o), lost)
	}
	found.Pick = pick
	run := bundle.Run{
		Tool:     env.Tool(),
		Fio:      found.Outputs[0].Version,
		Created:  env.Now(),
		Imported: args,
		Labels:   labels,
		Suite: suite.Suite{
			Name:   "import",
			Source: "import",
		},
		Topology: topology.Topology{Host: topology.Host{Name: labels["host"]}},
		Policy:   policy,
	}
	if decl != nil {
		topo, err := topology.FromDeclaration(decl)
		if err != nil {
			return form.Usage(err)
		}
		run.Topology = *topo
	}
	b, err := bundle.Import(o.Out, run, found)
	if err != nil {
		return pickError(err)
	}
	if o.profile != "" {
		return errors.Join(ReportFit(env, b, o.profile, o.Format), KeepReports(b), lost)
	}
	if err := ReportRun(env, b, o.Format, nil); err != nil {
		return err
	}
	if verdict := form.RunError(b); lost == nil || errors.Is(verdict, form.ErrInvalid) {
		return verdict // worse than lines that were not understood, which are listed
	}
	return lost
}

// explains says that figures of PostgreSQL's programs are to be explained: nothing is to be judged by them.
func (o *importOptions) explains() bool {
	return o.profile+o.Suite == "" && !o.Summary && len(o.FailOn) == 0 && o.Format == form.TextFormat
}

// summarize prints a line a result, or its row as JSON; other formats are of reports.
func summarize(env *form.Env, found bundle.Found, pick bundle.Pick, o *importOptions) error {
	results, err := found.Results()
	if err != nil {
		return err
	}
	picked, err := pick.Of(results)
	if err != nil {
		return pickError(err)
	}
	return form.Render(env, o.Format, runs.Summary(pick.Groups(picked)))
}

// AddProfile adds --for, the program whose limit judges durable writes.
func AddProfile(cmd *cobra.Command, name *string, help string) {
	say := "say first whether durable writes are fast enough for `NAME`" + help
	form.AddChoice(cmd, name, "for", say, verdict.ProfileNames())
}

// ReportFit prints whether what was measured is good enough for a program, and fails where it is not.
func ReportFit(env *form.Env, b *bundle.Bundle, name, format string) error {
	p, err := verdict.ProfileOf(name)
	if err != nil {
		return form.Usage(err)
	}
	fits := runs.Fits(b, p)
	if err := form.Render(env, format, runs.Fit(fits, p)); err != nil {
		return err
	}
	switch {
	case len(fits) == 0 || fits[0].Outcome == stats.CannotTell:
		return form.Reported(errors.New("no answer was possible"))
	case fits[0].Outcome == stats.Missed:
		return form.ErrVerdict
	}
	return nil
}

// besideJob reads the job file that lies beside an output's file: round16 or round16.fio beside
// round16.log.
func besideJob(o *fio.Output) *fio.JobFile {
	base := strings.TrimSuffix(o.Source, filepath.Ext(o.Source))
	for _, beside := range []string{base + ".fio", base} {
		if info, err := sys.Stat(beside); beside == o.Source || err != nil || !info.Mode().IsRegular() ||
			info.Size() > maxJobFile {
			continue
		}
		if f, err := suite.MeasuredJobFile(beside); err == nil {
			return f
		}
	}
	return nil
}

// maxJobFile is how large a file beside an output may be to be tried as a job file.
const maxJobFile = 1 << 20

// mostUnread is how many lines are listed of one output, and of several.
const mostUnread, mostUnreadOfMany = 3, 1

// reportUnread lists what no reader understood, and fails when there is any.
func reportUnread(env *form.Env, outputs []*fio.Output) error {
	n, listed, most := 0, 0, mostUnread
	if len(outputs) > 1 {
		most = mostUnreadOfMany
	}
	for _, o := range outputs {
		for _, u := range o.Unread {
			if n++; listed == most {
				continue
			}
			listed++
			why := u.Why
			if why != "" {
				why = " (" + why + ")"
			}
			env.Sayf("%s:%d: not understood: %s%s", unreadIn(o, u), u.Line, u.Text, why)
		}
	}
	if n > listed {
		env.Sayf("%s not understood; --format json lists all", text.Plural(n-listed, "more line was", "more lines were"))
	}
	if n > 0 {
		return fmt.Errorf("%s not understood, so the result is incomplete",
			text.Plural(n, "line was", "lines were"))
	}
	return nil
}

// reportPassedOver says how many files were passed over for which reason; --details, or a single one, is named.
func reportPassedOver(env *form.Env, over map[string][]string) {
	sum := 0
	for _, files := range over {
		sum += len(files)
	}
	named := sum == 1 || form.PageOptions(env).Details
	if head := "skipped " + text.Plural(sum, "file"); named {
		env.Notef("%s:", head)
	} else {
		env.Notef("%s (--details names them):", head)
	}
	for _, why := range slices.Sorted(maps.Keys(over)) {
		names := ""
		if named {
			names = " (" + text.Clean(text.Some(over[why], sum), 0) + ")"
		}
		fmt.Fprintf(env.Notes(), "  %d: %s%s\n", len(over[why]), why, names)
	}
}

// unreadIn is the file that a line stands in: of logs that make up one output, the one that holds
// it.
func unreadIn(o *fio.Output, u fio.Unread) string {
	if u.File == "" {
		return o.Source
	}
	return filepath.Join(filepath.Dir(o.Source), u.File)
}

// explainPostgres prints what is in a report, and what the log's syncs explain of it.
func explainPostgres(w io.Writer, r *postgres.Report, synced units.Latency) {
	if r.Script != "" {
		fmt.Fprintf(w, "%s, scale %d, %s\n", text.Clean(r.Script, 80), r.Scale, text.Plural(r.Threads, "thread"))
	}
	for _, l := range r.Explain(synced) {
		fmt.Fprintln(w, l)
	}
	if l := r.Latency; l.N > 0 && l.Hist != nil {
		if p99, ok := l.At(99); ok {
			fmt.Fprintf(w, "p99 %v, at most %v.\n", units.LatencyOf(p99), units.LatencyOf(l.Max))
		}
	}
	for _, m := range r.Methods {
		fmt.Fprintf(w, "%s: %v per write and sync, by pg_test_fsync.\n", m.Name, m.Mean)
	}
}

// counters is whether a file has what iostat, sar and the like printed of devices.
func counters(name string) bool {
	data, err := sys.ReadFile(name, sys.TextLimit)
	if err == nil {
		_, err = workload.From(data, 0)
	}
	return err == nil
}
