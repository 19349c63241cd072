package provision

import (
	"fmt"
	"strings"
	"testing"
)

// The second member of a btrfs is in use while the first is mounted, though nothing of it is: the kernel names
// them in /sys/fs/btrfs alone.
func TestLabBtrfs(t *testing.T) {
	g := start(t, "  - {name: b, count: 2, size: 256MiB}\n")
	if r := g.sh("command -v mkfs.btrfs && modprobe btrfs"); r.Code != 0 {
		t.Skip("NO BTRFS: the guest has the host's programs, and mkfs.btrfs is not among them: install btrfs-progs")
	}
	g.ok("mkfs.btrfs -q -f -d raid1 -m raid1 ${b[*]} && mkdir -p /mnt && mount -o device=${b[1]} ${b[0]} /mnt && echo kept > /mnt/file && sync")
	second := g.Volumes[1]
	g.declare(fmt.Sprintf("arrays:\n  - {name: b, level: single, volumes: [{serial: %s}], filesystem: {type: ext4, mount: /srv/b}}\n", second.Serial))
	was := g.sum(second.Name())
	const apply = "plimsoll array apply /keep/plimsoll.yaml --yes"
	for _, command := range []string{"plimsoll array plan /keep/plimsoll.yaml", apply, apply + " --destroy " + second.Device + " --serial " + second.Serial} {
		g.refused(command, "btrfs")
		t.Log(g.sh(command).Stderr)
	}
	if now := g.sum(second.Name()); string(now) != string(was) {
		t.Error("the second member has changed")
	}
	g.ok("grep kept /mnt/file; umount /mnt")
	g.refused(apply, "carries btrfs")
	g.ok("mount -o device=${b[1]} ${b[0]} /mnt; grep kept /mnt/file; umount /mnt")
}

// Members that are partitions: their tables stay and are named, or go by --partitions, where nothing else is on them.
// A group on the array in which somebody uses a logical volume, or that lies elsewhere too, stays as it is.
func TestLabAdoptPartitions(t *testing.T) {
	g := start(t, "  - {name: a, count: 2, size: 96MiB}\n  - {name: x, count: 1, size: 32MiB}\n")
	before := g.ok(etc)
	const (
		lvm  = "--config 'backup/backup=0 backup/archive=0' -qq --yes"
		make = `for d in ${a[*]}; do sgdisk -n 1:1M:+64M $d >/dev/null; done; udevadm settle
mdadm -q --create /dev/md/0 --run --level=1 --metadata=1.2 --assume-clean --raid-devices=2 ${a[0]}p1 ${a[1]}p1; udevadm settle
pvcreate ` + lvm + " /dev/md/0; vgcreate " + lvm + " mine /dev/md/0; lvcreate " + lvm + ` -n one -L 16M mine; lvcreate ` + lvm + ` -n two -L 16M mine
mkfs.ext4 -q /dev/mine/one; mkfs.ext4 -q /dev/mine/two; mkdir -p /mnt; udevadm settle`
	)
	adopt := fmt.Sprintf("plimsoll array teardown --yes --adopt /dev/md/0 --serial %s --serial %s", g.Volumes[0].Serial, g.Volumes[1].Serial)
	g.ok("set -e; " + make)
	for _, c := range []struct{ name, do, says, undo string }{
		{"another partition", "sgdisk -n 2:0:0 ${a[1]} >/dev/null; partprobe ${a[1]}; udevadm settle", "has other partitions than the member", "sgdisk -d 2 ${a[1]} >/dev/null; partprobe ${a[1]}; udevadm settle"},
		{"a volume in use", "(exec sleep 999 < /dev/mine/two >/dev/null 2>&1) & echo $! > /tmp/pid; sleep 0.3", "mine/two is in use", "kill $(cat /tmp/pid); sleep 0.3"},
		{"a volume as swap", "mkswap -q /dev/mine/two; swapon /dev/mine/two", "mine/two", "swapoff /dev/mine/two; wipefs -aq /dev/mine/two; mkfs.ext4 -q /dev/mine/two"},
		{"a group elsewhere too", "lvm vgextend " + lvm + " mine $x; udevadm settle", "mine", "lvm vgreduce " + lvm + " mine $x; lvm pvremove " + lvm + " $x; udevadm settle"},
		{"a volume moved there", "lvm vgextend " + lvm + " mine $x; lvm lvcreate " + lvm + " -n three -L 8M mine $x; udevadm settle", "mine", "lvm lvremove " + lvm + " -f mine/three; lvm vgreduce " + lvm + " mine $x; lvm pvremove " + lvm + " $x; udevadm settle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := g.of(t)
			g.ok("set -e; " + c.do)
			was := g.atRest()
			r := g.sh(adopt + " --partitions")
			t.Log(r.Stderr)
			if r.Code == 0 || !strings.Contains(r.Stderr, c.says) || !strings.Contains(r.Stderr, "nothing was touched") {
				t.Errorf("exit status %d, want %q\n%s", r.Code, c.says, r.Stderr)
			}
			if now := g.sums(); now != was {
				t.Errorf("something has changed:\n%s\nwas\n%s", now, was)
			}
			g.ok(c.undo)
		})
	}
	r := g.sh(adopt)
	if note := fmt.Sprintf("the partition tables of %s, %s stay", g.Volumes[0].Device, g.Volumes[1].Device); r.Code != 0 || !strings.Contains(r.Stderr, note) {
		t.Errorf("exit status %d, want %q\n%s", r.Code, note, r.Stderr)
	}
	if got := g.ok("for d in ${a[*]}; do sgdisk -p $d | tail -1; wipefs ${d}p1; done"); strings.Count(got, "64.0 MiB") != 2 {
		t.Errorf("the tables: %s", got)
	}
	g.ok("for d in ${a[*]}; do wipefs -aqf $d; dd if=/dev/zero of=$d bs=1M conv=fsync 2>/dev/null; done; udevadm settle; true")
	g.ok("set -e; " + make)
	g.ok(adopt + " --partitions")
	g.ok("rm -rf /etc/lvm/archive /etc/lvm/backup; [ ! -e /etc/mdadm.conf ] || [ -s /etc/mdadm.conf ] || rm /etc/mdadm.conf")
	g.blank("a")
	g.same(before)
}
