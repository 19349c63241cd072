package output

import (
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
)

// logsOf runs fio with logs and returns what they say and what fio's own JSON+ says.
func logsOf(t *testing.T, args ...string) (logs, js *fio.Output) {
	t.Helper()
	dir := t.TempDir()
	js, err := ParseJSON(runFio(t, dir, append([]string{"--output-format=json+"}, args...)...))
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	logs, err = ReadLogs(os.DirFS(dir), names, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(logs.Unread) > 0 {
		t.Errorf("not understood: %+v", logs.Unread[0])
	}
	return logs, js
}

// TestLogsSayWhatJSONSays holds every bin of the logs against the bins of the same run.
func TestLogsSayWhatJSONSays(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	slatPercentiles(t)
	for name, args := range map[string]string{
		"each I/O":        "--write_lat_log=x --write_bw_log=x --write_iops_log=x",
		"offset":          "--write_lat_log=x --log_offset=1",
		"priority":        "--write_lat_log=x --log_prio=1",
		"all columns":     "--write_lat_log=x --log_prio=1 --log_offset=1 --bsrange=4k-16k",
		"epoch":           "--write_lat_log=x --log_unix_epoch=1",
		"one for all":     "--write_lat_log=x --per_job_logs=0",
		"both":            "--write_lat_log=x --write_hist_log=x --log_hist_msec=5",
		"numbered prefix": "--write_lat_log=my.run_1",
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(args, "log_prio") {
				needFio(t, fio.Version{Major: 3, Minor: 28}, "knows no log_prio")
			}
			args := append([]string{"--name=a", "--ioengine=libaio", "--filename=f", "--size=6m", "--rw=randrw", "--bs=8k", "--numjobs=2", "--slat_percentiles=1", "--lat_percentiles=1"}, strings.Fields(args)...)
			logs, js := logsOf(t, args...)
			got, want := (&fio.Output{Jobs: logs.Jobs}).Total(), (&fio.Output{Jobs: js.Jobs}).Total()
			if !strings.Contains(name, "one") && len(logs.Jobs) != 2 {
				t.Errorf("%d rows", len(logs.Jobs))
			}
			for _, d := range []struct {
				name      string
				got, want fio.Direction
			}{{"read", got.Read, want.Read}, {"write", got.Write, want.Write}} {
				if d.got.N != d.want.N {
					t.Errorf("%s: %d I/Os, want %d", d.name, d.got.N, d.want.N)
				}
				if d.got.Bytes != d.want.Bytes {
					t.Errorf("%s: %d bytes, want %d", d.name, d.got.Bytes, d.want.Bytes)
				}
				for kind, l := range map[string][2]fio.Latency{"slat": {d.got.Slat, d.want.Slat}, "clat": {d.got.Clat, d.want.Clat}, "lat": {d.got.Lat, d.want.Lat}} {
					g, w := l[0], l[1]
					if asJSON(t, g.Hist) != asJSON(t, w.Hist) || asJSON(t, g.Percentiles) != asJSON(t, w.Percentiles) {
						t.Errorf("%s %s: bins or percentiles differ", d.name, kind)
					}
					if g.N != w.N || g.Min != w.Min || g.Max != w.Max || math.Abs(g.Mean-w.Mean) > 1e-3 || math.Abs(g.StdDev-w.StdDev) > 1e-6*w.StdDev+1e-3 {
						t.Errorf("%s %s: got %d %v %v %v %v, want %d %v %v %v %v", d.name, kind, g.N, g.Min, g.Max, g.Mean, g.StdDev, w.N, w.Min, w.Max, w.Mean, w.StdDev)
					}
				}
			}
		})
	}
}

func TestWindowsAreNotTakenForIOs(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	logs, js := logsOf(t, "--name=a", "--ioengine=null", "--size=1g", "--rw=read", "--rate_iops=2000", "--time_based", "--runtime=2", "--write_lat_log=x", "--write_bw_log=x", "--write_iops_log=x", "--log_avg_msec=100")
	if !strings.Contains(strings.Join(logs.Doubts, "\n"), "log_avg_msec") {
		t.Errorf("doubts %q", logs.Doubts)
	}
	// fio writes 19 windows in these 2 s. On a busy machine it leaves some out: what the others hold
	// is then a rate of its own, and no more I/Os than those of the run.
	r, ran := logs.Jobs[0].Read, js.Jobs[0].Read
	did := float64(ran.IOPS)
	if r.IOPSSamples.N < 19 {
		did = float64(r.IOPS)
		if most := float64(ran.N); did*0.1*float64(r.IOPSSamples.N) > most*1.1 {
			t.Errorf("%v I/Os in JSON, got %+v", most, r)
		}
	}
	if r.N != 0 || r.IOPSSamples.N < 5 || math.Abs(float64(r.IOPS)-did) > did/10 ||
		math.Abs(float64(r.BW)-did*4096) > did*4096/10 {
		t.Errorf("%v IOPS in JSON, got %+v", ran.IOPS, r)
	}
}

// TestHistogramLogs holds histogram logs against the bins of the same run. fio leaves the last
// window out, so no bin may hold more than the run's, and nearly all must be there.
func TestHistogramLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	needFio(t, fio.Version{Major: 3, Minor: 17}, "writes histogram logs that hold what lay in memory")
	for _, coarse := range []int{0, 1, 3, 6} {
		logs, js := logsOf(t, "--name=a", "--ioengine=libaio", "--filename=f", "--size=32m", "--rw=randread", "--bs=4k", "--numjobs=2", "--write_hist_log=x", "--log_hist_msec=5", fmt.Sprintf("--log_hist_coarseness=%d", coarse))
		got, want := (&fio.Output{Jobs: logs.Jobs}).Total().Read, (&fio.Output{Jobs: js.Jobs}).Total().Read
		if got.N != got.Clat.Hist.Count() || got.N > want.N || got.N < want.N*3/4 {
			t.Errorf("coarseness %d: %d in bins, want nearly %d", coarse, got.N, want.N)
		}
		columns := map[int]int64{}
		want.Clat.Hist.Each(func(i int, n uint64) { columns[i>>coarse] += int64(n) })
		got.Clat.Hist.Each(func(i int, n uint64) {
			if columns[i>>coarse] -= int64(n); columns[i>>coarse] < 0 {
				t.Errorf("coarseness %d: column %d holds %d more than the run had", coarse, i>>coarse, -columns[i>>coarse])
			}
		})
		if doubts := strings.Join(logs.Doubts, "\n"); strings.Contains(doubts, "log_hist_coarseness") != (coarse > 0) {
			t.Errorf("doubts %q", doubts)
		}
	}
}

// TestHistogramLogOfGarbage is a line as fio 3.16 wrote it: nothing of such a log counts.
func TestHistogramLogOfGarbage(t *testing.T) {
	good := "6, 0, 4096" + strings.Repeat(", 1", bins.Count) + "\n"
	bad := "11, 0, 4096" + strings.Repeat(", 0", bins.Count-2) + ", 930, 10642393916790\n"
	out, err := ReadLogs(fstest.MapFS{"x_clat_hist.1.log": {Data: []byte(good + bad)}}, []string{"x_clat_hist.1.log"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if n := out.Jobs[0].Read.N; n != 0 || len(out.Unread) != 1 || !strings.Contains(strings.Join(out.Doubts, "\n"), "before 3.17") {
		t.Errorf("%d I/Os, unread %+v, doubts %q", n, out.Unread, out.Doubts)
	}
}

// TestHistogramLogByTheClock reads logs of log_unix_epoch: an entry stands at the end of its window, so
// that four of a second each are four seconds, whenever they were.
func TestHistogramLogByTheClock(t *testing.T) {
	for name, c := range map[string]struct {
		times []int
		want  time.Duration
	}{
		"since the start":              {[]int{1000, 2000, 3000, 4000}, 4 * time.Second},
		"log_unix_epoch":               {[]int{1700000001000, 1700000002000, 1700000003000, 1700000004000}, 4 * time.Second},
		"one window of log_unix_epoch": {[]int{1700000001000}, 0},
		"one window":                   {[]int{1000}, time.Second},
	} {
		var b strings.Builder
		for _, at := range c.times {
			for dir := range 2 {
				fmt.Fprintf(&b, "%d, %d, 4096, 500%s\n", at, dir, strings.Repeat(", 0", bins.Count-1))
			}
		}
		out, err := ReadLogs(fstest.MapFS{"x_clat_hist.1.log": {Data: []byte(b.String())}}, []string{"x_clat_hist.1.log"}, "")
		if err != nil {
			t.Fatal(err)
		}
		d := out.Jobs[0].Write
		if d.Runtime != c.want || d.N != uint64(500*len(c.times)) || c.want > 0 && d.IOPS != 500 ||
			c.want == 0 && d.IOPS != 0 {
			t.Errorf("%s: %d I/Os in %s, %v IOPS", name, d.N, d.Runtime, d.IOPS)
		}
	}
}

// TestHistogramLogIsAddedToTheBin reads a log with known counts in every form of line.
func TestHistogramLogIsAddedToTheBin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var want [3][bins.Count]uint64
	var b strings.Builder
	for line := range 300 {
		dir := r.IntN(3)
		fmt.Fprintf(&b, "%d, %d, 4096", line*10, dir)
		for i := range bins.Count {
			n := uint64(0)
			if r.IntN(20) == 0 {
				n = r.Uint64() >> (30 + r.IntN(34))
			}
			want[dir][i] += n
			fmt.Fprintf(&b, ", %d", n)
		}
		b.WriteByte('\n')
	}
	b.WriteString("3000, 0, 4096, 1, 2\n") // cut short: reported, not added
	s := &histScan{}
	if err := eachLine(strings.NewReader(b.String()), 4*maxHistLine, s.line); err != nil {
		t.Fatal(err)
	}
	if s.bins != want {
		t.Error("bins differ")
	}
	if len(s.unread) != 1 || s.unread[0].Line != 301 {
		t.Errorf("not understood: %+v", s.unread)
	}
}

// TestLogsInBlocks: odd logs are read alike in blocks and line by line.
func TestLogsInBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for i := range 20000 {
		ms := uint64(i) * uint64(r.IntN(900)) / 7
		v := r.Uint64() >> (20 + r.IntN(44))
		tail := []string{", 4096, 0", ", 4096, 0", ", 4096, 0", ", 1048576, 0x0000", ", 4096, 0\r", ",4096,0", ", 123456789012345, 0"}[r.IntN(7)]
		if i%5000 == 4999 {
			tail = []string{", four, 0", ", 4096,", ", 99999999999999999999, 0", ", -1, 0"}[i/5000]
		}
		fmt.Fprintf(&b, "%d, %d, %d%s\n", ms, v, r.IntN(3), tail)
	}
	layout := logLayoutOf([]byte(b.String()))
	blocks, lines := &logScan{layout: layout}, &logScan{layout: layout}
	if err := eachLine(strings.NewReader(b.String()), 128, blocks.line); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		lines.line([]byte(strings.TrimSuffix(line, "\n")))
	}
	if !reflect.DeepEqual(blocks.hists, lines.hists) || blocks.total != lines.total || blocks.bytes != lines.bytes ||
		blocks.last != lines.last || blocks.lines != lines.lines {
		t.Errorf("blocks: %d lines, last %d; lines: %d, last %d", blocks.lines, blocks.last, lines.lines, lines.last)
	}
	if len(blocks.unread) != 4 || blocks.unread[0].Line != 5000 {
		t.Errorf("not understood: %+v", blocks.unread)
	}
}

func TestLogOfBothValues(t *testing.T) {
	fsys := fstest.MapFS{"x_clat.1.log": {Data: []byte("1000, 5000, 9000, 1, 0, 0\n2000, 7000, 8000, 1, 0, 0\n")}}
	out, err := ReadLogs(fsys, []string{"x_clat.1.log"}, "")
	if err != nil || len(out.Unread) > 0 {
		t.Fatal(err, out.Unread)
	}
	if l := out.Jobs[0].Write.Clat; l.Mean != 6000 || len(l.Percentiles) > 0 { // of windows
		t.Errorf("got %+v", l)
	}
}

func TestLogsOfOtherNamesAreRefused(t *testing.T) {
	_, err := ReadLogs(fstest.MapFS{"syslog.log": {Data: []byte("1, 2, 0, 4096\n")}}, []string{"syslog.log"}, "")
	if err == nil || !strings.Contains(err.Error(), "prefix_lat.1.log") {
		t.Errorf("got %v", err)
	}
	if _, err := ReadLogs(fstest.MapFS{}, []string{"x_lat.log"}, ""); err == nil || !strings.Contains(err.Error(), fs.ErrNotExist.Error()) {
		t.Errorf("got %v", err)
	}
}

// besides is the range from the occupied bin before one to the one behind it.
func besides(h *fio.Hist, bin int) (lo, hi time.Duration) {
	before, behind := bin, bin
	h.Each(func(i int, n uint64) {
		switch {
		case n > 0 && i < bin:
			before = i
		case n > 0 && i > bin && behind == bin:
			behind = i
		}
	})
	lo, _ = bins.Range(before)
	_, hi = bins.Range(behind)
	return lo, hi
}

// TestHistogramPercentilesAreThoseOfFiosScript: fio's own script interpolates between the middles of bins,
// so its answer lies in our bin, or on the way to the next one that holds anything.
func TestHistogramPercentilesAreThoseOfFiosScript(t *testing.T) {
	needFio(t, fio.Version{Major: 3, Minor: 17}, "writes histogram logs that hold what lay in memory")
	packed, err := os.Open("/usr/share/doc/fio/fio-histo-log-pctiles.py.gz")
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = packed.Close() }()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	src, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	runFio(t, dir, "--name=a", "--ioengine=libaio", "--filename=f", "--size=8m", "--rw=randread", "--bs=4k", "--write_hist_log=x", "--log_hist_msec=20")
	if err := os.WriteFile(filepath.Join(dir, "p.py"), src, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "p.py", "--time-quantum", "1000", "--percentiles", "50", "90", "99", "99.9", "--", "x_clat_hist.1.log")
	cmd.Dir = dir
	raw, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	out, err := ReadLogs(os.DirFS(dir), []string{"x_clat_hist.1.log"}, "")
	if err != nil {
		t.Fatal(err)
	}
	var row []string
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Split(strings.TrimSpace(line), ","); len(fields) >= 6 && strings.TrimSpace(fields[0]) == "0" {
			row = fields[len(fields)-4:]
		}
	}
	if row == nil {
		t.Fatalf("no row in\n%s", raw)
	}
	for i, p := range []float64{50, 90, 99, 99.9} {
		v, err := strconv.ParseFloat(strings.TrimSpace(row[i]), 64)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := besides(out.Jobs[0].Read.Clat.Hist, bins.Of(out.Jobs[0].Read.Clat.Hist.Percentile(p)))
		if v*1000 < float64(lo)-1 || v*1000 > float64(hi)+1 {
			t.Errorf("p%v: bin %v to %v, the script says %v µs in\n%s", p, lo, hi, v, raw)
		}
	}
}
