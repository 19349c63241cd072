// Package block reads the machine's block devices: the tree of disks, partitions, md arrays and LVM
// volumes from /sys, the mounts from /proc, filesystem geometry, and what udev and superblocks say.
// It reports what is there and judges nothing; a missing attribute is left empty and noted, it
// never ends the scan.
package block

import (
	"io/fs"

	"plimsoll/internal/units"
)

// Tree is every block device and mount of a machine.
type Tree struct {
	Devices map[string]*Device `json:"devices"` // by kernel name
	Mounts  []Mount            `json:"mounts"`
	Swaps   []string           `json:"swaps,omitempty"` // kernel names in use as swap
	// SwapFiles are the paths of /proc/swaps that are no devices. Users is filled in by ReadUsers
	// alone.
	SwapFiles []string `json:"-"`
	Users     []User   `json:"-"`
	// Notes says what could not be read and why ("sys/block/md0/md/uuid: permission denied").
	Notes []string `json:"notes,omitempty"`

	root  fs.FS             // where symbolic links of paths are looked up; nil for a tree that was imported
	files map[inode]*Device // the loop device that lies on a file, as ReadUsers found it
}

// Kind is the sort of a block device.
type Kind string

// The kinds that plimsoll tells apart.
const (
	Disk      Kind = "disk" // NVMe, SCSI, virtio, Xen: a leaf
	Partition Kind = "partition"
	MD        Kind = "md"
	LV        Kind = "lv"    // device-mapper device of LVM
	DM        Kind = "dm"    // any other device-mapper device (crypt, multipath)
	Loop      Kind = "loop"  // a leaf, backed by a file
	Other     Kind = "other" // ram, zram, nbd
)

// Device is one block device.
type Device struct {
	Name   string      `json:"name"` // kernel name: nvme1n1p1, md0, dm-3
	Path   string      `json:"path"` // what people type: /dev/md0, /dev/mapper/vg-data
	Kind   Kind        `json:"kind"`
	Major  uint32      `json:"major"`
	Minor  uint32      `json:"minor"`
	Size   units.Bytes `json:"size"`
	Parent string      `json:"parent,omitempty"` // the disk of a partition
	Start  units.Bytes `json:"start,omitempty"`  // of a partition on its disk
	// Slaves are the devices it is made of, Holders those made of it; Partitions of a disk.
	Slaves     []string `json:"slaves,omitempty"`
	Holders    []string `json:"holders,omitempty"`
	Partitions []string `json:"partitions,omitempty"`

	ReadOnly bool   `json:"read_only,omitempty"`
	Model    string `json:"model,omitempty"`
	Serial   string `json:"serial,omitempty"`
	WWN      string `json:"wwn,omitempty"`
	Firmware string `json:"firmware,omitempty"`
	NUMANode int    `json:"numa_node"`     // -1 when unknown or not applicable
	RPM      int    `json:"rpm,omitempty"` // of a SATA disk that says it turns
	// DM is the uuid of a device-mapper device, which begins with who made it: LVM-, mpath-,
	// CRYPT-.
	DM string `json:"dm_uuid,omitempty"`
	// Queued is true of an encrypted device whose reads or writes go to work queues of the kernel first; only
	// root can see it.
	Queued bool `json:"queued,omitempty"`
	// Signature is what udev or blkid found on it: "xfs", "linux_raid_member", "LVM2_member",
	// "swap", "gpt"; empty for none, "?" when nothing could look.
	Signature string   `json:"signature,omitempty"`
	UUID      string   `json:"uuid,omitempty"`
	Label     string   `json:"label,omitempty"`
	Links     []string `json:"links,omitempty"`   // /dev/disk/by-id/… from udev
	Backing   string   `json:"backing,omitempty"` // file of a loop device

	// State is what the kernel says of a SCSI drive: running, offline, transport-offline, blocked; an NVMe
	// controller is live.
	State string `json:"state,omitempty"`

	// Link is the PCIe link of an NVMe drive, nil where the machine does not say.
	Link *Link `json:"link,omitempty"`

	Queue Queue `json:"queue"`
	MD    *Raid `json:"md,omitempty"`
	LV    *Vol  `json:"lv,omitempty"`
}

// Link is a PCIe link as it is, and as it can be by the drive's own capabilities.
type Link struct {
	Speed    float64 `json:"gt_per_s"` // of each lane: 8 is PCIe 3.0, 16 is 4.0, 32 is 5.0
	MaxSpeed float64 `json:"max_gt_per_s"`
	Lanes    int     `json:"lanes"`
	MaxLanes int     `json:"max_lanes"`
}

// Rate is what the link carries in one direction before its packets' own overhead: lanes × transfers
// × bits for data (8 of 10 up to 5 GT/s, 128 of 130 above; PCI Express Base Specification).
func (l Link) Rate() units.Rate { return linkRate(l.Speed, l.Lanes) }

// MaxRate is Rate of the link at the drive's best.
func (l Link) MaxRate() units.Rate { return linkRate(l.MaxSpeed, l.MaxLanes) }

func linkRate(speed float64, lanes int) units.Rate {
	coding := 128.0 / 130
	if speed <= 5 {
		coding = 8.0 / 10
	}
	return units.Rate(speed * 1e9 * coding / 8 * float64(lanes))
}

// Queue holds the settings of /sys/block/*/queue. A partition has its disk's.
type Queue struct {
	Scheduler      string      `json:"scheduler,omitempty"` // the active one
	Requests       int         `json:"nr_requests,omitempty"`
	ReadAhead      units.Bytes `json:"read_ahead"`
	MaxSectors     units.Bytes `json:"max_sectors"`     // max_sectors_kb
	MaxHWSectors   units.Bytes `json:"max_hw_sectors"`  // max_hw_sectors_kb
	Logical        units.Bytes `json:"logical_block"`   // sector sizes
	Physical       units.Bytes `json:"physical_block"`  //
	MinimumIO      units.Bytes `json:"minimum_io"`      // chunk on arrays
	OptimalIO      units.Bytes `json:"optimal_io"`      // stripe width on arrays
	Rotational     bool        `json:"rotational"`      //
	WriteCache     string      `json:"write_cache"`     // "write back" or "write through"
	DiscardMax     units.Bytes `json:"discard_max"`     //
	Zoned          string      `json:"zoned,omitempty"` //
	WBTLatency     string      `json:"wbt_lat,omitempty"`
	IOTimeout      string      `json:"io_timeout,omitempty"`
	NoMerges       int         `json:"nomerges,omitempty"`
	RQAffinity     int         `json:"rq_affinity,omitempty"`
	HardwareQueues int         `json:"hardware_queues,omitempty"`
}

// Raid is the state of an md array.
type Raid struct {
	Level    string      `json:"level"`  // raid0 raid1 raid10 raid5 raid6 linear
	Layout   int         `json:"layout"` // md's number: 258 is RAID10 near-2; -1 for none
	Chunk    units.Bytes `json:"chunk"`
	Disks    int         `json:"disks"`              // wanted
	Degraded int         `json:"degraded"`           // missing
	State    string      `json:"state"`              // array_state: clean, active, inactive, …
	Action   string      `json:"action"`             // idle resync recover check reshape
	Progress float64     `json:"progress,omitempty"` // 0..1 of Action
	Speed    units.Rate  `json:"speed,omitempty"`    // of Action
	Metadata string      `json:"metadata,omitempty"`
	UUID     string      `json:"uuid,omitempty"`
	Name     string      `json:"name,omitempty"`
	Bitmap   string      `json:"bitmap,omitempty"` // none, internal, …
	// BitmapChunk is what one bit stands for; StripeCache is in pages of each member; Consistency is how a
	// power cut in the middle of a stripe is made good: resync, bitmap, journal, ppl.
	BitmapChunk units.Bytes `json:"bitmap_chunk,omitempty"`
	StripeCache int         `json:"stripe_cache,omitempty"`
	Consistency string      `json:"consistency,omitempty"`
	Used        units.Bytes `json:"-"` // of each member, for data
	Mismatch    uint64      `json:"mismatch,omitempty"`
	Members     []Member    `json:"members"`
	SyncSpeed   string      `json:"sync_speed,omitempty"`
	// SyncFloor is the rate that md gives to Action however busy the members are (sync_speed_min,
	// or sync_speed_max where that is less).
	SyncFloor units.Rate `json:"sync_floor,omitempty"`
}

// Member is one device of an md array.
type Member struct {
	Name   string      `json:"name"`
	Slot   int         `json:"slot"` // -1 for a spare or a faulty one
	State  string      `json:"state"`
	Offset units.Bytes `json:"offset"` // where data begins
	Errors uint64      `json:"errors,omitempty"`
}

// Vol is an LVM logical volume (or any dm target of the same kinds).
type Vol struct {
	VG      string      `json:"vg"`
	Name    string      `json:"name"`
	UUID    string      `json:"uuid,omitempty"`
	Segment string      `json:"segment"` // linear striped raid0 raid1 raid10 raid5 raid6 mixed; "" when unknown (needs root)
	Stripes int         `json:"stripes,omitempty"`
	Chunk   units.Bytes `json:"chunk,omitempty"` // stripe size
	// Internal is true for hidden sub-volumes (data_rimage_0).
	Internal bool `json:"internal,omitempty"`
	// Queued is of an encrypted device; see Device.Queued.
	Queued bool `json:"-"`
	// Inferred is true when Segment was worked out from the queue's I/O sizes and not read from
	// device-mapper.
	Inferred bool `json:"inferred,omitempty"`
}

// Mount is one line of /proc/self/mountinfo with a block device behind it (or without, for tmpfs
// and the like).
type Mount struct {
	Point   string   `json:"point"`
	Device  string   `json:"device"` // kernel name; empty for tmpfs, overlay, nfs
	Source  string   `json:"source"` // as mounted
	FS      string   `json:"fs"`
	Options []string `json:"options,omitempty"` // mount and superblock options
	Root    string   `json:"root,omitempty"`    // path inside the filesystem, "/" unless a bind mount
	Major   uint32   `json:"major"`
	Minor   uint32   `json:"minor"`
	// ID and Under are mountinfo's own numbers: this mount and the one it is mounted on. Zero where
	// unknown.
	ID    int `json:"id,omitempty"`
	Under int `json:"under,omitempty"`
	// ZFS is what zfs says of a dataset; nil on other filesystems, and where it was not asked.
	ZFS *Dataset `json:"zfs,omitempty"`
	Geometry
}

// Geometry is how a filesystem is aligned on its device.
type Geometry struct {
	BlockSize  units.Bytes `json:"block_size,omitempty"`
	StripeUnit units.Bytes `json:"stripe_unit,omitempty"` // su; ext4 stride × block
	StripeWide units.Bytes `json:"stripe_width,omitempty"`
	LogUnit    units.Bytes `json:"log_stripe_unit,omitempty"`
	AGCount    int         `json:"ag_count,omitempty"`
	Size       units.Bytes `json:"-"` // of its device, what the filesystem uses; 0 where it is unknown
	// Known is false where the geometry could not be read, so zeros above mean nothing.
	Known bool `json:"geometry_known"`
}
