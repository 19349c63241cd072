package telemetry

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"pgregory.net/rapid"

	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

func unzstd(t testing.TB, data []byte) string {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func zstded(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFileLooksLikeThis(t *testing.T) {
	const ms = time.Millisecond
	s := &Series{
		Start: time.UnixMicro(1795252320000000), Devices: []string{"md0", `cciss!c0,d0`}, CPUs: 2, Absent: []string{"io_full_us"},
		Samples: []Sample{{
			At: 1500 * time.Microsecond, Overhead: 30 * time.Microsecond, Dirty: 4096, Writeback: 8192,
			CPU:    CPU{10 * ms, 20 * ms, 30 * ms, 40 * ms, 50 * ms, 60 * ms, 70 * ms},
			IOSome: 99 * time.Microsecond,
			Devices: []Device{{
				Reads: 1, ReadMerges: 2, ReadBytes: 3072, ReadTime: 4 * ms, Writes: 5, WriteMerges: 6, WriteBytes: 7168, WriteTime: 8 * ms,
				InFlight: 9, Busy: 10 * ms, Queue: 11 * ms, Flushes: 12, FlushTime: 13 * ms,
			}, {Gone: true}},
		}},
	}
	var b bytes.Buffer
	if err := Write(&b, s); err != nil {
		t.Fatal(err)
	}
	want := `time_us,at_us,cpus,sampler_cpu_us,dirty_bytes,writeback_bytes,cpu_user_ms,cpu_system_ms,cpu_idle_ms,cpu_iowait_ms,` +
		`cpu_irq_ms,cpu_softirq_ms,cpu_steal_ms,io_some_us,` +
		`md0.reads,md0.read_merges,md0.read_bytes,md0.read_time_ms,md0.writes,md0.write_merges,md0.write_bytes,md0.write_time_ms,` +
		`md0.in_flight,md0.busy_ms,md0.queue_ms,md0.flushes,md0.flush_time_ms,` +
		`"cciss!c0,d0.reads","cciss!c0,d0.read_merges","cciss!c0,d0.read_bytes","cciss!c0,d0.read_time_ms",` +
		`"cciss!c0,d0.writes","cciss!c0,d0.write_merges","cciss!c0,d0.write_bytes","cciss!c0,d0.write_time_ms",` +
		`"cciss!c0,d0.in_flight","cciss!c0,d0.busy_ms","cciss!c0,d0.queue_ms","cciss!c0,d0.flushes","cciss!c0,d0.flush_time_ms"` + "\n" +
		`1795252320001500,1500,2,30,4096,8192,10,20,30,40,50,60,70,99,1,2,3072,4,5,6,7168,8,9,10,11,12,13,,,,,,,,,,,,,` + "\n"
	if got := unzstd(t, b.Bytes()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func seriesGen() *rapid.Generator[*Series] {
	return rapid.Custom(func(t *rapid.T) *Series {
		us := func(name string) time.Duration {
			return time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, name)) * time.Microsecond
		}
		ms := func(name string) time.Duration {
			return time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, name)) * time.Millisecond
		}
		n := rapid.Uint64Range(0, 1<<62)
		size := func(name string) units.Bytes { return units.Bytes(n.Draw(t, name)) }
		s := &Series{Start: time.UnixMicro(rapid.Int64Range(0, 1<<51).Draw(t, "start")), CPUs: rapid.IntRange(1, 500).Draw(t, "cpus")}
		for i := range rapid.IntRange(0, 4).Draw(t, "devices") {
			s.Devices = append(s.Devices, fmt.Sprintf("%s%d", rapid.StringMatching(`[a-z!,.é]{1,20}`).Draw(t, "device"), i))
		}
		at := time.Duration(0)
		for range rapid.IntRange(1, 5).Draw(t, "samples") {
			at += us("step") >> 10 / time.Microsecond * time.Microsecond
			sample := Sample{
				At: at, Overhead: us("own"), Dirty: size("dirty"), Writeback: size("writeback"), IOSome: us("some"), IOFull: us("full"),
				CPU:     CPU{ms("user"), ms("system"), ms("idle"), ms("iowait"), ms("irq"), ms("softirq"), ms("steal")},
				Devices: []Device{},
			}
			for i := range s.Devices {
				d := Device{
					Reads: n.Draw(t, "r"), Writes: n.Draw(t, "w"), ReadMerges: n.Draw(t, "rm"), WriteMerges: n.Draw(t, "wm"),
					ReadBytes: size("rb"), WriteBytes: size("wb"), ReadTime: ms("rt"), WriteTime: ms("wt"), InFlight: n.Draw(t, "in"),
					Busy: ms("busy"), Queue: ms("queue"), Flushes: n.Draw(t, "f"), FlushTime: ms("ft"),
				}
				if i > 0 && rapid.Bool().Draw(t, "gone") {
					d = Device{Gone: true}
				}
				sample.Devices = append(sample.Devices, d)
			}
			s.Samples = append(s.Samples, sample)
		}
		return s
	})
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := seriesGen().Draw(t, "series")
		var b bytes.Buffer
		if err := Write(&b, s); err != nil {
			t.Fatal(err)
		}
		got, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.Samples, got.Samples); diff != "" || !got.Start.Equal(s.Start) || got.CPUs != s.CPUs {
			t.Fatal(diff, s.Start, got.Start)
		}
		if diff := cmp.Diff(s.Devices, got.Devices); diff != "" {
			t.Fatal(diff)
		}
		// The store keeps rows exactly too.
		kept := newStore(rowWidth(len(s.Devices)))
		rebuilt := newSeries(s.Start, s.Devices)
		row := make([]uint64, kept.width)
		for i := range s.Samples {
			encodeRow(&s.Samples[i], s.CPUs, row)
			kept.add(row)
		}
		kept.each(rebuilt.add)
		if diff := cmp.Diff(s.Samples, rebuilt.Samples); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "samples: no header: unexpected EOF"},
		{"a,b\n", "samples line 1: no time_us and at_us columns: not a file of samples"},
		{"time_us,at_us,at_us\n", `samples line 1: column "at_us" twice`},
		{"time_us,at_us\n1,2\n3\n", "samples line 3: want as many cells as the header has"},
		{"time_us,at_us\n1,2,3\n", "samples line 2: want as many cells as the header has"},
		{"time_us,at_us\n1,-2\n", `samples line 2: column 2: "-2": want a whole number`},
		{"time_us,at_us\n1,\n", "samples line 2: at_us is empty"},
		{"time_us,at_us\n1,9\n1,8\n", "samples line 3: at_us goes back in time"},
		{"time_us,at_us\nx,9\n", `samples line 2: time_us "x": want microseconds since 1970`},
		{"time_us,at_us," + strings.Repeat("x", maxLine), "samples: no header: bufio.Scanner: token too long"},
		{"time_us,at_us" + manyDevices() + "\n", fmt.Sprintf("samples line 1: %d devices: want at most %d", maxDevices+1, maxDevices)},
	} {
		_, err := Read(bytes.NewReader(zstded(t, c.text)))
		if err == nil || err.Error() != c.want {
			t.Errorf("%.40q: %v\nwant %s", c.text, err, c.want)
		}
	}
	if _, err := Read(strings.NewReader("time_us,at_us\n")); err == nil {
		t.Error("text that is not compressed was read")
	}
}

func manyDevices() string {
	var b strings.Builder
	for i := range maxDevices + 1 {
		fmt.Fprintf(&b, ",d%d.reads", i)
	}
	return b.String()
}

func TestReadKeepsWhatACutOffFileHolds(t *testing.T) {
	var text strings.Builder
	text.WriteString("time_us,at_us,sda.reads,later_version\n")
	for i := range 100_000 {
		fmt.Fprintf(&text, "%d,%d,%d,?\n", 1_000_000+i, i, i*i)
	}
	data := zstded(t, text.String())
	s, err := Read(bytes.NewReader(data[:len(data)*3/4]))
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if n := len(s.Samples); n < 1000 || n >= 100_000 || s.Samples[n-1].Devices[0].Reads != uint64((n-1)*(n-1)) {
		t.Errorf("%d samples", n)
	}
}

// A few kilobytes can unpack to any length: what is kept must stay bounded.
func TestReadBoundsABomb(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks 300 MB")
	}
	r, w := io.Pipe()
	go func() {
		z, _ := zstd.NewWriter(w)
		_, err := io.WriteString(z, "time_us,at_us"+strings.TrimSuffix(manyDevices(), ",d4096.reads")+"\n")
		line := []byte("1,1" + strings.Repeat(",", maxDevices) + "\n")
		for err == nil {
			_, err = z.Write(line)
		}
	}()
	_, err := Read(r)
	_ = r.Close()
	if want := fmt.Sprintf("more than %d numbers", maxCells); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("time_us,at_us,cpus,sda.reads,sda.busy_ms\n5000000,1,2,3,4\n5000001,2,2,,\n"))
	f.Add([]byte("time_us,at_us,\"a,b.writes\"\n1,2,18446744073709551615\n"))
	bounded.Fuzz(f, func(t *testing.T, text []byte) {
		s, err := readCSV(bytes.NewReader(text))
		if err != nil {
			return
		}
		_ = s.Use(0, time.Hour)
		_ = s.Host(0, time.Hour)
		var b bytes.Buffer
		if err := writeCSV(&b, s); err != nil {
			return // names that the kernel would not give
		}
		again, err := readCSV(&b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.Samples, again.Samples); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzParsers(f *testing.F) {
	f.Add([]byte("   8       0 sda 10 1 80 5 20 2 160 7 0 9 12\n"))
	f.Add([]byte("cpu  16924 0 5452 272416 436 0 92 21 0 0\ncpu0 1\n"))
	f.Add([]byte("Dirty:   12 kB\nWriteback:    0 kB\n"))
	f.Add([]byte("some avg10=0.03 avg60=0.04 avg300=0.00 total=4051566\n"))
	bounded.Fuzz(f, func(_ *testing.T, text []byte) {
		row := make([]uint64, rowWidth(1))
		_ = parseDiskstats(text, map[string]int{"sda": 0}, row)
		_ = parseStat(text, row)
		_ = parseMeminfo(text, row)
		_ = parsePressure(text, row)
		_ = countCPUs(text)
		decodeRow(row, &Sample{Devices: make([]Device, 1)})
	})
}

// prometheus/procfs reads the same tree and must see the same.
func TestSecondWitness(t *testing.T) {
	dir, devices := tree(t, 24)
	s, err := Start(machine(dir), devices)
	if err != nil {
		t.Fatal(err)
	}
	series, err := s.Stop()
	if err != nil {
		t.Fatal(err)
	}
	got := series.Samples[1]
	p, err := procfs.NewFS(filepath.Join(dir, "proc"))
	if err != nil {
		t.Fatal(err)
	}
	disks, err := blockdevice.NewFS(filepath.Join(dir, "proc"), dir)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := disks.ProcDiskstats()
	if err != nil {
		t.Fatal(err)
	}
	ms := func(n uint64) time.Duration { return time.Duration(n) * time.Millisecond }
	for i, d := range stats {
		want := Device{
			Reads: d.ReadIOs, ReadMerges: d.ReadMerges, ReadBytes: units.Bytes(d.ReadSectors * 512), ReadTime: ms(d.ReadTicks),
			Writes: d.WriteIOs, WriteMerges: d.WriteMerges, WriteBytes: units.Bytes(d.WriteSectors * 512), WriteTime: ms(d.WriteTicks),
			InFlight: d.IOsInProgress, Busy: ms(d.IOsTotalTicks), Queue: ms(d.WeightedIOTicks),
			Flushes: d.FlushRequestsCompleted, FlushTime: ms(d.TimeSpentFlushing),
		}
		if diff := cmp.Diff(want, got.Devices[i]); diff != "" {
			t.Error(d.DeviceName, diff)
		}
	}
	mem, err := p.Meminfo()
	if err != nil || uint64(got.Dirty) != *mem.DirtyBytes || uint64(got.Writeback) != *mem.WritebackBytes || got.Dirty == 0 {
		t.Error(err, got.Dirty, got.Writeback)
	}
	stat, err := p.Stat()
	if err != nil {
		t.Fatal(err)
	}
	c := stat.CPUTotal
	for name, pair := range map[string][2]float64{
		"user": {c.User + c.Nice, got.CPU.User.Seconds()}, "system": {c.System, got.CPU.System.Seconds()}, "idle": {c.Idle, got.CPU.Idle.Seconds()},
		"iowait": {c.Iowait, got.CPU.IOWait.Seconds()}, "irq": {c.IRQ, got.CPU.IRQ.Seconds()}, "softirq": {c.SoftIRQ, got.CPU.SoftIRQ.Seconds()},
		"steal": {c.Steal, got.CPU.Steal.Seconds()}, "cpus": {float64(len(stat.CPU)), float64(series.CPUs)},
	} {
		if d := pair[0] - pair[1]; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: procfs %v, ours %v", name, pair[0], pair[1])
		}
	}
	psi, err := p.PSIStatsForResource("io")
	if err != nil || psi.Some.Total != uint64(got.IOSome.Microseconds()) || psi.Full.Total != uint64(got.IOFull.Microseconds()) {
		t.Error(err, got.IOSome, got.IOFull)
	}
}
