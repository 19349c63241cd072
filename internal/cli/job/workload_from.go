package job

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/advise"
	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/postgres"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/result"
	"plimsoll/internal/script"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// FromOptions are the flags of workload from, which advise takes, too.
type FromOptions struct {
	Files   []string
	Every   time.Duration `flag:"every"`
	Devices []string      `flag:"device"`
	Join    string        `flag:"join"`
	Copies  int           `flag:"copies"`
	Out     string        `flag:"out"`
	Synced  units.Latency `flag:"sync-latency"`
}

func newWorkloadFromCmd(env *form.Env) *cobra.Command {
	o := FromOptions{Copies: 1}
	return form.Command(env, "workload from", cobra.MinimumNArgs(1), &o, o.run)
}

func (o *FromOptions) run(_ context.Context, env *form.Env, args []string) error {
	o.Files = args
	if err := o.check(); err != nil {
		return err
	}
	if run, ok, err := DemandOfRun(o.Files); (ok || err != nil) && o.Synced == 0 {
		if err != nil {
			return err
		}
		return writeDemand(env, o.Out, run.Demand, nil, []string{"Made by plimsoll workload from " + o.Files[0] + "."})
	}
	if len(o.Files) == 1 && holdsJobs(o.Files[0]) {
		d, err := LoadDemand(o.Files[0])
		if err != nil {
			return err
		}
		return writeDemand(env, o.Out, d, nil, []string{"Made by plimsoll workload from " + o.Files[0] + ": its own rates."})
	}
	if r, ok, err := ReadPostgres(o.Files); ok || err != nil {
		return o.fromPostgres(env, r, err)
	}
	if o.Synced > 0 {
		return form.Usagef("--sync-latency is only for pgbench's output: it is the time of a synced write to its log")
	}
	all, err := o.Read()
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(o.Files[0]), filepath.Ext(o.Files[0]))
	d, seen, err := workload.Derive(demandName(name), all)
	if err != nil {
		return form.Usage(err)
	}
	return writeDemand(env, o.Out, d, seen, []string{
		"Made by plimsoll workload from " + strings.Join(o.Files, ", ") + ".",
		"Was something wrong at that time? plimsoll why --from " + text.ShellQuote(o.Files[0]),
	})
}

// holdsJobs says whether a file is called as job files are, or as documents whose fio commands are read.
func holdsJobs(name string) bool {
	return script.NamesJob(name) || slices.Contains([]string{".md", ".sh"}, filepath.Ext(name))
}

// fromPostgres writes the demand of pgbench's output, with what S and the clients explain of it.
func (o FromOptions) fromPostgres(env *form.Env, r *postgres.Report, err error) error {
	if err != nil {
		return err
	}
	d, err := r.Demand(demandName(strings.TrimSuffix(filepath.Base(o.Files[0]), filepath.Ext(o.Files[0]))))
	if err != nil {
		return form.Usagef("%s: %w", o.Files[0], err)
	}
	lines := append(
		[]string{"Made by plimsoll workload from " + strings.Join(o.Files, ", ") + "."},
		r.Explain(o.Synced)...)
	return writeDemand(env, o.Out, d, nil, lines)
}

// RunDemand is the demand behind a run, and the run.
type RunDemand struct {
	Demand  *workload.Demand
	bundle  *bundle.Bundle
	results []*result.Result
}

// DemandOfRun is the demand of a single run's directory; ok is false when the words name none.
func DemandOfRun(words []string) (run *RunDemand, ok bool, err error) {
	if !sys.IsDir(words[0]) {
		return nil, false, nil // a missing file is named when it is read
	}
	if len(words) > 1 {
		return nil, true, form.Usagef("name one run")
	}
	run = &RunDemand{}
	if run.bundle, err = bundle.Open(words[0]); err != nil {
		return nil, true, err
	}
	for i := range run.bundle.Scenarios {
		if r := run.bundle.Scenarios[i].Result; r != nil && r.State != result.Interrupted {
			run.results = append(run.results, r)
		}
	}
	run.Demand, err = advise.FromResults(demandName(run.bundle.Run.Suite.Name), run.results)
	if err != nil {
		return nil, true, form.Usagef("%s measured nothing: none of its scenarios completed an I/O", words[0])
	}
	return run, true, nil
}

// Owned are the volumes that the run was on, where they can be priced and all results of the demand's
// role were on the same, and how long one I/O took there at most; nil where they are not known. The demand's notes say
// where a document's text is all that names them.
func (r *RunDemand) Owned() (*advise.Layout, map[string]advise.Took) {
	var all *advise.Layout
	shown := map[string]advise.Took{}
	for _, one := range r.results {
		if one.Role != r.Demand.Role {
			continue
		}
		on := cmp.Or(one.Topology, &r.bundle.Run.Topology)
		target := on.For(one.Role)
		if target == nil {
			return nil, nil
		}
		array := on.Array(target.Array)
		if array == nil {
			return nil, nil
		}
		l, err := advise.LayoutOf(array, 0)
		if err != nil || all != nil && *l != *all {
			return nil, nil //nolint:nilerr // they are no candidate then
		}
		if from := array.Volumes[0].OriginOf("type"); all == nil && from.Kind == topology.Assumed {
			r.Demand.Notes = append(r.Demand.Notes, fmt.Sprintf(
				"your volumes are assumed to be %d x %s, %s; --volumes overrides this", l.N, l.Spec.Type, from.Where))
		}
		all = l
		shown[l.Spec.Type] = shown[l.Spec.Type].Least(advise.ShownBy(one))
	}
	return all, shown
}

func (o FromOptions) check() error {
	if o.Copies < 1 || o.Copies > 16 {
		return form.Usagef("--copies %d: use 1 to 16", o.Copies)
	}
	return nil
}

// Read are the devices of the files that are wanted.
func (o FromOptions) Read() ([]workload.Observed, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var all []workload.Observed
	for _, name := range o.Files {
		data, err := sys.ReadFile(name, sys.JSONLimit)
		if err != nil {
			return nil, err
		}
		some, err := workload.From(data, o.Every)
		if err != nil {
			return nil, form.Usagef("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	all, err := o.wanted(all)
	if err != nil {
		return nil, form.Usage(err)
	}
	return all, nil
}

// wanted are the devices that are named, joined if that is asked for.
func (o FromOptions) wanted(all []workload.Observed) ([]workload.Observed, error) {
	var names []string
	if len(o.Devices) > 0 {
		var some []workload.Observed
		for _, a := range all {
			names = append(names, a.Device)
			for _, d := range o.Devices {
				if a.Device == strings.TrimPrefix(d, "/dev/") {
					some = append(some, a)
				}
			}
		}
		if len(some) < len(o.Devices) {
			return nil, fmt.Errorf("--device %s: the log has %s", strings.Join(o.Devices, ","), strings.Join(names, ", "))
		}
		all = some
	}
	if o.Join == "" {
		return all, nil
	}
	one, err := workload.Gather(o.Join, o.Copies, all)
	return []workload.Observed{one}, err
}

// demandName is a file's or a suite's name as a demand may have it.
func demandName(name string) string {
	out := strings.Map(workload.PlainRune, name)
	return cmp.Or(strings.Trim(out[:min(len(out), 48)], "-"), "app")
}

// writeDemand prints a demand file with what was seen as its comment; with a file, that goes to the
// screen.
func writeDemand(env *form.Env, file string, d *workload.Demand, seen []workload.Seen, about []string) error {
	lines := append(about, plans.SeenLines(seen)...) //nolint:gocritic // a new slice
	for _, n := range d.Notes {
		lines = append(lines, "Note: "+n)
	}
	text := d.YAML(lines...)
	if _, err := workload.Parse("demand", []byte(text)); err != nil {
		return fmt.Errorf("this is a bug in plimsoll: the demand cannot be read back: %w", err)
	}
	if file == "" {
		_, err := fmt.Fprint(env.Out, text)
		return err
	}
	if err := sys.WriteFile(file, []byte(text), form.FileMode(file)); err != nil {
		return err
	}
	for _, l := range lines {
		fmt.Fprintln(env.Out, l)
	}
	env.Printf("demand: %s", file)
	return nil
}

// ReadPostgres reads files of pgbench and pg_test_fsync as one report; ok is false where the first
// one is something else.
func ReadPostgres(files []string) (r *postgres.Report, ok bool, err error) {
	for i, name := range files {
		if !sys.IsFile(name) {
			return nil, false, nil // whoever reads it next says what it is
		}
		data, err := sys.ReadFile(name, sys.JSONLimit)
		if err != nil {
			return nil, true, err
		}
		if !postgres.Reads(data) {
			if i == 0 {
				return nil, false, nil
			}
			return nil, true, form.Usagef("%s has figures of neither pgbench nor pg_test_fsync", name)
		}
		one, err := postgres.Read(data)
		if err == nil && r != nil {
			err = r.With(one)
		} else if err == nil {
			r = one
		}
		if err != nil {
			return nil, true, form.Usagef("%s: %w", name, err)
		}
	}
	return r, r != nil, nil
}
