package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/units"
)

// limitedMachine has a file on each kind of storage that a limit may be of: a volume, a partition, md, and LVM.
const limitedMachine = `
volumes:
  - {name: r, count: 1, size: 384MiB, iops: 1000, throughput: 125MiB/s, latency: {read: 0.6ms, write: 1ms}}
  - {name: p, count: 1, size: 384MiB, iops: 1000, throughput: 125MiB/s, latency: {read: 0.6ms, write: 1ms}}
  - {name: m, count: 2, size: 384MiB, iops: 1000, throughput: 125MiB/s, latency: {read: 0.6ms, write: 1ms}}
  - {name: l, count: 2, size: 384MiB, iops: 1000, throughput: 125MiB/s, latency: {read: 0.6ms, write: 1ms}}
setup:
  - sgdisk -n 1:2048:0 $p >/dev/null; mdadm --create /dev/md/m --run --level=0 --chunk=64 --raid-devices=2 --homehost=any --name=m "${m[@]}"
  - pvcreate -q "${l[@]}"; vgcreate -q l "${l[@]}"; lvcreate -q -y -i 2 -I 64k -l 100%FREE -n l l; udevadm settle
  - for d in $r:r ${p}p1:p /dev/md/m:m /dev/l/l:l; do mkdir /${d#*:}; mkfs.xfs -q -K ${d%:*}; mount ${d%:*} /${d#*:}; done
  - for d in r p m l; do fio --name=p --filename=/$d/f --size=96m --rw=write --bs=1m --direct=1 --output=/dev/null; done
  - '[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup; echo +io > /sys/fs/cgroup/cgroup.subtree_control'
  - mkdir /sys/fs/cgroup/kept.service /sys/fs/cgroup/backup.service
`

func limitsGuest(t *testing.T) *lab.Guest {
	t.Helper()
	if os.Getenv("PLIMSOLL_LAB_LIMITS") == "" {
		t.Skip("SKIPPED: PLIMSOLL_LAB_LIMITS says how many machines are tried, on a host that nobody else uses")
	}
	spec, err := lab.ParseSpec("limits", []byte(limitedMachine))
	if err != nil {
		t.Fatal(err)
	}
	return labtest.StartSpec(t, spec)
}

// giving lets each volume of a group give so many IOPS.
func giving(t *testing.T, g *lab.Guest, group string, iops int) {
	t.Helper()
	for _, v := range g.Volumes {
		if v.Group == group {
			b := v.Behaviour()
			b.IOPS = units.IOPS(iops)
			if err := v.Set(b); err != nil {
				t.Fatal(err)
			}
			v.Refill()
		}
	}
}

// lines are what a user would copy of the output.
var lines = regexp.MustCompile(`(?m)^\s*(echo '.*)$`)

// beside runs the kept program at 99 % of what is left for it, and its neighbour at full load in its group.
const beside = `
put() { bash -c 'echo $$ > /sys/fs/cgroup/'$1'/cgroup.procs; shift; exec "$@"' b "$@"; }
c="--bs=4k --direct=1 --ioengine=libaio --iodepth=64 --time_based --ramp_time=1 --runtime=%[4]d --thread --size=96m --filename=/%[1]s/f"
put backup.service fio --name=n --rw=%[2]s $c --output-format=json --output=n.json &
put kept.service fio --name=k --rw=randread --rate_iops=%[3]d $c --output-format=json --output=k.json
wait
`

// TestLabLimits: the lines of plimsoll limits are taken by a kernel and name the right device; with them the kept
// program's p99 stays within what is stated, and both together have what the storage gives. PLIMSOLL_LAB_LIMITS=60
// tries 60 machines from PLIMSOLL_SEED on.
func TestLabLimits(t *testing.T) {
	n := number(t, "PLIMSOLL_LAB_LIMITS", 0)
	seed := number(t, "PLIMSOLL_SEED", 1)
	g := limitsGuest(t)
	calm, whole := 0, 0
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(seed+i), 52))
		kind := []string{"r", "p", "m", "l"}[i%4]
		volumes := map[string]int{"r": 1, "p": 1, "m": 2, "l": 2}[kind]
		iops, keep, reads := 10*(40+r.IntN(100)), 50+r.IntN(36), []int{100, 50, 0}[r.IntN(3)]
		giving(t, g, kind, iops)
		layout := map[bool]string{true: " --level raid0 --chunk 64KiB"}[volumes > 1]
		command := fmt.Sprintf("plimsoll limits /%s --keep kept.service=%d%% --others backup.service --reads %d --volumes "+
			"%dx%diops:125MiB/s%s",
			kind, keep, reads, volumes, iops, layout)
		var got plans.Limited
		said(t, g, command+" --json", &got)
		if r := said(t, g, command+" --check", nil); r.Code != 3 {
			t.Errorf("%s --check, before: exit status %d\n%s", command, r.Code, r.Stdout)
		}
		printed := lines.FindAllStringSubmatch(said(t, g, command+" --details", nil).Stdout, -1)
		of := map[string]string{"r": "$r", "p": "$p", "m": "$(readlink -f /dev/md/m)", "l": "$(readlink -f /dev/l/l)"}[kind]
		device := strings.TrimSpace(said(t, g, "cat /sys/block/$(basename "+of+")/dev", nil).Stdout)
		if len(printed) != 1 || !strings.HasPrefix(printed[0][1], "echo '"+device+" ") {
			t.Fatalf("%s: %q, and the device is %s", command, printed, device)
		}
		do(t, g, printed[0][1])
		if r := said(t, g, command+" --check", nil); r.Code != 0 {
			t.Errorf("%s --check, set: exit status %d\n%s", command, r.Code, r.Stdout)
		}
		demand := int(0.99 * float64(keep) / 100 * float64(volumes*iops))
		do(t, g, fmt.Sprintf(beside, kind, map[int]string{100: "randread", 50: "randrw", 0: "randwrite"}[reads], demand, 5))
		type job struct {
			Jobs []struct {
				Read, Write struct {
					IOPS float64 `json:"iops"`
					Clat struct {
						P map[string]float64 `json:"percentile"`
					} `json:"clat_ns"`
				}
			} `json:"jobs"`
		}
		var kept, neighbour job
		said(t, g, "cat k.json", &kept)
		said(t, g, "cat n.json", &neighbour)
		p99 := time.Duration(kept.Jobs[0].Read.Clat.P["99.000000"])
		own, others := kept.Jobs[0].Read.IOPS, neighbour.Jobs[0].Read.IOPS+neighbour.Jobs[0].Write.IOPS
		share := (own + others) / float64(volumes*iops)
		if p99 <= got.Wait+own99 {
			calm++
		}
		if share >= 0.95 {
			whole++
		}
		t.Logf("seed %d, %s: %d x %d IOPS, keep %d %%, reads %d: p99 %v, stated %v; kept %.0f of %d, together %.1f %%",
			seed+i, kind, volumes, iops, keep, reads,
			p99.Round(100*time.Microsecond), got.Wait, own, demand, 100*share)
		do(t, g, fmt.Sprintf("echo '%s riops=max wiops=max rbps=max wbps=max' > /sys/fs/cgroup/backup.service/io.max", device))
	}
	t.Logf("p99 within what is stated in %d of %d, together at least 95 %% in %d", calm, n, whole)
	if calm < n-n/20 || whole < n-n/20 {
		t.Error("less than the oracle asks for")
	}
}

// own99 is what an I/O of the kept program takes by itself, its volume's latency and its neighbours of the program, in
// a guest.
const own99 = 5 * time.Millisecond

// TestLabLimitsOfARun: what a run measured counts where nothing is declared, and where the volumes give less than they
// were sold with; a run of another path does not. The lines of io.cost are taken by a kernel, too.
func TestLabLimitsOfARun(t *testing.T) {
	g := limitsGuest(t)
	giving(t, g, "m", 300)
	giving(t, g, "r", 300)
	if err := g.Put(t.Context(), "/root/rates.yaml", 0o644, []byte(`fio: {ioengine: libaio, direct: 1, iodepth: 64}
runtime: 4s
scenarios:
  - {id: 1, name: reads, role: data, size: 64MiB, fio: {rw: randread, bs: 4k}}
  - {id: 2, name: writes, role: data, size: 64MiB, fio: {rw: randwrite, bs: 4k}}
  - {id: 3, name: read, role: data, size: 64MiB, fio: {rw: read, bs: 1m}}
  - {id: 4, name: write, role: data, size: 64MiB, fio: {rw: write, bs: 1m}}
`)); err != nil {
		t.Fatal(err)
	}
	const run = " --shared-host lab --ramp 1s --cooldown 0s --progress none --out "
	do(t, g, "plimsoll run rates.yaml --data /m"+run+"open && "+
		"plimsoll run rates.yaml --data /m --volumes 2x500iops:125MiB/s --level raid0 --chunk 64KiB"+run+"sold || "+
		"test $? = 3 && plimsoll run rates.yaml --data /r"+run+"other")
	allowed := func(flags string) map[string]uint64 {
		var got plans.Limited
		said(t, g, "plimsoll limits /m --keep kept.service=50% --reads 100 --json "+flags, &got)
		all := map[string]uint64{}
		for _, a := range got.Allowed {
			all[a.Key] = a.Value
		}
		return all
	}
	for _, flags := range []string{
		"--run open/*", "--run sold/*",
		"--run sold/* --volumes 2x500iops:125MiB/s --level raid0 --chunk 64KiB",
	} {
		if got := allowed(flags)["riops"]; got < 280 || got > 310 {
			t.Errorf("%s: riops=%d, want half of the 600 that were measured", flags, got)
		}
	}
	if got := allowed("--run sold/* --volumes 2x200iops:125MiB/s --level raid0 --chunk 64KiB")["riops"]; got != 200 {
		t.Errorf("riops=%d, want half of the 400 that are declared, which is less than was measured", got)
	}
	if r := said(t, g, "plimsoll limits /m --keep kept.service=50% --run other/*", nil); r.Code != 2 ||
		!strings.Contains(r.Stderr, "did not measure what lies behind /m") {
		t.Errorf("a run of another path: %d %s", r.Code, r.Stderr)
	}
	printed := lines.FindAllStringSubmatch(said(t, g,
		"plimsoll limits /r --keep kept.service=50% --others backup.service --run other/* --cost 5ms", nil).Stdout, -1)
	if len(printed) != 3 || strings.Count(printed[1][1], "iops=") != 4 {
		t.Fatalf("%q", printed)
	}
	for _, line := range printed {
		do(t, g, line[1])
	}
	t.Log(said(t, g, "cat /sys/fs/cgroup/backup.service/io.max /sys/fs/cgroup/io.cost.model /sys/fs/cgroup/io.cost.qos",
		nil).Stdout)
}
