package examhost

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"plimsoll/internal/lab/labtest"
	"plimsoll/internal/report/plans"
)

// loaded runs the kept program, alone or beside a neighbour at full load in the group of the others.
const loaded = `c="--bs=4k --direct=1 --ioengine=libaio --iodepth=64 --time_based --ramp_time=1 --runtime=3 --thread --size=32m --filename=/dev/%[1]s --output-format=json"
put() { sh -c 'echo $$ > '$1'/cgroup.procs; shift; exec "$@"' s "$@"; }
if [ -n "%[2]s" ]; then put %[4]s fio --name=n --rw=%[2]s $c --output=n.json & fi
fio --name=k --rw=randread --rate_iops=%[3]d $c --output=k.json
wait`

// figures are what fio measured: the 99th percentile of its reads, and all its I/Os a second.
func figures(t *testing.T, file string) (p99 time.Duration, iops float64) {
	t.Helper()
	var out struct {
		Jobs []struct {
			Read, Write struct {
				IOPS float64
				Clat struct{ Percentile map[string]float64 } `json:"clat_ns"`
			}
		}
	}
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, json.Unmarshal(text, &out))
	j := out.Jobs[0]
	return time.Duration(j.Read.Clat.Percentile["99.000000"]), j.Read.IOPS + j.Write.IOPS
}

// TestLimitsOnThisKernel holds what plimsoll limits prints against the kernel of this machine and a volume whose rate
// is known: the lines are taken, the 99th percentile of the kept program at its demand, beside a neighbour at full
// load, is no more above what it is alone than is stated, and both together have what the volume gives.
// PLIMSOLL_LIMITS=60 tries 60 machines from PLIMSOLL_SEED on; a busy machine makes both latencies longer.
func TestLimitsOnThisKernel(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("PLIMSOLL_LIMITS"))
	if err != nil {
		t.Skip("SKIPPED: PLIMSOLL_LIMITS says how many machines are tried, nine seconds each")
	}
	if os.Getuid() != 0 {
		t.Skip("NOT ROOT: no loop device and no control groups")
	}
	seed, _ := strconv.Atoi(os.Getenv("PLIMSOLL_SEED"))
	dir := t.TempDir()
	defer guard(t, dir)()
	d := newDriveWith(t, dir, fuse.CAP_ASYNC_DIO, 64)
	defer d.close(t)
	base, lift := "/sys/fs/cgroup/blkio",
		`for f in read_iops write_iops read_bps write_bps; do echo "%s 0" > %s/blkio.throttle.${f}_device; done`
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		base, lift = "/sys/fs/cgroup", `echo "%s riops=max wiops=max rbps=max wbps=max" > %s/io.max`
		must(t, sh("echo +io > /sys/fs/cgroup/cgroup.subtree_control"))
	}
	group := filepath.Join(base, fmt.Sprintf("plimsoll-limits-%d.service", os.Getpid()))
	must(t, os.Mkdir(group, 0o755))
	defer until(t, "rmdir", func() error { return os.Remove(group) })
	must(t, sh("dd if=/dev/urandom of=/dev/"+d.name+" bs=1M count=32 oflag=direct"))
	// of the volume and both programs: others of this machine are no part of it
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, -10)
	plimsoll := labtest.Binary(t) // before the directory is another one: it is built from the module's
	t.Chdir(dir)
	calm, whole, wrong := 0, 0, 0
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(seed+i), 52))
		iops, keep, reads := 10*(100+r.IntN(200)), 50+r.IntN(36), []int{100, 50, 0}[r.IntN(3)]
		d.set(behaviour{iops: float64(iops), delay: [kinds]time.Duration{0: 500 * time.Microsecond, 1: time.Millisecond}})
		limits := []string{
			"limits", "/dev/" + d.name, fmt.Sprintf("--keep=kept.service=%d%%", keep),
			"--others=" + filepath.Base(group), fmt.Sprintf("--reads=%d", reads),
			fmt.Sprintf("--volumes=1x%diops:125MiB/s", iops),
		}
		said, err := exec.Command(plimsoll, append(limits, "--json")...).Output()
		must(t, err)
		var l plans.Limited
		must(t, json.Unmarshal(said, &l))
		text, err := exec.Command(plimsoll, limits...).Output()
		must(t, err)
		number, err := os.ReadFile("/sys/block/" + d.name + "/dev")
		must(t, err)
		lines := regexp.MustCompile(`(?m)^ *(echo '.*)$`).FindAllStringSubmatch(string(text), -1)
		for _, line := range lines {
			must(t, sh(line[1]))
			if !strings.HasPrefix(line[1], "echo '"+strings.TrimSpace(string(number))+" ") {
				wrong++
			}
		}
		if len(lines) == 0 || exec.Command(plimsoll, append(limits, "--check")...).Run() != nil {
			t.Fatalf("%v: what is set is not what was printed:\n%s", limits, text)
		}
		demand := int(0.99 * float64(keep) / 100 * float64(iops))
		must(t, sh(fmt.Sprintf(loaded, d.name, "", demand, group)))
		alone, _ := figures(t, "k.json")
		must(t, sh(fmt.Sprintf(loaded, d.name, map[int]string{100: "randread", 50: "randrw", 0: "randwrite"}[reads],
			demand, group)))
		p99, own := figures(t, "k.json")
		_, others := figures(t, "n.json")
		if p99 <= alone+l.Wait {
			calm++
		}
		if own+others >= 0.95*float64(iops) {
			whole++
		}
		t.Logf("seed %d: %d IOPS, keep %d %%, reads %d: p99 %v alone, %v beside, %v stated; kept %.0f of %d, together %.1f %%", seed+i, iops, keep, reads,
			alone.Round(100*time.Microsecond), p99.Round(100*time.Microsecond), l.Wait, own, demand,
			(own+others)/float64(iops)*100)
		must(t, sh(fmt.Sprintf(lift, strings.TrimSpace(string(number)), group)))
	}
	t.Logf("from seed %d: p99 within what is stated in %d of %d, together at least 95 %% in %d, wrong devices %d", seed,
		calm, n, whole, wrong)
	if 20*calm < 19*n || 20*whole < 19*n || wrong > 0 {
		t.Error("less than the oracle asks for")
	}
}
