package telemetry

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"plimsoll/internal/sys"
)

// tree writes a /proc of n NVMe drives below a new directory and returns it with the drives' names.
// Its text is that of a c5d.metal-like host: 64 cores, PSI, flush counters.
func tree(tb testing.TB, n int) (dir string, devices []string) {
	tb.Helper()
	dir = tb.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "proc/pressure"), 0o755); err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		devices = append(devices, fmt.Sprintf("nvme%dn1", i))
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, "proc", name), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	put("diskstats", diskstats(devices, 0))
	var stat strings.Builder
	stat.WriteString("cpu  16924 31 5452 272416 436 5 92 21 0 0\n")
	for i := range 64 {
		fmt.Fprintf(&stat, "cpu%d 8103 0 2509 136988 42 0 17 7 0 0\n", i)
	}
	stat.WriteString("intr 599702" + strings.Repeat(" 0", 600) + "\nctxt 1\nbtime 1\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n")
	put("stat", stat.String())
	meminfo, err := os.ReadFile("testdata/meminfo")
	if err != nil {
		tb.Fatal(err)
	}
	put("meminfo", string(meminfo))
	put("pressure/io", "some avg10=0.03 avg60=0.04 avg300=0.00 total=4051566\nfull avg10=0.03 avg60=0.03 avg300=0.00 total=3374848\n")
	return dir, devices
}

// diskstats is the file when step seconds of 1000 reads and 500 writes of 8 KiB a second have
// passed.
func diskstats(devices []string, step int) string {
	var b strings.Builder
	for i, d := range devices {
		fmt.Fprintf(&b, " 259 %7d %s %d 22062 %d %d %d 64497 %d %d 3 %d %d 9491 13 1898816 734 %d 141\n", i, d,
			78997+1000*step, 3728874+16000*step, 34255+500*step,
			27221+500*step, 6122120+8000*step, 11186+1000*step,
			7908+900*step, 46318+1500*step, 2805+500*step)
	}
	return b.String()
}

func machine(dir string) *sys.Machine {
	return &sys.Machine{Root: os.DirFS(dir), Now: time.Now}
}

// BenchmarkReading is the cost of one reading of 24 devices: ours, and the same files through
// prometheus/procfs.
func BenchmarkReading(b *testing.B) {
	dir, devices := tree(b, 24)
	b.Run("own", func(b *testing.B) {
		r, err := newReader(machine(dir), devices)
		if err != nil {
			b.Fatal(err)
		}
		defer r.close()
		b.ReportAllocs()
		for b.Loop() {
			if err := r.sample(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(100*10*b.Elapsed().Seconds()/float64(b.N), "%core@10Hz")
	})
	b.Run("procfs", func(b *testing.B) {
		p, err := procfs.NewFS(filepath.Join(dir, "proc"))
		if err != nil {
			b.Fatal(err)
		}
		disks, err := blockdevice.NewFS(filepath.Join(dir, "proc"), dir)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			_, err1 := disks.ProcDiskstats()
			_, err2 := p.Meminfo()
			_, err3 := p.Stat()
			_, err4 := p.PSIStatsForResource("io")
			if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
				b.Fatal(err1, err2, err3, err4)
			}
		}
		b.ReportMetric(100*10*b.Elapsed().Seconds()/float64(b.N), "%core@10Hz")
	})
}

// BenchmarkSampler runs the whole sampler on 24 devices for three seconds of wall time, and beside
// it a bare loop that reads six files of the same tree at the same rate; each is the CPU of the
// whole process, in % of one core. Both are run with -benchtime=1x.
func BenchmarkSampler(b *testing.B) {
	const span = 3 * time.Second
	dir, devices := tree(b, 24)
	share := func(f func()) float64 {
		before := processCPU(b)
		f()
		return 100 * (processCPU(b) - before).Seconds() / span.Seconds()
	}
	var ours, bare, idle, own float64
	for range b.N {
		idle = share(func() { <-time.After(span) })
		bare = share(func() { bareLoop(b, dir, span) })
		ours = share(func() {
			s, err := Start(machine(dir), devices)
			if err != nil {
				b.Fatal(err)
			}
			<-time.After(span)
			series, err := s.Stop()
			if err != nil {
				b.Fatal(err)
			}
			own = 100 * series.Overhead
		})
	}
	b.ReportMetric(ours, "%core")
	b.ReportMetric(own, "%core-self-reported")
	b.ReportMetric(bare, "%core-bare-loop")
	b.ReportMetric(idle, "%core-idle")
	b.ReportMetric(ours/max(bare, 1e-9), "of-bare-loop")
	b.ReportMetric(0, "ns/op")
}

func bareLoop(b *testing.B, dir string, span time.Duration) {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	end := time.After(span)
	for {
		select {
		case <-end:
			return
		case <-tick.C:
			for _, name := range []string{"diskstats", "stat", "meminfo", "pressure/io", "diskstats", "stat"} {
				f, err := os.Open(filepath.Join(dir, "proc", name))
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.ReadAll(f)
				_ = f.Close()
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

func processCPU(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStopAndWrite is what a scenario of a minute, and of an hour, pays at its end, with 24
// busy devices.
func BenchmarkStopAndWrite(b *testing.B) {
	dir, devices := tree(b, 24)
	for _, span := range []time.Duration{time.Minute, time.Hour} {
		r, err := newReader(machine(dir), devices)
		if err != nil {
			b.Fatal(err)
		}
		defer r.close()
		if err := r.sample(); err != nil {
			b.Fatal(err)
		}
		kept := newStore(len(r.row))
		for i := range int(span / Interval) {
			for c := range r.row {
				if r.row[c] != absent && c != colCPUs {
					r.row[c] += uint64(100 + (i*c)%17) // busy, and never quite the same
				}
			}
			r.row[colAt] = uint64(i) * uint64(Interval.Microseconds())
			kept.add(r.row)
		}
		b.Run(span.String(), func(b *testing.B) {
			var out int
			for b.Loop() {
				var file bytes.Buffer
				if err := Write(&file, r.series(&kept, maxCells)); err != nil {
					b.Fatal(err)
				}
				out = file.Len()
			}
			b.ReportMetric(float64(out), "file-bytes")
			b.ReportMetric(float64(len(kept.chunks)*chunkSize), "kept-bytes")
		})
	}
}
