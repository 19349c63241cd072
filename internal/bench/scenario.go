package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
)

// overrun is how much longer than planned fio may take before it counts as hung: it prints, joins its jobs and calibrates clocks
// in well under a second, but the last I/Os of a deep queue on a throttled volume may take many.
const overrun = 60 * time.Second

// maxSaid is how many lines are kept of what fio prints besides its documents.
const maxSaid = 10_000

// leastShare is the part of the planned time that a measurement must cover to count.
const leastShare = 0.9

// scenario runs one scenario; its files go to dir. An error means that plimsoll itself failed; fio's failures are in the result.
func (r *runner) scenario(ctx context.Context, s suite.Scenario, dir string) (*result.Result, error) {
	p := r.place(s.Role)
	file := p.fileFor(s)
	loads, err := s.WorkloadsOn(file)
	if err != nil {
		return nil, err
	}
	res := &result.Result{
		ID: s.ID, Name: s.Name, Title: s.Title, Role: s.Role, Phase: s.Phase, State: result.Done,
		Workloads: loads, Planned: suite.Window(loads), Start: r.m.Now(),
	}
	if p.broken != nil {
		res.Invalidate(p.broken.Error())
		return res, nil
	}
	if err := errors.Join(r.alone(), r.checkAgain(s)); err != nil {
		res.Invalidate(firstLine(err))
		return res, nil
	}
	if s.AsIs && p.usesJobDir() {
		if err := os.MkdirAll(file, 0o755); err != nil {
			return nil, writeTrouble(p.path, err)
		}
	}
	if r.plan.Settings.FreshExtents && p.device == nil && !s.AsIs && onlyWrites(loads) {
		if err := p.freshen(s.Size); err != nil {
			res.Invalidate(fmt.Sprintf("the file of fresh extents could not be made: %v", err))
			return res, nil
		}
		file = p.fresh()
	}
	jobFile := filepath.Join(dir, "job.fio")
	job := p.placed(s, file)
	if err := os.WriteFile(jobFile, job.Text(), 0o644); err != nil {
		return nil, err
	}
	res.Command = fio.CommandLine(&job)
	return res, r.runFio(ctx, s, res, jobFile, dir)
}

// alone says which processes of an earlier scenario, or of the prefill, still live: beside them nothing can be measured.
func (r *runner) alone() error {
	if r.alive != nil && r.alive.Still(sys.Grace) {
		return r.alive
	}
	r.alive = nil
	return nil
}

// checkAgain looks at a job's files once more: what is there may have changed since the run began.
func (r *runner) checkAgain(s suite.Scenario) error {
	p := r.place(s.Role)
	noted := len(p.made)
	if err := r.checkJob(s); err != nil {
		return err
	}
	if len(p.made) > noted { // not written down, so nobody would remove it
		return fmt.Errorf("%s was there when the run began and is gone", p.made[noted])
	}
	return nil
}

func onlyWrites(loads []fio.Workload) bool {
	for _, w := range loads {
		if w.ReadShare > 0 {
			return false
		}
	}
	return true
}

// runFio starts fio with the sampler beside it and fills res.
func (r *runner) runFio(ctx context.Context, s suite.Scenario, res *result.Result, jobFile, dir string) error {
	raw, err := os.Create(filepath.Join(dir, "fio.jsonl"))
	if err != nil {
		return err
	}
	defer raw.Close() //nolint:errcheck // Sync below reports what was not written
	watched := r.plan.Topology.For(s.Role).Devices
	sampler, err := telemetry.Start(r.m, watched)
	if err != nil {
		return fmt.Errorf("sampler: %w", err)
	}
	jobFile, err = filepath.Abs(jobFile) // below --out -x it would look like an option
	if err != nil {
		return err
	}
	inv := fio.Invocation{JobFile: jobFile, Raw: &lines{w: raw}, State: filepath.Dir(jobFile)}
	expected := suite.Duration(res.Workloads)
	if expected > 0 {
		inv.Limit = expected + overrun
	}
	var said []string
	inv.Text = func(line string) {
		if len(said) < maxSaid {
			said = append(said, line)
		}
	}
	build := &result.Builder{Start: r.m.Now()}
	inv.Doc = func(o *fio.Output) {
		second, ok := build.Add(o)
		if !ok {
			return
		}
		sample, _ := sampler.Latest()
		r.emit(Ticked{ID: s.ID, Elapsed: second.At, Second: second, Sample: sample, Use: sampler.LatestUse()})
	}
	r.emit(Began{Scenario: s, Argv: inv.Argv(), Expected: expected})
	before := r.ebsStats(watched)
	fioErr := fio.Run(ctx, r.m, inv)
	r.alive, _ = errors.AsType[*sys.Alive](fioErr)
	res.Wall = r.m.Now().Sub(build.Start)
	res.EBS = r.ebsStats(watched)
	for name, stats := range res.EBS {
		res.EBS[name] = stats.Minus(before[name])
	}
	series, err := sampler.Stop()
	if err != nil {
		return fmt.Errorf("sampler: %w", err)
	}
	build.Finish(res, series)
	judgeRun(res, fioErr, said)
	return errors.Join(raw.Sync(), keepSamples(dir, series), keepText(dir, said))
}

// ebsStats reads the statistics page of each EBS volume among the devices. It needs root; without, or off EC2, there is none. AWS advises
// one read a second at most, which twice a scenario keeps to.
func (r *runner) ebsStats(devices []string) map[string]cloud.EBSStats {
	stats := map[string]cloud.EBSStats{}
	for _, name := range devices {
		d := r.plan.Topology.Tree.Device(name)
		if d == nil || !cloud.IsEBS(d.Model) && !cloud.IsInstanceStore(d.Model) {
			continue
		}
		if page, err := cloud.ReadEBSStats(d.Path); err == nil {
			stats[name] = page
		}
	}
	return stats
}

func keepSamples(dir string, series *telemetry.Series) error {
	f, err := os.Create(filepath.Join(dir, "samples.csv.zst"))
	if err != nil {
		return err
	}
	return errors.Join(telemetry.Write(f, series), f.Sync(), f.Close())
}

// keepText keeps what fio said beside its documents, when it said anything.
func keepText(dir string, said []string) error {
	if len(said) == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, "fio.txt"), []byte(strings.Join(said, "\n")+"\n"), 0o644)
}

// judgeRun decides whether the figures are a measurement at all. It trusts neither fio's exit code nor its documents alone.
func judgeRun(res *result.Result, fioErr error, said []string) {
	if fioErr != nil {
		reason := firstLine(fioErr)
		if failed, ok := errors.AsType[*sys.Failed](fioErr); ok && failed.Stderr == "" && failed.Signal == 0 && len(said) > 0 {
			reason = "fio: " + strings.TrimPrefix(said[len(said)-1], "fio: ")
		}
		res.Invalidate(reason)
	}
	for _, j := range res.Jobs {
		if j.Error != 0 {
			res.Invalidate(fmt.Sprintf("job %s ended with error %d (%s)", j.Name, j.Error, unix.ErrnoName(unix.Errno(j.Error))))
		}
	}
	switch n := res.Total.Read.N + res.Total.Write.N + res.Total.Trim.N; {
	case len(res.Jobs) == 0 && fioErr == nil:
		res.Invalidate("fio printed no result")
	case n == 0 && len(res.Jobs) > 0:
		res.Invalidate("no I/O completed")
	case res.Planned > 0 && n > 0:
		want := time.Duration(0)
		for _, w := range res.Workloads {
			want = max(want, w.Runtime)
		}
		if res.Measured < time.Duration(leastShare*float64(want)) {
			res.Invalidate(fmt.Sprintf("only %s of %s were measured", res.Measured.Round(10*time.Millisecond), want))
		}
	}
}

// firstLine is the first line of an error, at most 300 characters: fio and kernels can say a great deal.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if r := []rune(line); len(r) > 300 {
		line = string(r[:300]) + "…"
	}
	return line
}

// lines writes each JSON document it is given on a line of its own.
type lines struct {
	w   *os.File
	buf bytes.Buffer
}

func (l *lines) Write(doc []byte) (int, error) {
	l.buf.Reset()
	if err := json.Compact(&l.buf, doc); err != nil {
		return 0, err
	}
	l.buf.WriteByte('\n')
	if _, err := l.w.Write(l.buf.Bytes()); err != nil {
		return 0, err
	}
	return len(doc), nil
}
