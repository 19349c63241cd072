package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/host"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What md does with a stripe's parity is evidence where the log is on it.
func TestEvidenceOfParity(t *testing.T) {
	for _, c := range []struct {
		md   block.Raid
		want string
	}{
		{block.Raid{StripeCache: 256, Consistency: "resync"}, "level of md0, stripe cache of md0, after a power cut"},
		{block.Raid{StripeCache: 256, Consistency: "bitmap"}, "level of md0, stripe cache of md0, after a power cut"},
		{block.Raid{StripeCache: 257, Consistency: "ppl"}, "level of md0"},
		{block.Raid{Consistency: "journal"}, "level of md0"},
	} {
		topo := on("", array("md0", topology.RAID5, 64*units.KiB, 4, p4510()))
		topo.Targets = topo.Targets[:1]
		topo.Targets[0].Role = topology.WAL
		topo.Tree = &block.Tree{Devices: map[string]*block.Device{"md0": {Name: "md0", MD: &c.md}}}
		var names []string
		for _, f := range Judge(&diagnose.Case{Topology: topo}, nil) {
			for _, e := range f.Evidence {
				if f.Code == "PL216" {
					names = append(names, e.What)
				}
			}
		}
		if got := strings.Join(names, ", "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.md, got, c.want)
		}
	}
}

// layoutCases are layouts alone, as check and import see them.
func layoutCases() []labelled {
	four := func() topology.Array { return array("md0", topology.RAID0, 64*units.KiB, 4, p4510()) }
	with := func(a topology.Array, change func(*topology.Topology)) diagnose.Case {
		t := on("", a)
		t.Targets = t.Targets[:1]
		t.Tree = &block.Tree{Devices: map[string]*block.Device{a.Name: {Name: a.Name, Kind: block.MD, Queue: block.Queue{DiscardMax: units.GiB}}}}
		change(t)
		return diagnose.Case{Topology: t}
	}
	made := func(su, wide units.Bytes) func(*topology.Topology) {
		return func(t *topology.Topology) {
			t.Targets[0].Mount.Geometry = block.Geometry{Known: true, StripeUnit: su, StripeWide: wide}
		}
	}
	k := units.KiB
	partition := func(start units.Bytes, under bool) func(*topology.Topology) {
		return func(t *topology.Topology) {
			t.Tree.Devices["nvme1n1p1"] = &block.Device{Name: "nvme1n1p1", Kind: block.Partition, Start: start, Parent: "nvme1n1"}
			if under {
				t.Targets[0].Devices = []string{"md0", "nvme1n1p1", "nvme1n1"}
			}
		}
	}
	options := func(most units.Bytes, o ...string) func(*topology.Topology) {
		return func(t *topology.Topology) {
			t.Targets[0].Mount.Options = slices.Concat(o, []string{"relatime"})
			t.Tree.Devices["md0"].Queue.DiscardMax = most
		}
	}
	mounted := func(point, root string) func(*topology.Topology) {
		return func(t *topology.Topology) {
			t.Tree.Mounts = []block.Mount{*t.Targets[0].Mount, {Point: point, Device: "md0", Root: root}}
		}
	}
	// stacked puts a device of device-mapper on drives, in place of the array.
	stacked := func(uuid string, own, below block.Queue, drives ...string) diagnose.Case {
		return with(array("dm-0", topology.Single, 0, 1, p4510()), func(t *topology.Topology) {
			t.Tree.Devices["dm-0"] = &block.Device{Name: "dm-0", Path: "/dev/mapper/x", DM: uuid, Slaves: drives, Queue: own}
			for _, name := range drives {
				t.Tree.Devices[name] = &block.Device{Name: name, Kind: block.Disk, Queue: below}
			}
		})
	}
	sectors := func(logical, physical, discard units.Bytes) block.Queue {
		return block.Queue{Logical: logical, Physical: physical, DiscardMax: discard, ReadAhead: 128 * units.KiB}
	}
	btrfs := func(role topology.Role, o ...string) func(*topology.Topology) {
		return func(t *topology.Topology) {
			t.Targets[0].Role, t.Targets[0].Mount.FS, t.Targets[0].Mount.Options = role, "btrfs",
				slices.Concat(o, []string{"noatime"})
		}
	}
	zfs := func(role topology.Role, change func(*block.Dataset)) diagnose.Case {
		return with(four(), func(t *topology.Topology) {
			d := block.Dataset{Sync: "standard", LogBias: "latency", Record: 128 * units.KiB, Pool: "tank", Shift: 12}
			change(&d)
			t.Targets[0].Role, t.Targets[0].Mount.FS, t.Targets[0].Mount.ZFS = role, "zfs", &d
			t.Targets[0].Mount.Options, t.Targets[0].Mount.Source = []string{"noatime"}, "tank/pg"
		})
	}
	cached := func(mode string) func(*topology.Topology) {
		return func(t *topology.Topology) {
			for _, v := range t.Arrays[0].Volumes {
				t.Tree.Devices[v.Device] = &block.Device{Name: v.Device, Kind: block.Disk, Queue: block.Queue{WriteCache: mode}}
			}
		}
	}
	barriers := func(mode string, o ...string) func(*topology.Topology) {
		return func(t *topology.Topology) {
			cached(mode)(t)
			t.Targets[0].Mount.Options = slices.Concat(o, []string{"relatime"})
			for _, v := range t.Arrays[0].Volumes {
				t.Tree.Devices["md0"].Slaves = append(t.Tree.Devices["md0"].Slaves, v.Device)
			}
		}
	}
	// counted is what drives counted of flushes under a run whose syncs took 2 ms.
	counted := func(c diagnose.Case, kernel, call string, flushes units.IOPS) diagnose.Case {
		c.Host = &host.Facts{Kernel: "Linux version " + kernel}
		c.Runs[0].Workloads[0].SyncCall = call
		for _, v := range c.Topology.Arrays[0].Volumes {
			c.Runs[0].Devices = append(c.Runs[0].Devices, telemetry.DeviceUse{Name: v.Device, Flushes: flushes})
		}
		return c
	}
	syncRun := func(c diagnose.Case, p50 time.Duration) diagnose.Case {
		w := random(0, 8*k, 1, 1)
		w.SyncEvery = 1
		m := measured(1, w, took(0, 480, 2.0), inPhase("latency"))
		m.Total.Sync.Lat = fio.Latency{N: 1000, Percentiles: []fio.Percentile{{P: 50, Value: p50}}}
		c.Runs = []diagnose.Measurement{m}
		return c
	}
	mixed := func(change func(*topology.Volume)) topology.Array {
		a := four()
		change(&a.Volumes[2])
		return a
	}
	logUnit := func(role topology.Role, u units.Bytes) func(*topology.Topology) {
		return func(t *topology.Topology) {
			t.Targets[0].Role = role
			t.Targets[0].Mount.Geometry = block.Geometry{Known: true, StripeUnit: 64 * k, StripeWide: 256 * k, LogUnit: u}
		}
	}
	split := func(chunk, bs units.Bytes, sequential bool) diagnose.Case {
		w := random(1, bs, 4, 8)
		w.Sequential = sequential
		return diagnose.Case{Topology: on("", array("md0", topology.RAID0, chunk, 4, p4510())), Runs: []diagnose.Measurement{measured(1, w, took(9000, 0, 3.5))}}
	}
	times := func(o ...string) diagnose.Case {
		return with(four(), func(t *topology.Topology) { t.Targets[0].Mount.Options = o })
	}
	bitmap := func(chunk units.Bytes) diagnose.Case {
		return with(array("md0", topology.RAID10, 64*k, 4, p4510()), func(t *topology.Topology) {
			t.Tree.Devices["md0"].MD = &block.Raid{Bitmap: "internal", BitmapChunk: chunk}
		})
	}
	queued := func(queues bool, kernel string, rotational bool) diagnose.Case {
		below := sectors(4096, 4096, 0)
		below.Rotational = rotational
		c := stacked("CRYPT-LUKS2-1", sectors(4096, 4096, 0), below, "nvme0n1")
		c.Topology.Tree.Devices["dm-0"].Queued = queues
		c.Host = &host.Facts{Kernel: "Linux version " + kernel}
		return c
	}
	pathState := func(state string) diagnose.Case {
		c := stacked("mpath-1", sectors(512, 512, 0), sectors(512, 512, 0), "sda", "sdb")
		c.Topology.Tree.Devices["sdb"].State = state
		return c
	}
	// ext4 shows the stripe that it uses in blocks of 4 KiB; its superblock was not read.
	striped := func(blocks string, wide units.Bytes) diagnose.Case {
		return with(array("md0", topology.RAID6, 128*k, 8, p4510()), func(t *topology.Topology) {
			m := t.Targets[0].Mount
			m.FS, m.Options, m.Geometry = "ext4", []string{"rw", "relatime", "stripe=" + blocks}, block.Geometry{StripeWide: wide}
		})
	}
	dataset := func(o ...string) diagnose.Case {
		return with(array("", topology.Single, 0, 0, p4510()), func(t *topology.Topology) {
			t.Arrays, t.Tree.Devices = nil, map[string]*block.Device{}
			t.Targets[0].Device, t.Targets[0].Array = "", ""
			t.Targets[0].Mount = &block.Mount{Point: "/pool/db", Source: "pool/db", FS: "zfs", Options: o}
		})
	}
	unbitmapped := func(level topology.Level, size units.Bytes, policy string) diagnose.Case {
		return with(array("md0", level, 64*k, 4, p4510()), func(t *topology.Topology) {
			t.Targets[0].Role = topology.Data
			t.Tree.Devices["md0"].Size = size
			t.Tree.Devices["md0"].MD = &block.Raid{Bitmap: "none", Consistency: policy}
		})
	}
	// unsaid is a mount without barriers on drives of which the kernel does not say what cache they have.
	unsaid := func(name, clock string) diagnose.Case {
		c := stacked("LVM-1", sectors(512, 512, 0), sectors(512, 512, 0), name)
		c.Topology.Targets[0].Mount.Options = []string{"rw", "relatime", "nobarrier"}
		c.Host = &host.Facts{CPU: host.CPU{Clocks: []string{clock}}}
		return c
	}
	// lun is a volume on one of two disks with these serial numbers, below a device of multipath or not.
	lun := func(serial, other, holder string) diagnose.Case {
		c := stacked("LVM-1", sectors(512, 512, 0), sectors(512, 512, 0), "sda", "sdb")
		devices := c.Topology.Tree.Devices
		devices["dm-0"].Slaves = []string{"sda"}
		devices["sda"].Serial, devices["sdb"].Serial, devices["sda"].Holders = serial, other, []string{"dm-0", holder}
		devices["dm-9"] = &block.Device{Name: "dm-9", DM: "mpath-9"}
		return c
	}
	// local puts a mirror or a stripe on drives of these models.
	local := func(level topology.Level, models ...string) diagnose.Case {
		return with(array("md0", level, 64*k, len(models), p4510()), func(t *topology.Topology) {
			t.Targets[0].Role = topology.Data
			for i, model := range models {
				name := t.Arrays[0].Volumes[i].Device
				t.Tree.Devices["md0"].Slaves = append(t.Tree.Devices["md0"].Slaves, name)
				t.Tree.Devices[name] = &block.Device{Name: name, Kind: block.Disk, Model: model}
			}
		})
	}
	lost := func(drives ...string) diagnose.Case {
		c := stacked("mpath-1", sectors(512, 512, 0), sectors(512, 512, 0), drives...)
		c.Topology.Tree.Devices["sdb"].State = "offline"
		return c
	}
	raid6 := array("md0", topology.RAID6, 64*k, 6, p4510())
	return []labelled{
		{"geometry fits", with(four(), made(64*k, 256*k)), "", ""},
		{"su=128k,sw=3 on 64K × 4", with(four(), made(128*k, 384*k)), "PL203", ""},
		{"sw=8 on four drives", with(four(), made(64*k, 512*k)), "PL203", ""},
		{"noalign on RAID0", with(four(), made(0, 0)), "PL203", ""},
		{"noalign on RAID6", with(raid6, made(0, 0)), "PL203", ""},
		{"RAID6 of six is four wide", with(raid6, made(64*k, 256*k)), "", ""},
		{"RAID10 of eight is four wide", with(array("md0", topology.RAID10, 64*k, 8, gp3()), made(64*k, 256*k)), "", ""},
		{"geometry not read", with(four(), func(t *topology.Topology) { t.Targets[0].Mount.Geometry = block.Geometry{} }), "", ""},
		{"stripe=32 on six of 128 KiB", striped("32", 128*k), "PL203", ""},
		{"stripe=192 on six of 128 KiB", striped("192", 768*k), "", ""},
		{"what the device advertises counts", with(array("md0", topology.RAID10, 64*k, 3, gp3()), func(t *topology.Topology) {
			made(64*k, 192*k)(t)
			t.Tree.Devices["md0"].Queue = block.Queue{MinimumIO: 64 * k, OptimalIO: 192 * k}
		}), "", ""},
		{"partition at sector 2049", with(four(), partition(2049*512, true)), "PL205", ""},
		{"partition at 1 MiB", with(four(), partition(units.MiB, true)), "", ""},
		{"boot partition at sector 34, not below a tested path", with(four(), partition(34*512, false)), "", ""},
		{"discard", with(four(), options(units.GiB, "rw", "noatime", "discard")), "PL208", ""},
		{"discard that the device ignores", with(four(), options(0, "rw", "discard")), "", ""},
		{"nodiscard", with(four(), options(units.GiB, "rw", "nodiscard")), "", ""},
		{"mounted twice", with(four(), mounted("/opt/t1", "/")), "PL207", ""},
		{"bind mount of a directory", with(four(), mounted("/srv/db", "/db")), "", ""},
		{"write back, nothing syncs", with(four(), cached("write back")), "PL209", ""},
		{"write back, a scenario syncs", syncRun(with(four(), cached("write back")), 2*time.Millisecond), "PL209", "PL501"},
		{"write back, syncs of 15 µs", syncRun(with(array("nvme1n1", topology.Single, 0, 1, p4510()), cached("write back")), 15*time.Microsecond), "PL209", "PL501"},
		{"one drive of write back, nothing syncs", with(array("nvme1n1", topology.Single, 0, 1, p4510()), cached("write back")), "", ""},
		{"write through, syncs of 15 µs", syncRun(with(four(), cached("write through")), 15*time.Microsecond), "", "PL501"},
		{"nobarrier on write back", with(four(), barriers("write back", "rw", "nobarrier")), "PL215", ""},
		{"nobarrier on write through", with(four(), barriers("write through", "rw", "nobarrier")), "", ""},
		{"nobarrier on disks whose cache is not known", unsaid("sda", "tsc"), "PL215", ""},
		{"nobarrier on a guest's disk whose cache is not known", unsaid("sda", "kvm-clock"), "", ""},
		{"nobarrier on virtio whose cache is not known", unsaid("vda", "tsc"), "", ""},
		{"barriers on write back", with(four(), barriers("write back", "rw")), "PL209", ""},
		{"syncs without a flush", counted(syncRun(with(four(), barriers("write back")), 2*time.Millisecond), "6.1.0", "fdatasync", 0), "PL215", "PL501"},
		{"syncs with flushes", counted(syncRun(with(four(), barriers("write back")), 2*time.Millisecond), "6.1.0", "fdatasync", 400), "PL209", "PL501"},
		{"syncs without a flush on write through", counted(syncRun(with(four(), barriers("write through")), 2*time.Millisecond), "6.1.0", "fsync", 0), "", "PL501"},
		{"a kernel that counts none", counted(syncRun(with(four(), barriers("write back")), 2*time.Millisecond), "5.4.0", "fsync", 0), "PL209 PL318", "PL501"},
		{"sync_file_range asks for none", counted(syncRun(with(four(), barriers("write back")), 2*time.Millisecond), "6.1.0", "sync_file_range", 0), "PL209", "PL501"},
		{"one gp2 among gp3", with(mixed(func(v *topology.Volume) { v.Type = "gp2" }), func(*topology.Topology) {}), "PL210", ""},
		{"one drive of another model", with(mixed(func(v *topology.Volume) { v.Model = "INTEL SSDPE2KX010T8" }), func(*topology.Topology) {}), "PL210", ""},
		{"a mirror of two models", with(array("md0", topology.RAID1, 0, 2, p4510()), func(t *topology.Topology) {
			t.Arrays[0].Volumes[1].Model = "INTEL SSDPE2KX010T8"
		}), "", ""},
		{"a mirror of two sizes", with(array("md0", topology.RAID1, 0, 2, p4510()), func(t *topology.Topology) {
			t.Arrays[0].Volumes[1].Size /= 2
		}), "PL210", ""},
		{"access times of each read", times("rw", "attr2"), "PL220", ""},
		{"access times once a day", times("rw", "relatime"), "", ""},
		{"access times in memory", times("rw", "lazytime"), "", ""},
		{"access times of each read of a dataset", dataset("rw", "xattr"), "PL220", ""},
		{"access times of a dataset once a day", dataset("rw", "relatime", "xattr"), "", ""},
		{"no bitmap on 1 TiB", unbitmapped(topology.RAID1, units.TiB, "resync"), "PL221", ""},
		{"no bitmap on 100 GiB", unbitmapped(topology.RAID1, 100*units.GiB, "resync"), "", ""},
		{"no bitmap, a journal", unbitmapped(topology.RAID5, units.TiB, "journal"), "", ""},
		{"no bitmap, PPL", unbitmapped(topology.RAID5, units.TiB, "ppl"), "", ""},
		{"no bitmap on RAID0", unbitmapped(topology.RAID0, units.TiB, ""), "", ""},
		{"a dataset as ZFS makes it", zfs(topology.Data, func(*block.Dataset) {}), "", ""},
		{"a dataset of 8 KiB records", zfs(topology.Data, func(d *block.Dataset) { d.Record = 8 * units.KiB }), "", ""},
		{"a dataset of 1 MiB records", zfs(topology.Data, func(d *block.Dataset) { d.Record = units.MiB }), "PL222", ""},
		{"a log of 1 MiB records", zfs(topology.WAL, func(d *block.Dataset) { d.Record = units.MiB }), "", ""},
		{"a dataset without syncs", zfs(topology.WAL, func(d *block.Dataset) { d.Sync = "disabled" }), "PL222", ""},
		{"a log past its device", zfs(topology.WAL, func(d *block.Dataset) { d.LogBias = "throughput" }), "PL222", ""},
		{"data past that device", zfs(topology.Data, func(d *block.Dataset) { d.LogBias = "throughput" }), "", ""},
		{"a pool of ashift 9", zfs(topology.Data, func(d *block.Dataset) { d.Shift = 9 }), "PL222", ""},
		{"a pool of unknown ashift", zfs(topology.Data, func(d *block.Dataset) { d.Shift = 0 }), "", ""},
		{"syncs that a dataset ignores", syncRun(zfs(topology.Data, func(d *block.Dataset) { d.Sync = "disabled" }), 20*time.Microsecond), "PL215 PL222", "PL501"},
		{"syncs on a dataset", syncRun(zfs(topology.Data, func(*block.Dataset) {}), 2*time.Millisecond), "", "PL501"},
		{"a bitmap of 4 MiB", bitmap(4 * units.MiB), "PL221", ""},
		{"a bitmap of 64 MiB", bitmap(64 * units.MiB), "", ""},
		{"sizes that differ by a thousandth", with(mixed(func(v *topology.Volume) { v.Size -= v.Size / 1000 }), func(*topology.Topology) {}), "", ""},
		{"LVM without stripes", with(array("dm-0", topology.Linear, 0, 4, gp3()), func(*topology.Topology) {}), "PL211", ""},
		{"LVM on one volume", with(array("dm-0", topology.Linear, 0, 1, gp3()), func(*topology.Topology) {}), "", ""},
		{"log unit 256k under the WAL", with(four(), logUnit(topology.WAL, 256*k)), "PL212", ""},
		{"log unit 256k under data that never syncs", with(four(), logUnit(topology.Data, 256*k)), "", ""},
		{"log unit 32k under the WAL", with(four(), logUnit(topology.WAL, 32*k)), "", ""},
		{"the log on RAID5", with(array("md0", topology.RAID5, 64*k, 4, p4510()), func(t *topology.Topology) { t.Targets[0].Role = topology.WAL }), "PL216", ""},
		{"data on RAID5", with(array("md0", topology.RAID5, 64*k, 4, p4510()), func(t *topology.Topology) { t.Targets[0].Role = topology.Data }), "", ""},
		{"sectors of 512 on 4 KiB", stacked("CRYPT-LUKS2-1", sectors(512, 4096, k), sectors(512, 4096, k), "nvme0n1"), "PL217", ""},
		{"sectors of 4 KiB on 4 KiB", stacked("CRYPT-LUKS2-1", sectors(4096, 4096, k), sectors(512, 4096, k), "nvme0n1"), "", ""},
		{"sectors of 512 on 512", stacked("CRYPT-LUKS2-1", sectors(512, 512, k), sectors(512, 512, k), "nvme0n1"), "", ""},
		{"sectors of 512 on 4 KiB, not encrypted", stacked("LVM-1", sectors(512, 4096, k), sectors(512, 4096, k), "nvme0n1"), "", ""},
		{"discards held back", stacked("CRYPT-LUKS2-1", sectors(4096, 4096, 0), sectors(512, 4096, k), "nvme0n1"), "PL217", ""},
		{"work queues of encryption", queued(true, "6.1.0", false), "PL217", ""},
		{"work queues above a disk", queued(true, "6.1.0", true), "", ""},
		{"work queues of an old kernel", queued(true, "5.4.0", false), "", "PL318"},
		{"no work queues", queued(false, "6.1.0", false), "", ""},
		{"a drive without discards", stacked("CRYPT-LUKS2-1", sectors(4096, 4096, 0), sectors(512, 4096, 0), "nvme0n1"), "", ""},
		{"one path", stacked("mpath-1", sectors(512, 512, 0), sectors(512, 512, 0), "sda"), "PL218", ""},
		{"two paths", stacked("mpath-1", sectors(512, 512, 0), sectors(512, 512, 0), "sda", "sdb"), "", ""},
		{"one of two paths offline", pathState("transport-offline"), "PL218", ""},
		{"two paths that run", pathState("running"), "", ""},
		{"one of three paths offline", lost("sda", "sdb", "sdc"), "PL218", ""},
		{"one path of a LUN of two", lun("6005", "6005", ""), "PL218", ""},
		{"two LUNs of one array", lun("6005", "6006", ""), "", ""},
		{"a path that multipath has gathered", lun("6005", "6005", "dm-9"), "", ""},
		{"disks without serial numbers", lun("", "", ""), "", ""},
		{
			"instance storage", local(topology.RAID0, "Amazon EC2 NVMe Instance Storage", "Amazon EC2 NVMe Instance Storage"), "PL606", "",
		},
		{"a stripe with one drive of the machine", local(topology.RAID0, "nvme_card0", "nvme_card-pd"), "PL606", ""},
		{"a mirror with one drive of the machine", local(topology.RAID1, "nvme_card0", "nvme_card-pd"), "", ""},
		{"two paths of NVMe", pathState("live"), "", ""},
		{"the log on btrfs", with(four(), btrfs(topology.WAL, "rw")), "PL219", ""},
		{"the log on btrfs without copies", with(four(), btrfs(topology.WAL, "rw", "nodatacow")), "", ""},
		{"data on btrfs", with(four(), btrfs(topology.Data, "rw")), "", ""},
		{"the log on RAID10", with(array("md0", topology.RAID10, 64*k, 4, p4510()), func(t *topology.Topology) { t.Targets[0].Role = topology.WAL }), "", ""},
		{"28k on 64k chunks", split(64*k, 28*k, false), "PL206", "PL501"},
		{"32k on 64k chunks", split(64*k, 32*k, false), "", "PL501"},
		{"28k in sequence", split(64*k, 28*k, true), "", "PL501"},
		{"1M on 64k chunks", split(64*k, units.MiB, false), "", "PL501"},
	}
}

// What is to be done about a member depends on whether it failed, what a bitmap knows and what md does already.
func TestReplacementOfMembers(t *testing.T) {
	member := func(state string) []block.Member {
		return []block.Member{{Name: "sdb1", Slot: -1, State: state, Errors: 4}}
	}
	for name, c := range map[string]struct {
		md      block.Raid
		syncing string
		want    []string
	}{
		"failed": {block.Raid{Bitmap: "internal", Members: member("faulty,write_error")}, "", []string{
			"mdadm --detail /dev/md0", "mdadm /dev/md0 --remove /dev/sdb1", "mdadm /dev/md0 --add NEW_MEMBER",
		}},
		"away, a bitmap": {block.Raid{Bitmap: "internal"}, "", []string{
			"mdadm --detail /dev/md0", "mdadm /dev/md0 --re-add MEMBER",
		}},
		"away, no bitmap": {block.Raid{Bitmap: "none"}, "", []string{
			"mdadm --detail /dev/md0", "mdadm /dev/md0 --add NEW_MEMBER",
		}},
		"rebuilding": {block.Raid{Members: member("faulty")}, "recover", []string{"mdadm --detail /dev/md0"}},
	} {
		a := array("md0", topology.RAID1, 0, 2, p4510())
		a.Degraded, a.Syncing = 1, c.syncing
		topo := on("", a)
		topo.Tree = &block.Tree{Devices: map[string]*block.Device{"md0": {Name: "md0", MD: &c.md}}}
		for _, f := range Judge(&diagnose.Case{Topology: topo}, nil) {
			if f.Code == "PL201" && (!slices.Equal(f.Commands, c.want) ||
				strings.Contains(f.Fix, "Replace") == (c.syncing != "")) {
				t.Errorf("%s: %q, %s", name, f.Commands, f.Fix)
			}
		}
	}
}

// Texts say what is true of the case, and not only of the rule.
func TestWordsByCase(t *testing.T) {
	said := map[string]string{}
	judge := func(name string, c *diagnose.Case) {
		for _, f := range Judge(c, nil) {
			said[name+" "+string(f.Code)] = f.Title + ": " + f.Message + " " + f.Fix
		}
	}
	for _, level := range []topology.Level{topology.RAID0, topology.RAID1} {
		a := array("md0", level, 64*units.KiB, 4, p4510())
		a.Volumes[3].Size /= 2
		judge(string(level), &diagnose.Case{Topology: on("", a)})
	}
	for _, name := range []string{"vda", "sda"} {
		a := array(name, topology.Single, 0, 1, p4510())
		a.Volumes[0].Device = name
		topo := on("", a)
		topo.Tree = &block.Tree{Devices: map[string]*block.Device{
			name: {Name: name, Kind: block.Disk, Queue: block.Queue{WriteCache: "write back"}},
		}}
		w := random(0, 8*units.KiB, 1, 1)
		w.SyncEvery = 1
		judge(name, &diagnose.Case{Topology: topo, Runs: []diagnose.Measurement{measured(1, w)}})
	}
	for name, options := range map[string][]string{"name": {"nofail"}, "waits": {"noatime"}} {
		c := healthy()
		fstab(c).Options = options
		if name == "name" {
			fstab(c).Spec = "/dev/zd0"
		}
		judge(name, c)
	}
	for key, want := range map[string]string{
		"raid0 PL210": "striped over fewer members", "raid1 PL210": "is unused",
		"vda PL209": "Leave queue/write_cache", "sda PL209": "power-loss protection",
		"name PL312": "fstab mounts by a name", "waits PL312": "booting waits",
	} {
		if !strings.Contains(said[key], want) {
			t.Errorf("%s: %q lacks %q", key, said[key], want)
		}
	}
}
