package result

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/units"
)

// record runs the real fio on a job and returns the documents it printed, one a second.
func record(t *testing.T, args ...string) []*fio.Output {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	args = append([]string{"--name=t", "--filename=" + file, "--output-format=json+", "--status-interval=1", "--eta=never"}, args...)
	cmd := exec.Command("fio", args...)
	cmd.Stderr, cmd.Dir = os.Stderr, t.TempDir()
	var docs []*fio.Output
	split := &running.Splitter{Doc: func(doc []byte) error {
		o, err := output.ParseJSON(doc)
		docs = append(docs, o)
		return err
	}}
	cmd.Stdout = split
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if err := split.Close(); err != nil {
		t.Fatal(err)
	}
	return docs
}

func build(docs []*fio.Output, start time.Time) *Result {
	b := &Builder{Start: start}
	for _, d := range docs {
		b.Add(d)
	}
	r := &Result{}
	b.Finish(r, nil)
	return r
}

// The seconds after the ramp add up to fio's own totals, in operations, bytes and latency bins; the
// ramp stands apart. A thread counts an I/O before its bytes, and on a busy host fio may print a
// document between the two: within a second they differ by one I/O of each thread at most.
func TestSecondsAddUpToTotals(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	const threads = 2 // at most
	for name, args := range map[string][]string{
		"no ramp":                {"--ioengine=null", "--size=1g", "--rw=randrw", "--bs=4k", "--time_based", "--runtime=3"},
		"fast, with ramp":        {"--ioengine=null", "--size=1g", "--rw=randrw", "--bs=4k", "--time_based", "--runtime=3", "--ramp_time=2"},
		"slow, with ramp":        {"--ioengine=psync", "--size=1m", "--rw=write", "--bs=4k", "--rate_iops=50", "--time_based", "--runtime=3", "--ramp_time=2", "--fdatasync=1"},
		"two jobs, with ramp":    {"--ioengine=null", "--size=1g", "--rw=read", "--bs=4k", "--time_based", "--runtime=2", "--ramp_time=1", "--numjobs=2", "--group_reporting"},
		"rows, a late one, sync": {"--ioengine=psync", "--size=1m", "--rw=write", "--bs=4k", "--rate_iops=40", "--time_based", "--runtime=3", "--fsync=4", "--name=late", "--filename=late", "--ioengine=psync", "--size=1m", "--rw=read", "--startdelay=1", "--rate_iops=30", "--time_based", "--runtime=2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			docs := record(t, args...)
			r := build(docs, start)
			var n [2]uint64
			var bytes uint64
			var hist, sync fio.Hist
			var ramp, measured time.Duration
			for _, s := range r.Seconds {
				if s.Ramp {
					ramp += s.Len
					continue
				}
				measured += s.Len
				n[0] += s.Read.N
				n[1] += s.Write.N
				for _, d := range []Interval{s.Read, s.Write} {
					if between := int64(d.N)*4096 - int64(d.Bytes); max(between, -between) > threads*4096 {
						t.Errorf("%d I/Os of 4 KiB, %d bytes in the same second", d.N, d.Bytes)
					}
				}
				bytes += uint64(s.Read.Bytes + s.Write.Bytes)
				hist.Merge(s.Read.Hist)
				hist.Merge(s.Write.Hist)
				sync.Merge(s.Sync)
			}
			total := r.Total
			defer func() {
				if t.Failed() {
					for i, d := range docs {
						j := d.Jobs[0]
						t.Logf("document %d at %s: runtime %s, %d + %d I/Os, %d bytes", i, d.Time.Sub(start), j.Runtime, j.Read.N, j.Write.N, j.Read.Bytes+j.Write.Bytes)
					}
				}
			}()
			if n != [2]uint64{total.Read.N, total.Write.N} || bytes != uint64(total.Read.Bytes+total.Write.Bytes) {
				t.Errorf("seconds hold %d I/Os and %d bytes; fio says %d and %d, %d", n, bytes, total.Read.N, total.Write.N, total.Read.Bytes+total.Write.Bytes)
			}
			if want := total.Read.Clat.Hist.Count() + total.Write.Clat.Hist.Count(); hist.Count() != want || want == 0 {
				t.Errorf("seconds hold %d latencies, fio's bins %d", hist.Count(), want)
			}
			if want := total.Sync.Lat.Hist.Count(); sync.Count() != want {
				t.Errorf("seconds hold %d syncs, fio's bins %d", sync.Count(), want)
			}
			asked, _ := fio.ParseTime(docs[0].Jobs[0].Options["ramp_time"], time.Second)
			if (ramp > 0) != (asked > 0) {
				t.Errorf("ramp of %s, asked for %s", ramp, asked)
			}
			if d := measured - r.Measured; len(total.Read.Clat.Percentiles) > 0 && (d < -time.Second || d > 1100*time.Millisecond) {
				t.Errorf("seconds cover %s, fio %s", measured, r.Measured)
			}
		})
	}
}

// TestRampWithoutRuntime is what fio printed of two fast jobs, 3.16 on 2026-11-21 and 3.33 on a busy
// host on 2026-11-24: the first document counts I/Os of the ramp, without their bytes and without a
// runtime. The seconds hold all that the last document counts, whether or not the size of the blocks
// is known, by which counts are set to bytes.
func TestRampWithoutRuntime(t *testing.T) {
	type document struct {
		at, runtime time.Duration
		n, bytes    uint64
	}
	const ms = time.Millisecond
	printed := map[string][]document{
		"3.16": {
			{4217 * ms, 0, 1147299, 0},
			{4720 * ms, 896 * ms, 3740297, 15247683584},
			{6249 * ms, 2017 * ms, 11341979, 46456745984},
		},
		"3.33": {
			{1581 * ms, 0, 627751, 0},
			{2584 * ms, 1232 * ms, 6290934, 25714368512},
			{3433 * ms, 2052 * ms, 10272807, 42077417472},
		},
	}
	for version, documents := range printed {
		for _, asked := range []fio.Options{{"ramp_time": "1"}, {"ramp_time": "1", "rw": "read", "bs": "4k"}} {
			start := time.Now()
			b := &Builder{Start: start}
			for _, d := range documents {
				read := fio.Direction{N: d.n, Bytes: units.Bytes(d.bytes), Runtime: d.runtime}
				b.Add(&fio.Output{Time: start.Add(d.at), Jobs: []fio.Job{{Runtime: d.runtime, Read: read, Options: asked}}})
			}
			r := &Result{}
			b.Finish(r, nil)
			var n, ramp uint64
			var ramped time.Duration
			for _, s := range r.Seconds {
				if s.Ramp {
					ramp += s.Read.N
					ramped += s.Len
				} else {
					n += s.Read.N
				}
			}
			if first, last := documents[0].n, documents[2].n; n != last || ramp != first {
				t.Errorf("fio %s, %v: %d I/Os measured and %d in the ramp, want %d and %d",
					version, asked, n, ramp, last, first)
			}
			if want := documents[0].at; ramped != want {
				t.Errorf("fio %s, %v: a ramp of %s, want %s, the time of its only document", version, asked, ramped, want)
			}
		}
	}
}

// TestDocumentAtTheEndOfTheRamp is what fio 3.33 printed on a busy host on 2026-11-26 of a job with
// a ramp of 2 s: the second document came as the job began again, with I/Os that have no bytes and
// no runtime yet. They are of the next second. A row beside it that measures already keeps its
// second, and one in its ramp has its own.
func TestDocumentAtTheEndOfTheRamp(t *testing.T) {
	const ms = time.Millisecond
	type counts struct {
		runtime             time.Duration
		reads, writes, both uint64 // both: bytes of reads and writes
	}
	began := []counts{
		{897 * ms, 1072995, 1072377, 8742191104},
		{0, 4793, 4780, 0},
		{1003 * ms, 914421, 914468, 7372120064},
		{2002 * ms, 1969376, 1968330, 16108314624},
		{3001 * ms, 4290413, 4287280, 35134230528},
	}
	at := []time.Duration{1294 * ms, 2511 * ms, 3525 * ms, 4512 * ms, 5512 * ms}
	measures := []counts{
		{294 * ms, 100, 0, 100},
		{1511 * ms, 200, 0, 200},
		{2525 * ms, 300, 0, 300},
		{3512 * ms, 400, 0, 400},
		{4512 * ms, 500, 0, 500},
	}
	ramps := []counts{
		{294 * ms, 100, 0, 100},
		{1511 * ms, 200, 0, 200},
		{525 * ms, 50, 0, 50},
		{1512 * ms, 150, 0, 150},
		{2512 * ms, 250, 0, 250},
	}
	type second struct {
		ramp          bool
		at, length    time.Duration
		reads, writes uint64
	}
	for name, tt := range map[string]struct {
		beside []counts
		ramp   string // of the row beside
		want   []second
	}{
		"alone": {nil, "", []second{
			{true, 1294 * ms, 897 * ms, 1072995, 1072377},
			{false, 3525 * ms, 1003 * ms, 914421, 914468},
			{false, 4512 * ms, 999 * ms, 1054955, 1053862},
			{false, 5512 * ms, 999 * ms, 2321037, 2318950},
		}},
		"beside a row that measures": {measures, "0", []second{
			{true, 1294 * ms, 897 * ms, 1073095, 1072377},
			{false, 2511 * ms, 1217 * ms, 100, 0},
			{false, 3525 * ms, 1014 * ms, 914521, 914468},
			{false, 4512 * ms, 999 * ms, 1055055, 1053862},
			{false, 5512 * ms, 1000 * ms, 2321137, 2318950},
		}},
		"beside a row in its ramp": {ramps, "2", []second{
			{true, 1294 * ms, 897 * ms, 1073095, 1072377},
			{true, 2511 * ms, 1217 * ms, 100, 0},
			{false, 3525 * ms, 1003 * ms, 914471, 914468},
			{false, 4512 * ms, 999 * ms, 1055055, 1053862},
			{false, 5512 * ms, 1000 * ms, 2321137, 2318950},
		}},
	} {
		start := time.Now()
		b := &Builder{Start: start}
		for i := range at {
			job := func(c counts, ramp string) fio.Job {
				half := units.Bytes(c.both / 2)
				return fio.Job{
					Runtime: c.runtime, Options: fio.Options{"ramp_time": ramp},
					Read:  fio.Direction{N: c.reads, Bytes: half, Runtime: c.runtime},
					Write: fio.Direction{N: c.writes, Bytes: units.Bytes(c.both) - half, Runtime: c.runtime},
				}
			}
			rows := []fio.Job{job(began[i], "2")}
			if tt.beside != nil {
				rows = append(rows, job(tt.beside[i], tt.ramp))
			}
			b.Add(&fio.Output{Time: start.Add(at[i]), Jobs: rows})
		}
		var got []second
		for _, s := range b.seconds {
			got = append(got, second{s.Ramp, s.At, s.Len, s.Read.N, s.Write.N})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, tt.want)
		}
		if first := b.rows[0].streams[0].n[0]; first != 914421 {
			t.Errorf("%s: the first interval of reads holds %v I/Os, want those to the third document", name, first)
		}
	}
}
