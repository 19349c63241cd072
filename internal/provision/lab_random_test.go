package provision

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// content is something that a disc $d can carry or be used for. Free says that it is blank for all
// that; both, that it takes the disc $e, too.
type content struct {
	name, make, undo string
	free, both       bool
}

// magic writes bytes, as printf has them, at an offset of $d.
func magic(name string, at int, bytes string) content {
	return content{name: name, make: fmt.Sprintf("printf '%s' | dd of=$d bs=1 seek=%d conv=notrunc,fsync 2>/dev/null", bytes, at)}
}

// contents are forty kinds. Discs are of 32 MiB.
func contents() []content {
	const lvm = "--config 'backup/backup=0 backup/archive=0' -qq --yes"
	const end = 32 << 20
	const quiet = "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0" // the kernel writes nothing of its own
	return []content{
		{name: "blank", free: true},
		{name: "blank, written with zeros", make: "dd if=/dev/zero of=$d bs=1M count=32 conv=fsync 2>/dev/null", free: true},
		{name: "ext4", make: "mkfs.ext4 -q -F $d"},
		{name: "ext4 with a label of hostile text", make: `mkfs.ext4 -q -F -L '$(reboot)' $d`},
		{name: "ext2", make: "mke2fs -q -F -t ext2 $d"},
		{name: "ext4, mounted", make: quiet + " $d; mkdir -p /m$i; mount $d /m$i", undo: "umount /m$i"},
		{name: "ext4, mounted read-only", make: quiet + " $d; mkdir -p /m$i; mount -o ro $d /m$i", undo: "umount /m$i"},
		{
			name: "ext4, mounted in another namespace", make: quiet + " $d; mkdir -p /m$i; " +
				"unshare -m sh -c \"mount $d /m$i; exec sleep 999\" >/dev/null 2>&1 & echo $! > /tmp/pid$i; sleep 0.7",
			undo: "kill $(cat /tmp/pid$i); sleep 0.3",
		},
		{name: "ext4 in a partition", make: "sgdisk -n 1:1M:0 $d >/dev/null; udevadm settle; mkfs.ext4 -q -F ${d}p1"},
		{name: "ext4 in a partition, table zapped", make: "sgdisk -n 1:1M:0 $d >/dev/null; udevadm settle; mkfs.ext4 -q -F ${d}p1; sgdisk -Z $d >/dev/null"},
		{name: "empty GPT", make: "sgdisk -o $d >/dev/null"},
		{name: "GPT with four partitions", make: "sgdisk -n 1:0:+4M -n 2:0:+4M -n 3:0:+4M -n 4:0:+4M $d >/dev/null"},
		{name: "the copy of a GPT alone", make: "sgdisk -o $d >/dev/null; dd if=/dev/zero of=$d bs=1M count=1 conv=notrunc,fsync 2>/dev/null"},
		{name: "DOS table", make: `printf '\x00\x00\x00\x00\x83\x00\x00\x00\x00\x08\x00\x00\x00\x80\x00\x00' | dd of=$d bs=1 seek=446 conv=notrunc 2>/dev/null; printf '\x55\xaa' | dd of=$d bs=1 seek=510 conv=notrunc,fsync 2>/dev/null; blockdev --rereadpt $d`},
		{name: "swap", make: "mkswap -q $d"},
		{name: "swap, in use", make: "mkswap -q $d; swapon $d", undo: "swapoff $d"},
		{name: "PV", make: "pvcreate " + lvm + " $d"},
		{name: "PV, removed", make: "pvcreate " + lvm + " $d; pvremove " + lvm + " $d"},
		{name: "group, inactive", make: "pvcreate " + lvm + " $d; vgcreate " + lvm + " g$i $d; lvcreate " + lvm + " -n l -L 8M g$i; vgchange -qq -an g$i", undo: "vgremove " + lvm + " -f g$i"},
		{name: "group, active", make: "pvcreate " + lvm + " $d; vgcreate " + lvm + " g$i $d; lvcreate " + lvm + " -n l -L 8M g$i", undo: "vgremove " + lvm + " -f g$i"},
		{name: "RAID1, running", make: "mdadm -q --create /dev/md/r$i --run --level=1 --metadata=1.2 --assume-clean --raid-devices=2 $d $e", undo: "mdadm -q --stop /dev/md/r$i", both: true},
		{name: "RAID0 with a filesystem, stopped", make: "mdadm -q --create /dev/md/r$i --run --level=0 --raid-devices=2 $d $e; mkfs.ext4 -q -F /dev/md/r$i; udevadm settle; mdadm -q --stop /dev/md/r$i", both: true},
		{name: "RAID1 with metadata at the end", make: "mdadm -q --create /dev/md/r$i --run --level=1 --metadata=1.0 --assume-clean --raid-devices=2 $d $e; udevadm settle; mdadm -q --stop /dev/md/r$i", both: true},
		{name: "RAID1 of metadata 0.90", make: "mdadm -q --create /dev/md/r$i --run --level=1 --metadata=0.90 --assume-clean --raid-devices=2 $d $e; udevadm settle; mdadm -q --stop /dev/md/r$i", both: true},
		{name: "superblock zeroed, data left", make: "mdadm -q --create /dev/md/r$i --run --level=0 --raid-devices=2 $d $e; dd if=/dev/urandom of=/dev/md/r$i bs=1M count=40 conv=fsync 2>/dev/null; udevadm settle; mdadm -q --stop /dev/md/r$i; mdadm --zero-superblock $d $e", both: true},
		{name: "device-mapper", make: "dmsetup create x$i --table \"0 1000 linear $d 0\"", undo: "dmsetup remove x$i"},
		{name: "loop device over it", make: "losetup -f --show $d > /tmp/loop$i", undo: "losetup -d $(cat /tmp/loop$i)"},
		{name: "held open", make: "sleep 999 < $d >/dev/null 2>&1 & echo $! > /tmp/pid$i; sleep 0.3", undo: "kill $(cat /tmp/pid$i); sleep 0.3"},
		{name: "noise", make: "dd if=/dev/urandom of=$d bs=1M count=32 conv=fsync 2>/dev/null"},
		{name: "noise in the middle", make: "dd if=/dev/urandom of=$d bs=1M seek=12 count=2 conv=notrunc,fsync 2>/dev/null"},
		{name: "a raw database", make: "yes RAWDATABASE | dd of=$d bs=1M count=8 iflag=fullblock conv=notrunc,fsync 2>/dev/null"},
		magic("one byte in the first MiB", 777777, "x"),
		magic("one byte at 1 MiB", 1<<20, "x"),
		magic("the last byte", end-1, "x"),
		magic("LUKS", 0, `LUKS\xba\xbe\x00\x02`),
		magic("bcache", 4120, `\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81`),
		magic("btrfs", 65600, "_BHRfS_M"),
		magic("XFS", 0, `XFSB\x00\x00\x10\x00`),
		magic("a label of ZFS at the end", end-262144+131072, `\x0c\xb1\xba\x00\x00\x00\x00\x00`),
		magic("NTFS", 3, "NTFS    "),
	}
}

// topologies is how many are tried: a hundred by default, more in make lab-long.
func topologies() int {
	if n, err := strconv.Atoi(os.Getenv("PLIMSOLL_TOPOLOGIES")); err == nil {
		return n
	}
	return 100
}

// Random contents on six discs, a random array declared over some of them, by serial or by count:
// what plan promises apply keeps; nothing is built on a disc that carries or serves anything; and
// no disc that is refused or not asked for changes by a byte.
func TestLabRandomTopologies(t *testing.T) {
	if n := len(contents()); n != 40 {
		t.Fatalf("%d kinds", n)
	}
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("PLIMSOLL_SEED"), 10, 64); err == nil {
		seed = s
	}
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("PLIMSOLL_SEED=%d", seed)
	g := start(t, "  - {name: disc, count: 6, size: 32MiB}\n")
	built, refused := 0, 0
	for n := range topologies() {
		if g.topology(random, n) {
			built++
		} else {
			refused++
		}
		if t.Failed() {
			t.Fatalf("topology %d", n)
		}
	}
	t.Logf("%d built and taken down, %d refused", built, refused)
}

// disc is what one carries in a topology.
type disc struct {
	content
	index int
}

// topology tries one, and says whether it was built.
func (g *guest) topology(random *rand.Rand, n int) bool {
	g.t.Helper()
	discs, script := g.furnish(random)
	g.ok("exec 2>&1; set -e\n" + script + "udevadm settle")
	yaml, chosen := g.declareRandom(random, discs)
	g.declare(yaml)
	var names []string
	busy := false
	for i, d := range discs {
		names = append(names, fmt.Sprintf("%d: %s", i, d.name))
		busy = busy || !d.free && (chosen == nil || chosen[i])
	}
	before := make([]string, 6)
	g.ok("sync")
	for i := range before {
		before[i] = fmt.Sprintf("%x", g.sum(g.Volumes[i].Name()))
	}
	planned, applied := g.sh("plimsoll array plan /keep/plimsoll.yaml"), g.sh("plimsoll array apply /keep/plimsoll.yaml --yes")
	says, _, _ := strings.Cut(planned.Stderr, "\n")
	g.t.Logf("%d: %s; by serial: %v; plan %d, apply %d %s", n, strings.Join(names, ", "), chosen, planned.Code, applied.Code, says)
	allFree := !slices.ContainsFunc(discs, func(d disc) bool { return !d.free })
	if chosen == nil && allFree && applied.Code != 0 {
		g.t.Errorf("blank discs were refused: %s", applied.Stderr)
	}
	if (planned.Code == 0) != (applied.Code == 0) {
		g.t.Errorf("plan and apply do not agree:\n%s\n%s", planned.Stderr, applied.Stderr)
	}
	if chosen != nil && busy && applied.Code == 0 {
		g.t.Error("it was built over something")
	}
	if chosen != nil && !busy && applied.Code != 0 {
		g.t.Errorf("blank discs were refused: %s", applied.Stderr)
	}
	g.ok("sync")
	for i, d := range discs {
		after := fmt.Sprintf("%x", g.sum(g.Volumes[i].Name()))
		if after != before[i] && (applied.Code != 0 || !d.free) {
			g.t.Errorf("disc %d (%s) has changed", i, d.name)
		}
	}
	if r := g.sh("plimsoll array teardown --yes"); r.Code != 0 {
		g.t.Errorf("teardown: %s", r.Stderr)
	}
	var undo strings.Builder
	for i, d := range discs {
		fmt.Fprintf(&undo, "d=${disc[%d]}; e=${disc[%d]}; i=%d; %s\n", i, (i+1)%6, i, d.undo)
	}
	g.ok(undo.String() + `udevadm settle
for d in ${disc[*]}; do { blkdiscard -z -f $d && blockdev --rereadpt $d; } & done; wait; udevadm settle
rm -f /keep/plimsoll/released.json; true`)
	return applied.Code == 0
}

// furnish draws what each disc carries. Every other disc is blank, so that some arrays can be
// built.
func (g *guest) furnish(random *rand.Rand) ([]disc, string) {
	all := contents()
	discs := make([]disc, 6)
	var script strings.Builder
	for i := 0; i < 6; i++ {
		c := all[0]
		if random.IntN(2) == 0 {
			c = all[random.IntN(len(all))]
		}
		if c.both && i == 5 {
			c = all[0]
		}
		fmt.Fprintf(&script, "d=${disc[%d]}; e=${disc[%d]}; i=%d; %s\n", i, (i+1)%6, i, c.make)
		discs[i] = disc{c, i}
		if c.both {
			i++
			discs[i] = disc{content{name: "the other half of " + c.name}, i}
		}
	}
	return discs, script.String()
}

// declareRandom declares an array over some discs, by serial, or over as many as are free, by count
// (then chosen is nil).
func (g *guest) declareRandom(random *rand.Rand, discs []disc) (yaml string, chosen []bool) {
	level := []string{"raid0", "raid1", "raid0, using: lvm", "raid0, partition: true"}[random.IntN(4)]
	const form = "arrays:\n  - {name: t, level: %s, chunk: 64KiB, volumes: %s, filesystem: {type: ext4, mount: /srv/t}}\n"
	form1 := form
	if level == "raid1" {
		form1 = strings.Replace(form, "chunk: 64KiB", "assume_clean: true", 1)
	}
	if random.IntN(4) == 0 {
		free := 0
		for _, d := range discs {
			if d.free {
				free++
			}
		}
		return fmt.Sprintf(form1, level, fmt.Sprintf("%d x 32MiB", max(free, 2))), nil
	}
	chosen = make([]bool, 6)
	var serials []string
	for _, i := range random.Perm(6)[:2+random.IntN(2)] {
		chosen[i] = true
		serials = append(serials, fmt.Sprintf("{serial: %s}", g.Volumes[i].Serial))
	}
	return fmt.Sprintf(form1, level, "["+strings.Join(serials, ", ")+"]"), chosen
}
