package output

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/sys/bounded"
)

// fuzzInput is how many bytes of an input are looked at: enough for a few lines of each form.
// Larger ones make a fuzzer slow and find no more; whole outputs are read by the golden tests.
const fuzzInput = 256

func short(data []byte) []byte { return data[:min(len(data), fuzzInput)] }

// seedsFor adds the seeds, an old document and a few lines of each form.
func seedsFor(f *testing.F) {
	f.Helper()
	for _, pattern := range []string{"../../../testdata/seeds/*", "testdata/json/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatal(names, err)
		}
		for _, name := range names {
			raw, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			for at := 0; at < min(len(raw), 6000); at += fuzzInput { // what follows is more of the same
				f.Add(raw[at:min(len(raw), at+fuzzInput)])
			}
		}
	}
	f.Add([]byte(`{"jobs":[{"jobname":"x","read":{"clat_ns":{"N":3,"mean":-nan,"bins":{"17000000000000":18446744073709551615}}},"job options":{"a":"\u00"}}],"disk_util":[{"name":"md0","aggr_util":1e999}]}`))
	f.Add([]byte("x: (groupid=0, jobs=1): err= 5 (file:a.c:1, func=f, error=E): pid=1: Thu Dec 24 17:49:27 2020\n  fsync/fdatasync/sync_file_range:\n    sync (msec): min=1, max=99999999999999999999k, avg=1.\n"))
	f.Add([]byte("3;fio-3.33;" + strings.Repeat("0;", 120) + "0%\n"))
}

// whatever holds for any input: what was read can be written, and lines that were not understood
// exist.
func checkOutputs(t *testing.T, outs []*fio.Output, lines int) {
	t.Helper()
	for _, o := range outs {
		if _, err := json.Marshal(o); err != nil {
			t.Fatal(err)
		}
		for _, u := range o.Unread {
			if u.Line > lines+1 {
				t.Errorf("line %d of %d", u.Line, lines)
			}
		}
	}
	(&fio.Output{Jobs: slices.Concat(jobsOf(outs)...)}).Total()
	Final(outs)
}

func jobsOf(outs []*fio.Output) (list [][]fio.Job) {
	for _, o := range outs {
		list = append(list, o.Jobs)
	}
	return list
}

func FuzzRead(f *testing.F) {
	seedsFor(f)
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		data = short(data)
		outs, err := Read("f", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err) // memory never fails: all else is reported within
		}
		checkOutputs(t, outs, bytes.Count(data, []byte{'\n'}))
		slow, err := Read("f", iotest.OneByteReader(bytes.NewReader(data)))
		if err != nil || asJSON(t, slow) != asJSON(t, outs) {
			t.Errorf("byte by byte: %s, %v\nat once: %s", asJSON(t, slow), err, asJSON(t, outs))
		}
	})
}

func FuzzReadText(f *testing.F) {
	seedsFor(f)
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		data = short(data)
		outs, err := ReadText(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		checkOutputs(t, outs, bytes.Count(data, []byte{'\n'}))
	})
}

func FuzzParseJSON(f *testing.F) {
	seedsFor(f)
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		data = short(data)
		out, err := ParseJSON(data)
		if err != nil {
			return
		}
		checkOutputs(t, []*fio.Output{out}, bytes.Count(data, []byte{'\n'}))
	})
}

// FuzzSplitter: the pieces do not depend on how the stream is cut, and no byte but white space is
// lost.
func FuzzSplitter(f *testing.F) {
	seedsFor(f)
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		data = short(data)
		split := func(size int) (all []string, err error) {
			s := &running.Splitter{
				Doc:  func(d []byte) error { all = append(all, string(d)); return nil },
				Text: func(l string) { all = append(all, l) },
			}
			for part := range slices.Chunk(data, size) {
				if n, err := s.Write(part); err != nil || n != len(part) {
					t.Fatal(n, err)
				}
			}
			return all, s.Close()
		}
		one, err1 := split(max(len(data), 1))
		two, err2 := split(3)
		if !slices.Equal(one, two) || (err1 == nil) != (err2 == nil) {
			t.Errorf("at once %q %v, in threes %q %v", one, err1, two, err2)
		}
		squeezed := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if err1 == nil && squeezed(strings.Join(one, "")) != squeezed(string(data)) {
			t.Errorf("%q became %q", data, one)
		}
	})
}

// FuzzLogs: any bytes are read alike in blocks and line by line.
func FuzzLogs(f *testing.F) {
	f.Add([]byte("1, 398380, 1, 16384, 0x0000\n2, 398381, 0, 16384, 0x0000\n12345678, 99999999, 2, 16384, 0x0000\n"))
	f.Add([]byte("1, 2, 0, 4096\n1, 2, 3, 4096\n"))
	f.Add([]byte("1, 5, 9, 1, 0, 0\n"))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		data = data[:min(len(data), fuzzInput/8)]
		for range 3 {
			data = slices.Concat(data, data)
		}
		data = append(data, bytes.Repeat([]byte("1, 2, 0, 4096, 0\n"), 9)...)
		layout := logLayoutOf(data)
		blocks, lines := &logScan{layout: layout}, &logScan{layout: layout}
		if err := eachLine(bytes.NewReader(data), logBlock, blocks.line); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			lines.line(bytes.TrimSuffix(line, []byte{'\n'}))
		}
		if !reflect.DeepEqual(blocks.hists, lines.hists) || blocks.total != lines.total || blocks.bytes != lines.bytes ||
			blocks.last != lines.last || blocks.lines != lines.lines || asJSON(t, blocks.unread) != asJSON(t, lines.unread) {
			t.Errorf("blocks: %d lines, %v; %d lines, %v", blocks.lines, blocks.unread, lines.lines, lines.unread)
		}
		outs, err := Read("x_lat.1.log", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		checkOutputs(t, outs, bytes.Count(data, []byte{'\n'}))
	})
}

func FuzzHistLog(f *testing.F) {
	f.Add([]byte("10, 0, 4096" + strings.Repeat(", 0", 28) + ", 7\n"))
	f.Add([]byte("10, 0, 4096" + strings.Repeat(", 0, 1", 19) + "\n5, 1, 2, 3\n"))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		data = short(data)
		outs, err := Read("x_clat_hist.1.log", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		checkOutputs(t, outs, bytes.Count(data, []byte{'\n'}))
	})
}

func FuzzTerse(f *testing.F) {
	f.Add("3;fio-3.33;b;b;0;0;1480;74000;18500;20;38;379;49.67;18.74;0;5;0.46;0.36;" + strings.Repeat("1.0%=0;", 20) + "38;385;50.1;19.0;0;0;0.0%;0.0;0.0;")
	f.Add("5;fio-3.33;a;0;0;" + strings.Repeat("0;", 150))
	bounded.Fuzz(f, func(t *testing.T, line string) {
		if row, err := parseTerse(line); err == nil {
			checkOutputs(t, []*fio.Output{{Version: row.version, Jobs: []fio.Job{row.job}, Disks: row.disks}}, 1)
		}
	})
}
