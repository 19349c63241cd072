// Package topology joins what the machine shows (block devices, mounts), what the cloud tells, and
// what plimsoll.yaml declares into one value: from each role's mount point down to volumes and the
// instance, with the origin of every figure.
package topology

import (
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
)

// Topology is the storage of one machine as far as it is known.
type Topology struct {
	Host Host `json:"host"`
	// Scale is what the rates of a simulated machine are of the real ones, here and in all that is
	// measured on it; 0 on a real machine.
	Scale    float64  `json:"scale,omitempty"`
	Instance Instance `json:"instance"`
	// Targets are the paths under test, one a role; both roles may name one array.
	Targets []Target `json:"targets"`
	Arrays  []Array  `json:"arrays"`
	// Tree is the machine's block tree as read, nil where the topology is only declared or
	// imported.
	Tree *block.Tree `json:"tree,omitempty"`
	// Notes says what could not be found out and why.
	Notes []string `json:"notes,omitempty"`

	// others are volumes of the machine that are not below the paths under test, as far as it is known
	// what they are.
	others []Volume
}

// Role is what an array is for.
type Role string

// The roles: what holds a database's files, and its log.
const (
	Data Role = "data"
	WAL  Role = "wal"
)

// Roles are all roles.
var Roles = []Role{Data, WAL}

// Host is the machine that runs the workload.
type Host struct {
	Name   string      `json:"name"`
	Kernel string      `json:"kernel,omitempty"`
	OS     string      `json:"os,omitempty"`
	CPU    string      `json:"cpu,omitempty"`
	CPUs   int         `json:"cpus,omitempty"`
	Memory units.Bytes `json:"memory,omitempty"`
	Virt   string      `json:"virt,omitempty"` // "Amazon EC2", "QEMU", …
}

// Origin says where a figure came from.
type Origin struct {
	Kind  OriginKind `json:"kind"`
	Where string     `json:"where,omitempty"` // file and line, sysfs path, catalogue with its date
}

// OriginKind ranks how far a figure can be trusted.
type OriginKind string

// The kinds of origin.
const (
	Detected  OriginKind = "detected"
	Declared  OriginKind = "declared"
	Catalogue OriginKind = "catalogue"
	Assumed   OriginKind = "assumed"
	Measured  OriginKind = "measured" // by this run itself
	Unknown   OriginKind = ""         // nothing is known
)

// Instance is the machine's own cap on its network-attached storage, shared by all volumes.
type Instance struct {
	Type string `json:"type,omitempty"` // c8g.2xlarge
	ID   string `json:"id,omitempty"`
	// Cloud is whose machine it is, as texts call it: Azure, Google Cloud; empty on EC2 and where it is
	// not known.
	Cloud string `json:"cloud,omitempty"`
	// Baseline is sustained; Burst, where higher, holds for BurstFor once in BurstPer, or by credits, as
	// BurstRule says.
	Baseline Limits `json:"baseline"`
	Burst    Limits `json:"burst"`
	// Whole says that these limits were declared and hold for all storage of the machine: its drives and
	// arrays behind an adapter too, not only volumes on its network.
	Whole     bool            `json:"whole,omitempty"`
	BurstFor  time.Duration   `json:"burst_for,omitempty"` // 30 min on EC2
	BurstPer  time.Duration   `json:"burst_per,omitempty"` // 24 h on EC2
	BurstRule cloud.BurstRule `json:"burst_rule,omitempty"`
	// Caps are limits on some of the volumes, which do not count against Baseline then.
	Caps []cloud.Cap `json:"caps,omitempty"`
	// Pools are what volumes of one type share by their size, of all that are known of the machine.
	Pools []Pool `json:"pools,omitempty"`
	// Unknown says what is not known of the type, and which figure would close it.
	Unknown []string `json:"unknown,omitempty"`
	// IOBalance and RateBalance are what was left of the burst of IOPS and of throughput; nil where
	// no source reported it.
	IOBalance   *Balance `json:"io_balance,omitempty"`
	RateBalance *Balance `json:"rate_balance,omitempty"`
	Origin      Origin   `json:"origin"`
}

// Known says whether any limit of the machine is known, of all its volumes or of some.
func (i Instance) Known() bool { return i.Baseline.Known() || i.Burst.Known() || len(i.Caps) > 0 }

// Pool is the allowance of all volumes of a type on a machine together.
type Pool struct {
	Type   string      `json:"type"`
	Size   units.Bytes `json:"size"` // of all of them
	Limits Limits      `json:"limits"`
	Origin Origin      `json:"origin"`
}

// Limits are capacities of a volume, a drive or an instance, as the catalogue states them.
type Limits = cloud.Limits

// Volume is a leaf: an EBS volume, a drive, a loop device.
type Volume struct {
	Device string      `json:"device,omitempty"` // kernel name, empty for one that is only declared
	ID     string      `json:"id,omitempty"`     // vol-0123…
	Serial string      `json:"serial,omitempty"`
	Model  string      `json:"model,omitempty"`
	Type   string      `json:"type,omitempty"` // gp3 gp2 io2 io1 st1 sc1 nvme …
	Size   units.Bytes `json:"size,omitempty"`
	// Snapshot is what an EBS volume was made from; empty for none, or where it is not known.
	Snapshot string `json:"snapshot,omitempty"`
	// Network is true for volumes that share the instance's storage bandwidth (EBS), false for
	// local drives.
	Network bool `json:"network,omitempty"`
	// Pooled is true for volumes that share the instance's Pool of their type; Sustained is then what
	// this volume alone would have.
	Pooled bool `json:"pooled,omitempty"`
	// Inferred says that the limits follow from the size, and that more may have been ordered.
	Inferred bool `json:"inferred,omitempty"`
	// Caching is the host's, on Azure.
	Caching cloud.Caching `json:"caching,omitempty"`
	// AtLeast is why the volume may do more than its limits say; empty where they are certain.
	AtLeast string `json:"at_least,omitempty"`
	// Sustained has no time limit. Burst, where higher, lasts until the credits are gone:
	// BurstCredits in I/Os (gp2) or bytes (st1, sc1), refilled at the sustained rate.
	Sustained    Limits        `json:"sustained"`
	Burst        Limits        `json:"burst"`
	BurstIOs     float64       `json:"burst_ios,omitempty"`
	BurstBytes   units.Bytes   `json:"burst_bytes,omitempty"`
	Balance      *Balance      `json:"balance,omitempty"`       // what was left of those credits; nil where unknown
	CountedIO    units.Bytes   `json:"counted_io,omitempty"`    // an I/O up to this size counts once (256 KiB on SSD types, 1 MiB on HDD)
	Merges       bool          `json:"merges,omitempty"`        // sequential I/Os are merged up to CountedIO before they are counted
	ReadLatency  time.Duration `json:"read_latency,omitempty"`  // typical at depth 1, where stated
	WriteLatency time.Duration `json:"write_latency,omitempty"` //
	// Missing is true for a member that a degraded array lacks: it keeps its place, so that the
	// stripe's arithmetic holds.
	Missing bool `json:"missing,omitempty"`
	// Origin is of the limits. Origins names those of other figures, by their JSON names, where
	// they differ.
	Origin  Origin            `json:"origin"`
	Origins map[string]Origin `json:"origins,omitempty"`
}

// Array is volumes combined, seen from its top device.
type Array struct {
	Name    string      `json:"name"` // kernel name of the top device, or the declared name
	Path    string      `json:"path,omitempty"`
	Level   Level       `json:"level"`
	Copies  int         `json:"copies,omitempty"` // of each block on RAID1 and RAID10; 2 where it is 0
	Near    int         `json:"near,omitempty"`   // of these, see Geometry; all where it is 0
	Offset  bool        `json:"offset,omitempty"` // the copies that are not near are offset ones, else far ones
	Chunk   units.Bytes `json:"chunk,omitempty"`
	Volumes []Volume    `json:"volumes"`
	Size    units.Bytes `json:"size,omitempty"`
	// State of redundancy.
	Degraded int     `json:"degraded,omitempty"` // members missing
	Syncing  string  `json:"syncing,omitempty"`  // resync, recover, check, reshape
	Progress float64 `json:"progress,omitempty"`
	// SyncFloor is the rate that md gives to Syncing on each member, however busy it is; 0 where it
	// is not known.
	SyncFloor units.Rate `json:"sync_floor,omitempty"`
	// Origin is of the layout; Origins names those of single figures, by their JSON names, where
	// they differ.
	Origin  Origin            `json:"origin"`
	Origins map[string]Origin `json:"origins,omitempty"`
}

// SI says that the volume's throughput is stated in MB/s of 10^6 bytes: by data sheets, and by some clouds.
func (v Volume) SI() bool {
	t, _ := cloud.TypeNamed(v.Type)
	return !v.Network || t.RateUnit() == units.MBPerSec
}

// OriginOf is where a figure of the array, named as in JSON, came from.
func (a Array) OriginOf(figure string) Origin { return originOf(a.Origins, figure, a.Origin) }

// OriginOf is where a figure of the volume, named as in JSON, came from.
func (v Volume) OriginOf(figure string) Origin { return originOf(v.Origins, figure, v.Origin) }

func originOf(single map[string]Origin, figure string, all Origin) Origin {
	if o, ok := single[figure]; ok {
		return o
	}
	return all
}

// Target is a path under test.
type Target struct {
	Role  Role         `json:"role"`
	Path  string       `json:"path"`
	Mount *block.Mount `json:"mount,omitempty"` // nil for a raw device
	// Device is the kernel name of the device behind the path, empty for tmpfs and the like.
	Device string `json:"device,omitempty"`
	// Array names the entry of Topology.Arrays; empty when there is none.
	Array string `json:"array,omitempty"`
	// Devices are the kernel names of the whole tree below the path, top first: what telemetry
	// watches.
	Devices []string `json:"devices,omitempty"`
	// Free is what users other than root can still write to the filesystem; absent where it is not known.
	Free *units.Bytes `json:"free,omitempty"`
	// Inodes is the share of the filesystem's inodes that is taken; 0 where it makes them as it needs them.
	Inodes float64 `json:"inodes,omitempty"`
	// Throttles are the limits of control groups on Devices that hold for plimsoll itself, and so
	// for fio.
	Throttles []Throttle `json:"throttles,omitempty"`
}

// For returns the target of a role, nil when there is none.
func (t *Topology) For(role Role) *Target {
	for i := range t.Targets {
		if t.Targets[i].Role == role {
			return &t.Targets[i]
		}
	}
	return nil
}

// Array returns the array of that name, nil when there is none.
func (t *Topology) Array(name string) *Array {
	for i := range t.Arrays {
		if t.Arrays[i].Name == name && name != "" {
			return &t.Arrays[i]
		}
	}
	return nil
}

// RawDevice is the block device that a target names itself, nil for a directory.
func (t *Topology) RawDevice(target *Target) *block.Device {
	if target.Mount != nil || t.Tree == nil {
		return nil
	}
	return t.Tree.Device(target.Path)
}
