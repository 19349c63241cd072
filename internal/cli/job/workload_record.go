package job

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/advise"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

type recordOptions struct {
	form.LayoutOptions
	devices []string
	Long    time.Duration `flag:"for"`
	Every   time.Duration `flag:"every"`
	Out     string        `flag:"out"`
	Series  string        `flag:"series"`
}

func newWorkloadRecordCmd(env *form.Env) *cobra.Command {
	o := recordOptions{Long: 10 * time.Minute, Every: time.Second}
	cmd := form.Command(env, "workload record", cobra.MinimumNArgs(1), &o, o.run)
	o.AddFlags(cmd.Flags())
	return cmd
}

func (o *recordOptions) run(ctx context.Context, env *form.Env, args []string) error {
	o.devices = args
	if o.Long < time.Second || o.Every < time.Second || o.Every > o.Long {
		return form.Usagef("--for and --every must be a second or more, and --every not longer than --for")
	}
	decl, err := o.Declaration(env)
	if err != nil {
		return err
	}
	var tops []*topology.Topology
	var names []string
	for _, d := range o.devices {
		path := d
		if !strings.ContainsRune(d, '/') && !sys.Exists(path) {
			path = "/dev/" + d
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return form.Usagef("%s: name a device such as md0, or a path", d)
		}
		t, err := topology.Detect(ctx, env.Machine, map[topology.Role]string{topology.Data: path}, decl)
		if err != nil {
			return form.Usage(err)
		}
		target := t.For(topology.Data)
		if target == nil || target.Device == "" {
			return form.Usagef("%s is on no block device", d)
		}
		if slices.Contains(names, target.Device) {
			return form.Usagef("%s is on %s, which is already named", d, target.Device)
		}
		tops, names = append(tops, t), append(names, target.Device)
	}
	env.Notef("watching %s for %s; Ctrl-C ends it", text.List(names), text.Duration(o.Long))
	rec, err := workload.Record(ctx, env.Machine, names, o.Long)
	if err != nil {
		return err
	}
	all := workload.Observe(rec.Series, o.Every)
	if o.Series != "" {
		var b bytes.Buffer
		if err := workload.WriteSeries(&b, rec.Series.Start, all); err != nil {
			return err
		}
		if err := sys.WriteFile(o.Series, b.Bytes(), form.FileMode(o.Series)); err != nil {
			return err
		}
	}
	d, seen, err := workload.Derive(demandName(names[0]), all)
	if err != nil {
		return err
	}
	lines := []string{
		fmt.Sprintf("Recorded by plimsoll on %s, %s UTC, for %s.", text.List(names),
			rec.Series.Start.UTC().Format("2006-01-02 15:04"), text.Duration(rec.Series.Samples[len(rec.Series.Samples)-1].At)),
	}
	for i, t := range tops {
		limits := advise.Limits(t, topology.Data, all[i])
		advise.Censor(d, limits)
		for k, l := range limits {
			if k < 3 && (l.Most >= 0.5 || k == 0) {
				lines = append(lines, l.String()+".")
			}
		}
		if len(limits) == 0 {
			lines = append(lines, names[i]+": no limits of its volumes are known, so what limited it is unknown; "+
				"declare them with --volumes and --instance.")
		}
	}
	lines = append(lines, processLines(rec)...)
	lines = append(lines, fmt.Sprintf("Watching used %s of a core.", text.Percent(rec.Series.Overhead)))
	if rec.Series.Missed > 0 {
		d.Notes = append(d.Notes,
			fmt.Sprintf("the machine was too busy for %s: peaks there are averaged", text.Plural(rec.Series.Missed, "reading")))
	}
	return writeDemand(env, o.Out, d, seen, lines)
}

// processLines names the processes that moved the most.
func processLines(rec *workload.Recording) []string {
	var lines []string
	for i, p := range rec.Processes {
		if i == 5 {
			break
		}
		lines = append(lines,
			fmt.Sprintf("Process %s (%d): %v read, %v written.", text.Clean(p.Name, 40), p.PID, round(p.Read), round(p.Write)))
	}
	switch {
	case rec.Blind && rec.AsRoot:
		lines = append(lines, "Some processes could not be inspected, not even by root: what they did is not listed.")
	case rec.Blind:
		lines = append(lines, "Other users' processes could not be inspected: run plimsoll as root to see them.")
	}
	return lines
}

func round(r units.Rate) units.Rate { return units.Rate(float64(int64(r))) }
