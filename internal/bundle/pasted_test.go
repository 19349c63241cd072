package bundle

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/fio/part"
)

// TestPastedFigures: what a text prints is taken for what it is of, and what belongs to other jobs or
// other figures is left out: IOPS, bandwidth in MiB/s, mean in µs and p99 in µs of the last result, and
// whether its direction is known.
func TestPastedFigures(t *testing.T) {
	kbench := func(heading string) string {
		return "=====\nFIO Benchmark " + heading + "\nFor: disk\n=====\nLatency in ns (Read/Write)\n" +
			"      Random:   300,000 / 400,000\n"
	}
	group := func(fastest, total string) string {
		return "     issued rwt: total=1024,0,0, short=0,0,0, dropped=0,0,0\n     latency   : target=0, window=0, percentile=100.00%, depth=16\n\n" +
			"Run status group 0 (all jobs):\n   READ: bw=102MiB/s (107MB/s), " + fastest + "-" + fastest +
			" (9MB/s-9MB/s), io=" + total +
			" (1073MB), run=10000-10000msec\n"
	}
	diskspd := func(does string) string {
		return "\tperforming " + does + "\n\tblock size: 4KiB\n\tusing random I/O (alignment: 4KiB)\nTotal IO\n" +
			"thread | bytes | I/Os | MiB/s | I/O per s | AvgLat | LatStdDev | file\n" +
			"total:  409600000 |  100000 |  39.06 |  10000.00 |   1.600 |   0.17\n"
	}
	for name, c := range map[string]struct {
		text                string
		iops, bw, mean, p99 int
		unknown             bool
	}{
		"kbench's means": {kbench("Summary"), 0, 0, 400, 0, false},
		"kbench's P99":   {kbench("Latency P99 Summary"), 0, 0, 0, 400, false},
		"kbench's IOPS of another time": {
			strings.ReplaceAll(kbench("Summary"), "Latency in ns", "IOPS in ops"), 400000, 0,
			0, 0, false,
		},
		"the rest of the only row":      {group("102MiB/s", "1024MiB"), 102, 102, 0, 0, false},
		"the rest of one of four":       {group("25.6MiB/s", "1024MiB"), 0, 102, 0, 0, false},
		"a count that is not the sum's": {group("102MiB/s", "1085MiB"), 0, 102, 0, 0, false},
		"diskspd's reads":               {diskspd("read test"), 10000, 39, 1600, 0, false},
		"diskspd's mix, of which a sum": {diskspd("mix test (read/write ratio: 60/40)"), 10000, 39, 1600, 0, true},
		"dd whose name is cut off": {
			"if=/dev/zero of=/opt/file bs=1M count=100 oflag=dsync\n104857600 bytes (105 MB) copied, 10 s, 10.5 MB/s\n", 10,
			10, 0, 0, false,
		},
		"Python's form of JSON": {
			"{'fio version': 'fio-3.1', 'jobs': [{'jobname': 'a', 'groupid': 0, 'error': 0, 'read': {'io_bytes': 40960000, 'bw': 4000, " +
				"'iops': 1000.0, 'runtime': 10000, 'total_ios': 10000, 'clat_ns': {'min': 1, 'max': 900000, 'mean': 50000.0, " +
				"'stddev': 1.0, 'N': 10000}}}], 'disk_util': []}\n", 1000, 3, 50, 0, false,
		},
	} {
		j, err := importText(name + ":\n" + c.text)
		if err != nil || len(j.b.Scenarios) == 0 {
			t.Errorf("%s: %d results, %v", name, len(j.b.Scenarios), err)
			continue
		}
		total := j.b.Scenarios[len(j.b.Scenarios)-1].Result.Total
		d := total.Read
		if total.Write.BW+0 > 0 || total.Write.IOPS > 0 || total.Write.Clat.Measured() {
			d = total.Write
		}
		p99, _ := d.Clat.At(99)
		got := fmt.Sprint(int(d.IOPS+0.5), int(float64(d.BW)/(1<<20)), int(d.Clat.Mean/1e3), int(p99.Microseconds()),
			d.Unknown)
		if want := fmt.Sprint(c.iops, c.bw, c.mean, c.p99, c.unknown); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestPastedSums: a row beside the sum of its group adds up to what the group prints, also where it ended earlier.
func TestPastedSums(t *testing.T) {
	j, err := importText("a: (groupid=0, jobs=1): err= 0: pid=332: Tue Apr 27 10:48:09 2021\n" +
		"  write: IOPS=281, BW=281MiB/s (295MB/s)(4276MiB/15000msec); 0 zone resets\n" +
		"     issued rwts: total=0,4276,0,0 short=0,0,0,0 dropped=0,0,0,0\n\nRun status group 0 (all jobs):\n" +
		"  WRITE: bw=1139MiB/s (1195MB/s), 281MiB/s-291MiB/s (294MB/s-305MB/s), io=16.8GiB (18.0GB), run=15000-15249msec\n")
	if err != nil || len(j.b.Scenarios) != 1 {
		t.Fatalf("%d results, %v", len(j.b.Scenarios), err)
	}
	if got := j.b.Scenarios[0].Result.Sum().BW.String(); got != "1,139 MiB/s" {
		t.Errorf("the group's sum is %s", got)
	}
}

// TestPastedFailures: a run that failed is one, with what it said, and is invalid; what only mentions an error is none.
func TestPastedFailures(t *testing.T) {
	for text, want := range map[string]string{
		"fio: io_u error on file /mnt/f: Invalid argument: read offset=504672256, buflen=4096\n":              "Invalid argument",
		"sysbench 1.1.0\nNumber of threads: 2\nThreads started!\n\nFATAL: Failed to fsync file! errno = 22\n": "Failed to fsync file! errno = 22",
		"/dev/sda1:\n Timing buffered disk reads:  read() failed: Input/output error\n":                       "read() failed",
		"I once saw a FATAL: Failed to fsync file! in sysbench\n":                                             "",
		"hdparm: Timing says that a read() failed: often\n":                                                   "",
	} {
		j, err := importText(text)
		reasons := ""
		if err == nil {
			for _, s := range j.b.Scenarios {
				reasons += strings.Join(s.Result.Reasons, " ")
			}
		}
		if want == "" && reasons != "" || !strings.Contains(reasons, want) {
			t.Errorf("%q: %q, want %q", text, reasons, want)
		}
	}
}

// TestPastedPartsAreNotDenied: latencies that are printed are not said to lack, and a row of terse output that is whole
// is not said to be cut.
func TestPastedPartsAreNotDenied(t *testing.T) {
	const (
		rest = "     issued    : total=r=0/w=2048/d=0, short=r=0/w=0/d=0\n"
		row  = "a: (groupid=0, jobs=1): err= 0: pid=25889: Sat Oct  7 20:49:46 2017\n  read : io=22504KB, bw=384042B/s, iops=93, runt= 60004msec\n"
		clat = "    clat (usec): min=142, max=32771, avg=1063.50, stdev=1786.58\n"
		ends = "     issued    : total=r=5626/w=0/d=0, short=r=0/w=0/d=0\n"
	)
	for text, lacks := range map[string]bool{
		rest + row + clat + ends: false,
		rest + row + ends:        true,
		clat + ends:              false,
		"  cpu          : usr=0.10%, sys=0.31%, ctx=5630, majf=0, minf=7\n" + ends: true,
	} {
		j, err := importText(text)
		if err != nil || len(j.b.Scenarios) == 0 {
			t.Errorf("%q: %d results, %v", text, len(j.b.Scenarios), err)
		} else if s := j.b.Scenarios[0]; s.Result.Lacks(part.Latencies) != lacks {
			t.Errorf("%q lacks latencies: %v", text, !lacks)
		}
	}
}

// TestPastedPageCache: writes that their submission took, and that took longer than a copy while more was written than
// memory holds, are no figures of memory.
func TestPastedPageCache(t *testing.T) {
	text := func(size, run, slat string) string {
		return "a: (g=0): rw=write, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB, ioengine=libaio, iodepth=1\nfio-3.7\n" +
			"a: (groupid=0, jobs=1): err= 0: pid=5: Mon Jul  1 22:14:42 2019\n" +
			"  write: IOPS=200, BW=200MiB/s (210MB/s)(" + size + "/" + run + ")\n" +
			"    slat (usec): min=200, max=9000, avg=" + slat +
			", stdev=6.99\n    clat (nsec): min=1000, max=38109, avg=2000.93, stdev=228.12\n"
	}
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"slower than a copy, more than memory": {text("32.0GiB", "163840msec", "4560.10"), "warning"},
		"slower, but memory holds it":          {text("2000MiB", "10000msec", "4560.10"), "invalid"},
		"a copy":                               {text("32.0GiB", "163840msec", "400.10"), "invalid"},
	} {
		j, err := importText(c.text)
		if err != nil {
			t.Fatal(name, err)
		}
		got := ""
		for _, f := range j.b.Findings {
			if f.Code == "PL419" {
				got = fmt.Sprint(f.Severity)
			}
		}
		if !strings.HasPrefix(c.want, got) || got == "" {
			t.Errorf("%s: PL419 is %q, want %s", name, got, c.want)
		}
	}
}
