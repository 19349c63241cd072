package provision

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sums is a digest of each volume, read from outside of the guest, of the journals and of /etc.
func (g *guest) sums() string {
	g.t.Helper()
	var b strings.Builder
	b.WriteString(g.ok("sync; sha256sum /var/lib/plimsoll/journal/*.json /etc/fstab /etc/mdadm/mdadm.conf /etc/mdadm.conf 2>/dev/null; true"))
	for _, v := range g.Volumes {
		if v.Group == "root" {
			continue // the journal is on it
		}
		fmt.Fprintf(&b, "%s %x\n", v.Name(), g.sum(v.Name()))
	}
	return b.String()
}

// atRest are the sums once a mounted filesystem and md have written what they still had to write.
func (g *guest) atRest() string {
	g.t.Helper()
	was := g.sums()
	for range 20 {
		now := g.sums()
		if now == was {
			return now
		}
		was = now
	}
	g.t.Fatal("the volumes do not come to rest")
	return ""
}

func (g *guest) sum(volume string) []byte {
	g.t.Helper()
	f, err := os.Open(filepath.Join(g.Dir(), volume+".raw"))
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		g.t.Fatal(err)
	}
	return h.Sum(nil)
}

// Whatever a user has done to what apply made, teardown names it and touches nothing, neither
// volumes nor journals nor /etc. With the change taken back, or given up by --destroy, it goes
// without a trace.
func TestLabChangesBeforeTeardown(t *testing.T) {
	g := start(t, "  - {name: a, count: 2, size: 32MiB}\n  - {name: v, count: 2, size: 36MiB}\n  - {name: n, count: 2, size: 40MiB}\n  - {name: s, count: 1, size: 44MiB}\n  - {name: x, count: 1, size: 32MiB}\n")
	before := g.ok(etc)
	g.declare(fmt.Sprintf(`
arrays:
  - {name: a, level: raid1, assume_clean: true, volumes: [{serial: %s}, {serial: %s}], filesystem: {type: ext4, label: A, mount: /srv/a}}
  - {name: v, level: raid0, using: lvm, volume_group: pool, volumes: 2 x 36MiB, filesystem: {type: ext4, mount: /srv/v}}
  - {name: n, level: raid1, assume_clean: true, volumes: 2 x 40MiB}
  - {name: s, level: single, partition: true, volumes: 1 x 44MiB, filesystem: {type: ext4, mount: /srv/s}}
`, g.Volumes[0].Serial, g.Volumes[1].Serial))
	g.ok("plimsoll array apply /keep/plimsoll.yaml --yes; mkdir -p /mnt /tmp/w; cp /etc/fstab /tmp/fstab; c=/etc/mdadm/mdadm.conf; [ -e $c ] || c=/etc/mdadm.conf; echo $c > /tmp/conf; cp $c /tmp/mdadm.conf")
	const (
		lvm   = "--config 'backup/backup=0 backup/archive=0' -qq --yes"
		image = "umount /srv/a; dd if=/dev/md/a of=/tmp/a.img bs=1M 2>/dev/null; "
		back  = "dd if=/tmp/a.img of=/dev/md/a bs=1M conv=fsync 2>/dev/null; rm /tmp/a.img; udevadm settle; mount /srv/a"
		fstab = "cat /tmp/fstab > /etc/fstab"
		blank = "dd if=/dev/zero of=/dev/md/n bs=1M conv=fsync 2>/dev/null; udevadm settle; true"
		added = "[ -e ${x[0]} ] && wipefs -aqf ${x[0]}; dd if=/dev/zero of=${x[0]} bs=1M conv=fsync 2>/dev/null; udevadm settle; true"
	)
	ways := []struct{ name, do, says, undo string }{
		{"bind mount", "mount --bind /srv/a /mnt", "also mounted on /mnt", "umount /mnt"},
		{"second mount", "mount /dev/md/a /mnt", "also mounted on /mnt", "umount /mnt"},
		{"mounted elsewhere instead", "umount /srv/s; mount $(blkid -l -o device -t TYPE=ext4 ${s[0]}p1) /mnt", "also mounted on /mnt", "umount /mnt; mount /srv/s"},
		{"swap file", "dd if=/dev/zero of=/srv/a/swap bs=1M count=4 2>/dev/null; chmod 600 /srv/a/swap; mkswap -q /srv/a/swap; swapon /srv/a/swap", "/srv/a/swap is used as swap", "swapoff /srv/a/swap; rm /srv/a/swap"},
		{"loop device in a file", "truncate -s 1M /srv/a/img; losetup -f --show /srv/a/img > /tmp/loop", "lies in its file /srv/a/img", "losetup -d $(cat /tmp/loop); rm /srv/a/img"},
		{"mount below", "mkdir /srv/a/sub; mount -t tmpfs none /srv/a/sub", "is mounted below it, on /srv/a/sub", "umount /srv/a/sub; rmdir /srv/a/sub"},
		{"a process in it", "(cd /srv/a; exec sleep 999 >/dev/null 2>&1) & echo $! > /tmp/pid; sleep 0.3", "uses /srv/a", "kill $(cat /tmp/pid); sleep 0.2"},
		{"another mount namespace", "unshare -m sleep 999 >/dev/null 2>&1 & echo $! > /tmp/pid; sleep 0.5", "in the mount namespace of process", "kill $(cat /tmp/pid); sleep 0.2"},
		{"line in fstab's block", `sed -i 's,^# plimsoll a: end,/dev/sdz1 /home ext4 defaults 0 2\n&,' /etc/fstab`, "/etc/fstab has a line between plimsoll's marks that apply did not write", fstab},
		{"end mark gone", `sed -i '/^# plimsoll a: end/d' /etc/fstab`, "the line # plimsoll a: end is gone", fstab},
		{"line that needs it", "echo '/srv/a/sub /srv/b none bind 0 0' >> /etc/fstab", "/etc/fstab has another line that needs it: /srv/a/sub /srv/b", fstab},
		{"line in mdadm.conf's block", `sed -i 's,^# plimsoll a: end,ARRAY /dev/md/mine UUID=1:2:3:4\n&,' $(cat /tmp/conf)`, "has a line between plimsoll's marks", "cat /tmp/mdadm.conf > $(cat /tmp/conf)"},
		{"formatted again", image + "mkfs.ext4 -q -F -L MINE /dev/md/a; udevadm settle", `/dev/md/a carries ext4 labelled "MINE"`, back},
		{"raw data over the filesystem", image + "dd if=/dev/urandom of=/dev/md/a bs=1M count=20 conv=fsync 2>/dev/null; udevadm settle", "no longer carries the filesystem that apply made", back},
		{"a group on the bare array, inactive", "pvcreate " + lvm + " /dev/md/n; vgcreate " + lvm + " mine /dev/md/n; lvcreate " + lvm + " -n x -L 8M mine; vgchange -qq -an mine; udevadm settle", "/dev/md/n carries LVM2_member", "vgremove " + lvm + " -f mine; pvremove " + lvm + " /dev/md/n; " + blank},
		{"partitions on the bare array", "sgdisk -n 1:1M:0 /dev/md/n >/dev/null; udevadm settle", "/dev/md/n carries gpt", "wipefs -aqf /dev/md/n; " + blank},
		{"raw bytes on the bare array", "dd if=/dev/urandom of=/dev/md/n bs=1M seek=17 count=1 conv=notrunc,fsync 2>/dev/null", "/dev/md/n holds data: byte", blank},
		{"device-mapper on the bare array", "dmsetup create over --table \"0 1000 linear $(readlink -f /dev/md/n) 0\"; udevadm settle", "is made of it", "dmsetup remove over"},
		{"logical volume of the user's", "umount /srv/v; lvm lvreduce " + lvm + " -f -L 24M pool/v; lvm lvcreate " + lvm + " -n mine -L 16M pool; mkfs.ext4 -q -F /dev/pool/mine; udevadm settle", "/dev/pool/mine is a logical volume that apply did not make", ""},
		// read-only, since ext4 writes its superblock and lazy tables some time after a mount
		{"and mounted", "mount -o ro /dev/pool/mine /mnt", "is mounted on /mnt; end that first", "umount /mnt"},
		{"snapshot", "lvcreate " + lvm + " -s -n snap -L 8M pool/v; udevadm settle", "/dev/pool/snap is a logical volume", "lvremove " + lvm + " -f pool/snap"},
		{"group extended", "lvm vgextend " + lvm + " pool ${x[0]}", "also lies on", "lvm vgreduce " + lvm + " pool ${x[0]}; lvm pvremove " + lvm + " ${x[0]}; " + added},
		{"spare added", "mdadm -q /dev/md/a --add ${x[0]}; udevadm settle", "was added to", "mdadm -q /dev/md/a --remove ${x[0]}; mdadm --zero-superblock ${x[0]}; " + added},
		{"member reused", "mdadm -q /dev/md/n --fail ${n[1]} --remove ${n[1]}; mdadm --zero-superblock ${n[1]}; mkfs.ext4 -q -F ${n[1]}; udevadm settle", "it carries ext4 at 0x438, which apply did not put there", ""},
	}
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			g := g.of(t)
			g.ok("set -e; " + w.do)
			was := g.atRest()
			r := g.sh("plimsoll array teardown --yes")
			if r.Code != 1 || !strings.Contains(r.Stderr, "nothing was touched") || !strings.Contains(r.Stderr, w.says) {
				t.Errorf("exit status %d, want %q\n%s", r.Code, w.says, r.Stderr)
			}
			if now := g.sums(); now != was {
				t.Errorf("something has changed:\n%s\nwas\n%s", now, was)
			}
			if w.undo != "" {
				g.ok(w.undo)
			}
		})
	}
	// What was left is given up by name; the member needs its serial.
	member := g.Volumes[5]
	g.refused("plimsoll array teardown --yes --destroy /dev/pool/mine", "which apply did not put there")
	g.refused("plimsoll array teardown --yes --destroy /dev/pool/mine --destroy "+member.Device, "must be named too")
	r := g.sh("plimsoll array teardown --yes --destroy /dev/pool/mine --destroy " + member.Device + " --serial " + member.Serial)
	if r.Code != 0 {
		t.Fatalf("%s", r.Stderr)
	}
	g.blank("a", "v", "n", "s", "x")
	g.ok("rm -rf /etc/lvm/archive /etc/lvm/backup") // of the user's own commands above
	g.same(before)
}
