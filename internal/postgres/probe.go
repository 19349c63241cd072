package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/result"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const (
	probeSize  = 64 * units.MiB
	probeFor   = 10 * time.Second
	probeQuick = 2 * time.Second
	// probeFresh is how old a probe may be to count as the one right before the next scenario.
	probeFresh = 10 * time.Second
)

// probe measures S with fio: 8 KiB writes, each with an fdatasync, one at a time, into blocks that
// were written before, as the server's recycled log is.
func (s *server) probe(ctx context.Context) (p result.SyncProbe, err error) {
	name, err := s.site.WAL.MakeProbe(probeSize)
	if err != nil {
		return p, err
	}
	takes := probeFor
	if s.site.Server.Quick {
		takes = probeQuick
	}
	job := fmt.Appendf(nil, `[pg-sync]
filename=%s
size=%d
rw=write
bs=8k
ioengine=psync
fdatasync=1
overwrite=1
time_based
runtime=%ds
`, name, uint64(probeSize), int(takes.Seconds()))
	// Not where the server's user can put another: fio runs as the caller, and does what is in it.
	file, free, err := sys.MemFile("probe.fio", job)
	if err != nil {
		return p, err
	}
	defer free()
	var last *fio.Output
	wal := s.site.Topology.For(topology.WAL)
	if wal == nil {
		wal = &topology.Target{}
	}
	sampler, err := telemetry.Start(s.m, wal.Devices)
	if err != nil {
		return p, fmt.Errorf("sampler: %w", err)
	}
	begun := time.Now()
	err = running.Run(ctx, s.m, running.Invocation{
		JobFile: file,
		Raw:     io.Discard,
		Read:    output.ParseJSON,
		Text:    func(string) {},
		Doc:     func(o *fio.Output) { last = o },
		Limit:   takes + time.Minute,
	})
	span := time.Since(begun)
	series, stopped := sampler.Stop()
	if err = errors.Join(err, stopped); err != nil {
		return p, fmt.Errorf("probe of the log's sync: %w", err)
	}
	if last == nil || len(last.Jobs) == 0 || last.Jobs[0].Write.N == 0 {
		return p, fmt.Errorf("probe of the log's sync: fio wrote nothing")
	}
	j := last.Jobs[0]
	write := j.Write.Lat.Mean
	if write == 0 {
		write = j.Write.Clat.Mean
	}
	cpu := (j.CPU.User + j.CPU.System) * float64(j.Runtime) / float64(j.Write.N)
	p = result.SyncProbe{
		Write: units.Latency(write), Sync: units.Latency(j.Sync.Lat.Mean), N: j.Write.N, CPU: units.Latency(cpu),
	}
	for i, d := range series.Use(0, span) {
		if i == 0 {
			p.Writes, p.Counted = d.Writes, true
		}
		p.Flushes += uint64(float64(d.Flushes)*span.Seconds() + 0.5)
	}
	return p, nil
}
