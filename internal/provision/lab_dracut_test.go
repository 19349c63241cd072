package provision

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// likeRPM makes a Debian what provisioning finds on Amazon Linux or RHEL: dracut with their
// hostonly instead of initramfs-tools, and /etc/mdadm.conf. Parts of dracut that this guest does
// not need are left out, because an emulated CPU takes minutes over them. With rd.auto the
// initramfs assembles arrays, by its copy of mdadm.conf; by itself dracut assembles only what the
// root is on.
const (
	withDracut = `dpkg --purge --force-depends initramfs-tools initramfs-tools-core >/dev/null 2>&1
cat > /etc/dracut.conf.d/lab.conf <<'CONF'
hostonly=yes
dracutmodules=" bash mdraid rootfs-block udev-rules base fs-lib "
add_drivers+=" virtio_pci virtio_blk raid0 raid10 "
install_items+=" /usr/lib/udev/rules.d/59-plimsoll-lab.rules "
kernel_cmdline="rd.auto=1"
compress=cat
CONF
`
	likeRPM = `mv /etc/mdadm/mdadm.conf /etc/mdadm.conf && rmdir /etc/mdadm`

	// ofDracut prints the ARRAY lines that the next boot will assemble by, sorted.
	ofDracut = `lsinitrd -f etc/mdadm.conf /boot/initrd.img-$(uname -r) | grep ^ARRAY | sort`
)

// assembled is what md logs of an array that it starts.
var assembled = regexp.MustCompile(`md12[67]: detected capacity change from 0`)

const dracutLayout = `
arrays:
  - {name: data, role: data, level: raid10, chunk: 64KiB, assume_clean: true, volumes: 4 x 384MiB, filesystem: {type: xfs, label: DATA, mount: /srv/data}}
  - {name: wal, role: wal, level: raid0, chunk: 64KiB, volumes: 2 x 128MiB, filesystem: {type: ext4, label: WAL, mount: /srv/wal}}
`

// With dracut and /etc/mdadm.conf, as RPM systems have them, apply renews the initramfs once, a
// whole system boots from it and has its arrays under their names, and teardown takes them out of
// it. The system is a Debian: no RPM system can be had from where these tests run.
func TestLabDracut(t *testing.T) {
	const renew = "dracut --force --mdadmconf"
	g := startDebian(t, "  - {name: data, count: 4, size: 384MiB}\n  - {name: wal, count: 2, size: 128MiB}\n")
	g.timed(withDracut)
	if err := g.Put(t.Context(), "/root/plimsoll.yaml", 0o644, []byte(dracutLayout)); err != nil {
		t.Fatal(err)
	}
	g.ok(likeRPM)
	before := g.ok(etc)

	g.timed("plimsoll array apply plimsoll.yaml --yes >/dev/null 2>/root/applied; cat /root/applied >&2")
	if said := g.ok("cat /root/applied"); strings.Count(said, "rebuild the initramfs: "+renew+"\n") != 1 || strings.Contains(said, "update-initramfs") {
		t.Errorf("apply does not renew the initramfs by one %s", renew)
	}
	inside, lines := g.ok(ofDracut), g.ok("grep ^ARRAY /etc/mdadm.conf | sort")
	if inside != lines || strings.Count(lines, "\n") != 2 {
		t.Errorf("the initramfs has\n%smdadm.conf has\n%s", inside, lines)
	}
	if parts := strings.Fields(g.ok(`lsinitrd /boot/initrd.img-$(uname -r) | grep -oE '/(mdadm|md-mod\.ko|raid0\.ko|raid10\.ko)$' | sort -u`)); !slices.Equal(parts, []string{"/md-mod.ko", "/mdadm", "/raid0.ko", "/raid10.ko"}) {
		t.Errorf("the initramfs has only %v", parts)
	}
	g.ok("for m in /srv/data /srv/wal; do echo kept by a reboot > $m/file; done; sync")
	g.again("reboot", g.Reboot)
	log := g.ok("dmesg")
	if before, _, ok := strings.Cut(log, "dracut: Switching root"); !ok || len(assembled.FindAllString(before, -1)) != 2 {
		t.Errorf("the initramfs is not dracut's, or has not assembled both arrays:\n%s", log)
	}
	g.settled("reboot", []string{"data", "wal"}, []string{"/srv/data", "/srv/wal"})

	g.ok("touch /etc/mdadm.conf")
	if advice := g.advised("PL314", "--data /srv/data"); !slices.Equal(advice, []string{renew}) {
		t.Errorf("check advises %q", advice)
	}
	g.timed("plimsoll array teardown --yes >/dev/null")
	if left := g.ok(ofDracut + leftBehind); left != "" {
		t.Errorf("left behind: %s", left)
	}
	g.blank("data", "wal")
	g.ok("rm /root/plimsoll.yaml /root/applied")
	if after := g.ok(etc); after != before {
		t.Errorf("/etc or the bystander has changed:\n%s\nwas:\n%s", after, before)
	}
}
