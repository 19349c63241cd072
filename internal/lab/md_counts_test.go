package lab_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// mdCounts holds what one I/O of a job costs the members of an array: package ceiling's simulation
// and its model are compared with it.
const mdCounts = "../ceiling/testdata/md-counts.tsv"

const mdCountsHead = `# What one I/O costs the members of an array, all together, counted by md's members (diskstats) under the kernel of the lab.
# Made by: UPDATE=1 go test ./internal/lab -run TestMdCounts; make lab compares. %s
# level	layout	members	chunk KiB	rw	bssplit	blockalign	iodepth	reads	writes	KiB read	KiB written
`

// TestMdCounts compares what one I/O costs md's members with what it cost when the figures that
// package ceiling is compared with were counted: of each fourth row, of all with PLIMSOLL_LAB=all.
// UPDATE=1 writes them.
func TestMdCounts(t *testing.T) {
	text, err := os.ReadFile(mdCounts)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := lab.ParseSpec("md", []byte("volumes:\n  - {name: data, count: 6, size: 256MiB}\n"))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartSpec(t, spec)
	if err := g.Unlimit(); err != nil {
		t.Fatal(err)
	}
	kernel := strings.TrimSpace(must(t, g, "uname -r"))
	var out strings.Builder
	fmt.Fprintf(&out, mdCountsHead, "Kernel "+kernel+".")
	made, update, row := "", os.Getenv("UPDATE") != "", -1
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 12 || f[0] == "#" {
			continue
		}
		if row++; row%4 > 0 && !update && os.Getenv("PLIMSOLL_LAB") != "all" {
			continue
		}
		if array := strings.Join(f[:4], " "); array != made {
			made = array
			must(t, g, assemble(f))
		}
		got := oneCount(t, g, f)
		fmt.Fprintf(&out, "%s\t%.4f\t%.4f\t%.3f\t%.3f\n", strings.Join(f[:8], "\t"), got[0], got[1], got[2], got[3])
		t.Logf("%-50s %.3f reads %.3f writes %.1f KiB %.1f KiB", strings.Join(f[:8], " "), got[0], got[1], got[2], got[3])
		for i, v := range got {
			var was float64
			if _, err := fmt.Sscan(f[8+i], &was); err != nil {
				t.Fatal(err)
			}
			if !update && math.Abs(v-was) > 0.1*was+0.15 {
				t.Errorf("%s: %.3f, and it was %.3f", strings.Join(f[:8], " "), v, was)
			}
		}
	}
	if update {
		if err := os.WriteFile(mdCounts, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// assemble is the command that makes a row's array of the first volumes. The superblock is written
// before anything is counted and not again, and udev, which reads what was written to, waits.
func assemble(f []string) string {
	level, layout := strings.TrimPrefix(f[0], "raid"), ""
	if f[0] == "raid10" {
		layout = "--layout=" + map[string]string{"near": "n2", "far": "f2", "offset": "o2"}[f[1]]
	}
	return fmt.Sprintf(`udevadm control --start-exec-queue
if test -e /dev/md/t; then mdadm -q --stop /dev/md/t; mdadm -q --zero-superblock --force "${data[@]}" 2>/dev/null || true; udevadm settle; fi
mdadm -q --create /dev/md/t --run --level=%s %s --chunk=%s --raid-devices=%s --assume-clean --homehost=any --name=t "${data[@]:0:%[4]s}"
udevadm settle; md=$(basename $(readlink -f /dev/md/t))
test ! -e /sys/block/$md/md/safe_mode_delay || echo 0 > /sys/block/$md/md/safe_mode_delay
dd if=/dev/zero of=/dev/md/t bs=4k count=1 oflag=direct 2>/dev/null
udevadm settle; udevadm control --stop-exec-queue`, level, layout, f[3], f[2])
}

// oneCount issues a row's I/Os, and says what one of them cost the members.
func oneCount(t *testing.T, g *lab.Guest, f []string) (per [4]float64) {
	t.Helper()
	n := 400
	if f[4] == "write" {
		n = 2000
	}
	text := must(t, g, fmt.Sprintf(`count() { for d in "${data[@]:0:%s}"; do cat /sys/block/$(basename $d)/stat; done | awk '{r+=$1; w+=$5; a+=$3; b+=$7} END {print r, w, a/2, b/2}'; }
sync; before=$(count)
fio --name=j --filename=/dev/md/t --ioengine=libaio --direct=1 --rw=%s --bssplit=%s --blockalign=%s --iodepth=%s --number_ios=%d --output-format=json > out.json
sleep 0.3; echo $before; count; grep -o '"total_ios" : [0-9]*' out.json`, f[2], f[4], f[5], f[6], f[7], n))
	var before, after [4]float64
	var ios [3]float64
	text = strings.ReplaceAll(text, `"total_ios" :`, "")
	if _, err := fmt.Sscan(text, &before[0], &before[1], &before[2], &before[3], &after[0], &after[1], &after[2], &after[3],
		&ios[0], &ios[1], &ios[2]); err != nil || ios[0]+ios[1] < float64(n)*0.9 {
		t.Fatalf("%q: %v", text, err)
	}
	for i := range per {
		per[i] = (after[i] - before[i]) / (ios[0] + ios[1])
	}
	return per
}
