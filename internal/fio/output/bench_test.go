package output

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"plimsoll/internal/fio/bins"
)

// cpu reports the processor time of a benchmark, children's too: on a busy machine the wall clock
// compares nothing.
func cpu(b *testing.B) func() {
	b.Helper()
	used := func() float64 {
		var ms float64
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var u syscall.Rusage
			if err := syscall.Getrusage(who, &u); err != nil {
				b.Fatal(err)
			}
			ms += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
		}
		return ms
	}
	before := used()
	return func() { b.ReportMetric((used()-before)/float64(b.N), "cpu-ms/op") }
}

// bigLatLog writes the latency log that issue 4 speaks of: 10 million lines, some 349 MB.
// With offset each line ends differently.
func bigLatLog(b *testing.B, lines int, offset bool) (dir string, size int64) {
	b.Helper()
	dir = b.TempDir()
	f, err := os.Create(filepath.Join(dir, "x_lat.1.log"))
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var buf []byte
	for i := range lines {
		ns := 80000 + int(r.ExpFloat64()*300000)
		buf = fmt.Appendf(buf, "%d, %d, %d, 16384, ", i/5, ns, r.IntN(2))
		if offset {
			buf = fmt.Appendf(buf, "%d, ", r.IntN(1<<24)*16384)
		}
		buf = append(buf, "0x0000\n"...)
		if len(buf) > 1<<20 || i == lines-1 {
			if _, err := f.Write(buf); err != nil {
				b.Fatal(err)
			}
			size += int64(len(buf))
			buf = buf[:0]
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return dir, size
}

// BenchmarkLatencyLog compares the way from a log of 10 million lines to percentiles with the
// floors: reading the file, and counting its lines.
func BenchmarkLatencyLog(b *testing.B) {
	dir, size := bigLatLog(b, 10_000_000, false)
	name := filepath.Join(dir, "x_lat.1.log")
	each := func(b *testing.B, use func([]byte)) {
		b.SetBytes(size)
		defer cpu(b)()
		buf := make([]byte, logBlock)
		for b.Loop() {
			f, err := os.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			for {
				n, err := f.Read(buf)
				use(buf[:n])
				if err == io.EOF {
					break
				}
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("floor/read", func(b *testing.B) { each(b, func([]byte) {}) })
	b.Run("floor/lines", func(b *testing.B) {
		n := 0
		each(b, func(p []byte) { n += bytes.Count(p, []byte{'\n'}) })
	})
	for _, procs := range []int{1, 2} {
		b.Run(fmt.Sprintf("percentiles/procs=%d", procs), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			b.SetBytes(size)
			defer cpu(b)()
			b.ReportAllocs()
			for b.Loop() {
				out, err := ReadLogs(os.DirFS(dir), []string{"x_lat.1.log"}, "")
				if err != nil || out.Jobs[0].Read.N+out.Jobs[0].Write.N != 10_000_000 {
					b.Fatal(err, out.Jobs[0].Read.N)
				}
			}
		})
	}
}

func BenchmarkLatencyLogWithOffsets(b *testing.B) {
	dir, size := bigLatLog(b, 2_000_000, true)
	b.SetBytes(size)
	defer cpu(b)()
	for b.Loop() {
		if _, err := ReadLogs(os.DirFS(dir), []string{"x_lat.1.log"}, ""); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJSONPlus reads 2,000 json+ results of some 29 kB. The floor is reading the files;
// encoding/json into maps stands for what a generic reader takes.
func BenchmarkJSONPlus(b *testing.B) {
	dir := b.TempDir()
	doc := runFio(b, dir, "--name=a", "--ioengine=null", "--size=2g", "--rw=randrw", "--bs=4k", "--output-format=json+", "--lat_percentiles=1")
	const files = 2000
	names := make([]string, files)
	for i := range names {
		names[i] = filepath.Join(dir, fmt.Sprintf("%d.json", i))
		if err := os.WriteFile(names[i], doc, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d files of %d bytes", files, len(doc))
	all := func(b *testing.B, workers int, read func(name string) error) {
		b.SetBytes(int64(files * len(doc)))
		defer cpu(b)()
		for b.Loop() {
			var wg sync.WaitGroup
			var next atomic.Int64
			for range workers {
				wg.Go(func() {
					for i := next.Add(1) - 1; i < files; i = next.Add(1) - 1 {
						if err := read(names[i]); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		}
	}
	ours := func(name string) error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		outs, err := Read(name, f)
		if err == nil && len(outs) != 1 {
			err = fmt.Errorf("%d outputs", len(outs))
		}
		return errors.Join(err, f.Close())
	}
	b.Run("floor/read", func(b *testing.B) {
		all(b, 2, func(name string) error { _, err := os.ReadFile(name); return err })
	})
	b.Run("Read/workers=1", func(b *testing.B) { all(b, 1, ours) })
	b.Run("Read/workers=2", func(b *testing.B) { all(b, 2, ours) })
	b.Run("encoding-json", func(b *testing.B) {
		all(b, 1, func(name string) error {
			raw, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			var v any
			return json.Unmarshal(raw, &v)
		})
	})
	b.Run("python", func(b *testing.B) {
		if _, err := exec.LookPath("python3"); err != nil {
			b.Skip("no python3")
		}
		b.SetBytes(int64(files * len(doc)))
		defer cpu(b)()
		for b.Loop() {
			cmd := exec.Command("python3", "-c", "import json,glob\nfor n in glob.glob('*.json'):\n  json.load(open(n))")
			cmd.Dir = dir
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkHistogramLog reads 54 MB of histogram log.
func BenchmarkHistogramLog(b *testing.B) {
	dir := b.TempDir()
	r := rand.New(rand.NewPCG(7, 8))
	var buf []byte
	for i := 0; len(buf) < 54_000_000; i++ {
		buf = fmt.Appendf(buf, "%d, %d, 4096", i*100, i%2)
		for bin := range bins.Count {
			n := 0
			if bin > 900 && bin < 1100 {
				n = r.IntN(1000)
			}
			buf = fmt.Appendf(buf, ", %d", n)
		}
		buf = append(buf, '\n')
	}
	if err := os.WriteFile(filepath.Join(dir, "x_clat_hist.1.log"), buf, 0o644); err != nil {
		b.Fatal(err)
	}
	b.Run("percentiles", func(b *testing.B) {
		b.SetBytes(int64(len(buf)))
		defer cpu(b)()
		for b.Loop() {
			if _, err := ReadLogs(os.DirFS(dir), []string{"x_clat_hist.1.log"}, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("fio-histo-log-pctiles", func(b *testing.B) {
		packed, err := os.Open("/usr/share/doc/fio/fio-histo-log-pctiles.py.gz")
		if err != nil {
			b.Skip(err)
		}
		defer func() { _ = packed.Close() }()
		z, err := gzip.NewReader(packed)
		if err != nil {
			b.Fatal(err)
		}
		src, err := io.ReadAll(z)
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "p.py"), src, 0o644); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(buf)))
		defer cpu(b)()
		for b.Loop() {
			cmd := exec.Command("python3", "p.py", "--time-quantum", "1000", "x_clat_hist.1.log")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
	})
}
