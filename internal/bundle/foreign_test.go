package bundle

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/finding"
)

// TestFiguresOfOthers: what another program does not say is not fio's default, what it prints of memory is no storage,
// and lines that hold no figure are no result: the IOPS and the verdict of the last result of each text.
func TestFiguresOfOthers(t *testing.T) {
	const slatOnly = "a: (groupid=0, jobs=1): err= 0: pid=5: Mon Jul  1 22:14:42 2019\n  write: IOPS=6008, BW=23.5MiB/s (24.6MB/s)(235MiB/10037msec)\n" +
		"    slat (usec): min=2, max=1203, avg=151.81, stdev=6.99\n    clat (nsec): min=1000, max=38109, avg=2000.93, stdev=228.12\n"
	ioping := func(fs string) string {
		return "4 KiB <<< . (" + fs + " 6.18 GiB): request=1 time=312 us\n--- . (" + fs + " 6.18 GiB) ioping statistics ---\n" +
			"9.6 k requests completed in 3.00 s, 3.2 k iops, 12.5 MiB/s\nmin/avg/max/mdev = 280 us / 312 us / 344 us / 19 us\n"
	}
	sysbench := func(flags, size, took string) string {
		return "sysbench 1.0.20\nNumber of threads: 4\nExtra file open flags: " + flags + "\n128 files\n" + size + " total file size\n" +
			"Block size 16KiB\nUsing synchronous I/O mode\nDoing random read test\n    reads/s:                      1600.00\n" +
			"    read, MiB/s:                  25.00\n    total time:                          " + took + "\n" +
			"    total number of events:              160000\n         avg:                                    2.50\n"
	}
	for name, c := range map[string]struct {
		text  string
		iops  float64
		wrong bool
	}{
		"hdparm says no block size": {
			"/dev/sda:\n Timing buffered disk reads: 440 MB in  13.01 seconds = 146.42 MB/sec\n", 0, false,
		},
		"hdparm of memory":                   {"/dev/sda:\n Timing cached reads: 20000 MB in  2.00 seconds = 10000.00 MB/sec\n", 0, true},
		"dd that waits for nothing":          {"$ dd if=/dev/zero of=f bs=1M count=9\n1048576000 bytes (1 GB) copied, 2 s, 524 MB/s\n", 500, true},
		"dd whose rate shows that it waited": {"$ dd if=/dev/zero of=f bs=1M count=9\n1048576000 bytes (1 GB) copied, 20 s, 52.4 MB/s\n", 50, false},
		"ioping of memory":                   {ioping("tmpfs tmpfs"), 3200, true},
		"ioping of a disk":                   {ioping("ext4 /dev/sda"), 3200, false},
		"sysbench, twice over a small file":  {sysbench("(none)", "1GiB", "100.0s"), 1600, true},
		"the same, direct":                   {sysbench("direct", "1GiB", "100.0s"), 1600, false},
		"the same, of a large file":          {sysbench("(none)", "64GiB", "100.0s"), 1600, false},
		"the same, once over it":             {sysbench("(none)", "1GiB", "50.0s"), 1600, false},
		"done at submission":                 {slatOnly, 6008, true},
		"errors of fio alone": {"fio: io_u error on file f: Input/output error: read offset=4096, buflen=4096\n" +
			"fio: pid=1301, err=5/file:io_u.c:1845, func=io_u error, error=Input/output error\n", 0, true},
		"a job that could not open its file": {
			"a: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=sync, iodepth=32\nfio-3.28\n" +
				"Starting 1 process\nfio: pid=0, err=13/file:filesetup.c:174, func=open, error=Permission denied\n\n\nRun status group 0 (all jobs):\n", 0, true,
		},
	} {
		j, err := importText(name + ":\n" + c.text)
		if err != nil || len(j.b.Scenarios) == 0 {
			t.Errorf("%s: %d results, %v", name, len(j.b.Scenarios), err)
			continue
		}
		s := j.b.Scenarios[len(j.b.Scenarios)-1]
		n, _ := s.Result.Total.Rates()
		wrong := len(s.Result.Reasons) > 0
		for _, f := range j.b.Findings {
			wrong = wrong || f.Severity == finding.Invalid
		}
		if float64(int(float64(n)+0.5)) != c.iops || wrong != c.wrong {
			t.Errorf("%s: %v IOPS, invalid %v (%q)", name, n, wrong, s.Result.Reasons)
		}
	}
}

// TestFindingsOfOthers: what other programs say of memory, of syncs and of their slowest second is judged as fio's own:
// the findings of the first result of each text, but for those that only say how far the rate is known.
func TestFindingsOfOthers(t *testing.T) {
	sysbench := func(does, size string) string {
		return "sysbench 1.0.20\nNumber of threads: 1\nExtra file open flags: (none)\n128 files\n" + size +
			" total file size\n" +
			"Block size 4KiB\nRead/Write ratio for combined random IO test: 1.50\nPeriodic FSYNC enabled, calling fsync() each 100 requests.\n" +
			"Using synchronous I/O mode\nDoing random " + does + " test\n"
	}
	const reads = "    reads/s:                      200.00\n    writes/s:                     100.00\n    fsyncs/s:                     60.00\n" +
		"    total time:                          50.0000s\n    total number of events:              18000\n         avg:                                    2.50\n"
	const writes = "Operations performed:  0 Read, 10000 Write, 12800 Other = 22800 Total\n" +
		"Read 0b  Written 39.062Mb  Total transferred 39.062Mb  (821.53Kb/sec)\n  205.38 Requests/sec executed\n" +
		"    total time:                          48.6897s\n    total number of events:              10000\n" +
		"         avg:                                  0.02ms\n"
	rados := func(least string) string {
		return "$ rados bench -p data 60 write -b 4K\nTotal time run:         60.0013\nTotal writes made:      444703\nWrite size:             4096\n" +
			"Average IOPS:           7411\nMax IOPS:               8430\nMin IOPS:               " + least + "\n" +
			"Average Latency(s):     0.00215593\nMax latency(s):         5.00999\n"
	}
	diskspd := func(options, cache string) string {
		return "Command Line: diskspd.exe -b8K -d20 " + options +
			" -L -o2 -t4 -r -w0 io.dat\n\tduration: 20s\n\tsoftware cache " + cache + "\n" +
			"\tperforming read test\n\tblock size: 8KiB\nTotal IO\nthread | bytes | I/Os | MB/s | I/O per s | AvgLat | LatStdDev | file\n" +
			"total:  819200000 |  100000 |  39.06 |  5000.00 |   1.600 |   0.17\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"reads of small files":              {sysbench("r/w", "2GiB") + reads, "PL419"},
		"reads of large files":              {sysbench("r/w", "64GiB") + reads, ""},
		"syncs beside the latency":          {sysbench("write", "64GiB") + writes, "PL428"},
		"a second without an I/O":           {rados("0"), "PL415"},
		"no second without one":             {rados("40"), "PL431"},
		"a file that a drive's cache holds": {diskspd("-Sh -c50M", "disabled"), "PL427"},
		"a larger one":                      {diskspd("-Sh -c2G", "disabled"), ""},
	} {
		j, err := importText(name + ":\n" + c.text)
		if err != nil || len(j.b.Scenarios) == 0 {
			t.Errorf("%s: %d results, %v", name, len(j.b.Scenarios), err)
			continue
		}
		var got []string
		for _, f := range j.b.Findings {
			if f.Code != "PL501" {
				got = append(got, string(f.Code))
			}
		}
		if slices.Sort(got); strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q: %+v", name, got, c.want, j.b.Scenarios[0].Result.Doubts)
		}
	}
}
