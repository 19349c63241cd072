package provision

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// guest is a lab machine of which /etc, the mount points' directory and the journals survive a
// power cut, on a volume of their own. The rest of its root is as after an installation each time.
type guest struct {
	*lab.Guest
	t *testing.T
}

const (
	// keepers hold what must survive, and a bystander's data.
	keepers = "  - {name: root, count: 1, size: 64MiB}\n  - {name: bystander, count: 1, size: 64MiB}\n"

	install = `set -e
mkfs.ext4 -q $root && mkdir /keep && mount $root /keep && cp -a /etc /keep/etc && mkdir -p /keep/srv /keep/plimsoll /srv /var/lib/plimsoll
printf 'a line without its end' >> /keep/etc/fstab
mkfs.ext4 -q -L BYSTANDER $bystander`
	boot = `set -e
mkdir -p /keep /srv /var/lib/plimsoll; mountpoint -q /keep || mount $root /keep
mount --bind /keep/etc /etc; mount --bind /keep/srv /srv; mount --bind /keep/plimsoll /var/lib/plimsoll`
	// assemble does what a boot does for arrays and mounts. What was being written is resynchronised; its end is awaited.
	assemble = `mdadm --assemble --scan; vgchange -q -ay --config 'backup/backup=0 backup/archive=0' >/dev/null; udevadm settle; mount -a; mdadm --wait /dev/md/*; true`
	// etc is all that is in /etc and /srv: names, modes, contents; and the bystander's bytes.
	etc = `cd / && find etc srv -exec stat -c '%n %a %u %g %s %F %N' {} + | grep -v directory | sort && find etc srv -type d -exec stat -c '%n %a %u %g' {} + | sort && find etc srv -type f -print0 | sort -z | xargs -0 sha256sum && sha256sum < $bystander`
)

func start(t *testing.T, volumes string) *guest {
	t.Helper()
	s, err := lab.ParseSpec("bare", []byte("volumes:\n"+volumes+keepers))
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{labtest.StartSpec(t, s), t}
	g.ok(install)
	g.ok(boot)
	return g
}

// of is the guest for a part of the test.
func (g *guest) of(t *testing.T) *guest { return &guest{g.Guest, t} }

// sh runs a script in the guest.
func (g *guest) sh(script string) lab.Result {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 10*time.Minute)
	defer cancel()
	r, err := g.Bash(ctx, script)
	if err != nil {
		g.t.Fatalf("%s: %v", script, err)
	}
	return r
}

// ok runs a script that must succeed, and returns what it printed.
func (g *guest) ok(script string) string {
	g.t.Helper()
	r := g.sh(script)
	if r.Code != 0 {
		g.t.Fatalf("%s: exit status %d\n%s\n%s", script, r.Code, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

// refused runs a script that must fail and say this.
func (g *guest) refused(script, says string) {
	g.t.Helper()
	if r := g.sh(script); r.Code == 0 || !strings.Contains(r.Stderr, says) {
		g.t.Errorf("%s: exit status %d, want %q\n%s\n%s", script, r.Code, says, r.Stdout, r.Stderr)
	}
}

// reboot cuts the power, boots, and does what a boot does for arrays and mounts.
func (g *guest) reboot() {
	g.t.Helper()
	if err := g.PowerCut(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
	g.ok(boot)
	g.ok(assemble)
}

func (g *guest) declare(yaml string) {
	g.t.Helper()
	if err := g.Put(g.t.Context(), "/keep/plimsoll.yaml", 0o644, []byte(yaml)); err != nil {
		g.t.Fatal(err)
	}
}

// blank looks at the volumes' files from outside: both ends zero, and nothing recognised by the
// guest.
func (g *guest) blank(groups ...string) {
	g.t.Helper()
	for _, v := range g.Volumes {
		if !slices.Contains(groups, v.Group) {
			continue
		}
		if out := g.ok("wipefs " + v.Device + "; ls /sys/class/block/" + filepath.Base(v.Device) + "/holders"); out != "" {
			g.t.Errorf("%s: %s", v.Name(), out)
		}
		f, err := os.Open(filepath.Join(g.Dir(), v.Name()+".raw"))
		if err != nil {
			g.t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			g.t.Fatal(err)
		}
		for _, at := range []int64{0, info.Size() - 1<<20} {
			buf := make([]byte, 1<<20)
			if _, err := f.ReadAt(buf, at); err != nil || bytes.Trim(buf, "\x00") != nil && len(bytes.Trim(buf, "\x00")) > 0 {
				g.t.Errorf("%s at %d: not zero (%v)", v.Name(), at, err)
			}
		}
		_ = f.Close()
	}
}

// build applies, proves that a second apply does nothing, reboots, verifies, tears down, and finds
// no trace.
func (g *guest) build(yaml string, groups ...string) {
	g.t.Helper()
	before := g.ok(etc)
	g.declare(yaml)
	r := g.sh("plimsoll array apply /keep/plimsoll.yaml --yes >/keep/out")
	g.t.Logf("apply:\n%s", r.Stderr)
	if r.Code != 0 {
		g.t.Fatalf("exit status %d", r.Code)
	}
	if r := g.sh("plimsoll array apply /keep/plimsoll.yaml --yes >/dev/null"); r.Code != 0 || strings.Contains(r.Stderr, ": doing:") {
		g.t.Errorf("second apply: %d\n%s", r.Code, r.Stderr)
	}
	g.ok("for m in $(awk '/^UUID|^LABEL/{print $2}' /etc/fstab); do echo kept > $m/file; done; sync")
	g.reboot()
	r = g.sh("plimsoll array verify /keep/plimsoll.yaml")
	g.t.Logf("verify after a reboot:\n%s\n%s", r.Stdout, g.ok("cat /proc/mdstat /etc/fstab; dmsetup table; grep -e /srv /proc/mounts; cat /srv/*/file"))
	if r.Code != 0 {
		g.t.Errorf("verify: exit status %d: %s", r.Code, r.Stderr)
	}
	r = g.sh("plimsoll array teardown --yes")
	if r.Code != 0 {
		g.t.Fatalf("teardown: %d\n%s", r.Code, r.Stderr)
	}
	g.blank(groups...)
	g.same(before)
}

// same compares /etc, the mount points and the bystander with what they were.
func (g *guest) same(before string) {
	g.t.Helper()
	g.ok("rm -rf /keep/plimsoll.yaml /keep/out")
	if after := g.ok(etc); after != before {
		g.t.Errorf("/etc or the bystander has changed:\n%s\nwas:\n%s", after, before)
	}
	if out := g.ok("ls -A /keep/plimsoll | grep -v '^released.json$' || true"); out != "" {
		g.t.Errorf("left of the journals: %s", out)
	}
}

// The guide's volumes, and its DATA and WAL.
const (
	guideVolumes = "  - {name: data, count: 8, size: 256MiB}\n  - {name: wal, count: 8, size: 288MiB}\n"
	guideLayout  = `
arrays:
  - name: data
    role: data
    level: raid10
    chunk: 64KiB
    volumes: 8 x 256MiB
    filesystem: {type: xfs, label: DATA, mount: /srv/data, options: [noatime], owner: root:disk, mode: "0700"}
  - name: wal
    role: wal
    level: raid10
    chunk: 256KiB
    assume_clean: true
    volumes: 8 x 288MiB
    filesystem: {type: xfs, label: WAL, mount: /srv/wal, fstab: label}
`
)

// TestLabBuild builds the guide's arrays on half as many volumes, none smaller than XFS takes. It is make check's;
// make lab runs TestLabGuide, too.
func TestLabBuild(t *testing.T) {
	g := start(t, "  - {name: data, count: 4, size: 336MiB}\n  - {name: wal, count: 4, size: 352MiB}\n")
	g.build(strings.NewReplacer("8 x 256", "4 x 336", "8 x 288", "4 x 352").Replace(guideLayout), "data", "wal")
}

func TestLabGuide(t *testing.T) {
	g := start(t, guideVolumes)
	g.build(guideLayout, "data", "wal")
}

// The seeds' RAID0 on partitions and LVM, and what else there is.
func TestLabVariants(t *testing.T) {
	g := start(t, "  - {name: parts, count: 4, size: 224MiB}\n  - {name: lvm, count: 4, size: 96MiB}\n  - {name: ten, count: 4, size: 80MiB}\n"+
		"  - {name: five, count: 3, size: 64MiB}\n  - {name: one, count: 1, size: 320MiB}\n"+
		"  - {name: two, count: 2, size: 72MiB}\n  - {name: six, count: 4, size: 56MiB}\n")
	g.build(`
arrays:
  - {name: t0, level: raid0, chunk: 64KiB, partition: true, volumes: 4 x 224MiB, filesystem: {type: xfs, mount: /srv/t0}}
  - {name: t1, level: raid0, using: lvm, volume_group: pool, chunk: 128KiB, volumes: 4 x 96MiB, filesystem: {type: ext4, label: T1, mount: /srv/t1}}
  - {name: t2, level: raid10, using: lvm, chunk: 64KiB, volumes: 4 x 80MiB, filesystem: {type: ext4, mount: /srv/t2}}
  - {name: t3, level: raid5, chunk: 64KiB, volumes: 3 x 64MiB, filesystem: {type: ext4, mount: /srv/t3}}
  - {name: t4, level: single, partition: true, volumes: 1 x 320MiB, filesystem: {type: xfs, mount: /srv/t4}}
  - {name: t5, level: raid0, using: lvm, segment: raid0, chunk: 64KiB, volumes: 2 x 72MiB, filesystem: {type: ext4, mount: /srv/t5}}
  - {name: t6, level: raid6, chunk: 64KiB, partition: true, volumes: 4 x 56MiB, filesystem: {type: ext4, mount: /srv/t6}}
`, "parts", "lvm", "ten", "five", "one", "two", "six")
}

const mirror = `
arrays:
  - {name: a, level: raid1, partition: true, assume_clean: true, volumes: 2 x 64MiB, filesystem: {type: ext4, label: A, mount: /srv/a/b, owner: "0:6", mode: "0750"}}
`

// What others left is refused, by name given up, and what stands in the way is named.
func TestLabNotBlank(t *testing.T) {
	g := start(t, "  - {name: a, count: 2, size: 64MiB}\n  - {name: b, count: 2, size: 80MiB}\n")
	g.declare(mirror)
	serial := func(i int) string { return g.Volumes[i].Serial }
	apply := "plimsoll array apply /keep/plimsoll.yaml --yes"
	for _, c := range []struct{ make, says, clean string }{
		{"mdadm -q --create /dev/md/old --run --level=0 --raid-devices=2 ${a[*]} && udevadm settle", "made of it", "mdadm -q --stop /dev/md/old; mdadm --zero-superblock ${a[*]}"},
		{"mdadm -q --create /dev/md/old --run --level=0 --raid-devices=2 ${a[*]} && mdadm -q --stop /dev/md/old", "linux_raid_member", "mdadm -q --stop /dev/md/old; mdadm --zero-superblock ${a[*]}"},
		{"pvcreate -q ${a[1]}", "LVM2_member", "pvremove -q ${a[1]}"},
		{"mkswap ${a[0]} && swapon ${a[0]}", "swap", "swapoff ${a[0]}; wipefs -aq ${a[0]}"},
		{"mkfs.ext4 -q ${a[0]} && mount -o ro ${a[0]} /mnt", "mounted on /mnt", "umount /mnt; wipefs -aq ${a[0]}"},
		{"sgdisk -n 1:1M:0 ${a[0]}", "has the partition", "wipefs -aqf ${a[0]}; dd if=/dev/zero of=${a[0]} bs=1M count=1 conv=fsync"},
		{"printf x | dd of=${a[1]} bs=1 seek=777777 conv=notrunc,fsync", "byte 777777 is not zero", "dd if=/dev/zero of=${a[1]} bs=1M count=1 conv=notrunc,fsync"},
		{"printf x | dd of=${a[1]} bs=1 seek=67108863 conv=notrunc,fsync", "byte 67108863 is not zero", "dd if=/dev/zero of=${a[1]} bs=1M seek=63 count=1 conv=notrunc,fsync"},
	} {
		g.ok("mkdir -p /mnt; " + c.make + "; udevadm settle; cat ${a[*]} | sha256sum > /tmp/sum")
		// By serial: by size it would be just missing.
		g.declare(strings.Replace(mirror, "2 x 64MiB", fmt.Sprintf("[{serial: %s}, {serial: %s}]", serial(0), serial(1)), 1))
		g.refused(apply, c.says)
		g.ok("cat ${a[*]} | sha256sum | cmp - /tmp/sum")
		g.ok("plimsoll array teardown --yes")
		g.ok(c.clean + "; for d in ${a[*]}; do dd if=/dev/zero of=$d bs=1M count=64 conv=fsync 2>/dev/null; done; udevadm settle")
	}
	// A member with old metadata, assembled, given up by name and serial: the array is stopped, and
	// only that one.
	g.ok("mdadm -q --create /dev/md/old --run --level=1 --metadata=1.2 --raid-devices=2 ${a[*]} </dev/null; mdadm -q --create /dev/md/other --run --level=0 --raid-devices=2 ${b[*]} && mkfs.ext4 -q /dev/md/other; udevadm settle")
	before := g.ok("cat /dev/md/other | sha256sum")
	g.refused(apply+" --destroy ${a[0]} --serial "+serial(1), "nothing was touched")
	g.refused(apply+" --destroy ${a[0]} --serial "+serial(0), "not to be destroyed")
	g.ok(apply + " --destroy ${a[0]} --serial " + serial(0) + " --destroy ${a[1]} --serial " + serial(1))
	g.ok("plimsoll array verify /keep/plimsoll.yaml")
	if after := g.ok("cat /dev/md/other | sha256sum"); after != before {
		g.t.Error("the other array has changed")
	}
	g.ok("plimsoll array teardown --yes; mdadm -q --stop /dev/md/other")
	g.blank("a")
}
