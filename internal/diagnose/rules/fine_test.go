package rules

import (
	"slices"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// TestFineIsWhatWasJudged changes a healthy machine so that a rule judges something else, or
// nothing: want is all that it may then call fine.
func TestFineIsWhatWasJudged(t *testing.T) {
	second := func(c *diagnose.Case) { // another path, on an array of its own
		md1 := *c.Topology.Tree.Devices["md0"]
		md1.Name, md1.Path, md1.MD, md1.Slaves = "md1", "/dev/md1", &block.Raid{UUID: "1:2:3:4", Name: "host:wal"}, nil
		c.Topology.Tree.Devices["md1"] = &md1
		wal := c.Topology.Targets[0]
		wal.Role, wal.Device, wal.Array, wal.Devices, wal.Free = topology.WAL, "md1", "", []string{"md1"}, new(40*units.GiB)
		mount := *wal.Mount
		mount.Point, mount.Device = "/wal", "md1"
		wal.Mount = &mount
		c.Topology.Targets = append(c.Topology.Targets, wal)
	}
	queues := func(change func(q *block.Queue)) func(c *diagnose.Case) {
		return func(c *diagnose.Case) {
			change(&drive1(c).Queue)
			change(&c.Topology.Tree.Devices["nvme2n1"].Queue)
		}
	}
	for name, tt := range map[string]struct {
		code   finding.Code
		change func(c *diagnose.Case)
		want   []string
	}{
		"discard on a device that takes none": {"PL208", func(c *diagnose.Case) {
			c.Topology.Targets[0].Mount.Options = []string{"rw", "discard"}
		}, []string{"/data is mounted with discard, which does nothing: md0 accepts none"}},
		"mount options that are not known": {"PL208", func(c *diagnose.Case) { c.Topology.Targets[0].Mount.Options = nil }, nil},
		"a chunk larger than what drives take": {"PL304", queues(func(q *block.Queue) {
			q.MaxSectors, q.MaxHWSectors = 32*units.KiB, 32*units.KiB
		}), []string{"requests to nvme1n1 and nvme2n1 are as large as they can be"}},
		"what drives take is not known": {"PL304", queues(func(q *block.Queue) {
			q.MaxSectors, q.MaxHWSectors = 32*units.KiB, 0
		}), nil},
		"one drive of two": {
			"PL304", func(c *diagnose.Case) { drive1(c).Queue.MaxSectors = 32 * units.KiB },
			[]string{"large requests reach nvme2n1 unsplit"},
		},
		"geometry on a level without stripes": {"PL203", func(c *diagnose.Case) {
			c.Topology.Arrays[0].Level = topology.Linear
		}, nil},
		"geometry on a single volume": {"PL203", func(c *diagnose.Case) {
			c.Topology.Arrays[0].Volumes = c.Topology.Arrays[0].Volumes[:1]
		}, nil},
		"a second array, which mdadm.conf lacks": {"PL313", second, []string{"/etc/mdadm/mdadm.conf names md0"}},
		"a second path":                          {"PL317", second, []string{"30 GiB free at /data", "40 GiB free at /wal"}},
		"free space not known":                   {"PL317", func(c *diagnose.Case) { c.Topology.Targets[0].Free = nil }, nil},
		"a resync that is hidden by its cause": {"PL202", func(c *diagnose.Case) {
			a := &c.Topology.Arrays[0]
			a.Level, a.Degraded, a.Syncing = topology.RAID1, 1, "recover"
			c.Topology.Tree.Devices["md0"].MD.Action = "recover"
		}, nil},
		"a whole mirror": {"PL202", func(c *diagnose.Case) {
			c.Topology.Arrays[0].Level, c.Topology.Tree.Devices["md0"].MD.Action = topology.RAID1, "idle"
		}, []string{"md0 is not resyncing"}},
		"a mirror of which nothing is known": {"PL202", func(c *diagnose.Case) { c.Topology.Arrays[0].Level = topology.RAID1 }, nil},
		"a live image":                       {"PL312", func(c *diagnose.Case) { c.Topology.Tree.Mounts = []block.Mount{{Point: "/", FS: "tmpfs"}} }, nil},
		"a mount unit":                       {"PL312", func(c *diagnose.Case) { c.Host.Boot.Fstab, c.Host.Boot.Units = nil, []string{"/data"} }, []string{"a systemd unit mounts /data"}},
		"a swap file": {"PL310", func(c *diagnose.Case) {
			c.Host.Memory.Swaps, c.Host.Memory.Swappiness = []string{"/data/swap"}, 1
			c.Topology.Tree.SwapFiles = []string{"/data/swap"}
		}, []string{"swappiness 1"}},
		"swap on another drive": {
			"PL310", func(c *diagnose.Case) { c.Host.Memory.Swaps, c.Host.Memory.Swappiness = []string{"/dev/vda2"}, 1 },
			[]string{"swap is elsewhere, swappiness 1"},
		},
		"a log that nobody could read": {"PL316", func(c *diagnose.Case) { c.Host.Notes = []string{"the kernel's log: not permitted"} }, nil},
		"an initramfs of the same second": {
			"PL314", func(c *diagnose.Case) { c.Host.Boot.Mdadm.Modified = time.Unix(1001, 0) },
			[]string{"/boot/initrd.img-6.1.0-28 is no older than /etc/mdadm/mdadm.conf"},
		},
		"a version of fio that says nothing": {
			"PL318", func(c *diagnose.Case) { c.Host.Fio = "fio of mine" },
			[]string{"no known fault in Linux 6.1.119"},
		},
		"an old fio on a good kernel": {
			"PL318", func(c *diagnose.Case) { c.Host.Fio = "fio-3.19" },
			[]string{"no known fault in Linux 6.1.119"},
		},
		"a path in both roles": {"PL301", func(c *diagnose.Case) {
			both := c.Topology.Targets[0]
			both.Role = topology.WAL
			c.Topology.Targets = append(c.Topology.Targets, both)
		}, nil},
	} {
		c := healthy()
		tt.change(c)
		var got []string
		for _, p := range Passes(c) {
			if p.Code == tt.code {
				got = append(got, p.Message)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %s calls fine %q, want %q", name, tt.code, got, tt.want)
		}
	}
}
