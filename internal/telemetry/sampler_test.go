package telemetry

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// put rewrites a file of a tree in place: the sampler keeps it open, as it keeps /proc's.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(int64(len(text))), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// stepped is a machine whose clock the test moves.
func stepped(dir string) (m *sys.Machine, step func(time.Duration)) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	return &sys.Machine{Root: os.DirFS(dir), Now: func() time.Time { return now }}, func(d time.Duration) { now = now.Add(d) }
}

// more waits until n samples more are taken, however long a busy host takes for them.
func more(s *Sampler, n int) {
	s.mu.Lock()
	want := s.took + n
	s.mu.Unlock()
	for took := 0; took < want; {
		time.Sleep(Interval / 10)
		s.mu.Lock()
		took = s.took
		s.mu.Unlock()
	}
}

func TestSamplerCountsWhatTheDevicesDid(t *testing.T) {
	dir, devices := tree(t, 24)
	s, err := Start(machine(dir), devices)
	if err != nil {
		t.Fatal(err)
	}
	more(s, 3)
	put(t, dir, "proc/diskstats", diskstats(devices, 2))
	more(s, 2)
	newest, live := s.Latest()
	series, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(series.Samples); n < 7 { // the first, five more and the last
		t.Errorf("%d samples", n)
	}
	if len(live) != 24 || live[23].Name != "nvme23n1" || live[23].Reads != 2000 || newest.Devices[0].InFlight != 3 {
		t.Errorf("live: %+v %v", live, newest)
	}
	whole := series.Use(0, time.Hour)
	if u := whole[7]; u.Reads != 2000 || u.Writes != 1000 || u.ReadBytes != 32000*512 || u.WriteBytes != 16000*512 ||
		u.ReadWait != 500*time.Microsecond || u.WriteWait != 2*time.Millisecond {
		t.Errorf("%+v", u)
	}
	if series.CPUs != 64 || series.Overhead <= 0 || series.Overhead > 0.5 || len(series.Absent) != 0 {
		t.Errorf("cpus %d, own %v, absent %v", series.CPUs, series.Overhead, series.Absent)
	}
	again, _ := s.Stop()
	if again != series {
		t.Error("a second Stop gave another series")
	}
}

func TestRealMachine(t *testing.T) {
	text, err := os.ReadFile("/proc/diskstats")
	if err != nil || len(text) == 0 {
		t.Skip("no disks here:", err)
	}
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	name := strings.Fields(string(line))[2]
	s, err := Start(sys.Host(), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	more(s, 2)
	series, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	host := series.Host(0, time.Hour)
	if host == nil || host.CPUs != runtime.NumCPU() || host.User+host.System+host.IOWait > 1.0001 {
		t.Errorf("%+v", host)
	}
	if series.Samples[0].CPU.Idle == 0 || len(series.Samples) < 3 {
		t.Errorf("%+v", series.Samples)
	}
}

func TestNoDevices(t *testing.T) {
	dir, _ := tree(t, 1)
	if err := os.Remove(filepath.Join(dir, "proc/diskstats")); err != nil {
		t.Fatal(err)
	}
	m, step := stepped(dir)
	s, err := Start(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	step(time.Second)
	series, err := s.Stop()
	if err != nil || series.Host(0, time.Second).DirtyMax != 128*units.MiB || len(series.Use(0, time.Second)) != 0 {
		t.Errorf("%+v %v", series, err)
	}
	var b bytes.Buffer
	if err := Write(&b, series); err != nil {
		t.Fatal(err)
	}
	if again, err := Read(&b); err != nil || len(again.Samples) != len(series.Samples) {
		t.Errorf("%+v %v", again, err)
	}
}

func TestAFailedReadingIsAGap(t *testing.T) {
	dir, devices := tree(t, 1)
	m, step := stepped(dir)
	s, err := Start(m, devices)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock() // the loop waits; the test ticks
	defer s.mu.Unlock()
	for i := range 10 {
		if step(Interval); i == 4 {
			put(t, dir, "proc/diskstats", " 259 0 nvme0n1 spoilt\n")
			s.tick()
			if want := `/proc/diskstats line 1: " 259 0 nvme0n1 spoilt": want at least 11 counters`; s.err == nil || s.err.Error() != want {
				t.Errorf("%v, want %s", s.err, want)
			}
			put(t, dir, "proc/diskstats", diskstats(devices, i))
			continue
		}
		s.tick()
	}
	s.stopped = s.read.series(&s.kept, maxCells)
	if s.err != nil || s.stopped.Missed != 1 || len(s.stopped.Samples) != 10 {
		t.Errorf("%v, %d missed, %d samples", s.err, s.stopped.Missed, len(s.stopped.Samples))
	}
}

func TestAVanishedDeviceIsNotZero(t *testing.T) {
	dir, devices := tree(t, 2)
	m, step := stepped(dir)
	s, err := Start(m, devices)
	if err != nil {
		t.Fatal(err)
	}
	step(time.Second)
	put(t, dir, "proc/diskstats", diskstats(devices, 1))
	s.mu.Lock()
	s.tick()
	s.mu.Unlock()
	step(time.Second)
	put(t, dir, "proc/diskstats", diskstats(devices[:1], 2))
	series, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	last := series.Samples[len(series.Samples)-1]
	if !last.Devices[1].Gone || last.Devices[0].Gone {
		t.Errorf("%+v", last)
	}
	if u := series.Use(0, time.Hour); u[0].ReadIOPS != 1000 || u[1].ReadIOPS != 1000 || u[1].Reads != 1000 {
		t.Errorf("%+v", u) // the second's rates are those of the second in which it was there
	}
}

func TestStartRefuses(t *testing.T) {
	dir, devices := tree(t, 2)
	for _, c := range []struct {
		name    string
		devices []string
		remove  string
		want    string
	}{
		{"unknown device", []string{devices[0], "md\n9"}, "", `device "md\n9" is not in /proc/diskstats: give the kernel's name, such as nvme0n1 or md0`},
		{"twice", []string{devices[0], devices[0]}, "", `device "nvme0n1" is named twice`},
		{"no diskstats", devices, "proc/diskstats", "disk counters: open proc/diskstats: no such file or directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.remove != "" {
				if err := os.Remove(filepath.Join(dir, c.remove)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Start(machine(dir), c.devices); err == nil || err.Error() != c.want {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestOldKernelsLackColumns(t *testing.T) {
	dir, _ := tree(t, 1)
	// Linux 4.14: 11 counters; no PSI before 4.20.
	put(t, dir, "proc/diskstats", "   8       0 sda 10 1 80 5 20 2 160 7 0 9 12\n")
	if err := os.Remove(filepath.Join(dir, "proc/pressure/io")); err != nil {
		t.Fatal(err)
	}
	s, err := Start(machine(dir), []string{"sda"})
	if err != nil {
		t.Fatal(err)
	}
	series, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(series.Absent, " "), "io_some_us io_full_us flushes flush_time_ms"; got != want {
		t.Errorf("absent %q, want %q", got, want)
	}
	want := Device{
		Reads: 10, ReadMerges: 1, ReadBytes: 80 * 512, ReadTime: 5 * time.Millisecond, Writes: 20, WriteMerges: 2,
		WriteBytes: 160 * 512, WriteTime: 7 * time.Millisecond, Busy: 9 * time.Millisecond, Queue: 12 * time.Millisecond,
	}
	if got := series.Samples[1].Devices[0]; got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// An hour at 10 Hz: a reading allocates nothing, and keeping it allocates one chunk of 64 KiB now
// and then.
func TestAnHourAllocatesNoMoreThanItKeeps(t *testing.T) {
	dir, devices := tree(t, 24)
	m, step := stepped(dir)
	r, err := newReader(m, devices)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if n := testing.AllocsPerRun(1000, func() {
		step(Interval)
		if err := r.sample(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("a reading makes %v allocations, want none", n)
	}

	text := make([][]byte, 10)
	for i := range text {
		text[i] = []byte(diskstats(devices, i))
	}
	kept := newStore(rowWidth(len(devices)))
	allocated := func() uint64 {
		var ms runtime.MemStats
		runtime.ReadMemStats(&ms)
		return ms.TotalAlloc
	}
	var quarters [4]uint64
	const hour = int(time.Hour / Interval)
	for q := range quarters {
		before := allocated()
		for i := range hour / 4 {
			if err := parseDiskstats(text[i%10], r.index, r.row); err != nil {
				t.Fatal(err)
			}
			r.row[colAt] += uint64(Interval.Microseconds())
			kept.add(r.row)
		}
		quarters[q] = allocated() - before
	}
	if total := quarters[0] + quarters[1] + quarters[2] + quarters[3]; total > 24<<20 || quarters[3] > quarters[0]*11/10 {
		t.Errorf("an hour of 24 busy devices allocated %d bytes, by quarters %v: want under 24 MiB and no growth", total, quarters)
	}
	series := r.series(&kept, maxCells)
	if len(series.Samples) != hour || series.Missed != 0 {
		t.Errorf("%d samples, %d missed", len(series.Samples), series.Missed)
	}
}

func TestLongRunsAreThinnedNotCut(t *testing.T) {
	r := &reader{devices: []string{"sda"}}
	kept := newStore(rowWidth(1))
	row := make([]uint64, kept.width)
	const rows, limit = 10_000, 6_000 * (hostWidth + deviceWidth)
	for i := range rows {
		row[colAt], row[hostWidth+devReads] = uint64(i)*100_000, uint64(i)
		kept.add(row)
	}
	s := r.series(&kept, limit)
	if n := len(s.Samples); n < rows/2 || n > rows/2+2 || s.Samples[n-1].Devices[0].Reads != rows-1 || s.Missed != 0 {
		t.Errorf("%d samples of %d, %d missed, last %+v", n, rows, s.Missed, s.Samples[n-1])
	}
}

func TestMissedTicksAreCounted(t *testing.T) {
	var samples []Sample
	for _, at := range []int{0, 100, 201, 299, 700, 800, 805} { // 400, 500 and 600 are missing; Stop came at 805
		samples = append(samples, Sample{At: time.Duration(at) * time.Millisecond})
	}
	if n := missed(samples); n != 3 {
		t.Errorf("%d missed, want 3", n)
	}
}
