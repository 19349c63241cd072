package provision

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// grownKind is an array whose volumes grow from 96 to 160 MiB, with the programs that use it.
type grownKind struct {
	name, keys string
	volumes    int
	steps      []string // the first word of each; none where it cannot be used
}

func grownKinds() []grownKind {
	const ext4 = "filesystem: {type: ext4, mount: /srv/%s}"
	return []grownKind{
		{"whole", "level: single, " + ext4, 1, []string{"resize2fs"}},
		{"part", "level: single, partition: true, " + ext4, 1, []string{"growpart", "resize2fs"}},
		{"mirror", "level: raid1, partition: true, assume_clean: true, " + ext4, 2, []string{"growpart", "growpart", "mdadm", "resize2fs"}},
		{"parity", "level: raid5, chunk: 64KiB, " + ext4, 3, []string{"mdadm", "resize2fs"}},
		{"ten", "level: raid10, chunk: 64KiB, filesystem: {type: xfs, mount: /srv/%s}", 4, []string{"mdadm", "xfs_growfs"}},
		{"lvm", "level: raid0, using: lvm, chunk: 64KiB, partition: true, " + ext4, 2, []string{"growpart", "pvresize", "growpart", "pvresize", "lvextend", "resize2fs"}},
		{"stripe", "level: raid0, chunk: 64KiB, " + ext4, 2, nil},
	}
}

// volumes of all kinds; RAID10's are larger, since XFS wants 300 MB.
func grownVolumes(grown bool) string {
	var b strings.Builder
	for _, k := range grownKinds() {
		size := 96
		if k.name == "ten" {
			size = 192
		}
		if grown {
			size += 64
		}
		fmt.Fprintf(&b, "  - {name: %s, count: %d, size: %dMiB}\n", k.name, k.volumes, size)
	}
	return "volumes:\n" + b.String() + keepers
}

// TestLabGrown: volumes of each kind of array grow, as an EBS volume can, and the commands that array plan shows for it make
// its filesystem larger, also where the power is cut while any of them runs and they are typed again; the files stay, verify
// finds the array as declared, and teardown leaves the volumes blank. RAID0 of md says that it never uses it.
func TestLabGrown(t *testing.T) {
	dir := t.TempDir()
	file := func(g *guest, k grownKind) string {
		var serials []string
		for _, v := range g.Volumes {
			if v.Group == k.name {
				serials = append(serials, "{serial: "+v.Serial+"}")
			}
		}
		return fmt.Sprintf("  - {name: %s, %s, volumes: [%s]}\n", k.name, fmt.Sprintf(k.keys, k.name), strings.Join(serials, ", "))
	}
	begin := func(t *testing.T, grown bool) *guest {
		s, err := lab.ParseSpec("grown", []byte(grownVolumes(grown)))
		if err != nil {
			t.Fatal(err)
		}
		return &guest{labtest.StartConfig(t, lab.Config{Spec: s, Dir: dir}), t}
	}
	ok := t.Run("built", func(t *testing.T) {
		g := begin(t, false)
		g.ok(install)
		g.ok(boot)
		yaml := "arrays:\n"
		for _, k := range grownKinds() {
			yaml += file(g, k)
		}
		g.declare(yaml)
		g.ok("plimsoll array apply /keep/plimsoll.yaml --yes && for d in /srv/*; do dd if=/dev/urandom of=$d/file bs=1M count=16 2>/dev/null; done; sha256sum /srv/*/file >/keep/sums; sync")
	})
	if !ok {
		return
	}
	t.Run("grown", func(t *testing.T) {
		g := begin(t, true)
		script, err := growpart()
		if err != nil {
			t.Skip("SKIPPED: " + err.Error())
		}
		g.ok(boot)
		ready := func() {
			if err := g.Put(t.Context(), "/usr/bin/growpart", 0o755, script); err != nil {
				t.Fatal(err)
			}
		}
		ready()
		g.ok(`mdadm --assemble --scan; vgchange -q -ay >/dev/null; udevadm settle; mount -a; true`)
		random, cuts := rand.New(rand.NewPCG(uint64(len(dir)), 52)), 0
		const plan = "plimsoll array plan /keep/plimsoll.yaml --details"
		for _, k := range grownKinds() {
			size := func() string { return g.ok("stat -f -c %b /srv/" + k.name) }
			before := size()
			for cut := 0; cut <= len(k.steps); cut++ {
				commands := growCommands(g.ok(plan), k.name)
				if len(commands) != len(k.steps) {
					t.Fatalf("%s: %q, want %q", k.name, commands, k.steps)
				}
				if len(commands) == 0 {
					if said := g.ok(plan); !strings.Contains(strings.Join(strings.Fields(said), " "), "RAID0 of md never uses it") {
						t.Errorf("%s: %s", k.name, said)
					}
					break
				}
				for i, c := range commands {
					if !strings.HasPrefix(c, k.steps[i]) {
						t.Fatalf("%s: step %d is %s, want %s", k.name, i+1, c, k.steps[i])
					}
					if i == cut {
						g.ok(fmt.Sprintf("{ setsid %s >/dev/null 2>&1 & }; sleep 0.%03d", c, random.IntN(150)))
						cuts++
						break
					}
					// What is done already says so by exit status 1 (growpart) or 5 (lvextend).
					if r := g.sh(c); r.Code != 0 && !strings.Contains(r.Stdout+r.Stderr, "NOCHANGE") && !strings.Contains(r.Stderr, "matches existing size") {
						t.Errorf("%s: %s: exit status %d\n%s\n%s", k.name, c, r.Code, r.Stdout, r.Stderr)
					}
				}
				if cut < len(commands) {
					g.reboot()
					ready()
				}
			}
			if after := size(); (after != before) != (len(k.steps) > 0) {
				t.Errorf("%s: %s blocks before, %s after", k.name, before, after)
			}
		}
		g.ok("mdadm --wait /dev/md/* 2>/dev/null; sha256sum -c --quiet /keep/sums")
		if r := g.sh("plimsoll array verify /keep/plimsoll.yaml"); r.Code != 0 {
			t.Errorf("verify: exit status %d\n%s\n%s", r.Code, r.Stdout, r.Stderr)
		}
		t.Logf("%d power cuts", cuts)
		g.ok("rm /srv/*/file; plimsoll array teardown --yes")
		for _, k := range grownKinds() {
			g.blank(k.name)
		}
	})
}

// growCommands are those that array plan shows for the growth of an array.
func growCommands(plan, array string) (commands []string) {
	_, rest, _ := strings.Cut(plan, "\n"+array+": to use what its volumes have grown by")
	for line := range strings.Lines(rest) {
		if strings.Contains(line, ": to use what its volumes have grown by") {
			break
		}
		if c, ok := strings.CutPrefix(strings.TrimSpace(line), "run      "); ok {
			commands = append(commands, c)
		}
	}
	return commands
}

// growpart is the host's, which a guest of the lab does not have.
func growpart() ([]byte, error) {
	name, err := exec.LookPath("growpart")
	if err != nil {
		return nil, fmt.Errorf("no growpart to put into the guest (apt-get install cloud-guest-utils): %w", err)
	}
	return os.ReadFile(name)
}
