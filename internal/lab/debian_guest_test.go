package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// A Debian boots what its own /boot holds, shuts down in order, and keeps through a power cut just
// what was synced. One that cannot mount what it must says so.
func TestLabDebian(t *testing.T) {
	spec := small(t, "")
	spec.System = lab.SystemDebian
	dir := t.TempDir()
	g := labtest.StartConfig(t, lab.Config{Spec: spec, Dir: dir})
	up := func(want string) {
		t.Helper()
		t.Logf("boot %.1f s", g.Started.Restore.Seconds())
		if g.State != want {
			t.Errorf("the system is %q, want %s: %s", g.State, want, must(t, g, "systemctl --failed --no-legend; systemctl list-jobs"))
		}
	}
	up("running")
	must(t, g, `set -e
mkfs.ext4 -q -L DATA ${data[0]}; mkdir /data; echo "LABEL=DATA /data ext4 nofail 0 0" >> /etc/fstab; echo kept > /root/synced
printf '#!/bin/sh\n[ "$1" = prereqs ] && exit\necho > /run/from-initramfs\n' > /etc/initramfs-tools/scripts/init-top/lab; chmod 755 /etc/initramfs-tools/scripts/init-top/lab
printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStop=/bin/sh -c "date > /root/stopped"\n[Install]\nWantedBy=multi-user.target\n' > /etc/systemd/system/stops.service
systemctl -q enable --now stops.service`)
	begin := time.Now()
	must(t, g, "update-initramfs -u")
	t.Logf("update-initramfs %.1f s", time.Since(begin).Seconds())
	if err := g.Reboot(t.Context()); err != nil {
		t.Fatal(err)
	}
	up("running")
	must(t, g, `grep -q " /data ext4" /proc/mounts && test -s /root/stopped && test -e /run/from-initramfs && echo lost > /root/unsynced`)
	if err := g.PowerCut(t.Context()); err != nil {
		t.Fatal(err)
	}
	up("running")
	if got := must(t, g, "cat /root/synced; cat /root/unsynced 2>/dev/null; grep -c ' /data ext4' /proc/mounts"); got != "kept\n1\n" {
		t.Errorf("after the power cut: %q", got)
	}
	must(t, g, `sed -i "s/LABEL=DATA .*/LABEL=NONE \/data ext4 x-systemd.device-timeout=5s 0 0/" /etc/fstab; sync`)
	if err := g.Reboot(t.Context()); err != nil {
		t.Fatal(err)
	}
	up("maintenance")
	if _, err := os.Stat(filepath.Join(dir, "root.raw")); err != nil {
		t.Error(err)
	}
}

// What a guest cannot do it says.
func TestDebianOnly(t *testing.T) {
	g := labtest.StartSpec(t, small(t, ""))
	if err := g.Reboot(t.Context()); err == nil || !strings.Contains(err.Error(), "system: debian") {
		t.Errorf("reboot of a small guest: %v", err)
	}
	spec := small(t, "")
	spec.System = lab.SystemDebian
	if _, err := lab.Start(t.Context(), host(), lab.Config{Spec: spec, Persist: true}); err == nil {
		t.Error("a Debian takes Persist")
	}
}
