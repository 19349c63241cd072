package provision

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
)

// grownBy starts a guest with four volumes of this size; those of the guest before it, in the same directory, have
// grown.
func grownBy(t *testing.T, dir string, mib int) *guest {
	t.Helper()
	volumes := fmt.Sprintf("volumes:\n  - {name: v, count: 4, size: %dMiB}\n", mib)
	spec, err := lab.ParseSpec("grown", []byte(volumes+keepers))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cfg := lab.Config{Spec: spec, Dir: dir, Binary: labtest.Binary(t), Log: t.Output()}
	started, err := lab.Start(ctx, sys.Host(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &guest{started, t}
}

// growthSteps are the commands that array plan shows for volumes that have grown.
func (g *guest) growthSteps() (all []string) {
	g.t.Helper()
	var p struct{ Grown []*records.Work }
	if err := json.Unmarshal([]byte(g.ok("plimsoll array plan /keep/plimsoll.yaml --format json")), &p); err != nil {
		g.t.Fatal(err)
	}
	for _, w := range p.Grown {
		for _, st := range w.Steps {
			all = append(all, strings.Join(w.Commands(st.Do), " && "))
		}
	}
	return all
}

// TestLabGrowth enlarges the volumes of each kind of array once for each step that array plan shows, takes the steps
// before it, cuts the power in the midst of it, and takes all that are shown then: the file that was there is whole,
// the filesystem has what was added, nothing more is shown, and teardown leaves no trace.
func TestLabGrowth(t *testing.T) {
	labtest.Need(t)
	const ext4, xfs = "filesystem: {type: ext4, mount: /srv/a}", "filesystem: {type: xfs, mount: /srv/a}"
	for name, c := range map[string]struct {
		array, fs string
		volumes   int
		start     int // MiB
		share     int // of a volume's growth that the filesystem gets, in percent
	}{
		"raid1, ext4":             {"level: raid1", ext4, 2, 64, 100},
		"raid1, partitions, ext4": {"level: raid1, partition: true", ext4, 2, 64, 100},
		"raid10, ext4":            {"level: raid10", ext4, 4, 64, 200},
		"raid5, ext4":             {"level: raid5", ext4, 3, 64, 200},
		"raid6, ext4":             {"level: raid6", ext4, 4, 64, 200},
		"LVM stripe, xfs":         {"level: raid0, using: lvm", xfs, 2, 336, 200},
		"LVM, partitions, ext4":   {"level: raid0, using: lvm, partition: true", ext4, 2, 64, 200},
		"one, xfs":                {"level: single", xfs, 1, 336, 100},
		"one, partition, ext4":    {"level: single, partition: true", ext4, 1, 64, 100},
	} {
		t.Run(name, func(t *testing.T) {
			dir, size, by := t.TempDir(), c.start, 32
			g := grownBy(t, dir, size)
			defer func() { _ = g.Stop() }()
			g.ok(install)
			g.ok(boot)
			before := g.ok(etc)
			var volumes []string
			for _, v := range g.Volumes[:c.volumes] {
				volumes = append(volumes, "{serial: "+v.Serial+"}")
			}
			g.declare(fmt.Sprintf("arrays:\n  - {name: a, %s, volumes: [%s], %s}\n", c.array, strings.Join(volumes, ", "), c.fs))
			g.ok("plimsoll array apply /keep/plimsoll.yaml --yes")
			g.ok("dd if=/dev/urandom of=/srv/a/file bs=1M count=8 conv=fsync 2>/dev/null")
			sum := g.ok("sha256sum </srv/a/file")
			has := func() (mib int) {
				if _, err := fmt.Sscan(g.ok("df -Pm /srv/a | awk 'NR==2{print $2}'"), &mib); err != nil {
					t.Fatal(err)
				}
				return mib
			}
			for cut := 0; ; cut++ {
				g.ok("umount /srv/a; sync")
				if err := g.Stop(); err != nil {
					t.Fatal(err)
				}
				size += by
				g = grownBy(t, dir, size)
				g.ok(boot)
				g.ok(assemble)
				had, steps := has(), g.growthSteps()
				if len(steps) == 0 {
					t.Fatalf("%d MiB: nothing is shown", size)
				}
				t.Logf("%d MiB, cut in %d of %s", size, cut+1, strings.Join(steps, "; "))
				if cut >= len(steps) {
					break
				}
				for _, command := range steps[:cut] {
					g.ok(command)
				}
				g.ok(fmt.Sprintf("{ %s; } >/dev/null 2>&1 & sleep 0.%02d", steps[cut], cut*3))
				g.cutPower()
				g.ok(assemble)
				for range 2 { // what is shown after a part of it, and what that leaves
					for _, command := range g.growthSteps() {
						g.ok(command)
					}
				}
				if left := g.growthSteps(); len(left) > 0 {
					t.Errorf("still shown: %v", left)
				}
				if got := g.ok("sha256sum </srv/a/file"); got != sum {
					t.Error("the file is another one")
				}
				// LVM rounds each volume down to its extents of 4 MiB, and ext4 keeps tables for what it gets
				if got := has() - had; got < by*c.share*8/1000 {
					t.Errorf("the filesystem has %d MiB more, of %d", got, by*c.share/100)
				}
				g.ok("plimsoll array verify /keep/plimsoll.yaml")
			}
			if r := g.sh("plimsoll array teardown --yes"); r.Code != 0 {
				t.Fatalf("teardown: %d\n%s", r.Code, r.Stderr)
			}
			// what LVM keeps by itself of commands that were typed
			g.ok("cd /etc/lvm && rm -f archive/a_* backup/a; rmdir archive backup . 2>/dev/null; true")
			g.blank("v")
			g.same(before)
		})
	}
}
