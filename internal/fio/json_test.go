package fio

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
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
	dir := t.TempDir()
	doc := runFio(t, dir, "--name=a", "--ioengine=libaio", "--filename=f", "--size=4m", "--rw=randrw", "--bs=8k", "--fsync=4",
		"--numjobs=2", "--group_reporting", "--output-format=json+", "--slat_percentiles=1", "--lat_percentiles=1")
	out, err := ParseJSON(doc)
	if err != nil {
		t.Fatal(err)
	}
	if out.Format != JSONPlus || len(out.Jobs) != 1 || len(out.Unread) > 0 || len(out.Doubts) > 0 || len(out.Extra) > 0 {
		t.Fatalf("got %+v", out)
	}
	j := out.Jobs[0]
	if j.Read.N+j.Write.N != 1024 || j.Read.Bytes+j.Write.Bytes != 8<<20 || j.Options["bs"] != "8k" || len(j.Extra) > 0 {
		t.Errorf("got %d + %d I/Os, options %v, extra %v", j.Read.N, j.Write.N, j.Options, j.Extra)
	}
	for _, l := range []Latency{j.Read.Clat, j.Read.Slat, j.Read.Lat, j.Write.Clat, j.Sync.Lat} {
		if l.N == 0 || l.Hist.Count() != l.N || len(l.Percentiles) != 17 {
			t.Fatalf("latency %d of %d in bins, %d percentiles", l.Hist.Count(), l.N, len(l.Percentiles))
		}
		for _, p := range l.Percentiles { // fio's percentiles are those of its bins
			if got := l.Hist.Percentile(p.P); got != p.Value {
				t.Errorf("p%v from bins %v, fio says %v", p.P, got, p.Value)
			}
		}
	}
	if !slices.IsSortedFunc(j.Buckets, func(a, b Bucket) int { return int(a.Upto - b.Upto) }) {
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
	if got := w.Clat.Percentiles; len(got) != 2 || got[1] != (Percentile{99.99, 602112 * time.Microsecond}) {
		t.Errorf("percentiles %v", got)
	}
	if r := out.Jobs[0].Read; r.Clat.Measured() || r.Clat.Min != 0 {
		t.Errorf("a direction that did not run has %+v", r.Clat)
	}
	if b := out.Jobs[0].Buckets; len(b) != 2 || b[0] != (Bucket{500 * time.Microsecond, 0.0234}) || b[1] != (Bucket{0, 0.01}) {
		t.Errorf("buckets %v", b)
	}
}

func TestSplitterHandsOverAtTheLastBrace(t *testing.T) {
	in := "fio: warning {x}\n{\n  \"a}\\\"\" : {\"b\" : 1}\n}\nfio: terminating on signal 2\n{\"c\":2}tail\n<h> {\n\"d\" : "
	var docs, lines []string
	at := []int{}
	n := 0
	s := &Splitter{
		Doc:  func(d []byte) error { docs = append(docs, string(d)); at = append(at, n); return nil },
		Text: func(l string) { lines = append(lines, l) },
	}
	for n = range len(in) {
		if _, err := s.Write([]byte{in[n]}); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Close()
	if !errors.Is(err, ErrTruncated) {
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
