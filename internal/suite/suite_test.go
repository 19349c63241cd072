package suite

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// guide is each scenario of the Disk Benchmark Guide, written by hand from its fio commands: role,
// size, and the options that the guide gives beside those that place and time the job.
var guide = []struct {
	id      int
	role    string
	size    string
	options string
}{
	{1, "wal", "2GiB", "ioengine=libaio direct=1 bs=8k rw=write fdatasync=1 iodepth=1 numjobs=1"},
	{3, "data", "5GiB", "ioengine=libaio direct=1 bs=8k rw=randread iodepth=1 numjobs=1"},
	{4, "data", "5GiB", "ioengine=libaio direct=1 bs=1M rw=read iodepth=16 numjobs=1"},
	{5, "wal", "5GiB", "ioengine=libaio direct=1 bs=1M rw=write iodepth=16 numjobs=1"},
	{7, "data", "5GiB", "ioengine=libaio direct=1 bs=1M rw=write iodepth=16 numjobs=1"},
	{10, "wal", "5GiB", "ioengine=libaio direct=1 bs=1M rw=read iodepth=8 numjobs=1"},
	{2, "data", "5GiB", "ioengine=libaio direct=1 bs=8k rw=randrw rwmixread=70 iodepth=64 numjobs=4"},
	{8, "data", "5GiB", "ioengine=libaio direct=1 bs=8k rw=randwrite iodepth=64 numjobs=4"},
	{6, "wal", "5GiB", "ioengine=libaio direct=1 bs=32k rw=write fdatasync=1 iodepth=32 numjobs=4"},
	{9, "data", "5GiB", "ioengine=libaio direct=1 bs=8k rw=randrw rwmixread=70 fdatasync=1 iodepth=32 numjobs=4"},
}

func TestDBIsTheGuide(t *testing.T) {
	s, err := Builtin("db")
	if err != nil {
		t.Fatal(err)
	}
	if s.Cooldown != 5*time.Second || len(s.Scenarios) != len(guide) {
		t.Fatalf("cooldown %s, %d scenarios", s.Cooldown, len(s.Scenarios))
	}
	for i, want := range guide {
		c := s.Scenarios[i]
		var options []string
		for _, o := range c.Job.Sections[0].Options {
			options = append(options, o.Name+"="+o.Value)
		}
		got := strings.Join(options, " ")
		if c.ID != want.id || string(c.Role) != want.role || c.Size.Arg() != want.size || got != want.options || c.Runtime != time.Minute {
			t.Errorf("place %d: scenario %d %s %s %s %s\nwant %d %s %s %s", i, c.ID, c.Role, c.Size, c.Runtime, got, want.id, want.role, want.size, want.options)
		}
	}
}

func TestEveryBuiltinSuiteLoads(t *testing.T) {
	for _, name := range Names() {
		s, err := Builtin(name)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, c := range s.Scenarios {
			loads, err := c.Workloads()
			if c.Postgres != nil {
				if err != nil || len(loads) > 0 || c.Takes() == 0 && !c.Postgres.Probes() || len(c.Job.Sections) > 0 {
					t.Errorf("%s %d: takes %s, %d workloads, %v", name, c.ID, c.Takes(), len(loads), err)
				}
				continue
			}
			if err != nil || len(loads) == 0 || Duration(loads) == 0 {
				t.Errorf("%s %d: %d workloads of %s, %v", name, c.ID, len(loads), Duration(loads), err)
			}
		}
	}
}

func TestPlaceKeepsTheAuthorsOptions(t *testing.T) {
	s, err := Builtin("db")
	if err != nil {
		t.Fatal(err)
	}
	c := s.Scenarios[0]
	c.Ramp = 1500 * time.Millisecond
	job := c.Place("/mnt/a:b/wal.dat")
	got := string(job.Text())
	for _, line := range []string{`filename=/mnt/a\:b/wal.dat`, "size=2g", "time_based", "runtime=60s", "ramp_time=1500ms", "fdatasync=1", "group_reporting", "allow_file_create=0"} {
		if !slices.Contains(strings.Split(got, "\n"), line) {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
	loads, err := c.WorkloadsOn("/mnt/a:b/wal.dat")
	if err != nil {
		t.Fatal(err)
	}
	if w := loads[0]; w.SyncEvery != 1 || w.Runtime != time.Minute || !slices.Equal(w.Files(), []string{"/mnt/a:b/wal.dat"}) {
		t.Errorf("workload %+v, files %q", w, w.Files())
	}
}

func asIs(t *testing.T, text string) Scenario {
	t.Helper()
	job, err := fio.ParseJobFile("x.fio", []byte(text), fio.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return Scenario{ID: 1, Name: "x", Role: topology.Data, Job: *job, AsIs: true}
}

// A job that names whole paths or a directory stays where it points; the others are placed.
func TestPlaceOfAJobFile(t *testing.T) {
	s := asIs(t, "[global]\nfilename=/a\\:b:/c\n[one]\nfilename=/d\n[two]\ndirectory=/e:f\nrw=read\n")
	if got := s.Outside(); !slices.Equal(got, []string{"/a:b", "/c", "/d", "/e", "f"}) {
		t.Errorf("outside: %q", got)
	}
	job := s.Place("/here")
	if text := string(job.Text()); strings.Contains(text, "/here") {
		t.Errorf("a job that names its place was moved:\n%s", text)
	}
	s = asIs(t, "[global]\nrw=read\n[named]\nfilename=own\n[bare]\n")
	before := string(s.Job.Text())
	job = s.Place("/here")
	if text := string(job.Text()); strings.Count(text, "directory=/here\n") != 2 || len(s.Outside()) != 0 {
		t.Errorf("outside %q, placed:\n%s", s.Outside(), text)
	}
	on := s.On("/dev/a:b")
	if text := string(on.Job.Text()); strings.Count(text, `filename=/dev/a\:b`) != 1 || !slices.Equal(on.Outside(), []string{"/dev/a:b"}) {
		t.Errorf("on a device: outside %q\n%s", on.Outside(), text)
	}
	if after := string(s.Job.Text()); after != before {
		t.Errorf("placing changed the scenario:\n%s", after)
	}
}

// fio reads back what is written of sizes.
func TestExact(t *testing.T) {
	for size, want := range map[units.Bytes]string{4096: "4k", 1000: "1000", 3 << 50: "3072t", 2 << 60: "2097152t"} {
		got := size.Suffixed()
		if back, err := fio.ParseSize(got, 1024); got != want || err != nil || back != size {
			t.Errorf("%d: %q, want %q; fio reads %d, %v", size, got, want, back, err)
		}
	}
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		args string
		sel  Selection
		want string
	}{
		{"", Selection{}, "1 3 4 5 7 10 2 8 6 9"},
		{"db", Selection{Only: "1,3-5"}, "1 3 4 5"},
		{"db", Selection{Only: "sync-latency, 4-6,rand-write"}, "1 4 5 8 6"},
		{"rand-write,1-3", Selection{}, "1 3 2 8"},
		{"6 rand-write", Selection{}, "8 6"},
		{"", Selection{Phase: "latency"}, "1 3"},
		{"quick ebs-16k", Selection{}, "1 2 3 4 5 6 7 8"},
	} {
		s, err := Select(strings.Fields(c.args), c.sel)
		if err != nil {
			t.Errorf("%q: %v", c.args, err)
			continue
		}
		if got := strings.ReplaceAll(idsInOrder(s), ", ", " "); got != c.want {
			t.Errorf("%q %+v: %s, want %s", c.args, c.sel, got, c.want)
		}
	}
	for _, args := range []string{"18", "0", "5-3", "nothing", "no-such.fio", "db,quick"} {
		if s, err := Select([]string{args}, Selection{}); err == nil {
			t.Errorf("%q: got %s, want an error", args, idsInOrder(s))
		}
	}
	for only, want := range map[string]string{
		"sync-latency,nothing": `db has no scenario "nothing"; it has sync-latency, mixed-stress, rand-read-latency, seq-read`,
		"sync-latency,12":      "db has no scenario 12; it has 1, 2, 3",
		"1,,2":                 "want names, numbers and ranges",
		"5-3":                  "want names, numbers and ranges",
	} {
		if _, err := Select(nil, Selection{Only: only}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("only %q: %v, want %q", only, err, want)
		}
	}
	if _, err := Select(nil, Selection{Phase: "lunch"}); err == nil || !strings.Contains(err.Error(), "latency, bandwidth, iops, realistic") {
		t.Errorf("unknown phase: %v", err)
	}
}

func idsInOrder(s *Suite) string {
	var ids []string
	for _, c := range s.Scenarios {
		ids = append(ids, (&Suite{Scenarios: []Scenario{c}}).ids())
	}
	return strings.Join(ids, " ")
}

func TestParseThreshold(t *testing.T) {
	const ms = units.Latency(1e6)
	for text, want := range map[string]Threshold{
		"write.iops >= 540":           {Metric: Metric{WriteSide, IOPS, ""}, Op: ">=", Limit: Value{IOPS: 540}},
		"read.clat.p99 < 1.5ms":       {Metric: Metric{ReadSide, Clat, "p99"}, Op: "<", Limit: Value{Latency: 1.5 * ms}},
		"total.bw >= 0.95 * ceiling":  {Metric: Metric{TotalSide, BW, ""}, Op: ">=", OfCeiling: 0.95},
		"write.iops>ceiling":          {Metric: Metric{WriteSide, IOPS, ""}, Op: ">", OfCeiling: 1},
		"write.sync.p99.9 <= 300us":   {Metric: Metric{WriteSide, Sync, "p99.9"}, Op: "<=", Limit: Value{Latency: 0.3 * ms}},
		"read.bw >= 500MiB/s":         {Metric: Metric{ReadSide, BW, ""}, Op: ">=", Limit: Value{Rate: 500 * units.MiBPerSec}},
		"total.iops >= 40.1k":         {Metric: Metric{TotalSide, IOPS, ""}, Op: ">=", Limit: Value{IOPS: 40100}},
		"write.clat.over(1s) < 1%":    {Metric: Metric{WriteSide, Clat, "over(1s)"}, Op: "<", Limit: Value{Share: 0.01}},
		"read.lat.over(2.5ms) <= 5 %": {Metric: Metric{ReadSide, Lat, "over(2.5ms)"}, Op: "<=", Limit: Value{Share: 0.05}},
		"  write.lat.mean   <   2ms ": {Metric: Metric{WriteSide, Lat, Mean}, Op: "<", Limit: Value{Latency: 2 * ms}},
	} {
		want.Text = strings.TrimSpace(text)
		got, err := ParseThreshold(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "write.iops", "write.iops = 5", "write.iops >= 5ms", "write.bw >= 500", "read.clat.p99 < 5", "read.clat.p99 < ceiling",
		"read.clat.p999 < 5ms", "disk.iops > 5", "write.iops >= 0 * ceiling", "write.iops >= x * ceiling", "read.lat.p99 < -5ms",
		"write.clat.over(1s) < 0.01", "write.clat.over(1s) < 1s", "write.clat.over(1) < 1%", "write.clat.over(0s) < 1%", "write.iops.over(1s) < 1%",
		"write.clat.over(1s) < 101%", "write.clat.over(1.2.3s) < 1%",
	} {
		if got, err := ParseThreshold(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		data, err := builtin.ReadFile("builtin/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		s, err := Parse("fuzz.yaml", data)
		if err != nil {
			return
		}
		for _, c := range s.Scenarios {
			job := c.Place("/x")
			if _, err := fio.ParseJobFile("placed", job.Text(), fio.ParseOptions{}); err != nil {
				t.Errorf("what was placed does not read back: %v\n%s", err, job.Text())
			}
		}
	})
}

// fio records percentiles of clat and, unless lat_percentiles=1 is set, none of lat: a threshold on
// those is never judged. Writes that a sync follows are left out, since neither clat nor lat is the
// time of a durable write.
func TestBuiltinThresholdsAreRecorded(t *testing.T) {
	for _, name := range Names() {
		s, err := Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Scenarios {
			loads, err := c.Workloads()
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(loads, func(w fio.Workload) bool { return w.SyncEvery > 0 }) {
				continue
			}
			for _, threshold := range c.Thresholds {
				if threshold.Metric.Quantity == Lat && strings.HasPrefix(string(threshold.Metric.Statistic), "p") {
					t.Errorf("%s %d: fio does not record what %q is judged by", name, c.ID, threshold.Text)
				}
			}
		}
	}
}

// The seeds' runs have a file for each job, which directory= makes: 16 of 1 GiB, and 8 large ones.
func TestFileForEachJob(t *testing.T) {
	for name, want := range map[string]struct {
		jobs int
		size units.Bytes
	}{"ebs-16k": {16, units.GiB}, "stripe-28k": {8, 16 * units.GiB}} {
		s, err := Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Scenarios {
			loads, err := c.WorkloadsOn("/data/.plimsoll/data-files")
			if err != nil || len(loads) != 1 {
				t.Fatal(loads, err)
			}
			if c.Places() != want.jobs || c.Size != want.size || loads[0].SharedFile || loads[0].Filename != "" {
				t.Errorf("%s %d: %d files of %s, %+v; want %d of %s", name, c.ID, c.Places(), c.Size, loads[0], want.jobs, want.size)
			}
			device := c.On("/dev/md0")
			loads, err = device.WorkloadsOn("/dev/md0")
			if err != nil || loads[0].OffsetIncrement != want.size || loads[0].Filename != "/dev/md0" {
				t.Errorf("%s %d on a device: %+v, %v; want regions of %s", name, c.ID, loads, err, want.size)
			}
		}
	}
	if s, err := Builtin("db"); err != nil || s.Scenarios[0].Places() != 0 {
		t.Errorf("db: a file for each job, %v", err)
	}
}
