package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/host"
	"plimsoll/internal/permit"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
)

// overrun is how much longer than planned fio may take before it counts as hung: it prints, joins
// its jobs and calibrates clocks in well under a second, but the last I/Os of a deep queue on a
// throttled volume may take many.
const overrun = 60 * time.Second

// maxSaid is how many lines are kept of what fio prints besides its documents.
const maxSaid = 10_000

// leastShare is the part of the planned time that a measurement must cover to count.
const leastShare = 0.9

// scenario runs one scenario; its files go to dir. An error means that plimsoll itself failed;
// fio's failures are in the result.
func (r *runner) scenario(ctx context.Context, s suite.Scenario, dir string) (*result.Result, error) {
	out, err := sys.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // only a handle
	if s.Kind() == suite.OfServer {
		return r.database(ctx, s, out)
	}
	p := r.place(s.Role)
	file := p.FileFor(s)
	loads, err := s.WorkloadsOn(file)
	if err != nil {
		return nil, err
	}
	res, ok := r.begin(s, suite.Window(loads), p)
	if res.Workloads = loads; !ok {
		return res, nil
	}
	if r.plan.Settings.FreshExtents && p.Device == nil && !s.AsIs && !slices.ContainsFunc(loads, fio.Workload.Reads) {
		if file, err = p.MakeFresh(s); err != nil {
			res.Invalidate(fmt.Sprintf("the file of fresh extents could not be made: %v", err))
			return res, nil
		}
	}
	grant, err := p.Grant(s, file, out)
	if err != nil {
		res.Invalidate(err.Error())
		return res, nil
	}
	res.Command = command.Line(&grant.Shown)
	return res, errors.Join(r.runFio(ctx, s, res, grant, out), grant.Close())
}

// begin is a scenario's result before anything is measured; it is false where nothing can be measured in its places.
func (r *runner) begin(s suite.Scenario, planned time.Duration, places ...*place) (*result.Result, bool) {
	res := &result.Result{
		ID: s.ID, Name: s.Name, Title: s.Title, Role: s.Role, Phase: s.Phase, State: result.Done, Planned: planned,
		Start: r.m.Now(),
	}
	for _, p := range places {
		if p.broken != nil {
			res.Invalidate(p.broken.Error())
			return res, false
		}
	}
	err := r.alone()
	if err != nil {
		res.Invalidate(firstLine(err))
	}
	return res, err == nil
}

// alone reports which processes of an earlier scenario, or of the prefill, still live: next to them
// nothing can be measured.
func (r *runner) alone() error {
	if r.alive != nil && r.alive.Still(sys.Grace) {
		return r.alive
	}
	r.alive = nil
	return nil
}

// runFio starts fio with the sampler beside it and fills res.
func (r *runner) runFio(
	ctx context.Context,
	s suite.Scenario,
	res *result.Result,
	grant *permit.Grant,
	out *sys.Dir,
) error {
	if err := errors.Join(write(out, "job.fio", grant.Shown.Text()), write(out, runFile, grant.Job.Text())); err != nil {
		return err
	}
	defer out.Remove(runFile) //nolint:errcheck // its names lead nowhere after the run; a bundle may have it
	raw, err := out.Create("fio.jsonl", 0o644)
	if err != nil {
		return err
	}
	defer raw.Close() //nolint:errcheck // Sync below reports what was not written
	if err := r.agreed(ctx, s); err != nil {
		return err
	}
	if r.plan.Gate != nil {
		if err := r.plan.Gate(ctx, s); err != nil {
			return err
		}
	}
	res.Start = r.m.Now()
	watched := r.plan.Topology.For(s.Role).Devices
	sampler, err := telemetry.Start(r.m, watched)
	if err != nil {
		return fmt.Errorf("sampler: %w", err)
	}
	inv := running.Invocation{
		Dir:     out.Path(),
		JobFile: runFile,
		Raw:     &lines{w: raw, plain: grant.Plain},
		Read:    output.ParseJSON,
		Stall:   r.stall() + pauses(s.Job, res.Workloads),
		Disks:   watched,
	}
	expected := suite.Duration(res.Workloads)
	if expected > 0 {
		inv.Limit = expected + overrun
	}
	var said []string
	inv.Text = func(line string) {
		if len(said) < maxSaid {
			said = append(said, grant.Plain(line))
		}
	}
	build := &result.Builder{Start: r.m.Now(), Loads: res.Workloads}
	fioCtx, end := context.WithCancel(ctx)
	defer end()
	stop := r.newStopper(s, end)
	inv.Doc = func(o *fio.Output) {
		second, ok := build.Add(o)
		if !ok {
			return
		}
		stop.add(second)
		sample, use := sampler.Latest()
		r.emit(Ticked{ID: s.ID, Elapsed: second.At, Second: second, Sample: sample, Use: use})
	}
	r.emit(Began{Scenario: s, Argv: inv.Argv(), Expected: expected, Stall: inv.Stall})
	logged, _ := host.Log(ctx, r.m) // who may not read it sees no timeouts
	ofAmazon := func(model string) bool { return cloud.IsEBS(model) || cloud.IsInstanceStore(model) }
	before := ebsStats(r.plan.Topology.Tree, watched, ofAmazon)
	fioErr := stop.stopped(ctx, running.Run(fioCtx, r.m, inv))
	r.alive, _ = errors.AsType[*sys.Alive](fioErr)
	res.Wall = r.m.Now().Sub(build.Start)
	res.Timeouts = r.timeouts(context.WithoutCancel(ctx), watched, logged)
	res.EBS = ebsStats(r.plan.Topology.Tree, watched, ofAmazon)
	for name, stats := range res.EBS {
		res.EBS[name] = stats.Minus(before[name])
	}
	series, err := sampler.Stop()
	if err != nil {
		return fmt.Errorf("sampler: %w", err)
	}
	build.Finish(res, series)
	stop.finish(res, series, build.Start)
	judgeRun(res, fioErr, grant.Plain, said)
	return errors.Join(raw.Sync(), keepSamples(out, series), keepText(out, said))
}

// timeouts are the complaints about drives that the kernel's log has since it was read before, of
// those watched.
func (r *runner) timeouts(ctx context.Context, watched []string, before []host.Event) []host.Event {
	after, _ := host.Log(ctx, r.m)
	return slices.DeleteFunc(host.Since(before, after), func(e host.Event) bool {
		return e.Kind != host.Timeout || !slices.ContainsFunc(watched, func(name string) bool {
			return strings.HasPrefix(name, e.Device+"n") // nvme1n1 of nvme1
		})
	})
}

// ebsStats reads the statistics page of each EBS volume among the devices. It needs root; without,
// or off EC2, there is none. AWS advises one read a second at most, which twice a scenario keeps
// to.
func ebsStats(tree *block.Tree, devices []string, has func(model string) bool) map[string]cloud.EBSStats {
	stats := map[string]cloud.EBSStats{}
	for _, name := range devices {
		d := tree.Devices[name]
		if d == nil || !has(d.Model) {
			continue
		}
		if page, err := cloud.ReadEBSStats(d.Path); err == nil {
			stats[name] = page
		}
	}
	return stats
}

// runFile is the job file that fio reads. Its names lead to open handles; job.fio has those that
// the user knows.
const runFile = "run.fio"

func keepSamples(out *sys.Dir, series *telemetry.Series) error {
	f, err := out.Create("samples.csv.zst", 0o644)
	if err != nil {
		return err
	}
	return errors.Join(telemetry.Write(f, series), f.Sync(), f.Close())
}

// keepText keeps what fio printed between its documents, when it printed anything.
func keepText(out *sys.Dir, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	return write(out, "fio.txt", []byte(strings.Join(lines, "\n")+"\n"))
}

func write(out *sys.Dir, name string, text []byte) error {
	f, err := out.Create(name, 0o644)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Close())
	}
	return err
}

// judgeRun decides whether the figures are a measurement at all. It trusts neither fio's exit code
// nor its documents alone.
func judgeRun(res *result.Result, fioErr error, plain func(string) string, said []string) {
	if fioErr != nil {
		reason := plain(firstLine(fioErr))
		if failed, ok := errors.AsType[*sys.Failed](fioErr); ok && failed.Stderr == "" && failed.Signal == 0 &&
			len(said) > 0 {
			reason = "fio: " + strings.TrimPrefix(said[len(said)-1], "fio: ")
		}
		res.Invalidate(strings.Replace(reason, "fio: fio: ", "fio: ", 1))
	}
	for _, j := range res.Jobs {
		if j.Error != 0 {
			res.Invalidate(fmt.Sprintf("job %s ended with error %d (%s)", j.Name, j.Error, unix.ErrnoName(unix.Errno(j.Error))))
		}
	}
	switch n := res.Total.IOs(); {
	case len(res.Jobs) == 0 && fioErr == nil:
		res.Invalidate("fio printed no result")
	case n == 0 && len(res.Jobs) > 0:
		res.Invalidate("no I/O completed")
	case res.Stopped != nil && res.Stopped.At > 0: // it ended when it was known
	case res.Planned > 0 && n > 0:
		want := time.Duration(0)
		for _, w := range res.Workloads {
			want = max(want, w.Runtime)
		}
		if res.Measured < time.Duration(leastShare*float64(want)) {
			res.Invalidate(fmt.Sprintf("only %s of %s were measured", text.Duration(res.Measured), text.Duration(want)))
		}
	}
}

// firstLine is the first line of an error, at most 300 characters: fio and kernels can say a great
// deal.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if r := []rune(line); len(r) > 300 {
		line = string(r[:300]) + "…"
	}
	return line
}

// lines writes each JSON document it is given on a line of its own.
type lines struct {
	w     *os.File
	plain func(string) string // puts the names that the user knows back
	buf   bytes.Buffer
}

func (l *lines) Write(doc []byte) (int, error) {
	l.buf.Reset()
	if err := json.Compact(&l.buf, doc); err != nil {
		return 0, err
	}
	l.buf.WriteByte('\n')
	if _, err := l.w.WriteString(l.plain(l.buf.String())); err != nil {
		return 0, err
	}
	return len(doc), nil
}
