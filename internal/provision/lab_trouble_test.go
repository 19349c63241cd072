package provision

import (
	"fmt"
	"strings"
	"testing"

	faulty "plimsoll/internal/lab/ebs"
)

// measure is a short run on a directory, which says on standard error when a second of it was measured.
const measure = "plimsoll run rand-read-latency --runtime 60s --ramp 0s --cooldown 0s --progress json"

// leftOf lists what plimsoll has left below a directory, its own folder aside.
const leftOf = `find %s -mindepth 1 ! -name .plimsoll ! -name lock -print; true`

// A quota that is used up is said, as what it is, and nothing stays of what was begun: one of a project, which even
// root has and the filesystem shows as its size, and one of a user, which only a write that fails shows.
func TestLabQuota(t *testing.T) {
	g := start(t, "  - {name: q, count: 1, size: 512MiB}\n")
	g.ok(`mkfs.xfs -q $q && mkdir -p /mnt /tmp/u && mount -o uquota,pquota $q /mnt && mkdir /mnt/p /mnt/u && chown 1000:1000 /mnt/u /tmp/u
xfs_quota -x -c 'project -s -p /mnt/p 7' -c 'limit -p bhard=48m 7' -c 'limit -u bhard=48m 1000' /mnt >/dev/null`)
	const user = "cd /tmp/u; setpriv --reuid 1000 --regid 1000 --clear-groups "
	for _, c := range []struct{ name, run, says, where string }{
		{"a project's", measure + " --size 128MiB --data /mnt/p --out /tmp/runs", "/mnt/p: the scenarios need 128 MiB and 48 MiB is free", "/mnt/p"},
		{"a user's", user + measure + " --size 128MiB --data /mnt/u --out /tmp/u/runs", "the file could not be prefilled: fio: io_u error on file /mnt/u/.plimsoll/data.dat: Disk quota exceeded", "/mnt/u"},
		{"of the directory of runs", user + "dd if=/dev/zero of=/mnt/u/full bs=64k 2>/dev/null; " + user + measure + " --size 16MiB --data /tmp/u --out /mnt/u/runs; code=$?; rm -f /mnt/u/full; exit $code", "/mnt/u/runs: the quota there is used up", "/tmp/u/.plimsoll"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := g.of(t)
			r := g.sh(c.run)
			t.Logf("exit status %d\n%s\n%s", r.Code, r.Stdout, r.Stderr)
			if r.Code == 0 || !strings.Contains(r.Stdout+r.Stderr, c.says) {
				t.Errorf("exit status %d, want %q", r.Code, c.says)
			}
			if left := g.ok(fmt.Sprintf(leftOf, c.where)); left != "" {
				t.Errorf("left: %s", left)
			}
		})
	}
}

// A device that begins to fail while it is measured: the run comes to its end, what was measured is invalid and says
// why, and once the device works again clean takes away what could not be removed.
func TestLabErrorsOfADevice(t *testing.T) {
	g := start(t, "  - {name: d, count: 1, size: 512MiB}\n")
	for _, c := range []struct{ name, scenario string }{
		{"reads", "rand-read-latency"}, {"writes", "rand-write"}, {"synced writes", "sync-latency"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := g.of(t)
			g.ok(`mkfs.xfs -q -f $d && mkdir -p /mnt && mount $d /mnt; rm -rf /tmp/runs /tmp/rc /tmp/err
{ ` + strings.Replace(measure, "rand-read-latency", c.scenario, 1) + ` --size 64MiB --data /mnt --wal /mnt --out /tmp/runs >/tmp/out 2>/tmp/err; echo $? >/tmp/rc; } &
until grep -qs '"event":"second"' /tmp/err || [ -e /tmp/rc ]; do sleep 0.1; done`)
			volume := g.Volumes[0]
			if err := volume.Set(faulty.Behaviour{ErrorRate: 1}); err != nil {
				t.Fatal(err)
			}
			said := g.ok(`until [ -e /tmp/rc ]; do sleep 0.1; done; cat /tmp/rc /tmp/out; grep -v '"event":"second"' /tmp/err`)
			t.Log(said)
			if err := volume.Set(faulty.Behaviour{}); err != nil {
				t.Fatal(err)
			}
			if code, _, _ := strings.Cut(said, "\n"); code != "4" || !strings.Contains(said, "fio: io_u error on file") ||
				!strings.Contains(said, "(ENODATA)") { // what the kernel makes of a medium error
				t.Errorf("exit status %s, want 4 and the error", code)
			}
			g.ok("umount /mnt && mount $d /mnt && plimsoll clean /mnt")
			if left := g.ok("ls -A /mnt; pgrep fio; true"); left != "" {
				t.Errorf("left: %s", left)
			}
			g.ok("umount /mnt; wipefs -aqf $d")
		})
	}
}

// A member that begins to fail during apply and during teardown: each says at which step, and goes on from there once
// the member works again. Nothing is left then.
func TestLabErrorsOfAMember(t *testing.T) {
	g := start(t, "  - {name: a, count: 2, size: 64MiB}\n")
	before := g.ok(etc)
	g.declare("arrays:\n  - {name: a, level: raid0, chunk: 64KiB, volumes: 2 x 64MiB, filesystem: {type: ext4, mount: /srv/a}}\n")
	for _, c := range []struct{ command, hold, says, again string }{
		{"apply /keep/plimsoll.yaml", "mkfs.ext4", "array a, step 3 of 8, create an ext4 filesystem on /dev/md/a, stride=16, stripe_width=32: mkfs.ext4: ", "apply /keep/plimsoll.yaml"},
		{"teardown", "wipefs", "array a, undoing step 2 of 8, create /dev/md/a: raid0, 2 members, chunk 64 KiB: reading byte 0: ", "teardown"},
	} {
		t.Run(c.command, func(t *testing.T) {
			g := g.of(t)
			g.held("HOLD="+c.hold, c.command)
			if err := g.Volumes[1].Set(faulty.Behaviour{ErrorRate: 1}); err != nil {
				t.Fatal(err)
			}
			code, said := g.goOn()
			t.Log(code, said)
			if code == "0" || !strings.Contains(said, c.says) {
				t.Errorf("exit status %s, want %q\n%s", code, c.says, said)
			}
			g.refused("plimsoll array "+c.again+" --yes", "array a") // it does not go on while the member fails
			if err := g.Volumes[1].Set(faulty.Behaviour{}); err != nil {
				t.Fatal(err)
			}
			g.ok("plimsoll array " + c.again + " --yes")
		})
	}
	g.blank("a")
	g.same(before)
}

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
		lvm   = "--config 'backup/backup=0 backup/archive=0' -qq --yes"
		array = `for d in ${a[*]}; do sgdisk -n 1:1M:+64M $d >/dev/null; done; udevadm settle
mdadm -q --create /dev/md/0 --run --level=1 --metadata=1.2 --assume-clean --raid-devices=2 ${a[0]}p1 ${a[1]}p1; udevadm settle
pvcreate ` + lvm + " /dev/md/0; vgcreate " + lvm + " mine /dev/md/0; lvcreate " + lvm + ` -n one -L 16M mine; lvcreate ` + lvm + ` -n two -L 16M mine
mkfs.ext4 -q /dev/mine/one; mkfs.ext4 -q /dev/mine/two; mkdir -p /mnt; udevadm settle`
	)
	adopt := fmt.Sprintf("plimsoll array teardown --yes --adopt /dev/md/0 --serial %s --serial %s", g.Volumes[0].Serial, g.Volumes[1].Serial)
	g.ok("set -e; " + array)
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
	if note := fmt.Sprintf("the partition tables of %s, %s are kept", g.Volumes[0].Device, g.Volumes[1].Device); r.Code != 0 || !strings.Contains(r.Stderr, note) {
		t.Errorf("exit status %d, want %q\n%s", r.Code, note, r.Stderr)
	}
	if got := g.ok("for d in ${a[*]}; do sgdisk -p $d | tail -1; wipefs ${d}p1; done"); strings.Count(got, "64.0 MiB") != 2 {
		t.Errorf("the tables: %s", got)
	}
	g.ok("for d in ${a[*]}; do wipefs -aqf $d; dd if=/dev/zero of=$d bs=1M conv=fsync 2>/dev/null; done; udevadm settle; true")
	g.ok("set -e; " + array)
	g.ok(adopt + " --partitions")
	g.ok("rm -rf /etc/lvm/archive /etc/lvm/backup; [ ! -e /etc/mdadm.conf ] || [ -s /etc/mdadm.conf ] || rm /etc/mdadm.conf")
	g.blank("a")
	g.same(before)
}

// Another user who may write to the directory that holds the mount point, and puts a link to /etc in its place as soon
// as apply has made it: the array is refused before anything is written. In a directory of root's that he cannot
// change he gets no further, and the array is built.
func TestLabMountPointOfAnother(t *testing.T) {
	g := start(t, "  - {name: a, count: 2, size: 64MiB}\n")
	const race = `(setpriv --reuid 1000 --clear-groups bash -c 'cd /srv/u; until [ -e stop ]; do [ ! -d m ] || { mv m x; ln -s /etc m; }; done' 2>/dev/null) & pid=$!
plimsoll array apply /keep/plimsoll.yaml --yes; code=$?; touch /srv/u/stop; wait $pid; rm /srv/u/stop; exit $code`
	g.declare("arrays:\n  - {name: d, level: raid0, chunk: 64KiB, volumes: 2 x 64MiB, filesystem: {type: ext4, mount: " +
		"/srv/u/m, owner: \"1000:1000\"}}\n")
	for _, dir := range []string{"chown 1000 /srv/u", "chmod 777 /srv/u"} {
		g.ok("rm -rf /srv/u; mkdir /srv/u; " + dir)
		g.refused(race, "lead to a mount point")
		if out := g.ok("[ $(grep -c ' /etc ' /proc/mounts) = 1 ] || grep ' /etc ' /proc/mounts; grep -e md /proc/mdstat | " +
			"grep active; ls -A /srv/u; true"); out != "" {
			t.Errorf("%s: %s", dir, out)
		}
		g.blank("a")
	}
	g.ok("chmod 755 /srv/u")
	if r := g.sh(race); r.Code != 0 {
		t.Errorf("%d: %s", r.Code, r.Stderr)
	}
	g.ok("mountpoint -q /srv/u/m && plimsoll array teardown --yes")
	g.blank("a")
}
