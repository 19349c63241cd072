package output

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/fio/running"
)

// runFio runs the installed fio in a directory of its own and returns its standard output.
func runFio(t testing.TB, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("fio", args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("fio %v: %v\n%s%s", args, err, errs.Bytes(), out)
	}
	return out
}

func TestParseJSONOfRealFio(t *testing.T) {
	slatPercentiles(t)
	dir := t.TempDir()
	doc := runFio(t, dir, "--name=a", "--ioengine=libaio", "--filename=f", "--size=4m", "--rw=randrw", "--bs=8k", "--fsync=4",
		"--numjobs=2", "--group_reporting", "--output-format=json+", "--slat_percentiles=1", "--lat_percentiles=1")
	out, err := ParseJSON(doc)
	if err != nil {
		t.Fatal(err)
	}
	if out.Format != fio.JSONPlus || len(out.Jobs) != 1 || len(out.Unread) > 0 || len(out.Doubts) > 0 {
		t.Fatalf("got %+v", out)
	}
	j := out.Jobs[0]
	if j.Read.N+j.Write.N != 1024 || j.Read.Bytes+j.Write.Bytes != 8<<20 || j.Options["bs"] != "8k" {
		t.Errorf("got %d + %d I/Os, options %v", j.Read.N, j.Write.N, j.Options)
	}
	for _, l := range []fio.Latency{j.Read.Clat, j.Read.Slat, j.Read.Lat, j.Write.Clat, j.Sync.Lat} {
		if l.N == 0 || l.Hist.Count() != l.N || len(l.Percentiles) != 17 {
			t.Fatalf("latency %d of %d in bins, %d percentiles", l.Hist.Count(), l.N, len(l.Percentiles))
		}
		for _, p := range l.Percentiles { // fio's percentiles are those of its bins
			if got := l.Hist.Percentile(p.P); got != p.Value {
				t.Errorf("p%v from bins %v, fio says %v", p.P, got, p.Value)
			}
		}
	}
	if !slices.IsSortedFunc(j.Buckets, func(a, b fio.Bucket) int { return int(a.Upto - b.Upto) }) {
		t.Errorf("buckets %v", j.Buckets)
	}
}

func TestParseJSONOfOldFio(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("testdata", "json", "fio-2.json"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := ParseJSON(doc)
	if err != nil {
		t.Fatal(err)
	}
	w := out.Jobs[0].Write
	if w.N != 6400 || w.Bytes != 100<<20 || w.BW != 52428800 || w.Clat.Min != 394*time.Microsecond || w.Clat.Mean != 13732690 {
		t.Errorf("got %+v", w)
	}
	if got := w.Clat.Percentiles; len(got) != 2 || got[1] != (fio.Percentile{P: 99.99, Value: 602112 * time.Microsecond}) {
		t.Errorf("percentiles %v", got)
	}
	if r := out.Jobs[0].Read; r.Clat.Measured() || r.Clat.Min != 0 {
		t.Errorf("a direction that did not run has %+v", r.Clat)
	}
	if b := out.Jobs[0].Buckets; len(b) != 2 || b[0] != (fio.Bucket{Upto: 500 * time.Microsecond, Value: 0.0234}) || b[1] != (fio.Bucket{Upto: 0, Value: 0.01}) {
		t.Errorf("buckets %v", b)
	}
}

func TestSplitterHandsOverAtTheLastBrace(t *testing.T) {
	in := "fio: warning {x}\n{\n  \"a}\\\"\" : {\"b\" : 1}\n}\nfio: terminating on signal 2\n{\"c\":2}tail\n<h> {\n\"d\" : "
	var docs, lines []string
	at := []int{}
	n := 0
	s := &running.Splitter{
		Doc:  func(d []byte) error { docs = append(docs, string(d)); at = append(at, n); return nil },
		Text: func(l string) { lines = append(lines, l) },
	}
	for n = range len(in) {
		if _, err := s.Write([]byte{in[n]}); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Close()
	if !errors.Is(err, running.ErrTruncated) {
		t.Errorf("close: %v", err)
	}
	if want := []string{"{\n  \"a}\\\"\" : {\"b\" : 1}\n}", `{"c":2}`}; !slices.Equal(docs, want) {
		t.Errorf("documents %q", docs)
	}
	for i, d := range docs {
		if want := bytes.Index([]byte(in), []byte(d)) + len(d) - 1; at[i] != want {
			t.Errorf("document %d came at byte %d, its end is %d", i, at[i], want)
		}
	}
	if want := []string{"fio: warning {x}", "fio: terminating on signal 2", "tail", "<h> "}; !slices.Equal(lines, want) {
		t.Errorf("lines %q", lines)
	}
}

// TestJSONOfEachAge reads what changed between versions, by hand from their sources.
func TestJSONOfEachAge(t *testing.T) {
	parse := func(doc string) *fio.Output {
		t.Helper()
		out, err := ParseJSON([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Run("bins by index, 3.0", func(t *testing.T) {
		out := parse(`{"fio version":"fio-3.0","jobs":[{"jobname":"a","read":{"io_bytes":4096,"io_kbytes":4,"bw":4,"iops":1,"runtime":1000,"total_ios":3,
			"clat_ns":{"min":5,"max":200,"mean":70,"stddev":1,"bins":{"FIO_IO_U_PLAT_BITS":6,"FIO_IO_U_PLAT_VAL":64,"FIO_IO_U_PLAT_NR":1856,"0":0,"5":2,"160":1}}}}]}`)
		h := out.Jobs[0].Read.Clat.Hist
		if out.Format != fio.JSONPlus || h.Count() != 3 || h.Percentile(50) != 5 || bins.Of(h.Percentile(100)) != 160 {
			t.Errorf("got %s", asJSON(t, h))
		}
	})
	t.Run("bins of microseconds, 2.x", func(t *testing.T) {
		out := parse(`{"jobs":[{"jobname":"a","read":{"io_bytes":4,"bw":4,"iops":1,"runtime":1000,"total_ios":1,
			"clat":{"min":5,"max":5,"mean":5,"stddev":0,"bins":{"FIO_IO_U_PLAT_BITS":6,"5":1}}}}]}`)
		if h := out.Jobs[0].Read.Clat.Hist; h.Count() != 1 || bins.Of(h.Percentile(50)) != bins.Of(5*time.Microsecond) || out.Jobs[0].Read.Bytes != 4096 {
			t.Errorf("got %s", asJSON(t, out))
		}
	})
	t.Run("clients, 3.39", func(t *testing.T) {
		out := parse(`{"fio version":"fio-3.39","global options":[{"bs":"4k","rw":"read"},{"bs":"8k","rw":"read"}],"client_stats":[
			{"jobname":"a","hostname":"h1","port":8765,"job_start":1700000000123,"latency_target":5,"latency_ns":{}},{"jobname":"All clients","hostname":"h2"}]}`)
		if len(out.Jobs) != 1 || out.Jobs[0].Host != "h1" || out.AllClients == nil || out.Global["bs"] != "4k" || len(out.Doubts) != 1 || out.Jobs[0].Start.UnixMilli() != 1700000000123 {
			t.Errorf("got %s", asJSON(t, out))
		}
		if out.Jobs[0].Target.Target != 5 {
			t.Errorf("got %s", asJSON(t, out.Jobs[0]))
		}
	})
	t.Run("disks", func(t *testing.T) {
		out := parse(`{"jobs":[],"disk_util":[{"name":"md0","read_ios":8,"write_ios":0,"read_sectors":16,"write_sectors":0,"util":0,"aggr_read_ios":4,"aggr_write_ios":0,"aggr_util":99.5},
			{"name":"a","read_ios":5,"util":99.5},{"name":"b","read_ios":3},{"name":"root","read_ios":77}]}`)
		d := out.Disks
		if d[0].Aggregate == nil || d[0].Aggregate.Util != 0.995 || d[0].ReadBytes != 8192 || !d[1].Member || !d[2].Member || d[3].Member {
			t.Errorf("got %s", asJSON(t, d))
		}
	})
	t.Run("hostile", func(t *testing.T) {
		for _, doc := range []string{
			"", "{", "[]", `{"jobs":[{"jobname":1e999}]} x`, `{"jobs":{}}`, `{"jobs":[{"jobname":"a","read":{"clat_ns":{"bins":{"x":1}}}}]}`,
			`{"jobs":[{"jobname":"a","read":{"clat_ns":{"bins":{"FIO_IO_U_PLAT_BITS":6,"99999":1}}}}]}`, `{"jobs":[` + strings.Repeat(`{"jobname":"a"},`, maxJSONJobs+1) + `{}]}`,
			`{"jobs":[{"jobname":"a","read":` + strings.Repeat(`{"a":`, 1000000),
		} {
			if out, err := ParseJSON([]byte(doc)); err == nil || out != nil {
				t.Errorf("%.60s: no error", doc)
			} else if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %v", err)
			}
		}
	})
}
