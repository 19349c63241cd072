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
	"plimsoll/internal/workload"
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
		return nil, fmt.Errorf("facts in format %d: this plimsoll reads format %d, as plimsoll why --save writes it",
			f.Format, Format)
	}
	if f.Window != nil && (f.Window.Span <= 0 || f.Window.Ticks <= 0) {
		return nil, fmt.Errorf("the facts say that nothing was watched: want a window longer than 0")
	}
	return f, nil
}

// FromCounters makes facts of what another program printed of a machine's devices (iostat -x, sar -d): of the one
// that has a cause with the most I/Os waiting, else of the one on which most wait.
func FromCounters(name string, data []byte) (*Facts, error) {
	all, err := workload.From(data, 0)
	if err != nil {
		return nil, err
	}
	var best *Facts
	most := -1.0
	for i := range all {
		f := counted(name, &all[i])
		if f == nil {
			continue
		}
		waiting := newView(f).top.waiting()
		if Judge(f).Answer == Found {
			waiting += 1e9
		}
		if waiting > most {
			best, most = f, waiting
		}
	}
	if best == nil {
		return nil, fmt.Errorf("none of its devices did any I/O")
	}
	return best, nil
}

// counted are the facts of one device, nil where nothing was done.
func counted(name string, o *workload.Observed) *Facts {
	d := telemetry.LiveDevice{Name: o.Device}
	var span time.Duration
	var queued float64
	for _, i := range o.Intervals {
		seconds := i.Len.Seconds()
		add := func(n *uint64, wait *time.Duration, rate float64, each time.Duration) {
			*n += uint64(rate*seconds + 0.5)
			*wait += time.Duration(rate * seconds * float64(each))
		}
		span += i.Len
		add(&d.Reads, &d.ReadWait, i.Read.IOPS, i.Read.Wait)
		add(&d.Writes, &d.WriteWait, i.Write.IOPS, i.Write.Wait)
		add(&d.Flushes, &d.FlushWait, i.Flushes, i.FlushWait)
		add(&d.Discards, &d.Other, i.Discards, i.DiscardWait)
		d.ReadBytes += units.Bytes(i.Read.Rate * seconds)
		d.WriteBytes += units.Bytes(i.Write.Rate * seconds)
		d.Busy += time.Duration(i.Util * float64(i.Len))
		queued += i.Queue * seconds
		d.ReadWorst, d.WriteWorst = max(d.ReadWorst, i.Read.Wait), max(d.WriteWorst, i.Write.Wait)
		d.FlushWorst = max(d.FlushWorst, i.FlushWait)
	}
	if span <= 0 || d.Reads+d.Writes+d.Flushes+d.Discards == 0 {
		return nil
	}
	d.Wait, d.Other, d.InFlight = d.ReadWait+d.WriteWait, d.Other+d.FlushWait, queued/span.Seconds()
	if d.WriteWait < d.FlushWait { // the time of flushes is not in that of writes here
		d.WriteWait += d.FlushWait
	}
	return &Facts{
		Format: Format, Path: o.Device, Free: -1, Root: true, Counters: name,
		Layers: []Layer{{Name: o.Device, Kind: "disk"}},
		Window: &telemetry.Window{
			Span:    span,
			Ticks:   len(o.Intervals),
			Stacks:  true,
			Devices: []telemetry.LiveDevice{d},
			CPU:     telemetry.LiveCPU{Idle: 1},
		},
		NotSeen: append([]string{
			"programs and what their tasks wait for, limits of control groups and of volumes, errors, layers above " + o.Device +
				", processors and memory: counters like these do not show them (plimsoll why on the machine does)",
		}, o.Notes...),
	}
}
