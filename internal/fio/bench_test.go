package fio

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// bigLatLog writes the latency log that issue 4 speaks of: 10 million lines, some 349 MB.
func bigLatLog(b *testing.B, lines int) (dir string, size int64) {
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
		buf = fmt.Appendf(buf, "%d, %d, %d, 16384, 0x0000\n", i/5, ns, r.IntN(2))
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

// BenchmarkLatencyLog compares the way from a log of 10 million lines to percentiles with the floors: reading the file, and counting its lines.
func BenchmarkLatencyLog(b *testing.B) {
	dir, size := bigLatLog(b, 10_000_000)
	name := filepath.Join(dir, "x_lat.1.log")
	each := func(b *testing.B, use func([]byte)) {
		b.SetBytes(size)
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
			f.Close()
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
			b.ReportAllocs()
			for b.Loop() {
				out, err := ReadLogs(os.DirFS(dir), []string{"x_lat.1.log"})
				if err != nil || out.Jobs[0].Read.N+out.Jobs[0].Write.N != 10_000_000 {
					b.Fatal(err, out.Jobs[0].Read.N)
				}
			}
		})
	}
}
