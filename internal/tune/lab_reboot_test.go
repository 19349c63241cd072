package tune

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

const twoArrays = `system: debian
volumes:
  - {name: data, count: 4, size: 192MiB}
  - {name: wal, count: 4, size: 192MiB}
setup:
  - |
    set -e
    for a in data wal; do
      declare -n members=$a
      mdadm --quiet --create /dev/md/$a --run --level=10 --raid-devices=4 --chunk=64K --assume-clean --homehost=any --name=$a "${members[@]}"
      udevadm settle; mkfs.xfs -q -f -K -L ${a^^} /dev/md/$a; mkdir /srv/$a
      echo "LABEL=${a^^} /srv/$a xfs defaults,noatime,nofail 0 2" >> /etc/fstab
      mdadm --detail --brief /dev/md/$a >> /etc/mdadm/mdadm.conf
    done
    fallocate -l 64M /swap; chmod 600 /swap; mkswap /swap; echo "/swap none swap sw 0 0" >> /etc/fstab
    systemctl daemon-reload; mount -a; swapon -a
`

// show is every setting of the arrays' queues and their members', whatever the drives are called
// now, and of memory.
const show = `cd /sys/block; for a in data wal; do
	d=$(basename $(findmnt -no SOURCE /srv/$a))
	for f in $d/queue/*; do [ -f $f ] && echo "$a ${f##*/} $(cat $f 2>/dev/null)"; done
	for m in $d/slaves/*; do for f in ${m##*/}/queue/*; do [ -f $f ] && echo "$a member ${f##*/} $(cat $f 2>/dev/null)"; done; done | sort -u
done; grep . /proc/sys/vm/dirty_* /proc/sys/vm/swappiness`

// etc is all that is in /etc: names, modes, owners, links and contents.
const etc = `cd /; find etc -exec stat -c '%n %f %u %g %N' {} + | sort; find etc -type f -print0 | sort -z | xargs -0 sha256sum`

// What tune --persist has written, a udev rule and a file of sysctl.d, brings the settings back
// when a whole system boots, and --revert takes all of it away. An emulated processor has neither
// idle states nor a governor, so that there is no unit.
func TestLabTuneReboot(t *testing.T) {
	spec, err := lab.ParseSpec("tuned", []byte(twoArrays))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartSpec(t, spec)
	ok := func(script string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		r, err := g.Bash(ctx, script)
		if err != nil || r.Code != 0 {
			t.Fatalf("%s: %v, exit status %d\n%s%s", script, err, r.Code, r.Stdout, r.Stderr)
		}
		return r.Stdout
	}
	reboot := func() string {
		t.Helper()
		if err := g.Reboot(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Logf("up in %.1f s", g.Started.Restore.Seconds())
		if g.State != "running" {
			t.Errorf("the system is %q: %s", g.State, ok("systemctl --failed --no-legend"))
		}
		return ok(show)
	}
	defaults, before := reboot(), ok(etc)

	t.Logf("tune:\n%s", ok("plimsoll tune --data /srv/data --wal /srv/wal --persist"))
	tuned := ok(show)
	if diff := differing(defaults, tuned); len(diff) == 0 {
		t.Fatal("tune has changed nothing: there is nothing to bring back")
	}
	written := strings.Fields(ok("ls -d /etc/udev/rules.d/*plimsoll* /etc/sysctl.d/*plimsoll* /etc/systemd/system/plimsoll* 2>/dev/null || true"))
	t.Logf("written: %v\n%s", written, ok("cat "+strings.Join(written, " ")))
	if again := reboot(); again != tuned {
		t.Errorf("after a reboot, instead of what tune has set:\n%s", strings.Join(differing(tuned, again), "\n"))
	}
	t.Logf("in force after the reboot:\n%s", strings.Join(differing(defaults, ok(show)), "\n"))

	ok("plimsoll tune --revert")
	if reverted := ok(show); reverted != defaults {
		t.Errorf("after --revert, instead of what was:\n%s", strings.Join(differing(defaults, reverted), "\n"))
	}
	if again := reboot(); again != defaults {
		t.Errorf("after --revert and a reboot, instead of what was:\n%s", strings.Join(differing(defaults, again), "\n"))
	}
	if after := ok(etc); after != before {
		t.Errorf("/etc:\n%s", strings.Join(differing(before, after), "\n"))
	}
}

// differing lists the lines of one that the other has not.
func differing(was, is string) (lines []string) {
	for _, side := range []struct{ mark, a, b string }{{"- ", was, is}, {"+ ", is, was}} {
		for line := range strings.Lines(side.a) {
			if !strings.Contains("\n"+side.b, "\n"+line) {
				lines = append(lines, side.mark+strings.TrimSpace(line))
			}
		}
	}
	return lines
}
