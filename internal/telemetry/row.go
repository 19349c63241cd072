package telemetry

import (
	"math"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// A row is one sample as plain numbers in the units that the columns name: first the host's, then
// each device's. It is what the sampler fills and keeps, and what a line of the file holds.

var hostColumns = strings.Fields(`
	at_us cpus sampler_cpu_us dirty_bytes writeback_bytes cpu_user_ms cpu_system_ms cpu_idle_ms cpu_iowait_ms
	cpu_irq_ms cpu_softirq_ms cpu_steal_ms io_some_us io_full_us`)

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
var deviceColumns = strings.Fields(`
	reads read_merges read_bytes read_time_ms writes write_merges write_bytes write_time_ms in_flight busy_ms
	queue_ms flushes flush_time_ms`)

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

// cell is where the number of a column stands in a sample: a count, bytes, or a time in units.
type cell struct {
	count *uint64
	bytes *units.Bytes
	time  *time.Duration
	unit  time.Duration
}

func (c cell) set(v uint64) {
	switch {
	case c.time != nil:
		*c.time = duration(v, c.unit)
	case c.bytes != nil:
		*c.bytes = units.Bytes(known(v))
	case c.count != nil:
		*c.count = known(v)
	}
}

// get cuts off parts of a unit.
func (c cell) get() uint64 {
	switch {
	case c.time != nil:
		return uint64(*c.time / c.unit)
	case c.bytes != nil:
		return uint64(*c.bytes)
	}
	return *c.count
}

func n(v *uint64) cell         { return cell{count: v} }
func b(v *units.Bytes) cell    { return cell{bytes: v} }
func us(v *time.Duration) cell { return cell{time: v, unit: time.Microsecond} }
func ms(v *time.Duration) cell { return cell{time: v, unit: time.Millisecond} }

// cells are in the order of hostColumns.
func (s *Sample) cells(cpus *uint64) [hostWidth]cell {
	c := &s.CPU
	return [...]cell{
		us(&s.At), n(cpus), us(&s.Overhead), b(&s.Dirty), b(&s.Writeback), ms(&c.User), ms(&c.System), ms(&c.Idle),
		ms(&c.IOWait), ms(&c.IRQ), ms(&c.SoftIRQ), ms(&c.Steal), us(&s.IOSome), us(&s.IOFull),
	}
}

// cells are in the order of deviceColumns.
func (d *Device) cells() [deviceWidth]cell {
	return [...]cell{
		n(&d.Reads), n(&d.ReadMerges), b(&d.ReadBytes), ms(&d.ReadTime), n(&d.Writes), n(&d.WriteMerges), b(&d.WriteBytes),
		ms(&d.WriteTime), n(&d.InFlight), ms(&d.Busy), ms(&d.Queue), n(&d.Flushes), ms(&d.FlushTime),
	}
}

// decodeRow fills s, whose Devices are as many as the row's.
func decodeRow(row []uint64, s *Sample) {
	var cpus uint64 // the series'
	for i, c := range s.cells(&cpus) {
		c.set(row[i])
	}
	for i := range s.Devices {
		d, r := &s.Devices[i], deviceRow(row, i)
		if *d = (Device{Gone: r[devReads] == absent}); d.Gone {
			continue
		}
		for k, c := range d.cells() {
			c.set(r[k])
		}
	}
}

// encodeRow is the reverse of decodeRow.
func encodeRow(s *Sample, cpus int, row []uint64) {
	count := uint64(cpus)
	for i, c := range s.cells(&count) {
		row[i] = c.get()
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		for k, c := range d.cells() {
			if deviceRow(row, i)[k] = absent; !d.Gone {
				deviceRow(row, i)[k] = c.get()
			}
		}
	}
}
