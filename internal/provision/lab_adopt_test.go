package provision

import (
	"fmt"
	"strings"
	"testing"
)

// A runbook that was followed by hand builds what is declared; what was so made, and an array under
// LVM that was made as the seeds do it, are adopted and taken down without a trace, but not with a
// member too few, nor while somebody uses them.
func TestLabRunbookAndAdopt(t *testing.T) {
	g := start(t, "  - {name: a, count: 4, size: 96MiB}\n  - {name: b, count: 2, size: 40MiB}\n")
	g.ok("echo >> /etc/fstab") // its last line has an end now: a runbook does not take that back
	before := g.ok(etc)
	g.declare("arrays:\n  - {name: a, level: raid10, chunk: 64KiB, assume_clean: true, volumes: 4 x 96MiB, filesystem: {type: ext4, label: A, mount: /srv/a, mode: \"0750\"}}\n")
	g.ok("plimsoll array plan /keep/plimsoll.yaml --format sh > /tmp/runbook.sh && sh -e /tmp/runbook.sh; plimsoll array verify /keep/plimsoll.yaml; rm /tmp/runbook.sh")
	var serials []string
	for _, v := range g.Volumes[:4] {
		serials = append(serials, "--serial "+v.Serial)
	}
	adopt := "plimsoll array teardown --yes --adopt /dev/md/a "
	was := g.atRest()
	g.refused(adopt+strings.Join(serials[:3], " "), "is not named; name every member by --serial")
	g.refused(adopt+strings.Join(serials, " ")+" --serial "+g.Volumes[4].Serial, "is not a member of it")
	g.ok("(cd /srv/a; exec sleep 999 >/dev/null 2>&1) & echo $! > /tmp/pid; sleep 0.3")
	g.refused(adopt+strings.Join(serials, " "), "uses /srv/a; end that first")
	g.ok("kill $(cat /tmp/pid); sleep 0.3")
	if now := g.atRest(); now != was {
		t.Errorf("a refusal has changed something:\n%s\nwas\n%s", now, was)
	}
	g.ok(adopt + strings.Join(serials, " ") + "; rmdir /srv/a")
	g.blank("a")

	g.ok(`set -e; mdadm -q --create /dev/md/0 --run --level=0 --raid-devices=2 ${b[*]}; pvcreate -qq /dev/md/0; vgcreate -qq mine /dev/md/0; lvcreate -qq --yes -n x -L 16M mine; lvcreate -qq --yes -n y -L 16M mine
mkfs.ext4 -q /dev/mine/x; mkdir -p /srv/x; echo '/dev/mine/x /srv/x ext4 defaults 0 0' >> /etc/fstab; mount /srv/x; c=/etc/mdadm/mdadm.conf; [ -d /etc/mdadm ] || c=/etc/mdadm.conf; mdadm --detail --scan | grep /0 >> $c; udevadm settle`)
	g.refused(fmt.Sprintf("plimsoll array teardown --yes --adopt /dev/md/0 --serial %s", g.Volumes[4].Serial), "is not named")
	g.ok(fmt.Sprintf("plimsoll array teardown --yes --adopt /dev/md/0 --serial %s --serial %s; rmdir /srv/x; rm -rf /etc/lvm/archive /etc/lvm/backup", g.Volumes[4].Serial, g.Volumes[5].Serial))
	g.blank("a", "b")
	g.ok("[ ! -e /etc/mdadm.conf ] || [ -s /etc/mdadm.conf ] || rm /etc/mdadm.conf")
	g.same(before)
}

// A failed member is replaced, and one that is healthy, while the array is used; then all goes
// without a trace.
func TestLabReplace(t *testing.T) {
	g := start(t, "  - {name: a, count: 4, size: 48MiB}\n")
	before := g.ok(etc)
	array := func(one, two int) string {
		return fmt.Sprintf("arrays:\n  - {name: a, level: raid1, partition: true, assume_clean: true, volumes: [{serial: %s}, {serial: %s}], filesystem: {type: ext4, mount: /srv/a}}\n",
			g.Volumes[one].Serial, g.Volumes[two].Serial)
	}
	g.declare(array(0, 1))
	g.ok("plimsoll array apply /keep/plimsoll.yaml --yes && echo kept > /srv/a/file && sync && mdadm /dev/md/a --fail ${a[1]}p1")
	g.declare(array(0, 2))
	g.ok("plimsoll array apply /keep/plimsoll.yaml --yes && plimsoll array verify /keep/plimsoll.yaml && plimsoll array apply /keep/plimsoll.yaml --yes")
	g.declare(array(3, 2)) // the first is in order, and is copied before it goes
	g.ok("plimsoll array apply /keep/plimsoll.yaml --yes && plimsoll array verify /keep/plimsoll.yaml && grep kept /srv/a/file")
	g.ok("rm /srv/a/file; plimsoll array teardown --yes; wipefs -aqf ${a[0]} ${a[1]}; for d in ${a[*]}; do dd if=/dev/zero of=$d bs=1M conv=fsync 2>/dev/null; done; true")
	g.blank("a")
	g.same(before)
}

// At each other level that survives a member's loss, a failed one is replaced, then one that works.
func TestLabReplaceLevels(t *testing.T) {
	g := start(t, "  - {name: a, count: 5, size: 64MiB}\n")
	before := g.ok(etc)
	for _, c := range []struct{ level, members string }{{"raid10", "0 1 2 3"}, {"raid5", "0 1 2"}, {"raid6", "0 1 2 3"}} {
		declare := func(members string) {
			var volumes []string
			for i := range strings.FieldsSeq(members) {
				volumes = append(volumes, "{serial: "+g.Volumes[i[0]-'0'].Serial+"}")
			}
			g.declare(fmt.Sprintf("arrays:\n  - {name: a, level: %s, chunk: 64KiB, volumes: [%s], filesystem: {type: ext4, mount: /srv/a}}\n",
				c.level, strings.Join(volumes, ", ")))
		}
		declare(c.members)
		g.ok("plimsoll array apply /keep/plimsoll.yaml --yes && dd if=/dev/urandom of=/srv/a/file bs=1M count=20 2>/dev/null && sha256sum /srv/a/file > /keep/sum && sync && { mdadm --wait /dev/md/a || true; } && mdadm /dev/md/a --fail ${a[1]}")
		for _, spare := range []string{"4", "1"} {
			if spare == "1" { // the failed volume, erased, takes the place of one that works
				g.ok("dd if=/dev/zero of=${a[1]} bs=1M conv=fsync 2>/dev/null; true")
				declare(strings.Replace(strings.Replace(c.members, "1", "4", 1), "2", "1", 1))
			} else {
				declare(strings.Replace(c.members, "1", "4", 1))
			}
			g.ok("plimsoll array apply /keep/plimsoll.yaml --yes && plimsoll array verify /keep/plimsoll.yaml && echo 3 > /proc/sys/vm/drop_caches && sha256sum -c /keep/sum")
			if said := g.ok("mdadm --detail /dev/md/a"); !strings.Contains(said, "Failed Devices : 0") || strings.Contains(said, "degraded") {
				t.Errorf("%s with volume %s:\n%s", c.level, spare, said)
			}
		}
		g.ok("rm /srv/a/file; plimsoll array teardown --yes; for d in ${a[*]}; do dd if=/dev/zero of=$d bs=1M conv=fsync 2>/dev/null; done; true")
		g.blank("a")
		g.same(before)
	}
}
