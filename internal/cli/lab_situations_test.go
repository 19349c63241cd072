package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// TestLabSituations: what makes a machine at work slow is named by each command that can see it: a slow
// member and a control group's limit by why and check, the limit also by run before it measures; a
// volume that is not loaded, one that is half loaded, and one that is slow look alike to who may not
// read, and are distinguished by check --probe.
func TestLabSituations(t *testing.T) {
	spec, err := lab.ParseSpec("situations", []byte(`
volumes:
  - {name: s, count: 3, size: 256MiB, iops: 150, latency: {read: 0.6ms, write: 1ms}}
  - {name: w, count: 1, size: 256MiB, iops: 40, latency: {read: 0.6ms, write: 1ms}}
  - {name: g, count: 1, size: 256MiB, iops: 1000, latency: {read: 0.6ms, write: 1ms}}
  - {name: f, count: 1, size: 4GiB, iops: 1000, latency: {read: 0.6ms, write: 1ms}, first_touch: 30ms}
  - {name: d, count: 1, size: 1GiB, iops: 1000, latency: {read: 20ms, write: 20ms, jitter: 0.2}}
setup:
  - mdadm --create /dev/md/s --run --level=0 --chunk=64 --raid-devices=4 --homehost=any --name=s "${s[0]}" "${w[0]}" "${s[1]}" "${s[2]}"
  - udevadm settle; mkdir -p /s; mkfs.xfs -q -K /dev/md/s; mount /dev/md/s /s
  - fio --name=p --filename=/s/f --size=96m --rw=write --bs=1m --direct=1 --output=/dev/null
`))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartSpec(t, spec)
	app := func(target, options string) string {
		return `app() { fio --name=app --filename=` + target + ` ` + options + ` --direct=1 --ioengine=libaio --thread --time_based --runtime=300 ` +
			`--output=/dev/null & a=$!; until awk '/^(read|write)_bytes/ && $2 > 0 {f=1} END{exit !f}' /proc/$a/io; do sleep 0.25; done; sleep 2; }; app; `
	}
	// Where the host starves the guest, so that its own timers are late, why accuses no storage: it looks again.
	look := func(device string) string {
		return "for i in 1 2 3; do plimsoll why " + device + " >said; grep -q 'own timers come' said || break; done; cat said"
	}
	const end = `; kill -INT $a; wait $a 2>/dev/null; true`
	check := func(what, script string, want ...string) {
		t.Helper()
		said := said(t, g, script, nil).Stdout
		t.Logf("%s:\n%s", what, said)
		for _, w := range want {
			absent := strings.HasPrefix(w, "!")
			if regexp.MustCompile(`(?m)`+strings.TrimPrefix(w, "!")).MatchString(said) == absent {
				t.Errorf("%s: %s", what, w)
			}
		}
	}
	check("a slow member", app("/s/f --size=96m", "--rw=randread --bs=4k --iodepth=16 --rate_iops=200")+
		"plimsoll why /s; plimsoll check /s"+end,
		`^A slow member, nvme.*\(PL204, `, `^PL204 info: array member slower than its peers`, `^PL315 info: the storage is in use`,
		`is busy .*fio`, `!PL315 warning`)
	check("a control group's limit", `[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup
echo +io > /sys/fs/cgroup/cgroup.subtree_control; mkdir -p /sys/fs/cgroup/batch
echo "$(cat /sys/block/$(basename $g)/dev) riops=100 wiops=100" > /sys/fs/cgroup/batch/io.max
`+strings.Replace(app("$g", "--rw=randwrite --bs=4k --iodepth=16 --rate_iops=200"), "fio ", `bash -c 'echo $$ > /sys/fs/cgroup/batch/cgroup.procs; exec "$@"' b fio `, 1)+
		"plimsoll why $g; plimsoll check $g; plimsoll run rand-read-latency --data $g --runtime 2s --ramp 0s --cooldown 0s --progress plain 2>&1"+end,
		`^A control group's limit makes .*: batch is allowed 100 writes per second.*\(PL904, certain\)`, `^PL904 warning: a control group is at its I/O limit`,
		`!is quiet`, `(?s)^A control group's limit makes [^\n]*\(PL904\)$.*rand-read-latency: started`)
	for _, c := range []struct {
		what  string
		share float64
		probe string
	}{{"a volume that is not loaded", 1, `^(?s).*\(PL320\)`}, {"half of it loaded", 0.5, `^(?s).*\(PL320\)`}} {
		for _, v := range g.Volumes {
			if v.Group == "f" {
				v.Restore(c.share, 5)
			}
		}
		// Of the half that is loaded reads are quick, so more of them wait for the other.
		check(c.what, app("$f", "--rw=randread --bs=4k --iodepth=2 --rate_iops=40")+look("$f")+end+
			"; plimsoll check --probe --probe-time 1s $f",
			`^The volume nvme.* is slow for .*, or reads blocks for the first time \(snapshot\): .*\(PL909, likely\)`, `plimsoll check --probe /dev/nvme`, c.probe)
	}
	check("a slow volume", app("$d", "--rw=randread --bs=4k --iodepth=2 --rate_iops=40")+look("$d")+end+
		"; plimsoll check --probe --probe-time 1s $d",
		`^The volume nvme.* is slow for .*\(PL909, likely\)`, `!PL320`, `nvme\S* is fully loaded|nvme\S*: fully loaded`)
}

// TestLabGroupLimits: a control group's limit is named where it is reached, also one that gives less than
// it says, since the kernel counts whole I/Os in tenths of a second; one of one and a half times the pace
// is not.
func TestLabGroupLimits(t *testing.T) {
	spec, err := lab.ParseSpec("limited", []byte("volumes:\n  - {name: g, count: 1, size: 256MiB, iops: 1000, latency: {read: 0.6ms, write: 1ms}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartSpec(t, spec)
	said(t, g, `[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup
echo +io > /sys/fs/cgroup/cgroup.subtree_control; mkdir -p /sys/fs/cgroup/batch`, nil)
	for _, c := range []struct{ limit, pace int }{{38, 60}, {79, 120}, {30, 60}, {90, 60}, {180, 120}} {
		var a struct {
			First  string `json:"first"`
			Limits []struct {
				Limit float64 `json:"limit_per_s"`
				Used  float64 `json:"used_per_s"`
			} `json:"limits"`
		}
		said(t, g, fmt.Sprintf(`echo "$(cat /sys/block/$(basename $g)/dev) wiops=%d" > /sys/fs/cgroup/batch/io.max
bash -c 'echo $$ > /sys/fs/cgroup/batch/cgroup.procs; exec "$@"' b fio --name=app --filename=$g --rw=randwrite --bs=4k --iodepth=16 --rate_iops=%d \
	--direct=1 --ioengine=libaio --thread --time_based --runtime=300 --output=/dev/null & a=$!
until awk '/^write_bytes/ && $2 > 0 {f=1} END{exit !f}' /proc/$a/io; do sleep 0.25; done; sleep 2
plimsoll why $g --json; kill -INT $a; wait $a 2>/dev/null; true`, c.limit, c.pace), &a)
		t.Logf("limit %d, pace %d: %q, %+v", c.limit, c.pace, a.First, a.Limits)
		if reached := c.limit < c.pace; (a.First == "PL904") != reached || len(a.Limits) != 1 {
			t.Errorf("limit %d, pace %d: %q, %+v", c.limit, c.pace, a.First, a.Limits)
		}
	}
}
