// Package telemetry watches the machine while a scenario runs: ten times a second it reads the counters of the
// block devices under test, the CPU, dirty pages and pressure, and keeps them for the compressed file beside
// fio's own output.
//
// The files are parsed here and not by prometheus/procfs, which is the second witness in the tests. Its readers
// open a path, where Machine.Root is an fs.FS; and on a tree of 24 devices they take 440 µs and 1,579
// allocations (130 kB) a reading, because diskstats goes through fmt.Sscanf and stat and meminfo are parsed whole. That alone is
// 0.44 % of a core at 10 Hz where the whole budget is 0.4 %, and the garbage would have the collector run during a
// measurement. The readers here take 8 µs and allocate nothing (BenchmarkReading, 2026-11-21).
package telemetry

import (
	"plimsoll/internal/units"
	"time"
)

// Interval is the sampling period.
const Interval = 100 * time.Millisecond

// Series is what one scenario's sampler saw.
type Series struct {
	Start   time.Time `json:"start"`
	Devices []string  `json:"devices"` // kernel names, the order of Sample.Devices
	Samples []Sample  `json:"samples"`
	// Own is the CPU time that the sampler's thread took, waking up included, in seconds of one core per second. The Go
	// runtime's watchdog, which wakes up along with it, takes about as much again (BenchmarkSampler).
	Own float64 `json:"own"`
	// CPUs is the number of cores online at the start.
	CPUs int `json:"cpus"`
	// Missed is the number of readings that should have been taken and were not: the machine was too busy to let the
	// sampler run.
	Missed int `json:"missed,omitempty"`
	// Absent names the columns that this kernel does not count (flushes before 5.5, pressure without PSI).
	Absent []string `json:"absent,omitempty"`
}

// Sample is one reading. Counters are cumulative since boot, as the kernel gives them.
type Sample struct {
	At        time.Duration `json:"at"` // since Series.Start
	Devices   []Device      `json:"devices"`
	Dirty     units.Bytes   `json:"dirty"`
	Writeback units.Bytes   `json:"writeback"`
	CPU       CPU           `json:"cpu"`
	// Stall is the total time some (or all) tasks waited for I/O, from /proc/pressure; 0 without PSI.
	IOSome time.Duration `json:"io_some"`
	IOFull time.Duration `json:"io_full"`
	// Own is the CPU time the sampler has used since Series.Start.
	Own time.Duration `json:"own"`
}

// Device holds the counters of /proc/diskstats for one device.
type Device struct {
	Reads, Writes           uint64
	ReadMerges, WriteMerges uint64
	ReadBytes, WriteBytes   units.Bytes
	ReadTime, WriteTime     time.Duration // summed over requests
	InFlight                uint64        // now
	Busy                    time.Duration // time with at least one request
	Queue                   time.Duration // weighted: Δ/Δt is the average queue
	Flushes                 uint64
	FlushTime               time.Duration
	Gone                    bool `json:",omitempty"` // the kernel did not list the device; all else is 0
}

// CPU is time in all cores together since boot. Nice is part of User; so is a guest's.
type CPU struct {
	User, System, Idle, IOWait, IRQ, SoftIRQ, Steal time.Duration
}

// DeviceUse is a device's rates over an interval.
type DeviceUse struct {
	Name                string        `json:"name"`
	ReadIOPS, WriteIOPS units.IOPS    //
	ReadRate, WriteRate units.Rate    //
	ReadMerges          units.IOPS    //
	WriteMerges         units.IOPS    //
	ReadWait, WriteWait time.Duration // mean time of a request, queue included
	Queue               float64       // mean requests outstanding
	Util                float64       // 0..1
	Flushes             units.IOPS    //
	Reads, Writes       uint64        // requests in the interval
	ReadBytes           units.Bytes
	WriteBytes          units.Bytes
}

// HostUse is what the machine did in an interval; CPU shares are in 0..1 of all cores.
type HostUse struct {
	CPUs                                      int
	User, System, IOWait, IRQ, SoftIRQ, Steal float64
	DirtyMax, WritebackMax                    units.Bytes
	IOSome, IOFull                            float64 // share of time some or all tasks waited for I/O
	SamplerCPU                                float64 // of one core
}
