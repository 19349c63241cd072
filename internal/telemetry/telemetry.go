// Package telemetry watches the machine while a scenario runs: ten times a second it reads the
// counters of the block devices under test, the CPU, dirty pages and pressure, and keeps them for
// the compressed file beside fio's own output.
//
// The files are parsed here and not by prometheus/procfs, which is the second witness in the tests.
// Its readers open a path, where Machine.Root is an fs.FS; and on a tree of 24 devices they take
// 440 µs and 1,579 allocations (130 kB) a reading, because diskstats goes through fmt.Sscanf and
// stat and meminfo are parsed whole. That alone is 0.44 % of a core at 10 Hz where the whole budget
// is 0.4 %, and the garbage would have the collector run during a measurement. The readers here
// take 8 µs and allocate nothing (BenchmarkReading, 2026-11-21).
package telemetry

import (
	"time"

	"plimsoll/internal/units"
)

// Interval is the sampling period.
const Interval = 100 * time.Millisecond

// Series is what one scenario's sampler saw.
type Series struct {
	Start   time.Time `json:"start"`
	Devices []string  `json:"devices"` // kernel names, the order of Sample.Devices
	Samples []Sample  `json:"samples"`
	// Overhead is the CPU time that the sampler's thread took, waking up included, in seconds of
	// one core per second. The Go runtime's watchdog, which wakes up along with it, takes about as
	// much again (BenchmarkSampler).
	Overhead float64 `json:"overhead"`
	// CPUs is the number of cores online at the start.
	CPUs int `json:"cpus"`
	// Missed is the number of readings that should have been taken and were not: the machine was
	// too busy to let the sampler run.
	Missed int `json:"missed,omitempty"`
	// Absent names the columns that this kernel does not count (flushes before 5.5, pressure
	// without PSI).
	Absent []string `json:"absent,omitempty"`
}

// Sample is one reading. Counters are cumulative since boot, as the kernel gives them.
type Sample struct {
	At        time.Duration `json:"at"` // since Series.Start
	Devices   []Device      `json:"devices"`
	Dirty     units.Bytes   `json:"dirty"`
	Writeback units.Bytes   `json:"writeback"`
	CPU       CPU           `json:"cpu"`
	// Stall is the total time some (or all) tasks waited for I/O, from /proc/pressure; 0 without
	// PSI.
	IOSome time.Duration `json:"io_some"`
	IOFull time.Duration `json:"io_full"`
	// Overhead is the CPU time the sampler has used since Series.Start.
	Overhead time.Duration `json:"overhead"`
}

// Device holds the counters of /proc/diskstats for one device.
type Device struct {
	Reads       uint64        `json:"reads"`
	Writes      uint64        `json:"writes"`
	ReadMerges  uint64        `json:"read_merges"`
	WriteMerges uint64        `json:"write_merges"`
	ReadBytes   units.Bytes   `json:"read_bytes"`
	WriteBytes  units.Bytes   `json:"write_bytes"`
	ReadTime    time.Duration `json:"read_time"`  // summed over requests
	WriteTime   time.Duration `json:"write_time"` // summed over requests
	InFlight    uint64        `json:"in_flight"`  // now
	Busy        time.Duration `json:"busy"`       // time with at least one request
	Queue       time.Duration `json:"queue"`      // weighted: Δ/Δt is the average queue
	Flushes     uint64        `json:"flushes"`
	FlushTime   time.Duration `json:"flush_time"`
	Gone        bool          `json:"gone,omitempty"` // the kernel did not list the device; all else is 0
}

// CPU is time in all cores together since boot. Nice is part of User; so is a guest's.
type CPU struct {
	User    time.Duration `json:"user"`
	System  time.Duration `json:"system"`
	Idle    time.Duration `json:"idle"`
	IOWait  time.Duration `json:"io_wait"`
	IRQ     time.Duration `json:"irq"`
	SoftIRQ time.Duration `json:"soft_irq"`
	Steal   time.Duration `json:"steal"`
}

// DeviceUse is a device's rates over an interval.
type DeviceUse struct {
	Name        string        `json:"name"`
	ReadIOPS    units.IOPS    `json:"read_iops"`
	WriteIOPS   units.IOPS    `json:"write_iops"`
	ReadRate    units.Rate    `json:"read_rate"`
	WriteRate   units.Rate    `json:"write_rate"`
	ReadMerges  units.IOPS    `json:"read_merges"`
	WriteMerges units.IOPS    `json:"write_merges"`
	ReadWait    time.Duration `json:"read_wait"`  // mean time of a request, queue included
	WriteWait   time.Duration `json:"write_wait"` // mean time of a request, queue included
	Queue       float64       `json:"queue"`      // mean requests outstanding
	Util        float64       `json:"util"`       // 0..1
	Flushes     units.IOPS    `json:"flushes"`
	Reads       uint64        `json:"reads"`  // requests in the interval
	Writes      uint64        `json:"writes"` // requests in the interval
	ReadBytes   units.Bytes   `json:"read_bytes"`
	WriteBytes  units.Bytes   `json:"write_bytes"`
}

// HostUse is what the machine did in an interval; CPU shares are in 0..1 of all cores.
type HostUse struct {
	CPUs         int         `json:"cpus"`
	User         float64     `json:"user"`
	System       float64     `json:"system"`
	IOWait       float64     `json:"io_wait"`
	IRQ          float64     `json:"irq"`
	SoftIRQ      float64     `json:"soft_irq"`
	Steal        float64     `json:"steal"`
	DirtyMax     units.Bytes `json:"dirty_max"`
	WritebackMax units.Bytes `json:"writeback_max"`
	IOSome       float64     `json:"io_some"`     // share of time some or all tasks waited for I/O
	IOFull       float64     `json:"io_full"`     // share of time some or all tasks waited for I/O
	SamplerCPU   float64     `json:"sampler_cpu"` // of one core
}
