package provision

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// wrap puts a script before each program that changes something. It counts its calls, and holds the
// one numbered CUT, before or after it ran, until /tmp/go is there; HOLD holds a program by name
// instead, and FAIL lets one fail.
const wrap = `set -e
mkdir -p /tmp/wrap
for p in sgdisk mdadm mkfs.ext4 mkdir rmdir mount umount chown chmod wipefs; do
	real=$(PATH=/usr/sbin:/usr/bin:/sbin:/bin command -v $p)
	cat > /tmp/wrap/$p <<EOF
#!/bin/bash
case "$p \$*" in "mdadm --examine"*|"wipefs --no-act"*) exec $real "\$@";; esac
n=\$((\$(cat /tmp/n 2>/dev/null)+1)); echo \$n > /tmp/n
hold() {
	# Flushing another file is what brings a missing fsync to light.
	echo x > /keep/other; sync /keep/other; rm /keep/other
	echo "\$n $p \$1" > /tmp/held
	until [ -e /tmp/go ]; do sleep 0.05; done
}
[ "$p" != "\$FAIL" ] || { echo "$p: no luck today" >&2; exit 1; }
[ "$p" != "\$HOLD" ] || hold "\$1"
[ "\$n\$WHEN" != "\${CUT}before" ] || hold "\$1"
code=0; $real "\$@" || code=\$?
[ "\$n\$WHEN" != "\${CUT}after" ] || hold "\$1"
exit \$code
EOF
	chmod +x /tmp/wrap/$p
done`

// held starts plimsoll with the wrapped programs and returns where it was held, "" when it ended
// before.
func (g *guest) held(env, command string) string {
	g.t.Helper()
	g.ok(wrap)
	return strings.TrimSpace(g.ok(`rm -f /tmp/held /tmp/n /tmp/go /tmp/rc
{ PATH=/tmp/wrap:$PATH ` + env + ` plimsoll array ` + command + ` --yes >/tmp/out 2>&1 & echo $! >/tmp/pid; wait $!; echo $? > /tmp/rc; } &
until [ -e /tmp/rc ] || [ -e /tmp/held ]; do sleep 0.05; done
[ ! -e /tmp/held ] || cat /tmp/held`))
}

// goOn lets what was held go on, and returns its exit status and what it said.
func (g *guest) goOn() (code, said string) {
	g.t.Helper()
	out := g.ok("touch /tmp/go; until [ -e /tmp/rc ]; do sleep 0.05; done; cat /tmp/rc /tmp/out")
	code, said, _ = strings.Cut(out, "\n")
	return code, said
}

// cutPower kills the guest and boots it, without assembling or mounting anything.
func (g *guest) cutPower() {
	g.t.Helper()
	if err := g.PowerCut(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
	g.ok(boot)
}

// The power goes before or after each program of apply and of teardown: a second apply or teardown
// finishes, the volumes end up blank, /etc as it was, and the bystander untouched. PLIMSOLL_LAB=all
// does both before and after each.
func TestLabPowerCut(t *testing.T) {
	g := start(t, "  - {name: a, count: 2, size: 64MiB}\n")
	before := g.ok(etc)
	cut := map[string]bool{}
	for n := 1; ; n++ {
		whens := []string{[]string{"before", "after"}[n%2]}
		if os.Getenv("PLIMSOLL_LAB") == "all" {
			whens = []string{"before", "after"}
		}
		reached := false
		for _, when := range whens {
			g.declare(mirror)
			env := fmt.Sprintf("CUT=%d WHEN=%s", n, when)
			for _, what := range []string{"apply /keep/plimsoll.yaml", "teardown"} {
				at := g.held(env, what)
				if at != "" {
					t.Logf("power cut %s %s of %s", when, at, what)
					verb, _, _ := strings.Cut(what, " ")
					_, program, _ := strings.Cut(at, " ")
					cut[verb+" "+strings.TrimSpace(program)] = true
					reached = true
					g.cutPower()
				}
				if r := g.sh("plimsoll array " + what + " --yes"); r.Code != 0 {
					t.Fatalf("%s %s of %s: the second one: exit status %d\n%s\n%s", when, at, what, r.Code, r.Stderr, g.ok("cat /proc/mdstat; cat /var/lib/plimsoll/journal/*.json"))
				}
				if what != "teardown" {
					g.ok("mdadm --wait /dev/md/*; plimsoll array verify /keep/plimsoll.yaml")
				}
			}
			g.blank("a")
			g.same(before)
		}
		if !reached {
			break
		}
	}
	for _, want := range []string{"apply sgdisk --clear", "apply mdadm --create", "apply mkfs.ext4 -q", "apply mount /srv/a/b", "teardown umount /srv/a/b", "teardown wipefs --all", "teardown mdadm --stop"} {
		if !cut[want] {
			t.Errorf("the power was never cut at %q; at %v", want, cut)
		}
	}
}

func TestLabFaults(t *testing.T) {
	g := start(t, "  - {name: a, count: 2, size: 64MiB}\n")
	before := g.ok(etc)
	const apply, down = "apply /keep/plimsoll.yaml", "plimsoll array teardown --yes"
	fail := func(t *testing.T, code, said, want string) {
		t.Helper()
		if code == "0" || !strings.Contains(said, want) {
			t.Errorf("exit status %s, want %q\n%s", code, want, said)
		}
	}
	g.declare(mirror)

	t.Run("mkfs fails", func(t *testing.T) {
		g := g.of(t)
		g.held("FAIL=mkfs.ext4", apply)
		code, said := g.goOn()
		fail(t, code, said, "step 4 of 10, create an ext4 filesystem on /dev/md/a, label A: mkfs.ext4: no luck today\ntry: plimsoll array apply")
		g.ok("plimsoll array " + apply + " --yes; " + down)
	})
	t.Run("no room for the journal and /etc", func(t *testing.T) {
		g := g.of(t)
		g.held("HOLD=mkfs.ext4", apply)
		g.ok("dd if=/dev/zero of=/keep/fill bs=64k 2>/dev/null; dd if=/dev/zero of=/keep/fill2 bs=1k 2>/dev/null; true")
		code, said := g.goOn()
		fail(t, code, said, "no space left on device")
		g.ok("rm /keep/fill*; plimsoll " + apply + " --yes; " + down)
	})
	t.Run("two at once", func(t *testing.T) {
		g := g.of(t)
		g.held("HOLD=mkfs.ext4", apply)
		g.refused("plimsoll array "+apply+" --yes", "another plimsoll is applying or tearing down")
		g.refused(down, "another plimsoll is applying or tearing down")
		if code, said := g.goOn(); code != "0" {
			t.Errorf("%s %s", code, said)
		}
		g.ok(down)
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		g := g.of(t)
		const interrupt = "kill -INT $(cat /tmp/pid); sleep 0.5"
		g.held("HOLD=mkfs.ext4", apply)
		g.ok(interrupt)
		code, said := g.goOn()
		if code != "130" || !strings.Contains(said, "stopped before step 5 of 10") {
			t.Errorf("exit status %s\n%s", code, said)
		}
		g.ok("plimsoll array " + apply + " --yes")
		g.held("HOLD=wipefs", "teardown")
		g.ok(interrupt)
		if code, said := g.goOn(); code != "130" {
			t.Errorf("exit status %s\n%s", code, said)
		}
		g.ok(down)
	})
	g.blank("a")
	t.Run("open files", func(t *testing.T) {
		g := g.of(t)
		g.ok("plimsoll array " + apply + " --yes")
		g.ok("exec 9> /srv/a/b/open; plimsoll array teardown --yes && exit 1; plimsoll array verify /keep/plimsoll.yaml")
		g.ok(down)
	})
	t.Run("a member disappears", func(t *testing.T) {
		g := g.of(t)
		g.held("HOLD=mdadm", apply)
		if err := g.Unplug(t.Context(), g.Volumes[1]); err != nil {
			t.Fatal(err)
		}
		code, said := g.goOn()
		fail(t, code, said, "step 3 of 10")
		t.Log(said)
		g.refused("plimsoll array "+apply+" --yes", "volume "+g.Volumes[1].Serial+" is not attached")
		g.refused(down, "attach these and tear down again: volume "+g.Volumes[1].Serial)
		g.cutPower()
		g.ok(down)
		g.blank("a")
	})
	g.same(before)
}
