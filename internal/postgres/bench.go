package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const (
	// settle is how long the server's statistics may lag behind: a backend sends them once a second
	// at most.
	settle = 1200 * time.Millisecond
	// mostLogged is how many transactions pgbench logs, about: more are sampled.
	mostLogged = 500_000
	// pgbenchOver is how much longer than planned pgbench may take: to connect, and to end its last
	// transactions.
	pgbenchOver = 2 * time.Minute
	logPrefix   = "log"
)

// load is one pgbench.
type load struct {
	clients, threads int
	runtime          time.Duration
	*suite.Postgres
	sampling float64 // 0..1 of transactions that are logged
}

// argv is pgbench's command line; prefix is that of its logs.
func (l load) argv(program, prefix, script string) []string {
	argv := []string{
		program, "-n", "-M", "prepared", "-P", "1", "-l", "--log-prefix=" + prefix, "-U", benchUser,
		"-c", strconv.Itoa(l.clients), "-j", strconv.Itoa(l.threads),
	}
	if l.sampling < 1 {
		argv = append(argv, "--sampling-rate="+strconv.FormatFloat(l.sampling, 'f', 4, 64))
	}
	if l.Transactions > 0 {
		argv = append(argv, "-t", strconv.Itoa(l.Transactions))
	} else {
		argv = append(argv, "-T", strconv.Itoa(max(int(l.runtime.Round(time.Second).Seconds()), 1)))
	}
	if l.Connect {
		argv = append(argv, "-C")
	}
	if l.Builtin != "" {
		argv = append(argv, "-b", l.Builtin)
	} else {
		argv = append(argv, "-f", script)
	}
	return append(argv, benchUser)
}

// sampling is the part of transactions to log where so many a second are expected.
func sampling(tps float64, runtime time.Duration) float64 {
	expected := tps * runtime.Seconds()
	if expected <= mostLogged {
		return 1
	}
	return max(mostLogged/expected, 0.0001)
}

// fastest is the most transactions per second that are planned for, by kind of load.
func fastest(p *suite.Postgres) float64 {
	if p.ReadOnly() {
		return 100_000
	}
	return 30_000
}

// step runs one load between two snapshots of everything that counts, and adds it to the result.
func (s *session) step(
	ctx context.Context,
	l load,
	out *sys.Dir,
	pg *result.Postgres,
	tick func(result.PgSecond),
) error {
	step := result.PgStep{Clients: l.clients, Threads: l.threads}
	conn, err := s.connect(ctx, benchUser)
	if err != nil {
		return err
	}
	defer conn.Close(context.Background()) //nolint:errcheck // the server ends it
	if l.Checkpoint {
		if _, err := conn.Exec(ctx, "checkpoint"); err != nil {
			return err
		}
	}
	if err := wait(ctx, settle); err != nil {
		return err
	}
	before, err := s.counters(ctx, conn)
	if err != nil {
		return err
	}
	failing := func(err error) { // in what is not the load
		if err != nil {
			pg.Failed = append(pg.Failed, err.Error())
		}
	}
	sampler, err := telemetry.Start(s.m, s.devices)
	if err != nil {
		return fmt.Errorf("sampler: %w", err)
	}
	waits, err := s.sampleWaits(ctx)
	if err != nil {
		_, ended := sampler.Stop()
		return errors.Join(err, ended)
	}
	cpu, begun := treeCPU(s.started.PID), time.Now()
	sum, cpuBench, runErr := s.pgbench(ctx, l, &step, tick)
	span := time.Since(begun)
	failing(waits.stop())
	series, err := sampler.Stop()
	failing(err)
	if runErr != nil {
		return runErr
	}
	if err := wait(ctx, settle); err != nil {
		return err
	}
	step.ServerCPU, step.PgbenchCPU = treeCPU(s.started.PID)-cpu, cpuBench
	after, err := s.counters(ctx, conn)
	if err != nil {
		return err
	}
	after.into(&step, before)
	step.Transactions, step.Aborted, step.Retried = uint64(sum.transactions), uint64(sum.failed), uint64(sum.retried)
	step.TPS, step.Measured = units.IOPS(sum.tps), time.Duration(sum.transactions/sum.tps*1e9)
	step.Latency.Mean, step.Latency.StdDev = sum.mean, sum.stddev
	waits.into(&step)
	failing(s.readLogs(&step, begun))
	if series != nil {
		s.deviceUse(&step, series, span)
		if f, err := out.Create(fmt.Sprintf("samples-%d.csv.zst", l.clients), 0o644); err == nil {
			failing(errors.Join(telemetry.Write(f, series), f.Sync(), f.Close()))
		}
	}
	pg.Steps = append(pg.Steps, step)
	return nil
}

// pgbench runs the load and returns its summary and the CPU time that it used.
func (s *session) pgbench(
	ctx context.Context,
	l load,
	step *result.PgStep,
	tick func(result.PgSecond),
) (summary, time.Duration, error) {
	script := filepath.Join(s.record.Run, "script.sql")
	if l.Script != "" {
		if err := s.run.WriteFile(filepath.Base(script), []byte(l.Script+"\n"), 0o644); err != nil {
			return summary{}, 0, err
		}
	}
	progress := &lineWriter{each: func(line string) {
		if second, ok := parseProgress(line); ok {
			step.Seconds = append(step.Seconds, second)
			tick(second)
		}
	}}
	out := &sys.Capped{Limit: sys.OutputLimit}
	c := s.child(l.argv(s.install.program("pgbench"), filepath.Join(s.record.Run, logPrefix), script)...)
	// It does no I/O.
	c.Env = slices.DeleteFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, "LD_PRELOAD=") })
	c.Out, c.Err = out, progress
	limit := l.runtime + pgbenchOver
	if l.Transactions > 0 {
		limit = time.Hour
	}
	cpu, err := c.Run(ctx, limit)
	if ctx.Err() != nil {
		return summary{}, cpu, ctx.Err()
	}
	if s.dead() || err != nil && s.dies() {
		return summary{}, cpu, fmt.Errorf("the server ended during the run: %s", s.complaint())
	}
	if err != nil {
		return summary{}, cpu, err
	}
	sum, err := parseSummary(out.String())
	return sum, cpu, err
}

// lineWriter calls each with every line that is written to it.
type lineWriter struct {
	buf  []byte
	each func(string)
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	for {
		i := bytes.IndexByte(w.buf, '\n')
		if i < 0 {
			if len(w.buf) > 64<<10 {
				w.buf = w.buf[:0]
			}
			return len(p), nil
		}
		w.each(string(w.buf[:i]))
		w.buf = w.buf[i+1:]
	}
}

// readLogs adds the latencies of pgbench's logs, one a thread, to the step and to its seconds, and
// removes them.
func (s *session) readLogs(step *result.PgStep, begun time.Time) error {
	files, _ := fs.Glob(s.run.FS(), logPrefix+".*") // the pattern is right
	seconds := make([]fio.Hist, len(step.Seconds))
	each := func(ended, took time.Duration) {
		at := ended - time.Duration(begun.UnixNano())
		i, _ := slices.BinarySearchFunc(step.Seconds, at, func(second result.PgSecond, at time.Duration) int {
			return cmp.Compare(second.At, at)
		})
		if i < len(seconds) {
			seconds[i].Add(took, 1)
		}
	}
	var errs []error
	for _, name := range files {
		f, err := s.run.OpenRegular(name)
		if err == nil {
			err = errors.Join(readLog(io.LimitReader(f, 1<<30), &step.Latency, each), f.Close())
		}
		errs = append(errs, err, s.run.Remove(name))
	}
	for i := range seconds {
		if seconds[i].Count() > 0 {
			step.Seconds[i].P50 = units.LatencyOf(seconds[i].Percentile(50))
			step.Seconds[i].P99 = units.LatencyOf(seconds[i].Percentile(99))
		}
	}
	if len(files) == 0 {
		return errors.New("pgbench wrote no log")
	}
	return errors.Join(errs...)
}

// into puts the samples into a step: shares over all, largest first, and counts by second.
func (w *waits) into(step *result.PgStep) {
	total := 0
	for _, n := range w.all {
		total += n
	}
	for event, n := range w.all {
		step.Waits = append(step.Waits, result.WaitShare{Event: event, N: n, Share: float64(n) / float64(max(total, 1))})
	}
	slices.SortFunc(step.Waits, func(a, b result.WaitShare) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Event, b.Event))
	})
	step.WaitSamples = w.samples
	from := 0
	for i := range step.Seconds { // on a busy machine pgbench prints less often
		to := min(int((step.Seconds[i].At + time.Second/2).Seconds()), len(w.seconds))
		sum := map[string]int{}
		for ; from < to; from++ {
			for event, n := range w.seconds[from] {
				sum[event] += n
			}
		}
		if len(sum) > 0 {
			step.Seconds[i].Waits = sum
		}
	}
}

// deviceUse adds what the data path's top device and the machine did.
func (s *session) deviceUse(step *result.PgStep, series *telemetry.Series, span time.Duration) {
	if host := series.Host(0, span); host != nil {
		step.Busy = min(host.User+host.System+host.IRQ+host.SoftIRQ+host.Steal, 1)
	}
	t := s.site.Topology.For(topology.Data)
	if t == nil || len(t.Devices) == 0 {
		return
	}
	for _, d := range series.Use(0, span) {
		if d.Name == t.Devices[0] {
			step.Reads, step.Writes, step.ReadBytes, step.WriteBytes = d.Reads, d.Writes, d.ReadBytes, d.WriteBytes
		}
	}
}

func threads(clients int) int { return max(min(clients, runtime.NumCPU()), 1) }

// wait lets a time pass, unless the run is stopped before.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
