package rules

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	hostrules "plimsoll/internal/diagnose/host"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const someUUID = "8ac075e3-1124-4bb6-bef7-a6811bf8b870"

// healthy is a checked machine without a fault: two EBS volumes in md0, mounted for data, on a KVM
// guest like a Nitro instance.
func healthy() *diagnose.Case {
	a := array("md0", topology.RAID0, 64*units.KiB, 2, gp3())
	t := on("", a)
	t.Targets = t.Targets[:1]
	t.Targets[0].Devices = []string{"md0", "nvme1n1", "nvme2n1"}
	t.Targets[0].Free = new(30 * units.GiB)
	t.Host.Memory = 24 * units.GiB
	m := t.Targets[0].Mount
	m.Point, m.Geometry = "/data", block.Geometry{Known: true, StripeUnit: 64 * units.KiB, StripeWide: 128 * units.KiB}
	t.Tree = &block.Tree{Devices: map[string]*block.Device{"md0": {
		Name: "md0", Path: "/dev/md0", Kind: block.MD, Slaves: []string{"nvme1n1", "nvme2n1"}, UUID: someUUID, Label: "data", Size: 50 * units.GiB,
		Queue: block.Queue{ReadAhead: 64 * units.KiB}, MD: &block.Raid{UUID: "3aaa0122-2982-7cfa-5331-ad66ca767371", Name: "host:data"}, NUMANode: -1,
	}}}
	for _, name := range []string{"nvme1n1", "nvme2n1"} {
		t.Tree.Devices[name] = &block.Device{
			Name: name, Path: "/dev/" + name, Kind: block.Disk, Model: "Amazon Elastic Block Store", NUMANode: 0,
			Queue: block.Queue{Scheduler: "none", Requests: 31, HardwareQueues: 2, ReadAhead: 128 * units.KiB, MaxSectors: 128 * units.KiB, MaxHWSectors: 128 * units.KiB, WriteCache: "write through"},
		}
	}
	return &diagnose.Case{Topology: t, Host: &host.Facts{
		Kernel: "Linux version 6.1.0-28-cloud-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 (2024-11-22)",
		Fio:    "fio-3.33", Uptime: 100 * time.Hour, NVMeTimeout: (1<<32 - 1) * time.Second,
		CPU: host.CPU{
			Clock: "kvm-clock", Clocks: []string{"kvm-clock", "tsc"}, Nodes: []int{0},
			Idle: []host.Idle{{Name: "POLL", Enabled: 2}, {State: 1, Name: "C1E", Latency: 10 * time.Microsecond, Enabled: 2}},
		},
		Memory: host.Memory{DirtyRatio: 20, BackgroundRatio: 10, Swappiness: 60, Known: true},
		Boot: host.Boot{
			FstabKnown: true, Fstab: []host.Fstab{{Line: 2, Spec: "UUID=" + someUUID, Point: "/data", FS: "xfs", Options: []string{"noatime", "nofail"}}},
			Mdadm: &host.File{Path: "/etc/mdadm/mdadm.conf", Modified: time.Unix(1000, 0)}, Initramfs: &host.File{Path: "/boot/initrd.img-6.1.0-28", Modified: time.Unix(1001, 0)},
			Arrays: []host.Array{{Device: "/dev/md/data", UUID: "3aaa0122:29827cfa:5331ad66:ca767371"}},
		},
	}}
}

// drive1 is one of the two volumes of a healthy machine.
func drive1(c *diagnose.Case) *block.Device { return c.Topology.Tree.Devices["nvme1n1"] }

// local makes the volumes NVMe drives of the machine itself.
func local(c *diagnose.Case) {
	for i := range c.Topology.Arrays[0].Volumes {
		v := &c.Topology.Arrays[0].Volumes[i]
		v.Network, v.Type = false, "nvme"
		c.Topology.Tree.Devices[v.Device].Model = "INTEL SSDPE2KX040T8"
	}
}

// sorted puts the array on one disk with a scheduler.
func sorted(c *diagnose.Case, scheduler string, rotational bool, role topology.Role) {
	c.Topology.Tree.Devices["sda"] = &block.Device{
		Name: "sda", Kind: block.Disk, Queue: block.Queue{Scheduler: scheduler, Requests: 256, Rotational: rotational},
	}
	c.Topology.Tree.Devices["md0"].Slaves = []string{"sda"}
	c.Topology.Targets[0].Role = role
	c.Topology.Tree.Devices["md0"].Queue.ReadAhead = units.MiB
}

func fstab(c *diagnose.Case) *host.Fstab { return &c.Host.Boot.Fstab[0] }

// The boot parameter of Intel's driver does nothing on AMD (review of 2026-11-26, M5).
func TestDeepStatesByVendor(t *testing.T) {
	for cpu, intel := range map[string]bool{"AMD EPYC 9R14": false, "Intel(R) Xeon(R)": true} {
		c := healthy()
		c.Topology.Host.CPU = cpu
		c.Host.CPU.Idle = append(c.Host.CPU.Idle, host.Idle{
			State: 2, Name: "C6", Latency: 133 * time.Microsecond,
			Enabled: 2,
		})
		found := Judge(c, nil)
		if len(found) != 1 || found[0].Code != "PL306" || strings.Contains(found[0].Fix, "intel_idle") != intel {
			t.Errorf("%s: %+v", cpu, found)
		}
	}
}

// TestHostRules changes one thing at a time of a healthy machine: want is every finding that must
// come of it, as "CODE severity", and "" that it is a near miss. typed is the command that fixes
// it.
func TestHostRules(t *testing.T) {
	free := func(b *units.Bytes) func(*diagnose.Case) {
		return func(c *diagnose.Case) { c.Topology.Targets[0].Free = b }
	}
	idle := func(latency time.Duration, enabled int) func(*diagnose.Case) {
		return func(c *diagnose.Case) {
			c.Host.CPU.Idle = append(c.Host.CPU.Idle, host.Idle{State: 2, Name: "C6", Latency: latency, Enabled: enabled})
		}
	}
	governor := func(driver, name, preference string) func(*diagnose.Case) {
		return func(c *diagnose.Case) {
			c.Host.CPU.Driver, c.Host.CPU.Governors, c.Host.CPU.Preferences = driver, []string{name}, []string{preference}
		}
	}
	log := func(kind host.Trouble, device string, last time.Duration) func(*diagnose.Case) {
		return func(c *diagnose.Case) {
			c.Host.Log = []host.Event{{Kind: kind, Device: device, Count: 2, Last: last, Text: "line"}}
		}
	}
	look := func(name string, iops units.IOPS, util float64) func(*diagnose.Case) {
		return func(c *diagnose.Case) { c.OtherLoad = []telemetry.DeviceUse{{Name: name, WriteIOPS: iops, Util: util}} }
	}
	kernel := func(version, fs string) func(*diagnose.Case) {
		return func(c *diagnose.Case) { c.Host.Kernel, c.Topology.Targets[0].Mount.FS = version, fs }
	}
	rows := []struct {
		name, want, typed string
		change            func(*diagnose.Case)
	}{
		{"nothing", "", "", func(*diagnose.Case) {}},
		{"nobody looked at the machine", "", "", func(c *diagnose.Case) { c.Host = nil; drive1(c).Queue.Scheduler = "bfq" }},

		{"no read-ahead under data", "PL301 info", "echo 256 > /sys/block/md0/queue/read_ahead_kb", func(c *diagnose.Case) {
			c.Topology.Tree.Devices["md0"].Queue = block.Queue{Logical: 512}
		}},
		{"no read-ahead in both roles", "PL301 info", "", func(c *diagnose.Case) {
			second := c.Topology.Targets[0]
			second.Role = topology.WAL
			c.Topology.Targets = append(c.Topology.Targets, second)
			c.Topology.Tree.Devices["md0"].Queue = block.Queue{Logical: 512}
		}},
		{
			"a queue that was not read", "", "",
			func(c *diagnose.Case) { c.Topology.Tree.Devices["md0"].Queue = block.Queue{} },
		},
		{
			"read-ahead 4 MiB under data", "", "",
			func(c *diagnose.Case) { c.Topology.Tree.Devices["md0"].Queue.ReadAhead = 4 * units.MiB },
		},
		{
			"read-ahead 64 KiB under the log", "PL301 info", "echo 256 > /sys/block/md0/queue/read_ahead_kb",
			func(c *diagnose.Case) { c.Topology.Targets[0].Role = topology.WAL },
		},
		{"read-ahead of a stripe under the log", "", "", func(c *diagnose.Case) {
			c.Topology.Targets[0].Role, c.Topology.Tree.Devices["md0"].Queue.ReadAhead = topology.WAL, 128*units.KiB
		}},
		{"read-ahead 64 KiB under a log of one volume", "", "", func(c *diagnose.Case) {
			c.Topology.Targets[0].Role, c.Topology.Arrays[0].Level = topology.WAL, topology.Single
			c.Topology.Arrays[0].Volumes = c.Topology.Arrays[0].Volumes[:1]
		}},
		{"no read-ahead, a direct run", "", "", func(c *diagnose.Case) {
			c.Topology.Tree.Devices["md0"].Queue = block.Queue{Logical: 512}
			c.Runs = []diagnose.Measurement{measured(1, random(1, 8*units.KiB, 1, 4))}
		}},
		{"no read-ahead, a buffered run", "PL301 info", "", func(c *diagnose.Case) {
			c.Topology.Tree.Devices["md0"].Queue = block.Queue{Logical: 512}
			w := random(1, 8*units.KiB, 1, 4)
			w.Direct, w.Buffered = false, true
			c.Runs = []diagnose.Measurement{measured(1, w)}
		}},
		{"mq-deadline on NVMe", "PL302 warning", "echo none > /sys/block/nvme1n1/queue/scheduler", func(c *diagnose.Case) { drive1(c).Queue.Scheduler = "mq-deadline" }},
		{"mq-deadline on a virtio disk", "", "", func(c *diagnose.Case) {
			c.Topology.Tree.Devices["vda"] = &block.Device{Name: "vda", Kind: block.Disk, Queue: block.Queue{Scheduler: "mq-deadline", Requests: 256, Rotational: true}}
			c.Topology.Tree.Devices["md0"].Slaves = []string{"vda"}
		}},
		{"bfq on a virtio disk", "PL302 info", "echo none > /sys/block/vda/queue/scheduler", func(c *diagnose.Case) {
			c.Topology.Tree.Devices["vda"] = &block.Device{Name: "vda", Kind: block.Disk, Queue: block.Queue{Scheduler: "bfq", Requests: 256, Rotational: true}}
			c.Topology.Tree.Devices["md0"].Slaves = []string{"vda"}
		}},
		{"bfq on a hard disk", "", "", func(c *diagnose.Case) {
			c.Topology.Tree.Devices["sda"] = &block.Device{Name: "sda", Kind: block.Disk, Queue: block.Queue{Scheduler: "bfq", Requests: 256, Rotational: true}}
			c.Topology.Tree.Devices["md0"].Slaves = []string{"sda"}
		}},
		{
			"cfq on a hard disk of a database", "PL302 info", "echo deadline > /sys/block/sda/queue/scheduler",
			func(c *diagnose.Case) { sorted(c, "cfq", true, topology.WAL) },
		},
		{
			"cfq on a solid-state drive", "PL302 info", "echo noop > /sys/block/sda/queue/scheduler",
			func(c *diagnose.Case) { sorted(c, "cfq", false, topology.Data) },
		},
		{"cfq on a hard disk without a log", "", "", func(c *diagnose.Case) { sorted(c, "cfq", true, topology.Data) }},
		{
			"deadline on a hard disk of a database", "", "",
			func(c *diagnose.Case) { sorted(c, "deadline", true, topology.WAL) },
		},
		{
			"no scheduler on a SATA disk that turns", "PL302 info", "echo mq-deadline > /sys/block/sda/queue/scheduler",
			func(c *diagnose.Case) {
				sorted(c, "none", true, topology.Data)
				c.Topology.Tree.Devices["sda"].RPM = 7200
			},
		},
		{"no scheduler on a controller's volume", "", "", func(c *diagnose.Case) { sorted(c, "none", true, topology.Data) }},
		{"four requests", "PL303 warning", "echo 128 > /sys/block/nvme1n1/queue/nr_requests", func(c *diagnose.Case) { drive1(c).Queue.Requests = 4 }},
		{"31 requests in each of two queues", "", "", func(c *diagnose.Case) { drive1(c).Queue.Requests = 31 }},
		{"requests of 16 KiB", "PL304 warning", "echo 64 > /sys/block/nvme1n1/queue/max_sectors_kb", func(c *diagnose.Case) { drive1(c).Queue.MaxSectors = 16 * units.KiB }},
		{"requests as large as the chunk", "", "", func(c *diagnose.Case) { drive1(c).Queue.MaxSectors = 64 * units.KiB }},
		{"rotational EBS volume", "PL305 warning", "echo 0 > /sys/block/nvme1n1/queue/rotational", func(c *diagnose.Case) { drive1(c).Queue.Rotational = true }},
		{"rotational, and a model with SSD", "PL305 warning", "echo 0 > /sys/block/sda/queue/rotational", func(c *diagnose.Case) {
			sorted(c, "mq-deadline", true, topology.Data)
			c.Topology.Tree.Devices["sda"].Model = "INTEL SSDSC2KB038T8"
		}},
		{"rotational st1 volume", "", "", func(c *diagnose.Case) {
			drive1(c).Queue.Rotational = true
			for i := range c.Topology.Arrays[0].Volumes {
				c.Topology.Arrays[0].Volumes[i].Type = "st1"
			}
		}},

		{"C6 on EBS", "PL306 info", "echo 1 | tee /sys/devices/system/cpu/cpu*/cpuidle/state2/disable", idle(133*time.Microsecond, 2)},
		{"C6 over local drives", "PL306 warning", "", func(c *diagnose.Case) { local(c); idle(133*time.Microsecond, 1)(c) }},
		{"C6 disabled", "", "", idle(133*time.Microsecond, 0)},
		{"C6 that wakes in 50 µs", "", "", idle(50*time.Microsecond, 2)},
		{"powersave", "PL307 warning", "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", governor("acpi-cpufreq", "powersave", "")},
		{"ondemand", "PL307 info", "", governor("acpi-cpufreq", "ondemand", "")},
		{"schedutil", "", "", governor("acpi-cpufreq", "schedutil", "")},
		{"powersave of intel_pstate", "", "", governor("intel_pstate", "powersave", "balance_performance")},
		{"powersave of intel_pstate that saves power", "PL307 warning", "", governor("intel_pstate", "powersave", "power")},
		{
			"xen clock of a machine without KVM's", "PL308 warning", "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
			func(c *diagnose.Case) { c.Host.CPU.Clock, c.Host.CPU.Clocks = "xen", []string{"xen", "tsc"} },
		},
		{
			"acpi_pm on KVM", "PL308 warning", "echo kvm-clock > /sys/devices/system/clocksource/clocksource0/current_clocksource",
			func(c *diagnose.Case) { c.Host.CPU.Clock = "acpi_pm" },
		},
		{"Arm's counter", "", "", func(c *diagnose.Case) { c.Host.CPU.Clock = "arch_sys_counter" }},
		{"10 % of 256 GiB", "PL309 info", "sysctl -w vm.dirty_background_bytes=131072000", func(c *diagnose.Case) { c.Topology.Host.Memory = 256 * units.GiB }},
		{"10 % of 256 GiB, but in bytes", "", "", func(c *diagnose.Case) {
			c.Topology.Host.Memory = 256 * units.GiB
			c.Host.Memory.BackgroundBytes, c.Host.Memory.DirtyBytes = 256*units.MiB, units.GiB
		}},
		{"10 % of 256 GiB on ZFS", "", "", func(c *diagnose.Case) {
			c.Topology.Host.Memory, c.Topology.Targets[0].Mount.FS = 256*units.GiB, "zfs"
		}},
		{"background above the limit", "PL309 warning", "", func(c *diagnose.Case) { c.Host.Memory.BackgroundRatio = 40 }},
		{"swappiness 60 and swap", "PL310 info", "sysctl -w vm.swappiness=1", func(c *diagnose.Case) { c.Host.Memory.Swaps = []string{"/dev/vda2"} }},
		{"swappiness 180 and zram", "", "", func(c *diagnose.Case) {
			c.Host.Memory.Swaps, c.Host.Memory.Swappiness = []string{"/dev/zram0"}, 180
		}},
		{"huge pages of a log's machine", "PL322 info", "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled", func(c *diagnose.Case) {
			c.Host.Memory.HugePages, c.Topology.Targets[0].Role = "always", topology.WAL
			c.Topology.Tree.Devices["md0"].Queue.ReadAhead = 4 * units.MiB
		}},
		{"huge pages where asked for", "", "", func(c *diagnose.Case) {
			c.Host.Memory.HugePages, c.Topology.Targets[0].Role = "madvise", topology.WAL
			c.Topology.Tree.Devices["md0"].Queue.ReadAhead = 4 * units.MiB
		}},
		{"huge pages without a database", "", "", func(c *diagnose.Case) { c.Host.Memory.HugePages = "always" }},
		{"swap on a member", "PL310 info", "swapon --show", func(c *diagnose.Case) {
			c.Host.Memory.Swaps, c.Host.Memory.Swappiness = []string{"/dev/nvme1n1p2"}, 1
			c.Topology.Tree.Devices["nvme1n1p2"] = &block.Device{Name: "nvme1n1p2", Path: "/dev/nvme1n1p2", Kind: block.Partition, Parent: "nvme1n1"}
			c.Topology.Tree.Swaps = []string{"nvme1n1p2"}
		}},
		{
			"swap on a volume of ZFS", "PL310 warning", "swapon --show",
			func(c *diagnose.Case) { c.Host.Memory.Swaps, c.Host.Memory.Swappiness = []string{"/dev/zd0"}, 1 },
		},
		{"swap elsewhere, swappiness 1", "", "", func(c *diagnose.Case) { c.Host.Memory.Swaps, c.Host.Memory.Swappiness = []string{"/dev/vda2"}, 1 }},
		{"two nodes, local drives", "PL311 info", "numactl --cpunodebind=0 --membind=0 plimsoll run", func(c *diagnose.Case) { local(c); c.Host.CPU.Nodes = []int{0, 1} }},
		{"two nodes, drives on both", "", "", func(c *diagnose.Case) {
			local(c)
			c.Host.CPU.Nodes, c.Topology.Tree.Devices["nvme2n1"].NUMANode = []int{0, 1}, 1
		}},
		{"two nodes, EBS", "", "", func(c *diagnose.Case) { c.Host.CPU.Nodes = []int{0, 1} }},

		{"not in fstab", "PL312 warning", "echo 'UUID=" + someUUID + " /data xfs defaults,noatime,nofail 0 2' >> /etc/fstab", func(c *diagnose.Case) { c.Host.Boot.Fstab = nil }},
		{"no ARRAY line, /etc not seen", "", "", func(c *diagnose.Case) {
			c.Host.Boot.Fstab, c.Host.Boot.FstabKnown, c.Host.Boot.Arrays = nil, false, nil
		}},
		{"a mount unit", "", "", func(c *diagnose.Case) { c.Host.Boot.Fstab, c.Host.Boot.Units = nil, []string{"/data"} }},
		{"fstab not seen", "", "", func(c *diagnose.Case) { c.Host.Boot.Fstab, c.Host.Boot.FstabKnown = nil, false }},
		{"the root filesystem is not in fstab", "", "", func(c *diagnose.Case) { c.Host.Boot.Fstab, c.Topology.Targets[0].Mount.Point = nil, "/" }},
		{"a root in memory", "", "", func(c *diagnose.Case) {
			c.Host.Boot.Fstab, c.Host.Boot.Arrays = nil, nil
			c.Topology.Tree.Mounts = []block.Mount{{Point: "/", FS: "rootfs"}}
		}},
		{"by the driver's name", "PL312 warning", "", func(c *diagnose.Case) {
			fstab(c).Spec = "/dev/nvme1n1"
			c.Topology.Targets[0].Mount.Device = "nvme1n1"
			c.Topology.Targets[0].Device = "nvme1n1"
		}},
		{"by the number of a volume of ZFS", "PL312 warning", "", func(c *diagnose.Case) {
			fstab(c).Spec = "/dev/zd0"
		}},
		{"by a path of several", "PL312 warning", "", func(c *diagnose.Case) {
			fstab(c).Spec = "/dev/nvme2n1"
			c.Topology.Tree.Devices["md0"].DM = "mpath-1"
		}},
		{"by another drive of the filesystem", "PL312 warning", "", func(c *diagnose.Case) {
			fstab(c).Spec = "/dev/nvme2n1"
			c.Topology.Tree.Devices["nvme2n1"].UUID = someUUID
		}},
		{"a subvolume without nofail", "PL312 info", "", func(c *diagnose.Case) {
			fstab(c).Options = []string{"subvol=/@data"}
			c.Topology.Targets[0].Mount.FS, c.Topology.Targets[0].Mount.Root = "btrfs", "/@data"
		}},
		{"a subvolume", "", "", func(c *diagnose.Case) {
			c.Topology.Targets[0].Mount.FS, c.Topology.Targets[0].Mount.Root = "btrfs", "/@data"
		}},
		{"a directory mounted again", "", "", func(c *diagnose.Case) {
			fstab(c).Spec, fstab(c).Options = "/srv/data", []string{"bind"}
			c.Topology.Targets[0].Mount.Root = "/srv/data"
		}},
		{"a directory that a container mounts", "", "", func(c *diagnose.Case) {
			c.Host.Boot.Fstab = nil
			c.Topology.Targets[0].Mount.Root = "/srv/data"
		}},
		{"by label", "", "", func(c *diagnose.Case) { fstab(c).Spec = "LABEL=data" }},
		{"by md's own name", "", "", func(c *diagnose.Case) { fstab(c).Spec = "/dev/md0" }},
		{"another UUID", "PL312 error", "", func(c *diagnose.Case) { fstab(c).Spec = "UUID=00000000-1124-4bb6-bef7-a6811bf8b870" }},
		{"another device", "PL312 error", "", func(c *diagnose.Case) { fstab(c).Spec = "/dev/nvme2n1" }},
		{"without nofail", "PL312 info", "", func(c *diagnose.Case) { fstab(c).Options = []string{"defaults"} }},
		{"without nofail on hardware", "", "", func(c *diagnose.Case) {
			local(c)
			fstab(c).Options, c.Host.CPU.Clocks = []string{"defaults"}, []string{"tsc", "hpet"}
		}},
		{"without nofail, noauto", "", "", func(c *diagnose.Case) { fstab(c).Options = []string{"noauto"} }},
		{"no ARRAY line", "PL313 warning", "mdadm --detail --brief /dev/md0 >> /etc/mdadm/mdadm.conf", func(c *diagnose.Case) { c.Host.Boot.Arrays = nil }},
		{"no ARRAY line, a record's own file", "PL313 warning", "mdadm --detail --brief /dev/md0 >> /etc/mdadm.conf", func(c *diagnose.Case) {
			c.Host.Boot.Arrays, c.Host.Boot.Mdadm.Path = nil, "/etc/sudoers"
		}},
		{"no ARRAY line, and an initramfs", "PL313 warning", "update-initramfs -u", func(c *diagnose.Case) { c.Host.Boot.Arrays = nil }},
		{"another host's array", "PL313 warning", "echo 'ARRAY /dev/md/data UUID=3aaa0122:29827cfa:5331ad66:ca767371' >> /etc/mdadm/mdadm.conf", func(c *diagnose.Case) {
			c.Host.Boot.Arrays = nil
			d := c.Topology.Tree.Devices["md0"]
			d.MD.Name, d.MD.UUID, d.Links = "elsewhere:data", "3aaa0122-2982-7cfa-5331-ad66ca767371", []string{"/dev/md/elsewhere:data"}
		}},
		{"another host's array, its name in use", "PL313 warning", "mdadm --detail --brief /dev/md0 >> /etc/mdadm/mdadm.conf", func(c *diagnose.Case) {
			c.Host.Boot.Arrays = nil
			d := c.Topology.Tree.Devices["md0"]
			d.MD.Name, d.MD.UUID, d.Links = "elsewhere:data", "3aaa0122-2982-7cfa-5331-ad66ca767371", []string{"/dev/md/elsewhere:data"}
			c.Topology.Tree.Devices["md1"] = &block.Device{Name: "md1", Path: "/dev/md1", Links: []string{"/dev/md/data"}}
		}},
		{"ARRAY with the UUID of another array", "PL313 warning", "", func(c *diagnose.Case) {
			c.Host.Boot.Arrays = []host.Array{{Device: "/dev/md0", UUID: "1:2:3:4", Name: "host:data"}}
		}},
		{
			"ARRAY with another name", "PL313 warning", "",
			func(c *diagnose.Case) { c.Host.Boot.Arrays[0].Name = "host:other" },
		},
		{"ARRAY with the name without its host", "", "", func(c *diagnose.Case) { c.Host.Boot.Arrays[0].Name = "data" }},
		{"ARRAY by name", "", "", func(c *diagnose.Case) { c.Host.Boot.Arrays = []host.Array{{Name: "host:data"}} }},
		{"ARRAY of another, the UUID not known", "", "", func(c *diagnose.Case) {
			c.Topology.Tree.Devices["md0"].MD.UUID, c.Host.Boot.Arrays = "", []host.Array{{Device: "/dev/md/wal", UUID: "1:2"}}
		}},
		{"old initramfs", "PL314 warning", "update-initramfs -u", func(c *diagnose.Case) { c.Host.Boot.Mdadm.Modified = time.Unix(2000, 0) }},
		{"old initramfs, of dracut on a Debian", "PL314 warning", "dracut --force --mdadmconf", func(c *diagnose.Case) {
			c.Host.Boot.Mdadm.Modified, c.Host.Boot.Renewal = time.Unix(2000, 0), "dracut --force --mdadmconf"
		}},
		{"old initramfs, of a captured RPM system", "PL314 warning", "dracut --force --mdadmconf", func(c *diagnose.Case) {
			c.Host.Boot.Mdadm.Modified, c.Host.Boot.Initramfs.Path = time.Unix(2000, 0), "/boot/initramfs-6.1.0-28.img"
		}},
		{"old initramfs without an array", "", "", func(c *diagnose.Case) {
			c.Host.Boot.Mdadm.Modified = time.Unix(2000, 0)
			d := c.Topology.Tree.Devices["md0"]
			d.MD, d.Kind = nil, block.LV
		}},

		{"another load", "PL315 warning", "pidstat -d 1 5", look("md0", 2210, 0.64)},
		{"a busy device that is not below", "", "", look("vda", 2210, 0.64)},
		{"a journal", "", "", look("md0", 12, 0.01)},
		{"timeout of a member's controller", "PL316 warning", "dmesg --ctime | grep -F nvme1", log(host.Timeout, "nvme1", 99*time.Hour)},
		{"timeout last week", "PL316 info", "", log(host.Timeout, "nvme1", time.Hour)},
		{"timeout of another controller", "", "", log(host.Timeout, "nvme11", 99*time.Hour)},
		{"I/O error of another disk", "", "", log(host.IOError, "sda", 99*time.Hour)},
		{"heat", "PL316 warning", "", log(host.Throttled, "", 99*time.Hour)},
		{"2 GiB of 50 free", "PL317 warning", "df -h /data", free(new(2 * units.GiB))},
		{"no byte of 50 GiB free", "PL317 warning", "df -h /data", free(new(units.Bytes(0)))},
		{
			"inodes nearly used up", "PL317 warning", "df -i /data",
			func(c *diagnose.Case) { c.Topology.Targets[0].Inodes = 0.96 },
		},
		{"a tenth of the inodes left", "", "", func(c *diagnose.Case) { c.Topology.Targets[0].Inodes = 0.9 }},
		{"free space not known", "", "", free(nil)},
		{"fio 3.19", "PL318 warning", "", func(c *diagnose.Case) { c.Host.Fio = "fio-3.19" }},
		{"fio 3.30", "PL318 warning", "", func(c *diagnose.Case) { c.Host.Fio = "fio-3.30" }},
		{"fio 3.33", "", "", func(c *diagnose.Case) { c.Host.Fio = "fio-3.33" }},
		{"ext4 on 6.1.64", "PL318 error", "", kernel("Linux version 6.1.0-14-amd64 (d@debian.org) #1 SMP Debian 6.1.64-1 (2023-11-30)", "ext4")},
		{"XFS on 6.1.64", "", "", kernel("Linux version 6.1.64 (root@host) #1 SMP", "xfs")},
		{"ext4 on 6.1.66", "", "", kernel("Linux version 6.1.66 (root@host) #1 SMP", "ext4")},
		{"Linux 4.14, and nothing measured", "", "", kernel("Linux version 4.14.200-155.322.amzn2.x86_64 (mockbuild@ip)", "xfs")},
		{
			"NVMe timeout of 30 s on Linux 4.14", "PL319 info",
			"grubby --update-kernel=ALL --args=nvme_core.io_timeout=255", func(c *diagnose.Case) {
				c.Host.NVMeTimeout, c.Host.Kernel = 30*time.Second, "Linux version 4.14.200"
				c.Host.Boot.Initramfs.Path = "/boot/initramfs-4.14.200.img"
			},
		},
		{
			"NVMe timeout of 30 s", "PL319 info", "update-grub",
			func(c *diagnose.Case) { c.Host.NVMeTimeout = 30 * time.Second },
		},
		{"NVMe timeout of 10 s", "PL319 warning", "", func(c *diagnose.Case) { c.Host.NVMeTimeout = 10 * time.Second }},
		{"NVMe timeout of 30 s on local drives", "", "", func(c *diagnose.Case) { local(c); c.Host.NVMeTimeout = 30 * time.Second }},
		{"zone reclaim on two nodes", "PL323 warning", "sysctl -w vm.zone_reclaim_mode=0", func(c *diagnose.Case) {
			c.Host.Memory.ZoneReclaim, c.Host.CPU.Nodes = 1, []int{0, 1}
		}},
		{"zone reclaim on one node", "", "", func(c *diagnose.Case) { c.Host.Memory.ZoneReclaim = 1 }},
		{"two nodes", "", "", func(c *diagnose.Case) { c.Host.CPU.Nodes = []int{0, 1} }},
		{"a link of half its lanes", "PL321 warning", "lspci -vv", link(8, 8, 2, 4)},
		{"a link of an older generation", "PL321 warning", "lspci -vv", link(8, 16, 4, 4)},
		{"a full link", "", "", link(16, 16, 4, 4)},
	}
	// A near miss stands below the rows that fire its rule.
	fires, near, last := map[string]bool{"PL320": true}, map[string]bool{"PL320": true}, "" // PL320 has TestFirstTouch
	for _, tt := range rows {
		if tt.want == "" {
			near[last] = true
			continue
		}
		last, _, _ = strings.Cut(tt.want, " ")
		fires[last] = true
	}
	for _, r := range hostrules.Rules() {
		if code := string(r.Code); !fires[code] || !near[code] {
			t.Errorf("%s: a case fires it: %t, and a near miss does not: %t", code, fires[code], near[code])
		}
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			c := healthy()
			tt.change(c)
			var got, typed []string
			findings := Judge(c, nil)
			for _, f := range findings {
				if f.Code != "PL210" { // nothing here makes volumes differ but a test's own change
					got = append(got, string(f.Code)+" "+string(f.Severity))
				}
				typed = append(typed, f.Commands...)
				if f.Message == "" || len(f.Evidence) == 0 || f.Subject == "" {
					t.Errorf("%s lacks words, evidence or a subject: %+v", f.Code, f)
				}
				for _, p := range Passes(c) {
					if p.Code == f.Code && p.Subject == f.Subject {
						t.Errorf("%s is found and fine too: %s", f.Code, p.Message)
					}
				}
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("found %q, want %q\n%+v", got, tt.want, findings)
			}
			if tt.typed != "" && !slices.Contains(typed, tt.typed) {
				t.Errorf("commands %q, want %q", typed, tt.typed)
			}
		})
	}
}

func TestFine(t *testing.T) {
	c := healthy()
	var got []string
	for _, p := range Passes(c) {
		got = append(got, string(p.Code)+" "+p.Message)
	}
	want := []string{
		"PL203 xfs at /data: su 64 KiB, width 128 KiB fit the array",
		"PL208 /data is mounted without discard",
		"PL301 read-ahead of md0 is 64 KiB (data)",
		"PL302 no scheduler on nvme1n1 and nvme2n1",
		"PL303 32 or more requests fit in the queue of nvme1n1 and nvme2n1",
		"PL304 large requests reach nvme1n1 and nvme2n1 unsplit",
		"PL306 the CPU leaves its deepest enabled idle state in 50 µs or less",
		"PL308 clock source kvm-clock",
		"PL309 dirty pages: background write-back at 2.4 GiB, throttling at 4.8 GiB",
		"PL310 no swap on a drive",
		"PL311 one NUMA node",
		"PL312 fstab mounts /data",
		"PL313 /etc/mdadm/mdadm.conf names md0",
		"PL314 /boot/initrd.img-6.1.0-28 is no older than /etc/mdadm/mdadm.conf",
		"PL316 no errors from these devices in the kernel log",
		"PL317 30 GiB free at /data",
		"PL318 no known fault in fio-3.33",
		"PL318 no known fault in Linux 6.1.119",
		"PL605 the volumes of md0 have no burst credits to run out",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestHealthyMachinesAreCalm looks at captured machines without a fault: the lab's healthy presets,
// and a VM as it comes.
func TestHealthyMachinesAreCalm(t *testing.T) {
	for name, path := range map[string]string{"lab-gp3x8-raid10": "/data", "lab-gp2x4-raid0": "/data", "lab-nvme8": "/t0", "this-vm": "/"} {
		archive, err := os.ReadFile("../../block/testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		m := &sys.Machine{Root: block.Captured(archive), Run: func(_ context.Context, _ io.Writer, argv ...string) error {
			return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
		}}
		top, err := topology.Detect(t.Context(), m, map[topology.Role]string{topology.Data: path}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &diagnose.Case{Topology: top, Host: host.Read(t.Context(), m)}
		c.Host.Boot.FstabKnown = true // with no line in it, as in the lab's image
		if c.Device(top.Targets[0].Device) == nil {
			t.Fatalf("%s: %s is on no device", name, path)
		}
		for _, f := range Judge(c, nil) {
			// md and this VM read far ahead as they come: true, and said without a warning.
			if f.Code.Family() == "the host" && (f.Code != "PL301" || f.Severity != finding.Info) {
				t.Errorf("%s: %s %s: %s", name, f.Code, f.Severity, f.Message)
			}
		}
	}
}

func TestSettingsOfOddNames(t *testing.T) {
	c := healthy()
	c.Topology.Targets[0].Mount.Point = "/da'ta $(reboot)"
	c.Host.Boot.Fstab = nil
	f := Judge(c, nil)
	want := `echo 'UUID=` + someUUID + ` /da'\''ta\040$(reboot) xfs defaults,noatime,nofail 0 2' >> /etc/fstab`
	if len(f) != 1 || f[0].Commands[0] != want {
		t.Errorf("%+v", f)
	}
}

// link gives the drive nvme1n1 a PCIe link.
func link(speed, mostSpeed float64, lanes, mostLanes int) func(*diagnose.Case) {
	return func(c *diagnose.Case) {
		c.Topology.Tree.Devices["nvme1n1"].Link = &block.Link{Speed: speed, MaxSpeed: mostSpeed, Lanes: lanes, MaxLanes: mostLanes}
	}
}
