// Package live answers why the storage below a path is slow now, from what a machine at work showed
// in a few seconds in which plimsoll did no I/O. Its rules are the family PL9xx; causes that other
// families know keep their codes. Facts are plain values, so that what was seen once can be judged
// again.
//
//	Facts: two readings of the kernel's counters and the samples between them, and what could not be read
//	view:  the layers below the path, top to bottom, each with rate, time of an I/O, I/Os waiting (Little's law)
//	       and how long none was answered; the programs and groups that wait, and those that ask
//	causes, in the order in which they are believed: no answer, limits that are reached, this machine's own
//	       doings, other programs, members that differ, and last what only a latency suggests
//	nothing found: Nothing where all was seen, CannotSee where a blind spot may hide the cause
//
// Nobody is accused unless somebody waits for him. A cause has what proves it as evidence, and says by its
// Confidence whether anything else is excluded.
package live

import (
	"encoding/json"
	"fmt"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/host"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Format is the version of Facts in a file.
const Format = 1

// Facts are what was seen.
type Facts struct {
	Format int    `json:"plimsoll_why"`
	Path   string `json:"path"`
	Mount  string `json:"mount,omitempty"` // mount point; empty for a device
	FS     string `json:"fs,omitempty"`
	Source string `json:"source,omitempty"`
	// Layers are the devices below the path, its own first; none where there is no device.
	Layers []Layer               `json:"layers,omitempty"`
	Window *telemetry.Window     `json:"window,omitempty"`
	Groups []topology.GroupLimit `json:"group_limits,omitempty"`
	// Instance is what the machine carries for all its network volumes, by baseline and burst.
	Instance topology.Instance `json:"instance"`
	// Expect is the latency above which the user calls an I/O slow, 0 when none is said.
	Expect units.Latency `json:"expect_ns,omitempty"`
	// Free is the share of the filesystem that may still be filled, below 0 where it is not known; Inodes the
	// share of its inodes that is taken.
	Free      float64     `json:"free"`
	Inodes    float64     `json:"inodes_taken,omitempty"`
	FreeBytes units.Bytes `json:"free_bytes,omitempty"`
	// ReadOnly says that the filesystem has become read-only, and was not mounted so.
	ReadOnly bool `json:"read_only,omitempty"`
	// Failed is the error of a path that could not even be looked at.
	Failed string       `json:"failed,omitempty"`
	Log    []host.Event `json:"kernel_log,omitempty"`
	// Now is when the look ended, by the clock of the kernel's log; 0 where that is not known.
	Now    time.Duration    `json:"now_ns,omitempty"`
	Quotas []topology.Quota `json:"cpu_quotas,omitempty"`
	Root   bool             `json:"root"`
	// Remote is set where the storage is another machine's.
	Remote *Remote `json:"remote,omitempty"`
	// Counters names the file of another program's counters from which these facts are, empty for none.
	Counters string `json:"counters,omitempty"`
	// Blind says why there is no device to look at, as a clause; empty where there is one.
	Blind string `json:"blind,omitempty"`
	// NotSeen is what could not be looked at, a clause each.
	NotSeen []string `json:"not_seen,omitempty"`
	// CPU and Wall are what looking took.
	CPU  time.Duration `json:"cpu_ns"`
	Wall time.Duration `json:"wall_ns"`
}

// Layer is one device of the stack.
type Layer struct {
	Name       string   `json:"name"`
	Number     string   `json:"number"` // major:minor
	Kind       string   `json:"kind"`   // disk, partition, md, lv, dm, loop
	Level      string   `json:"level,omitempty"`
	Crypt      bool     `json:"crypt,omitempty"` // dm-crypt
	Under      []string `json:"under,omitempty"`
	Rotational bool     `json:"rotational,omitempty"`
	Scheduler  string   `json:"scheduler,omitempty"`
	Requests   int      `json:"nr_requests,omitempty"`
	State      string   `json:"state,omitempty"` // of a SCSI or NVMe device: running, live, offline
	// Volume is what is known of a leaf.
	Volume *topology.Volume `json:"volume,omitempty"`
	// Exceeded is the time of the window in which more was asked of an EBS volume or of the instance
	// than they allow (log page 0xD0).
	Exceeded *Exceeded `json:"exceeded,omitempty"`
}

// Exceeded are differences of log page 0xD0.
type Exceeded struct {
	Volume   time.Duration `json:"volume_ns"`
	Instance time.Duration `json:"instance_ns"`
}

// Exceed is what grew between two readings of an EBS volume's counters.
func Exceed(before, after cloud.EBSStats) *Exceeded {
	grew := func(a, b time.Duration) time.Duration { return max(0, b-a) }
	return &Exceeded{
		Volume: max(grew(before.VolumeIOPSExceeded, after.VolumeIOPSExceeded),
			grew(before.VolumeRateExceeded, after.VolumeRateExceeded)),
		Instance: max(grew(before.InstanceIOPSExceeded, after.InstanceIOPSExceeded),
			grew(before.InstanceRateExceeded, after.InstanceRateExceeded)),
	}
}

// Leaf is whether nothing lies below a layer.
func (l *Layer) Leaf() bool { return len(l.Under) == 0 }

// Remote is what a network filesystem's own counters say (/proc/self/mountstats).
type Remote struct {
	IOPS float64       `json:"iops"`
	RTT  units.Latency `json:"rtt_ns"`     // mean, of the server and the network
	Exec units.Latency `json:"execute_ns"` // mean, with the wait in this machine
}

// Decode reads facts that were saved.
func Decode(data []byte) (*Facts, error) {
	f := &Facts{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("these are not saved facts: %w", err)
	}
	if f.Format != Format {
		return nil, fmt.Errorf("facts of format %d: this plimsoll reads format %d, as plimsoll why --save writes it",
			f.Format, Format)
	}
	if f.Window != nil && (f.Window.Span <= 0 || f.Window.Ticks <= 0) {
		return nil, fmt.Errorf("the facts say that nothing was watched: want a window longer than 0")
	}
	return f, nil
}
