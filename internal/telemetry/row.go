package telemetry

import (
	"math"
	"time"

	"plimsoll/internal/units"
)

// A row is one sample as plain numbers in the units that the columns name: first the host's, then
// each device's. It is what the sampler fills and keeps, and what a line of the file holds.

var hostColumns = []string{
	"at_us", "cpus", "sampler_cpu_us", "dirty_bytes", "writeback_bytes",
	"cpu_user_ms", "cpu_system_ms", "cpu_idle_ms", "cpu_iowait_ms", "cpu_irq_ms", "cpu_softirq_ms", "cpu_steal_ms",
	"io_some_us", "io_full_us",
}

// The places of the host's columns in a row.
const (
	colAt = iota
	colCPUs
	colOwn
	colDirty
	colWriteback
	colUser
	colSystem
	colIdle
	colIOWait
	colIRQ
	colSoftIRQ
	colSteal
	colIOSome
	colIOFull
	hostWidth
)

// deviceColumns are in the order of /proc/diskstats, without discards.
var deviceColumns = []string{
	"reads", "read_merges", "read_bytes", "read_time_ms",
	"writes", "write_merges", "write_bytes", "write_time_ms",
	"in_flight", "busy_ms", "queue_ms", "flushes", "flush_time_ms",
}

// The places of a device's columns in its part of a row.
const (
	devReads = iota
	devReadMerges
	devReadBytes
	devReadTime
	devWrites
	devWriteMerges
	devWriteBytes
	devWriteTime
	devInFlight
	devBusy
	devQueue
	devFlushes
	devFlushTime
	deviceWidth
)

// absent stands in a row for a number that could not be read; an empty cell in the file.
const absent = ^uint64(0)

func rowWidth(devices int) int { return hostWidth + devices*deviceWidth }

func deviceRow(row []uint64, i int) []uint64 {
	return row[hostWidth+i*deviceWidth:][:deviceWidth]
}

// known is v, or 0 when it is absent.
func known(v uint64) uint64 {
	if v == absent {
		return 0
	}
	return v
}

// duration is v units long, or as long as a Duration can be.
func duration(v uint64, unit time.Duration) time.Duration {
	return time.Duration(min(known(v), uint64(math.MaxInt64/unit))) * unit
}

// decodeRow fills s, whose Devices are as many as the row's.
func decodeRow(row []uint64, s *Sample) {
	us := func(c int) time.Duration { return duration(row[c], time.Microsecond) }
	ms := func(c int) time.Duration { return duration(row[c], time.Millisecond) }
	s.At, s.Overhead = us(colAt), us(colOwn)
	s.Dirty, s.Writeback = units.Bytes(known(row[colDirty])), units.Bytes(known(row[colWriteback]))
	s.CPU = CPU{
		User: ms(colUser), System: ms(colSystem), Idle: ms(colIdle), IOWait: ms(colIOWait),
		IRQ: ms(colIRQ), SoftIRQ: ms(colSoftIRQ), Steal: ms(colSteal),
	}
	s.IOSome, s.IOFull = us(colIOSome), us(colIOFull)
	for i := range s.Devices {
		s.Devices[i] = decodeDevice(deviceRow(row, i))
	}
}

func decodeDevice(r []uint64) Device {
	if r[devReads] == absent {
		return Device{Gone: true}
	}
	n := func(c int) uint64 { return known(r[c]) }
	ms := func(c int) time.Duration { return duration(r[c], time.Millisecond) }
	return Device{
		Reads:       n(devReads),
		ReadMerges:  n(devReadMerges),
		ReadBytes:   units.Bytes(n(devReadBytes)),
		ReadTime:    ms(devReadTime),
		Writes:      n(devWrites),
		WriteMerges: n(devWriteMerges),
		WriteBytes:  units.Bytes(n(devWriteBytes)),
		WriteTime:   ms(devWriteTime),
		InFlight:    n(devInFlight),
		Busy:        ms(devBusy),
		Queue:       ms(devQueue),
		Flushes:     n(devFlushes),
		FlushTime:   ms(devFlushTime),
	}
}

// encodeRow is the reverse of decodeRow; parts of a millisecond or microsecond are cut off.
func encodeRow(s *Sample, cpus int, row []uint64) {
	us := func(d time.Duration) uint64 { return uint64(d.Microseconds()) }
	ms := func(d time.Duration) uint64 { return uint64(d.Milliseconds()) }
	row[colAt], row[colCPUs], row[colOwn] = us(s.At), uint64(cpus), us(s.Overhead)
	row[colDirty], row[colWriteback] = uint64(s.Dirty), uint64(s.Writeback)
	row[colUser], row[colSystem], row[colIdle], row[colIOWait] = ms(s.CPU.User), ms(s.CPU.System), ms(
		s.CPU.Idle,
	), ms(s.CPU.IOWait)
	row[colIRQ], row[colSoftIRQ], row[colSteal] = ms(s.CPU.IRQ), ms(s.CPU.SoftIRQ), ms(s.CPU.Steal)
	row[colIOSome], row[colIOFull] = us(s.IOSome), us(s.IOFull)
	for i, d := range s.Devices {
		r := deviceRow(row, i)
		if d.Gone {
			for c := range r {
				r[c] = absent
			}
			continue
		}
		r[devReads], r[devReadMerges], r[devReadBytes], r[devReadTime] = d.Reads, d.ReadMerges, uint64(
			d.ReadBytes,
		), ms(d.ReadTime)
		r[devWrites], r[devWriteMerges], r[devWriteBytes], r[devWriteTime] = d.Writes, d.WriteMerges, uint64(
			d.WriteBytes,
		), ms(d.WriteTime)
		r[devInFlight], r[devBusy], r[devQueue] = d.InFlight, ms(d.Busy), ms(d.Queue)
		r[devFlushes], r[devFlushTime] = d.Flushes, ms(d.FlushTime)
	}
}
