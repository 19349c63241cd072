package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// killedLayouts are built in turn by the measurement that is killed: md, md on partitions, and LVM.
const killedLayouts = `arrays:
  - {name: a, role: data, level: raid0, chunk: 64KiB, volumes: 2 x 64MiB, filesystem: {type: ext4, mount: /srv/a/b}}
`

// abCommand measures two of them; what follows names the second, and where, or what is resumed.
const abCommand = `plimsoll ab work.yaml --topology base.yaml --variant md --rounds 2 --runtime 1s --ramp 0s --cooldown 0s --seed 7 --yes --progress plain --variant `

// killAB starts ab and kills it, or with it all that it has started, after so many milliseconds.
const killAB = `setsid ` + abCommand + `%[4]s --out runs >out 2>&1 & pid=$!
sleep $(printf '%%d.%%03d' %[1]d %[2]d); kill -%[3]s $pid 2>/dev/null; wait $pid; code=$?
# what it had started ends by a signal of its own
for i in $(seq 100); do grep -qxE 'fio|mdadm|mkfs.*|lv.*|vg.*|pv.*|sgdisk' /proc/[0-9]*/comm || break; sleep 0.1; done 2>/dev/null; echo $code`

// leftOver is what of a measurement may not be there when it is over.
const leftOver = `grep '^md' /proc/mdstat; grep -lx fio /proc/[0-9]*/comm 2>/dev/null; grep /srv /proc/mounts; ls /var/lib/plimsoll/journal 2>/dev/null; vgs --noheadings 2>/dev/null
for d in "${v[@]}"; do wipefs $d; ls /sys/class/block/${d##*/}/holders; ls /sys/class/block/${d##*/} | grep "^${d##*/}p"; done; find /srv -mindepth 1; true`

// TestLabKillsOfLayouts kills plimsoll ab over layouts, or cuts the power, at random instants. What is left is named,
// and the same command with --resume ends the measurement, or plimsoll array teardown takes down what was built:
// nothing is left, and a bystander's volume is as it was. PLIMSOLL_LAB_KILLS=100 tries 100 from PLIMSOLL_SEED on.
func TestLabKillsOfLayouts(t *testing.T) {
	if os.Getenv("PLIMSOLL_LAB_KILLS") == "" {
		t.Skip("SKIPPED: PLIMSOLL_LAB_KILLS says how many are tried; each takes some ten seconds")
	}
	n, seed := number(t, "PLIMSOLL_LAB_KILLS", 0), number(t, "PLIMSOLL_SEED", 1)
	spec, err := lab.ParseSpec("kills",
		[]byte("volumes:\n  - {name: v, count: 2, size: 64MiB}\n  - {name: other, count: 1, size: 96MiB}\n"))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartConfig(t, lab.Config{Spec: spec, Persist: true})
	put := func(name, text string) {
		if err := g.Put(t.Context(), "/root/"+name, 0o644, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put("base.yaml", killedLayouts)
	put("work.yaml", "scenarios:\n  - {id: 1, name: work, role: data, size: 8MiB, fio: {ioengine: libaio, direct: 1, "+
		"rw: randread, bs: 4k, iodepth: 4}}\n")
	do(t, g, "mkfs.ext4 -q -L OTHER $other; sync")
	sum := func() string {
		return said(t, g, "sha256sum <$other; cat /etc/fstab /etc/mdadm/mdadm.conf", nil).Stdout
	}
	before := sum()
	whole := said(t, g, "now() { cut -d' ' -f1 /proc/uptime | tr -d .; }; s=$(now); "+abCommand+"lvm:using=lvm --out "+
		"runs >out 2>&1 || { cat out >&2; exit 1; }; echo $((($(now)-s)*10)); rm -rf runs", nil)
	takes := 0
	if _, err := fmt.Sscan(whole.Stdout, &takes); err != nil {
		t.Fatalf("%v %s", err, whole.Stderr)
	}
	if left := said(t, g, leftOver, nil).Stdout; left != "" {
		t.Fatalf("left by one that ended: %s", left)
	}
	counts, refused := map[string]int{}, 0
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(seed+i), 52))
		at := 1 + r.IntN(takes)
		second := []string{"part:partition=true", "lvm:using=lvm"}[r.IntN(2)]
		how := []string{"KILL", "KILL", "KILL", "KILL", "TERM", "power cut"}[r.IntN(6)]
		if how == "power cut" {
			do(t, g, fmt.Sprintf("rm -rf runs; { setsid "+abCommand+second+" --out runs >out 2>&1 & }; "+
				"sleep $(printf '%%d.%%03d' %d %d)", at/1000, at%1000))
			if err := g.PowerCut(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else if r := said(t, g, "rm -rf runs\n"+fmt.Sprintf(killAB, at/1000, at%1000, how, second), nil); r.Code != 0 {
			t.Fatalf("%+v", r)
		}
		built := said(t, g, leftOver, nil).Stdout
		what, end := "teardown", "plimsoll array teardown --yes"
		if resume := said(t, g, "ls -d runs/*-ab-*", nil); r.IntN(3) == 0 && resume.Code == 0 {
			what, end = "resume", abCommand+second+" --out runs --resume "+strings.TrimSpace(resume.Stdout)
		}
		ended := said(t, g, end, nil)
		key := fmt.Sprintf("%s, %s", how, what)
		if built == "" {
			key += ", nothing was built"
		}
		counts[key]++
		t.Logf("seed %d, %s at %d ms of %d: %s, %d", seed+i, how, at, takes, key, ended.Code)
		left := said(t, g, leftOver, nil).Stdout
		if ended.Code != 0 && ended.Code != 4 || left != "" || sum() != before { // 4: a round is invalid, of a busy machine
			refused++
			t.Errorf("seed %d, %s at %d ms of %d, %s: exit status %d\n%s\nwas there: %s\nis left: %s", seed+i, how, at, takes,
				what, ended.Code, ended.Stderr, built, left)
			do(t, g, `umount /srv/a/b; mdadm --stop /dev/md/*; vgremove -f $(vgs --noheadings -o name); for d in "${v[@]}"; do wipefs -qa ${d}p1; wipefs -qa $d; blkdiscard -z $d; done; udevadm settle; rm -rf /var/lib/plimsoll/journal/* /srv/*; true`)
		}
	}
	t.Logf("%d kills within %d ms: %v; %d not ended by it", n, takes, counts, refused)
}
