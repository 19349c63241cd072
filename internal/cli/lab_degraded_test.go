package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
	"plimsoll/internal/result"
)

// What runs against arrays that are not whole. So many I/Os are in flight that chance leaves no set
// of copies idle.
const (
	degradedSuite = `name: degraded
cooldown: 0s
runtime: 8s
ramp: 2s
scenarios:
  - {id: 1, name: reads, role: data, size: 160MiB, fio: {ioengine: libaio, direct: 1, rw: randread, bs: 8k, iodepth: 64, numjobs: 2}}
  - {id: 2, name: mix, role: data, size: 160MiB, fio: {ioengine: libaio, direct: 1, rw: randrw, rwmixread: 70, bs: 8k, iodepth: 64, numjobs: 2}}
  - {id: 3, name: writes, role: data, size: 160MiB, fio: {ioengine: libaio, direct: 1, rw: randwrite, bs: 8k, iodepth: 64, numjobs: 2}}
`
	// behind reads what a rebuild, which begins at the front, has not reached.
	behind = "[reads]\nfilename=/dev/md/data\noffset=60%\nsize=64m\nrw=randread\nbs=8k\ndirect=1\nioengine=libaio\n" +
		"iodepth=64\nnumjobs=2\nthread\ngroup_reporting\ntime_based\nruntime=8\nramp_time=2\n"
	// rebuild brings the member back that failed, at 4,000 KiB/s.
	rebuild = `umount /data; for k in max min; do echo 4000 > /sys/block/$md/md/sync_speed_$k; done
mdadm --zero-superblock ${d[2]}; mdadm -q --add /dev/md/data ${d[2]}; until grep -q recovery /proc/mdstat; do sleep 0.1; done
`
	fail = "mdadm -q --fail /dev/md/data ${d[2]} && mdadm -q --remove /dev/md/data ${d[2]}\n"
)

// expected is what one measurement must give: IOPS, and how far it may be off.
type expected struct {
	name string
	want float64
	off  float64
}

// TestLabDegraded: the guide's DATA array, at a tenth of its rates, gives 1,200 of 2,400 random
// reads without one of its eight members, 1,200 of 1,846 of a mix, and as many writes as ever; what
// RAID5 and RAID6 give without one is worked out likewise, and what is left while it is rebuilt.
// Volumes save up a second of what they did not use, so short runs give up to 3 % too much; the
// stripe cache of RAID5 and RAID6 saves some reads, and delays writes by turns.
func TestLabDegraded(t *testing.T) {
	spec, err := lab.ParseSpec("degraded", []byte(`
scale: 0.1
volumes:
  - {name: data, count: 8, iops: 3000, throughput: 125MiB/s, latency: {read: 0.5ms, write: 1.5ms}}
arrays:
  - {name: data, role: data, volumes: [data]}
setup:
  - printf "%s\n" "${data[@]}" > /root/members
  - mdadm --create /dev/md/data --run --level=10 --chunk=64 --raid-devices=8 --assume-clean --homehost=any --name=data "${data[@]}"
  - udevadm settle; mkfs.xfs -q -K -l su=32k /dev/md/data && mkdir -p /data && mount -o noatime /dev/md/data /data
`))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartSpec(t, spec)
	if err := g.Put(t.Context(), "/root/suite.yaml", 0o644, []byte(degradedSuite)); err != nil {
		t.Fatal(err)
	}
	if err := g.Put(t.Context(), "/root/behind.fio", 0o644, []byte(behind)); err != nil {
		t.Fatal(err)
	}
	files := func(out, before, only string, want ...expected) {
		t.Helper()
		measured(t, g, out, before, "suite.yaml --data /data --only "+only, want)
	}
	// What is rebuilt before the run begins, a hundredth or two, counts as whole in the ceiling.
	raw := func(out string, want, off float64) {
		t.Helper()
		const floor = 4000 / 256. // of the 300 I/Os of a volume
		measured(t, g, out, rebuild, "behind.fio", []expected{{"reads", want * (300 - floor) / 300, off}})
	}
	files("whole", "", "1,2,3", expected{"reads", 2400, .05}, expected{"mix", 24000 / 13, .05}, expected{"writes", 1200, .05})
	files("raid10", fail, "1,2,3", expected{"reads", 1200, .05}, expected{"mix", 1200, .05}, expected{"writes", 1200, .05})
	raw("raid10-rebuild", 1200, .05)
	for _, c := range []struct {
		level, members int
		reads, writes  float64
	}{
		// A read costs (5 + 5)/6 and (4 + 4)/5 over the members left, a write (2 × 5 + 5 + 3 × 6)/6
		// and (4 + 4 + 3 × 4)/5.
		{6, 6, 1500 * 6 / 10., 1500 * 6 / 33.},
		{5, 5, 1200 * 5 / 8., 1200 * 5 / 20.},
	} {
		if err := g.Unlimit(); err != nil {
			t.Fatal(err)
		}
		do(t, g, fmt.Sprintf(`mapfile -t d < members; mdadm -q --stop /dev/md/data; mdadm --zero-superblock ${d[@]}; udevadm settle
mdadm -q --create /dev/md/data --run --level=%d --chunk=64 --raid-devices=%d --assume-clean --homehost=any --name=data ${d[@]:0:%[2]d}
udevadm settle; mkfs.xfs -q -f -K -l su=32k /dev/md/data && mount -o noatime /dev/md/data /data
awk '/serial:/ && ++k > %[2]d {exit} {print}' plimsoll.yaml > part.yaml && mv part.yaml plimsoll.yaml`, c.level, c.members))
		if err := g.Limit(); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint("raid", c.level)
		files(name, fail, "1,3", expected{"reads", c.reads, .07}, expected{"writes", c.writes, .08})
		raw(name+"-rebuild", c.reads, .07)
	}
}

// measured runs against an array after a change to it and compares each figure with what the
// ceiling says and what is expected.
func measured(t *testing.T, g *lab.Guest, out, before, what string, want []expected) {
	t.Helper()
	do(t, g, "mapfile -t d < members; md=$(basename $(readlink -f /dev/md/data))\n"+before+
		"plimsoll run "+what+" --topology plimsoll.yaml --progress none --out "+out+" || test $? -le 4; cat /proc/mdstat; grep -H . /sys/block/$md/md/sync_speed")
	b := fetched(t, g, out)
	for _, f := range b.Findings {
		t.Logf("%s: %s %s: %s", out, f.Code, f.Severity, f.Message)
	}
	if len(b.Scenarios) != len(want) {
		t.Errorf("%s: %d scenarios, want %d", out, len(b.Scenarios), len(want))
	}
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		limit := s.Ceiling.Hardware()
		if s.Result == nil || s.Result.State != result.Done || limit == nil {
			t.Errorf("%s, %s: %+v, ceiling %+v", out, s.Name, s.Result, s.Ceiling)
			continue
		}
		got, w := whileLoaded(s.Result), want[i]
		t.Logf("%s, %s: %.6g IOPS of %v (%s): %.1f %%, fio's mean %.6g; %s; %q", out, s.Name, got, limit.IOPS, limit.Label(),
			100*got/float64(limit.IOPS), s.Result.IOPS.Center, limit.How, s.Ceiling.Notes)
		for _, d := range s.Result.Devices {
			t.Logf("  %s: %d reads (%v) %d writes (%v)", d.Name, d.Reads, d.ReadBytes, d.Writes, d.WriteBytes)
		}
		if share := float64(limit.IOPS) / w.want; limit.Kind != ceiling.VolumeIOPS || share < .998 || share > 1.02 {
			t.Errorf("%s, %s: the ceiling is %v (%s), want %.1f of the volumes' IOPS", out, w.name, limit.IOPS, limit.Label(), w.want)
		}
		if share := got / float64(limit.IOPS); share < 1-w.off || share > 1+w.off {
			t.Errorf("%s, %s: %.6g IOPS are %.1f %% of the ceiling, want %.0f %% at most either way", out, w.name, got, 100*share, 100*w.off)
		}
	}
	caught := false
	for _, f := range b.Findings {
		caught = caught || f.Code == "PL201" && f.Severity == finding.Fail
	}
	if whole := out == "whole"; caught == whole {
		t.Errorf("%s: PL201 is reported: %v, want %v", out, caught, !whole)
	}
}

// whileLoaded is the mean of the seven seconds after the ramp in which all I/Os were in flight:
// fio's own mean counts the time too in which the queue drains.
func whileLoaded(r *result.Result) float64 {
	ios, over := 0.0, 0.0
	for _, s := range r.Seconds {
		if !s.Ramp && s.At-r.Seconds[0].At < 8500*time.Millisecond {
			ios += float64(s.Read.N + s.Write.N)
			over += s.Len.Seconds()
		}
	}
	return ios / over
}

// TestLabCgroup: io.max of the group that plimsoll runs in is the limit, and is named.
func TestLabCgroup(t *testing.T) {
	g := labtest.Start(t, "degraded")
	do(t, g, `mount -t cgroup2 cgroup2 /sys/fs/cgroup && echo +io > /sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/db && echo "$(cat /sys/block/$(basename $(readlink -f /dev/md/data))/dev) riops=500" > /sys/fs/cgroup/db/io.max`)
	do(t, g, "cat > suite.yaml <<'END'\n"+strings.ReplaceAll(degradedSuite, "iodepth: 64", "iodepth: 8")+`END
echo $$ > /sys/fs/cgroup/db/cgroup.procs
plimsoll run suite.yaml --data /data --topology plimsoll.yaml --only 1,2 --progress none --out confined | tee confined.txt || test $? -le 4
grep -q 'limited by cgroup IOPS' confined.txt || { cat confined.txt; exit 1; }`)
	b := fetched(t, g, "confined")
	for _, f := range b.Findings {
		t.Logf("%s %s: %s", f.Code, f.Severity, f.Message)
	}
	for i, want := range []float64{500, 500 / .7} { // of the mix chance makes more or fewer reads
		s := &b.Scenarios[i]
		limit := s.Ceiling.Hardware()
		if s.Result == nil || limit == nil || limit.Kind != ceiling.CgroupIOPS || float64(limit.IOPS)/want < .999 ||
			float64(limit.IOPS)/want > 1.001 || !strings.Contains(limit.How, "the cgroup /db allows 500 read IOPS") {
			t.Fatalf("%s: %+v, ceiling %+v, want %.0f IOPS of the cgroup", s.Name, s.Result, limit, want)
		}
		got := whileLoaded(s.Result)
		t.Logf("%s: %.6g IOPS of %v, fio's mean %.6g, by %s", s.Name, got, limit.IOPS, s.Result.IOPS.Center, limit.How)
		if off := []float64{.03, .05}[i]; got < (1-off)*want || got > (1+off)*want {
			t.Errorf("%s: %.6g IOPS, want %.1f within %.0f %%", s.Name, got, want, 100*off)
		}
		if !says(b, "PL502", s.Name) {
			t.Errorf("%s: no PL502 says that the cgroup is the limit", s.Name)
		}
	}
}

// says whether a finding of this code is about a scenario.
func says(b *bundle.Bundle, code finding.Code, scenario string) bool {
	for _, f := range b.Findings {
		if f.Code == code && strings.Contains(f.Subject+" "+f.Message, scenario) {
			return true
		}
	}
	return false
}
