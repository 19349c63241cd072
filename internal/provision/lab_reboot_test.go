package provision

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// startDebian starts a whole Debian with these volumes and a bystander.
func startDebian(t *testing.T, volumes string) *guest {
	t.Helper()
	s, err := lab.ParseSpec("debian", []byte("system: debian\nvolumes:\n"+volumes+"  - {name: bystander, count: 1, size: 64MiB}\n"))
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{labtest.StartSpec(t, s), t}
	g.up("first boot")
	g.ok("mkfs.ext4 -q -L BYSTANDER $bystander")
	return g
}

// up says how the guest has booted, which must be without a failed unit.
func (g *guest) up(after string) {
	g.t.Helper()
	g.t.Logf("%s: up in %.1f s", after, g.Started.Restore.Seconds())
	if g.State != "running" {
		g.t.Errorf("%s: the system is %q:\n%s", after, g.State, g.ok("systemctl --failed --no-legend; systemctl list-jobs; journalctl -b -p warning --no-pager | tail -40"))
	}
}

// again goes down in one way or the other, and up.
func (g *guest) again(how string, restart func(context.Context) error) {
	g.t.Helper()
	begin := time.Now()
	if err := restart(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
	g.up(how)
	g.t.Logf("%s: %.1f s in all", how, time.Since(begin).Seconds())
}

// timed runs a script that must succeed, and logs how long it took and what it said.
func (g *guest) timed(script string) {
	g.t.Helper()
	begin := time.Now()
	r := g.sh(script)
	g.t.Logf("%s: %.1f s\n%s", script, time.Since(begin).Seconds(), r.Stderr)
	if r.Code != 0 {
		g.t.Fatalf("%s: exit status %d\n%s", script, r.Code, r.Stdout)
	}
}

// initramfs prints the ARRAY lines that the next boot will assemble by, sorted.
const initramfs = `rm -rf /tmp/un; unmkinitramfs /boot/initrd.img-$(uname -r) /tmp/un && cat $(find /tmp/un -path '*etc/mdadm/mdadm.conf') | grep ^ARRAY | sort; rm -rf /tmp/un`

// leftBehind prints what teardown should have removed. What it left between the ends of the members
// is recorded, so that the next apply takes it for blank.
const leftBehind = `; grep ^md /proc/mdstat; ls -A /var/lib/plimsoll | grep -v '^released.json$'; dmsetup ls | grep -v 'No devices'; true`

// survive applies the file, reboots in both ways, looks at everything each time, tears down,
// reboots, and finds no trace.
func (g *guest) survive(yaml string, arrays, mounts []string, groups ...string) {
	g.t.Helper()
	before := g.ok(etc)
	if out := g.ok(initramfs); out != "" {
		g.t.Fatalf("the initramfs knows arrays before there are any: %s", out)
	}
	if err := g.Put(g.t.Context(), "/root/plimsoll.yaml", 0o644, []byte(yaml)); err != nil {
		g.t.Fatal(err)
	}
	g.timed("plimsoll array apply plimsoll.yaml --yes >/dev/null")
	inside, lines := g.ok(initramfs), g.ok("grep ^ARRAY /etc/mdadm/mdadm.conf | sort")
	if inside != lines || strings.Count(lines, "\n") != len(arrays) {
		g.t.Errorf("the initramfs has\n%smdadm.conf has\n%s", inside, lines)
	}
	for how, restart := range map[string]func(context.Context) error{"reboot": g.Reboot, "power cut": g.PowerCut} {
		g.ok(fmt.Sprintf("for m in %s; do echo kept by a %s > $m/file; done; sync", strings.Join(mounts, " "), how))
		g.again(how, restart)
		g.settled(how, arrays, mounts)
	}
	g.timed("plimsoll array teardown --yes >/dev/null")
	g.again("reboot after teardown", g.Reboot)
	if out := g.ok(initramfs + leftBehind); out != "" {
		g.t.Errorf("left behind: %s", out)
	}
	g.blank(groups...)
	g.ok("rm /root/plimsoll.yaml")
	if after := g.ok(etc); after != before {
		g.t.Errorf("/etc or the bystander has changed:\n%s\nwas:\n%s", after, before)
	}
}

var complaint = regexp.MustCompile(`(?m)^PL\d+ (warning|error|invalid).*\n(  .*\n)*`)

// settled looks at what a boot has made of the arrays and mounts.
func (g *guest) settled(how string, arrays, mounts []string) {
	g.t.Helper()
	// What a power cut left to be resynchronised is awaited: it is reported as long as it goes on.
	g.ok("for a in /dev/md/*; do mdadm --wait $a; done; true")
	if got := strings.Fields(g.ok("ls -A /dev/md 2>/dev/null || true")); !slices.Equal(got, arrays) {
		g.t.Errorf("after a %s the arrays are called %v, want %v:\n%s", how, got, arrays, g.ok("cat /proc/mdstat"))
	}
	for _, m := range mounts {
		got := g.ok(fmt.Sprintf(`cat %[1]s/file; systemctl show --property ActiveState,FragmentPath $(systemd-escape --path --suffix=mount %[1]s)`, m))
		if !strings.Contains(got, "kept by a "+how+"\n") || !strings.Contains(got, "ActiveState=active") ||
			!strings.Contains(got, "FragmentPath=/run/systemd/generator/") {
			g.t.Errorf("%s after a %s: %s", m, how, got)
		}
	}
	if r := g.sh("plimsoll array verify plimsoll.yaml"); r.Code != 0 {
		g.t.Errorf("verify after a %s: exit status %d\n%s%s", how, r.Code, r.Stdout, r.Stderr)
	}
	r := g.sh("plimsoll check --data " + mounts[0] + " --wal " + mounts[1])
	g.t.Logf("check after a %s:\n%s", how, r.Stdout)
	for _, f := range complaint.FindAllString(r.Stdout, -1) {
		g.t.Errorf("check after a %s: %s", how, f)
	}
	if r.Code != 0 {
		g.t.Errorf("check after a %s: exit status %d: %s", how, r.Code, r.Stderr)
	}
}

// Arrays that apply has made come back by themselves when a whole system boots, under their names
// and mounted, and go without a trace.
func TestLabReboot(t *testing.T) {
	t.Run("guide", func(t *testing.T) {
		g := startDebian(t, guideVolumes)
		g.survive(guideLayout, []string{"data", "wal"}, []string{"/srv/data", "/srv/wal"}, "data", "wal")
	})
	t.Run("partitions and LVM", func(t *testing.T) {
		g := startDebian(t, "  - {name: parts, count: 4, size: 224MiB}\n  - {name: lvm, count: 4, size: 96MiB}\n")
		g.survive(`
arrays:
  - {name: t0, role: data, level: raid0, chunk: 64KiB, partition: true, volumes: 4 x 224MiB, filesystem: {type: xfs, mount: /srv/t0}}
  - {name: t1, role: wal, level: raid0, using: lvm, volume_group: pool, chunk: 128KiB, volumes: 4 x 96MiB, filesystem: {type: ext4, label: T1, mount: /srv/t1}}
`, []string{"t0"}, []string{"/srv/t0", "/srv/t1"}, "parts", "lvm")
	})
}

// An array of another host, made by hand and not written down, comes back under a name that nobody
// gave it. check says so, and its commands, word for word, fix it for the next boot.
func TestLabUnlistedArray(t *testing.T) {
	g := startDebian(t, "  - {name: data, count: 4, size: 192MiB}\n")
	g.ok(`mdadm --quiet --create /dev/md/data --run --level=10 --raid-devices=4 --assume-clean --homehost=elsewhere --name=data ${data[*]} && udevadm settle &&
mkfs.xfs -q -f /dev/md/data && mkdir /srv/data && echo "UUID=$(blkid -s UUID -o value /dev/md/data) /srv/data xfs defaults,noatime,nofail 0 2" >> /etc/fstab && systemctl daemon-reload && mount /srv/data`)
	g.again("reboot", g.Reboot)
	t.Logf("it came back as:\n%s", g.ok("ls -l /dev/md/; cat /proc/mdstat; grep /srv/data /proc/mounts"))
	if g.sh("test -e /dev/md/data").Code == 0 {
		t.Error("it came back under its name: nothing is to be mended")
	}
	commands := g.advised("PL313", "--data /srv/data")
	for _, c := range commands {
		g.timed(c)
	}
	if len(commands) == 0 {
		t.Fatalf("no PL313: %s", g.sh("plimsoll check --data /srv/data").Stdout)
	}
	if left := append(g.advised("PL313", "--data /srv/data"), g.advised("PL314", "--data /srv/data")...); len(left) > 0 {
		t.Errorf("still advised: %q", left)
	}
	g.again("reboot after the advice", g.Reboot)
	t.Logf("and now as:\n%s", g.ok("ls -l /dev/md/; cat /proc/mdstat; grep ^ARRAY /etc/mdadm/mdadm.conf"))
	named := g.ok(`awk '/^ARRAY/{print $2}' /etc/mdadm/mdadm.conf`)
	if got := g.ok(`mdadm --detail ` + strings.TrimSpace(named) + ` | grep -o 'elsewhere:data'; ls /dev/md; ` + initramfs); !strings.Contains(got, "elsewhere:data\ndata\nARRAY /dev/md/data ") {
		t.Errorf("after the advice: %s\n%s", named, got)
	}
}

// advised are the commands of a finding of check, one after the other.
func (g *guest) advised(code, paths string) []string {
	g.t.Helper()
	var report struct {
		Findings []struct {
			Code     string   `json:"code"`
			Commands []string `json:"commands"`
		} `json:"findings"`
	}
	if err := json.Unmarshal([]byte(g.sh("plimsoll check --json "+paths).Stdout), &report); err != nil {
		g.t.Fatal(err)
	}
	var commands []string
	for _, f := range report.Findings {
		if f.Code == code {
			g.t.Logf("%s: %q", code, f.Commands)
			commands = append(commands, f.Commands...)
		}
	}
	return commands
}
