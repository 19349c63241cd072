// Package telemetry watches the machine while a scenario runs: ten times a second it reads the counters of the
// block devices under test, the CPU, dirty pages and pressure, and writes them to a compressed file
// beside fio's own output.
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
	// Own is the CPU time that sampling took, in seconds of one core per second.
	Own float64 `json:"own"`
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
}

// CPU is time in all cores together since boot.
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
