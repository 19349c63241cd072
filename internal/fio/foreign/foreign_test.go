package foreign

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

// TestReal reads what the real programs printed on this project's machine (sysbench 1.0.20, ioping 1.3).
// The figures are those that stand in the files.
func TestReal(t *testing.T) {
	for file, want := range map[string]struct {
		program, name, rw, engine, direct string
		read, write                       float64 // IOPS
		mean                              float64 // µs of the direction that has a latency; 0 where it has none
		doubt                             string
	}{
		"ioping-DR.txt":             {"ioping", "ioping-randread", "randread", "psync", "1", 10300, 0, 97.3, "10.1 k requests in 1.00 s"},
		"ioping-c4.txt":             {"ioping", "ioping-randread", "randread", "psync", "", 1160, 0, 862.1, "4 requests in 3.01 s"},
		"ioping-cached.txt":         {"ioping", "ioping-read", "", "psync", "", 1.11e6, 0, 0.902, "direct (-D)"},
		"ioping-write.txt":          {"ioping", "ioping-write", "write", "psync", "1", 0, 366, 2730, "200 requests"},
		"sysbench-rndrd-direct.txt": {"sysbench 1.0.20", "fileio-randread", "randread", "psync", "1", 17469.4, 0, 113.78, ""},
		"sysbench-seqwr.txt": {
			"sysbench 1.0.20", "fileio-write", "write", "psync", "0", 0, 11325.63, 0,
			"one figure for writes and syncs",
		},
		"sysbench-rndwr-nosync.txt": {"sysbench 1.0.20", "fileio-randwrite", "randwrite", "psync", "0", 0, 209717.13, 4.51, ""},
		"sysbench-rndrw-async.txt": {
			"sysbench 1.0.20", "fileio-randrw", "randrw", "libaio", "0", 27062.04, 18034.72, 0,
			"handing I/Os over",
		},
		"sysbench-rndwr-mmap.txt": {"sysbench 1.0.20", "fileio-randwrite", "randwrite", "mmap", "0", 0, 1634.77, 0, "syncs"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		outs, rest := Read(data)
		if len(outs) != 1 || len(outs[0].Jobs) != 1 {
			t.Errorf("%s: %d results", file, len(outs))
			continue
		}
		o, j := outs[0], outs[0].Jobs[0]
		mean := j.Read.Clat.Mean + j.Write.Clat.Mean
		if o.Version != want.program || j.Name != want.name || j.Options["rw"] != want.rw ||
			j.Options["ioengine"] != want.engine || j.Options["direct"] != want.direct ||
			!near(float64(j.Read.IOPS), want.read) || !near(float64(j.Write.IOPS), want.write) ||
			!near(mean, want.mean*1e3) || !strings.Contains(strings.Join(o.Doubts, "; "), want.doubt) {
			t.Errorf("%s: %s %q: %v, %v IOPS, %v ns, %q", file, j.Name, j.Options, j.Read.IOPS, j.Write.IOPS, mean, o.Doubts)
		}
		if bs := size(j.Options["bs"]); bs > 0 && !near(float64(j.Read.BW+j.Write.BW), (want.read+want.write)*float64(bs)) {
			t.Errorf("%s: %v + %v are not its IOPS of %v", file, j.Read.BW, j.Write.BW, bs)
		}
		if strings.Count(string(rest), "\n") != strings.Count(string(data), "\n") || strings.Contains(string(rest), "avg") {
			t.Errorf("%s: what is left is\n%s", file, rest)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 0.01*math.Abs(b) }

// TestOldForms: sysbench 0.4 and ioping 0.6 print the same facts in other words; in a mail they stand
// behind marks of quotation.
func TestOldForms(t *testing.T) {
	outs, _ := Read([]byte(`> sysbench 0.4.12:  multi-threaded system evaluation benchmark
> Number of threads: 16
> Extra file open flags: 16384
> 3Gb total file size
> Block size 16Kb
> Read/Write ratio for combined random IO test: 1.50
> Using synchronous I/O mode
> Doing random r/w test
> Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total
> Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (3.125Mb/sec)
>   200.00 Requests/sec executed
> Test execution summary:
>     total time:                          50.0000s
>     total number of events:              10000
>     per-request statistics:
>          min:                                  0.01ms
>          avg:                                 43.48ms
>          max:                               1105.16ms
>          approx.  95 percentile:             180.46ms
> Threads fairness:
>     events (avg/stddev):           625.0000/46.52
>     execution time (avg/stddev):   27.1871/1.19
--- /dev/sda (device 465.8 GiB) ioping statistics ---
186 requests completed in 3004.6 ms, 62 iops, 0.2 MiB/s
min/avg/max/mdev = 6.4/16.0/26.8/4.7 ms
`))
	if len(outs) != 2 {
		t.Fatalf("%d results", len(outs))
	}
	j := outs[0].Jobs[0]
	if j.Count != 16 || j.Read.IOPS != 120 || j.Write.IOPS != 80 || j.Read.BW != 120*16384 ||
		j.Runtime != 50*time.Second ||
		j.Options["direct"] != "1" ||
		j.Options["rwmixread"] != "60" ||
		j.Read.Clat.Mean+j.Write.Clat.Mean != 0 {
		t.Errorf("%+v", j)
	}
	j = outs[1].Jobs[0]
	if l := j.Read.Clat; l.Mean != 16e6 || l.Max != 26800*time.Microsecond || l.N != 186 || j.Read.IOPS != 62 ||
		j.Options["rw"] != "" ||
		!strings.Contains(strings.Join(outs[1].Doubts, "\n"), "reads or writes") {
		t.Errorf("%+v\n%q", j, outs[1].Doubts)
	}
}

const kubestrText = `Running FIO test (default-fio) on StorageClass (x) with a PVC of Size (100Gi)
Elapsed time- 30.5s
FIO test results:

FIO version - fio-3.36
Global options - ioengine=libaio verify=0 direct=1 gtod_reduce=1

JobName: read_iops
  blocksize=4K filesize=2G iodepth=64 rw=randread
read:
  IOPS=1000.500000 BW(KiB/s)=4002
  iops: min=900 max=1100 avg=1001.000000
  bw(KiB/s): min=3600 max=4400 avg=4004.000000

JobName: write_iops
  blocksize=4K filesize=2G iodepth=64 rw=randwrite
write:
  IOPS=500.000000 BW(KiB/s)=2000
  iops: min=400 max=600 avg=500.000000
  bw(KiB/s): min=1600 max=2400 avg=2000.000000
%s
Disk stats (read/write):
  rbd0: ios=17000/8500 merge=0/12 ticks=1000/2000 in_queue=3000, util=99.5%%
  -  OK
`

// TestKubestr: the four jobs of its own test are one result, since they ran together; others stand
// apart with a doubt.
func TestKubestr(t *testing.T) {
	with := func(more string) string {
		return strings.ReplaceAll(strings.Replace(kubestrText, "%s", more, 1), "%%", "%")
	}
	outs, rest := Read([]byte(with("")))
	if len(outs) != 2 || outs[0].Jobs[0].Read.IOPS != 1000.5 || outs[1].Jobs[0].Write.BW != 2000*1024 ||
		outs[0].Jobs[0].Options["direct"] != "1" || outs[0].Jobs[0].Read.IOPSSamples.Max != 1100 ||
		!strings.Contains(outs[0].Doubts[1], "whether the 2 jobs") || strings.Contains(string(rest), "IOPS=") {
		t.Errorf("%d results: %+v, left %q", len(outs), outs, rest)
	}
	outs, _ = Read([]byte(with(`JobName: read_bw
  blocksize=128K filesize=2G iodepth=64 rw=randread
read:
  IOPS=999.000000 BW(KiB/s)=127872
JobName: write_bw
  blocksize=128k filesize=2G iodepth=64 rw=randwrite
write:
  IOPS=499.000000 BW(KiB/s)=63872
`)))
	if len(outs) != 1 || len(outs[0].Jobs) != 4 || len(outs[0].Disks) != 1 || outs[0].Disks[0].WriteTicks != 2000 ||
		outs[0].Version != "kubestr fio-3.36" || !strings.Contains(outs[0].Doubts[1], "at the same time") {
		t.Errorf("%d results: %+v", len(outs), outs[0])
	}
	for name, want := range map[string]string{"read_iops": "libaio 64", "mine": " "} { // an excerpt without the options
		outs, _ = Read([]byte(strings.Repeat("JobName: "+name+"\n  blocksize=4K filesize=2G iodepth=64 rw=randread\nread:\n"+
			"  IOPS=999.000000 BW(KiB/s)=3996\n", 2)))
		if len(outs) != 2 {
			t.Fatalf("%s: %d results", name, len(outs))
		}
		for _, o := range outs {
			if got := o.Jobs[0].Options["ioengine"] + " " + o.Jobs[0].Options["iodepth"]; got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}

// TestSummaries: each figure of dbench and kbench is of a job of its own, but dbench's mixed ones.
func TestSummaries(t *testing.T) {
	outs, _ := Read([]byte("= Dbench Summary =\nRandom Read/Write IOPS: 75.7k/59.7k. BW: 523MiB/s / 500MiB/s\n" +
		"Average Latency (usec) Read/Write: 183.07/76.91\nSequential Read/Write: 536MiB/s / 512MiB/s\n" +
		"Mixed Random Read/Write IOPS: 43.1k/14.4k\n"))
	names := map[string]fio.Job{}
	for _, o := range outs {
		names[o.Jobs[0].Name] = o.Jobs[0]
		if !o.Summary || o.Program != "dbench" {
			t.Errorf("%+v", o)
		}
	}
	if len(names) != 9 || names["random-read"].Read.IOPS != 75700 || names["random-write-bw"].Write.BW != 500<<20 ||
		names["random-write-bw"].Write.IOPS != 4000 || names["latency-write"].Write.Clat.Mean != 76910 ||
		names["sequential-read"].Options["bs"] != "1m" || names["mixed-random"].Write.IOPS != 14400 {
		t.Errorf("%+v", names)
	}
	outs, _ = Read([]byte("Average Latency Read/Write: 36.1(msec) / 3(usec)\n"))
	if len(outs) != 2 || outs[0].Jobs[0].Read.Clat.Mean != 36.1e6 || outs[1].Jobs[0].Write.Clat.Mean != 3e3 {
		t.Errorf("%+v", outs)
	}
	outs, _ = Read(
		[]byte(
			"For: Local vs Far\nIOPS (Read/Write)\n        Random:   61,411 / 10,612   vs  7,365 / 252    :   -88.01% / -97.63%\n" +
				"Latency in ns (Read/Write)\n        Random:      469,664 / 2,148,797\n",
		),
	)
	if len(outs) != 6 || outs[2].Title != "Far" || outs[2].Jobs[0].Read.IOPS != 7365 ||
		outs[3].Jobs[0].Write.IOPS != 252 ||
		outs[5].Jobs[0].Write.Clat.Mean != 2148797 ||
		outs[5].Jobs[0].Options["rw"] != "randwrite" {
		t.Errorf("%d: %+v", len(outs), outs)
	}
}

// yabsText is what yabs.sh prints of two block sizes, and a third that failed.
const yabsText = `fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/vda1):
---------------------------------
Block Size | 4k            (IOPS) | 64k           (IOPS)
  ------   | ---            ----  | ----           ----
Read       | 20.00 MB/s    (5.0k) | 1.28 GB/s    (20.0k)
Write      | 512.00 KB/s    (128) | 1.30 GB/s    (20.3k)
Total      | 20.51 MB/s    (5.1k) | 2.58 GB/s    (40.3k)
           |                      |
Block Size | 512k          (IOPS) |
Read       | 0.00 KB/s        (0) |
Write      | 0.00 KB/s        (0) |
`

// TestYabs: what yabs.sh calls a MB is 1,000 of fio's KiB: 20,000 KiB/s of 4 KiB are 5,000 IOPS.
func TestYabs(t *testing.T) {
	outs, rest := Read([]byte("Basic System Information\n" + yabsText + "iperf3\n"))
	if len(outs) != 2 || strings.Contains(string(rest), "20.00 MB/s") || !strings.Contains(string(rest), "iperf3") {
		t.Fatalf("%d results, left %q", len(outs), rest)
	}
	small, large := outs[0].Jobs[0], outs[1].Jobs[0]
	if small.Read.BW != 20000*1024 || small.Read.IOPS != 5000 || small.Write.BW != 512*1024 || small.Write.IOPS != 128 {
		t.Errorf("4k: %+v, %+v", small.Read, small.Write)
	}
	if large.Name != "rand-rw-64k" || large.Read.IOPS != 20000 || large.Write.BW != 1300000*1024 ||
		large.Options["bs"] != "64k" {
		t.Errorf("64k: %s %+v, %+v, %v", large.Name, large.Read, large.Write, large.Options)
	}
	if o := outs[1]; o.Line != 4 || o.End != 8 || !o.Summary || o.Program != "yabs" ||
		!strings.Contains(o.Doubts[0], "two jobs") {
		t.Errorf("lines %d to %d, %+v", o.Line, o.End, o.Doubts)
	}
}

// TestPrograms reads a text of each program that is a row of the table and nothing else, and forms that were cut
// off.
func TestPrograms(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"sysbench without its last lines": {"sysbench 1.0.20\nNumber of threads: 4\nExtra file open flags: directio\nBlock size 16KiB\n" +
			"Using synchronous I/O mode\nDoing random read test\nFile operations:\n    reads/s:     1000.00\n    writes/s:   0.00\n" +
			"Throughput:\n    read, MiB/s:   15.62\n", "fileio-randread randread 16k: 1000 0 0"},
		"sysbench's throughput alone": {
			"Throughput:\n    read, MiB/s:                  0.00\n    written, MiB/s:               100.50\n",
			"fileio-write  : 0 0 0",
		},
		"sysbench's intervals": {"Block size 16KiB\nDoing random r/w test\n[ 1s ] reads: 15.62 MiB/s writes: 7.81 MiB/s fsyncs: 100.01/s latency (ms,95%): 0.1\n" +
			"[ 2s ] reads: 31.25 MiB/s writes: 15.62 MiB/s fsyncs: 100.01/s latency (ms,95%): 0.1\n", "fileio-randrw randrw 16k: 2000 1000 0"},
		"ioping without its heading": {
			"$ ioping -c 10 -s 1M ./\n....\n10 requests completed in 9.0 s, 233 iops, 233.1 MiB/s\n",
			"ioping-randread randread 1m: 233 0 0",
		},
		"kubestr of an own file": {
			"JobName:\n  blocksize= filesize= iodepth= rw=\n**read**:\n  IOPS=20300.5 BW(KiB/s)=81202\n" +
				"  iops: min=1 max=3 **avg=2.5**\nDisk stats (read/write):\n  nvme1n1: ios=2433523/10 merge=0/3 ticks=7649660/20 in_queue=7649680, util=99.9%\n",
			"kubestr-read  4k: 20300 0 0",
		},
		"elbencho": {"$ elbencho -w -r -b 4M -t 2 --direct -s 10g /mnt/f\nOPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n" +
			"WRITE       Elapsed time     :     11.559s     11.6s\n            IOPS             :         230         221\n" +
			"            Throughput MiB/s :         900         884\n            Total MiB        :       10240       10240\n---\n" +
			"READ        Elapsed time     :      5.1s     5.2s\n            IOPS             :         510         500\n" +
			"            Throughput MiB/s :         2010         2000\n", "elbencho-WRITE write 4m: 0 221 0\nelbencho-READ read 4m: 500 0 0"},
		"dd": {"$ dd if=/dev/zero of=/mnt/f bs=1M count=1024 oflag=direct\n1024+0 records in\n1024+0 records out\n" +
			"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.048 s, 524 MB/s\n$ dd if=/dev/zero of=f bs=1M count=99\n" +
			"103809024 bytes (104 MB) copied, 0,05 s, 2,1 GB/s\n", "dd-write write 1m: 0 500 0\ndd-write write 1m: 0 1980 0!"},
		"dd in Chinese, in comments": {
			"# $ dd if=/dev/zero of=f bs=1M count=5 oflag=dsync\n# 5242880字节(5.2 MB)已复制，0.5 秒，10 MB/秒\n",
			"dd-write write 1m: 0 10 0",
		},
		"dd to a device": {
			"$ sudo dd bs=1m if=x.img of=/dev/disk2\n104857600 bytes transferred in 0.5 seconds (209715200 bytes/sec)\n",
			"dd-write write 1m: 0 200 0",
		},
		"hdparm of long ago": {"/dev/hdc:\n Timing buffer-cache reads:   128 MB in  0.56 seconds =228.57 MB/sec\n", "cached  : 0 0 0!"},
		"dd of a Mac": {
			"% dd if=/dev/disk2 of=/dev/null bs=1m\n104857600 bytes transferred in 0.500000 secs (209715200 bytes/sec)\n",
			"dd-read read 1m: 200 0 0",
		},
		"hdparm": {"/dev/sda:\n Timing cached reads:   20000 MB in  2.00 seconds = 10000.00 MB/sec\n" +
			" Timing buffered disk reads: 440 MB in  3.01 seconds = 146.42 MB/sec\n", "cached  : 0 0 0!\nread read : 0 0 0"},
		"diskspd": {"Command Line: diskspd -b8K -d30 -o4 -t8 -h -r -w25 -L test.dat\n\tduration: 30s\n" +
			"\t\tperforming mix test (read/write ratio: 75/25)\n\t\tblock size: 8192\n\t\tusing random I/O (alignment: 8192)\n" +
			"Total IO\nthread |  bytes  |  I/Os  |  MiB/s  |  I/O per s |  AvgLat  | LatStdDev |  file\ntotal: 42583056384 | 5198127 | 1353.7 | 173270 | 0.184 | 0.1\n\n" +
			"Read IO\ntotal:  31948226560 | 3899930 | 1015.62 | 130000.00 | 0.200 | 0.1\n\nWrite IO\ntotal: 10634829824 | 1298197 | 335.94 | 43000.00 | 0.140 | 0.1\n" +
			"  %-ile |  Read (ms) | Write (ms) | Total (ms)\n   50th |      0.190 |      0.130 |      0.180\n   99th |      0.900 |      0.800 |      0.880\n" +
			"    max |      9.900 |      8.800 |      9.900\n", "diskspd-randrw randrw 8k: 130000 43000 200"},
		"bonnie++": {
			"Version  1.03       ------Sequential Output------ --Sequential Input- --Random-\n" +
				"Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP\n" +
				"uNAS             4G 19202  60 24433  20 19861  13 43262  97 140359  51 515.3   2\n",
			"sequential-write write : 0 0 0\nrewrite write : 0 0 0\nsequential-read read : 0 0 0\nseeks randread : 515 0 0",
		},
		"four throughputs of sysbench, by name": {
			"TEST A\nThroughput:\n    read, MiB/s:      0.00\n    written, MiB/s:   70.00\nLatency (ms):\n  avg: 0.10\n" +
				"TEST B\nThroughput:\n    read, MiB/s:      0.00\n    written, MiB/s:   60.00\nLatency (ms):\n  avg: 0.20\n",
			"fileio-write  : 0 0 100\nfileio-write  : 0 0 200",
		},
		"rates by name": {
			"- my-pool: IOPS=1.5k, BW=6000KiB/s (6144kB/s)(59MiB/10001msec)\nrandread_8k_x\taggrb=2000KB/s,\tiops=250\n" +
				"rate-log: bw=400KB/s, iops=100, runt= 9000msec\nseqwrite: IOPS=10, BW=10MiB/s\next4：IOPS=3000, BW=11.7MiB/s ?\n",
			"my-pool  4k: 1500 0 0?\nrandread_8k_x randread 8k: 250 0 0\nrate-log  4k: 100 0 0?\nseqwrite write 1m: 0 10 0\next4  4k: 3000 0 0?",
		},
		"rates of fio, not by name": {"+  read: IOPS=1.5k, BW=6000KiB/s (6144kB/s)(59MiB/10001msec)\n  write: io=1MB, bw=400KB/s, iops=100\n", ""},
		"pg_test_fsync with decimal commas": {
			"Compare file sync methods using one 8kB write:\n  fdatasync   25315,125 ops/sec   40 usecs/op\n  fsync   55,117 ops/sec   18143 usecs/op\n",
			"fdatasync write 8k: 0 25315 0 sync 40\nfsync write 8k: 0 55 0 sync 18143",
		},
		"rados bench": {"Maintaining 16 concurrent writes of 4096 bytes to objects of size 4096 for up to 10 seconds or 0 objects\n" +
			"    1      16      1197      1181   4.61301   4.61328 0.000686436  0.00124382\nTotal time run:         10.0\nTotal writes made:      60000\n" +
			"Write size:             4096\nBandwidth (MB/sec):     23.4375\nAverage IOPS:           6000\nAverage Latency(s):     0.0026\n" +
			"Max latency(s):         0.3\nMin latency(s):         0.0004\n", "rados-write write 4k: 0 6000 2600"},
		"rados bench without its last lines": {"$ rados -p rbd bench 30 rand\nTotal reads made:     8428\nRead size:            4194304\nBandwidth (MB/sec):    1120\n" +
			"Average Latency:       0.057\nStddev Latency:        0.01\n", "rados-randread randread 4m: 280 0 57000"},
		"rados bench, its seconds": {"rados bench -p rbd 10 write\n   sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)\n" +
			"     0       0         0         0         0         0           -           0\n     1      16        17         1   4.0         4    0.380792    0.38\n" +
			"     2      16        38        22   44.0         0           -     0.5\n", "rados-write write : 0 11 500000"},
		"rados bench, its seconds and their sum": {"Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds or 0 objects\n" +
			"   sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)\n" +
			"     1      16        17         1   4.0         4    0.380792    0.38\nTotal time run:         2.0\nTotal writes made:      30\n" +
			"Write size:             4194304\nBandwidth (MB/sec):     60\nAverage IOPS:           15\n" +
			"Average Latency(s):     0.8\nMax latency(s):         1.3\nMin latency(s):         0.1\n", "rados-write write 4m: 0 15 800000"},
		"pg_test_fsync of PostgreSQL 9.2, without times": {
			"Compare file sync methods using one 8kB write:\nopen_datasync n/a\n" +
				"fdatasync 159.689 ops/sec\nopen_sync 162.821 ops/sec\nCompare file sync methods using two 8kB writes:\nfdatasync 81.1 ops/sec\n",
			"fdatasync write 8k: 0 160 0\nopen_sync write 8k: 0 163 0",
		},
		"elbencho of 2022": {
			"OPERATION RESULT TYPE        FIRST DONE  LAST DONE\nWRITE     Elapsed ms       :      57427      95139\n" +
				"          IOPS             :       8162       4947\n          Throughput MiB/s :       8162       4947\n" +
				"          Total MiB        :     468771     470717\n---\n",
			"elbencho-WRITE  1m: 0 4947 0",
		},
		"elbencho of half an hour": {
			"OPERATION   RESULT TYPE         FIRST DONE   LAST DONE\nWRITE       Elapsed time     :   30m0.262s   30m0.279s\n" +
				"            IOPS             :          84          84\n            Throughput MiB/s :          21          21\n",
			"elbencho-WRITE  256k: 0 84 0",
		},
		"CrystalDiskMark 8": {
			"CrystalDiskMark 8.0.4 x64\n[Read]\n  SEQ    1MiB (Q=  8, T= 1):  3456.123 MB/s [   3296.0 IOPS] <  2425.16 us>\n" +
				"[Write]\n  RND    4KiB (Q=  1, T= 1):   145.412 MB/s [  35500.9 IOPS] <    27.97 us>\n",
			"cdm-read read 1m: 3296 0 2425\ncdm-randwrite randwrite 4k: 0 35501 28",
		},
		"CrystalDiskMark 5": {
			"   Sequential Read (Q= 32,T= 1) :   558.3 MB/s\n  Random Write 4KiB (Q= 32,T= 1) :   334.1 MB/s [ 81567.4 IOPS]\n         Sequential Read (T= 1) :   500.1 MB/s\n",
			"cdm-read read 128k: 4259 0 0\ncdm-randwrite randwrite 4k: 0 81567 0\ncdm-read read : 0 0 0",
		},
		"diskspd's total without latencies": {"Total IO\nthread | bytes | I/Os | MB/s | I/O per s | file\n" +
			"total:        2621440000 |        20000 |     500.00 |    4000.00\n", "diskspd-unknown  128k: 4000 0 0?"},
		"diskspd's total": {"diskspd.exe -b256K -t1 -w100 -o64 -Swu -r -d60 #2\nTotal IO\nthread | bytes | I/Os | MB/s | I/O per s | AvgLat | LatStdDev | file\n" +
			"total:  12288000000 |    48000 |     200.00 |     800.00 |   80.000 |    41.172\n", "diskspd-randwrite randwrite 256k: 0 800 80000"},
		"bonnie++ of today, in a mail": {
			"> >   Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-\n" +
				"> >   Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n" +
				"> >   box           9000M  376k  99  1.5g  96  117m  14 1510k  99  2.5g  95 +++++ +++\n",
			"sequential-write write : 0 0 0\nrewrite write : 0 0 0\nsequential-read read : 0 0 0",
		},
		"bonnie++ that memory answered": {
			"on a machine of 16 GB RAM:\n\n$ bonnie++ -u root -s 9000\nVersion  1.97       ------Sequential Output------ --Sequential Input- --Random-\n" +
				"box           9000M           1500000  25 50598  11           3400000   9 +++++ +++\n",
			"sequential-write write : 0 0 0!\nrewrite write : 0 0 0!\nsequential-read read : 0 0 0!",
		},
		"bonnie++ of a file that is larger": {
			"on a box with 8 GB of RAM:\n\n$ bonnie++ -u root -s 32G -f\nVersion  1.97       ------Sequential Output------ --Sequential Input- --Random-\n" +
				"box              32G           150000  25 50598  11           340000   9 +++++ +++\n",
			"sequential-write write : 0 0 0\nrewrite write : 0 0 0\nsequential-read read : 0 0 0",
		},
		"bonnie++ beside a memory card": {
			"on a box with a 64 GB memory card:\n\n$ bonnie++ -u root -s 32G -f\nVersion  1.97       ------Sequential Output------ --Sequential Input- --Random-\n" +
				"box              32G           150000  25 50598  11           340000   9 +++++ +++\n",
			"sequential-write write : 0 0 0\nrewrite write : 0 0 0\nsequential-read read : 0 0 0",
		},
		"bonnie++ of a small file, too fast to be measured": {
			"Version  1.03       ------Sequential Output------ --Sequential Input- --Random-\n" +
				"box            100M  7735  99 127068  98 63048  84  7890  98 +++++ +++ +++++ +++\n",
			"sequential-write write : 0 0 0!\nrewrite write : 0 0 0!",
		},
		"bonnie++ of a small file": {
			"Version  1.03       ------Sequential Output------ --Sequential Input- --Random-\n" +
				"box            100M  7735  99 127068  98 63048  84  7890  98 130000 80 +++++ +++\n",
			"sequential-write write : 0 0 0\nrewrite write : 0 0 0\nsequential-read read : 0 0 0",
		},
		"bonnie++ -f, whose last word a mail wrapped": {
			"bonnie++ -r 1024 -s 16384 -f\nVersion  1.97       ------Sequential Output------ --Sequential Input- --Random-\n" +
				"zfs              16G           108834  25 50598  11           204522   9 393.0\n4\n",
			"sequential-write write : 0 0 0\nrewrite write : 0 0 0\nsequential-read read : 0 0 0\nseeks randread : 393 0 0",
		},
		"pg_test_fsync without its head": {
			"        fdatasync           400.0 ops/sec    2500 usecs/op\n        fsync               300.0 ops/sec    3333 usecs/op\n" +
				"Non-Sync'ed 8kB writes:\n        write             76100.311 ops/sec      13 usecs/op\nand there:\n        fsync  600.0 ops/sec  1666 usecs/op\n",
			"fdatasync write : 0 400 0 sync 2500\nfsync write : 0 300 0 sync 3333\nfsync write : 0 600 0 sync 1666",
		},
		"pg_test_fsync of Linux": {
			"Compare file sync methods using one 8kB write:\n        open_datasync                      n/a\n" +
				"        fdatasync                           900.000 ops/sec    1111 usecs/op\n        fsync_writethrough                 n/a\n" +
				"Compare file sync methods using two 8kB writes:\n        fdatasync                           500.000 ops/sec    2000 usecs/op\n",
			"fdatasync write 8k: 0 900 0 sync 1111",
		},
		"pg_test_fsync of a Mac": {
			"Compare file sync methods using one 8kB write:\n        fsync                     15062.644 ops/sec      66 usecs/op\n" +
				"        fsync_writethrough           88 ops/sec   11370 usecs/op\n        open_sync                 15060.3 ops/sec      66 usecs/op\n",
			"fsync write 8k: 0 15063 0 sync 66!\nfsync_writethrough write 8k: 0 88 0 sync 11370\nopen_sync write 8k: 0 15060 66!",
		},
	} {
		outs, _ := Read([]byte(c.text))
		if got := told(outs); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestSeconds: the spread of a run's seconds is what the program sums up, or that of those it shows.
func TestSeconds(t *testing.T) {
	const shown = "sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)\n" +
		"1      16        17         1   4.0         4    0.380792    0.38\n2      16        38        22   44.0        84     0.4     0.5\n"
	const sum = "Total time run:         12.5\nTotal writes made:      92\nWrite size:             4194304\nBandwidth (MB/sec):     30\n" +
		"Stddev Bandwidth:       23.4\nMax bandwidth (MB/sec): 64\nMin bandwidth (MB/sec): 2\nMin latency:            0.501\n"
	for text, want := range map[string]fio.Samples{
		"rados bench 10 write\n" + shown:       {Min: 4, Max: 84, Mean: 44, StdDev: 40, N: 2},
		"rados bench 10 write\n" + sum:         {Min: 2, Max: 64, Mean: 30, StdDev: 23.4, N: 12},
		"rados bench 10 write\n" + shown + sum: {Min: 2, Max: 64, Mean: 30, StdDev: 23.4, N: 12},
	} {
		outs, _ := Read([]byte(text))
		if len(outs) != 1 {
			t.Fatalf("%q: %d results", text, len(outs))
		}
		got := outs[0].Jobs[0].Write.BWSamples
		for _, v := range []*float64{&got.Min, &got.Max, &got.Mean, &got.StdDev} {
			*v = math.Round(*v/float64(units.MiB)*10) / 10
		}
		if got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// told writes down "name rw bs: read IOPS, write IOPS, mean in µs" of each result, with ! where no figure of storage is
// in it and ? where it may have been read or written.
func told(outs []*fio.Output) string {
	var got []string
	for _, o := range outs {
		j := o.Jobs[0]
		line := fmt.Sprintf("%s %s %s: %.0f %.0f %.0f", j.Name, j.Options["rw"], j.Options["bs"], float64(j.Read.IOPS),
			float64(j.Write.IOPS), cmp.Or(j.Read.Clat.Mean, j.Write.Clat.Mean)/1e3)
		if j.Sync.Lat.Mean > 0 {
			line += fmt.Sprintf(" sync %.0f", j.Sync.Lat.Mean/1e3)
		}
		if o.Void != "" {
			line += "!"
		}
		if j.Read.Unknown {
			line += "?"
		}
		got = append(got, line)
	}
	return strings.Join(got, "\n")
}

// TestRewrite: bonnie++ prints what it wrote once more, not what it moved; its figures per character are named.
func TestRewrite(t *testing.T) {
	const head = "Version  1.03 ------Sequential Output------ --Sequential Input- --Random-\n"
	outs, _ := Read([]byte(head + "box  4G 19202  60 24433  20 19861  13 43262  97 140359  51 515.3   2\n"))
	if len(outs) != 4 || outs[1].Jobs[0].Read.BW != 0 || outs[1].Jobs[0].Write.BW != 19861<<10 ||
		!strings.Contains(strings.Join(outs[1].Doubts, "\n"), "left out: 19202 and 43262 a second") {
		t.Errorf("%+v", outs)
	}
	outs, _ = Read([]byte(head + "box  4G 24433  20 19861  13 140359  51 515.3   2\n"))
	if len(outs) != 4 || outs[0].Jobs[0].Write.BW != 24433<<10 || len(outs[0].Doubts) != 1 {
		t.Errorf("%+v", outs)
	}
	if outs, _ = Read([]byte(head + "box  4G 1 20 2 13 3 51 4 2 515.3 2\n")); len(outs) != 0 {
		t.Errorf("five columns are neither form: %+v", outs)
	}
}

// TestTimesOfOthers: the pauses of ioping do not count, and what sysbench prepared has a rate though no I/Os.
func TestTimesOfOthers(t *testing.T) {
	for text, want := range map[string]string{
		"--- /x (block device 1 GiB) ioping statistics ---\n" +
			"9 requests completed in 50.0 ms, 36 KiB read, 180 iops, 720 KiB/s\n" +
			"min/avg/max/mdev = 1 ms / 5 ms / 9 ms / 2 ms\n": "ioping-read 45ms 720 KiB/s 0 B/s",
		"2097152 bytes written in 0.50 seconds (4.00 MiB/sec).\n": "prepare 500ms 0 B/s 4 MiB/s",
	} {
		outs, _ := Read([]byte(text))
		if len(outs) != 1 {
			t.Fatalf("%q: %d outputs", text, len(outs))
		}
		j := outs[0].Jobs[0]
		if got := fmt.Sprint(j.Name, " ", j.Runtime, " ", j.Read.BW, " ", j.Write.BW); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// ddOf is what dd prints of n records of a MiB.
func ddOf(n int, sec float64) string {
	b := float64(n << 20)
	return fmt.Sprintf("%d+0 records in\n%[1]d+0 records out\n%d bytes (x MB, y MiB) copied, %.3f s, %.3g MB/s\n", n, n<<20, sec,
		b/sec/1e6)
}

// TestDirections: what dd and sysbench did is what their command, their heading or the line below says; else it is not
// known.
func TestDirections(t *testing.T) {
	const sysbench = "Block size 16KiB\nDoing %s test\n    reads/s:     %s\n    writes/s:    %s\n"
	for name, c := range map[string]struct{ text, want string }{
		"GNU dd of a Mac": {"% gdd if=/dev/urandom of=~/x bs=1M count=9\n" +
			ddOf(9, 0.01), "dd-write write 1m: 0 900 0!"},
		"behind sudo": {"me@box:~$ sudo dd if=/dev/zero of=x bs=1M oflag=direct\n" +
			ddOf(9, 3), "dd-write write 1m: 0 3 0"},
		"in backticks":   {"`dd if=/dev/zero of=/dev/sdx bs=1M`\n" + ddOf(9, 3), "dd-write write 1m: 0 3 0"},
		"a read to zero": {"dd bs=1M if=/data/x of=/dev/zero\n" + ddOf(9, 3), "dd-read read 1m: 3 0 0"},
		"zero to zero":   {"dd bs=1M if=/dev/zero of=/dev/zero\n" + ddOf(9, 3), "dd-read read 1m: 3 0 0!"},
		"a heading": {"Running DD WRITE test...\n" + ddOf(9, 3) + "\nRunning DD READ test...\n" +
			ddOf(9, 1), "dd-write write 1m: 0 3 0\ndd-read read 1m: 9 0 0"},
		"in colour, below it": {"\x1b[33mRunning dd tests ...\x1b(B\x1b[m\n" + ddOf(9, 3) +
			"\x1b[33mDD Write Speed: 3.1 MB/s\x1b(B\x1b[m\n", "dd-write write 1m: 0 3 0"},
		"nothing":          {ddOf(9, 3), "dd-unknown  1m: 3 0 0?"},
		"a file in memory": {"dd if=/mnt/ramdisk/x of=/dev/null bs=1M\n" + ddOf(9, 3), "dd-read read 1m: 3 0 0!"},
		"to a file in memory": {"gdd if=/dev/zero of=/Volumes/RAMDisk/x bs=1M\n" +
			ddOf(50, 30), "dd-write write 1m: 0 2 0!"},
		"to zram": {"dd if=/dev/zero of=/dev/zram0 bs=1M oflag=direct\n" +
			ddOf(50, 3), "dd-write write 1m: 0 17 0!"},
		"a file of that name": {"dd if=/data/ramdisk.img of=/dev/null bs=1M\n" + ddOf(9, 3), "dd-read read 1m: 3 0 0"},
		"that waited":         {"dd if=/dev/zero of=/mnt/usb/x bs=1M\n" + ddOf(700, 19), "dd-write write 1m: 0 37 0"},
		"of random data":      {"dd if=/dev/urandom of=/mnt/usb/x bs=1M\n" + ddOf(700, 19), "dd-write write 1m: 0 37 0!"},
		"of another file":     {"dd if=/mnt/nfs/y of=/mnt/usb/x bs=1M\n" + ddOf(700, 19), "dd-write write 1m: 0 37 0!"},
		"synced, timed as one": {"# time (dd if=/dev/zero of=/pool/z bs=1M && sync)\n" + ddOf(700, 7) +
			"\nreal    0m7.100s\n", "dd-write write 1m: 0 100 0"},
		"synced for long": {"# time (dd if=/dev/zero of=/pool/z bs=1M && sync)\n" + ddOf(700, 7) +
			"\nreal    0m9.100s\n", "dd-write write 1m: 0 100 0!"},
		"synced after it": {"# time dd if=/dev/zero of=/pool/z bs=1M; sync\n" + ddOf(700, 7) +
			"\nreal    0m7.000s\n", "dd-write write 1m: 0 100 0!"},
		"as fast as a copy": {"dd if=/dev/zero of=/mnt/usb/x bs=1M\n" + ddOf(700, 7), "dd-write write 1m: 0 100 0!"},
		"in less than 1 s":  {"dd if=/dev/zero of=/mnt/usb/x bs=1M\n" + ddOf(9, 0.9), "dd-write write 1m: 0 10 0!"},
		"in small pieces": {
			"dd if=/dev/zero of=x bs=512\n10240000 bytes (10 MB) copied, 0.29 s, 35 MB/s\n" +
				"dd if=/dev/zero of=x bs=512\n102400000 bytes (102 MB) copied, 2.9 s, 35 MB/s\n" +
				"dd if=/dev/zero of=x bs=512\n102400000 bytes (102 MB) copied, 9 s, 11 MB/s\n",
			"dd-write write 512: 0 68966 0!\ndd-write write 512: 0 68966 0!\ndd-write write 512: 0 22222 0",
		},
		"a mode":              {fmt.Sprintf(sysbench, "random write", "0.00", "900.00"), "fileio-randwrite randwrite 16k: 0 900 0"},
		"a miscounted one":    {fmt.Sprintf(sysbench, "random write", "900.00", "0.00"), "fileio-randwrite randwrite 16k: 0 900 0"},
		"a mode in a command": {"$ sysbench fileio --file-test-mode=rndrw run\n\nThroughput:\n  read, MiB/s: 3.00\n  written, MiB/s: 2.00\n", "fileio-randrw randrw : 0 0 0"},
		"tests of memory and the CPU": {"Running MEMORY test...\nOperations performed: 1000 (50.0 ops/sec)\n total time: 20.0s\n" +
			" min: 0.00ms\n avg: 0.02ms\n max: 9.00ms\n", ""},
		"what was moved in all": {"Operations performed:  3000 Read, 2000 Write, 60 Other = 5060 Total\nRead 46.875Mb  Written 31.25Mb  Total transferred 78.125Mb  (7.8Mb/sec)\n" +
			"    total time:      10.0000s\n", "fileio-rw  16k: 300 200 0"},
		"elbencho whose head is cut": {"            Throughput MiB/s :         900         900\n---\nOPERATION   RESULT TYPE         FIRST DONE   LAST DONE\n" +
			"READ        Elapsed time     :      1.5s     2.0s\n            Throughput MiB/s :         700         600\n---\n" +
			"READ        Elapsed time     :      1.5s     2.0s\n            Throughput MiB/s :         800         500\n", "elbencho-unknown  : 0 0 0?\nelbencho-READ  : 0 0 0\nelbencho-READ  : 0 0 0"},
	} {
		outs, _ := Read([]byte(c.text))
		if got := told(outs); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestCounts: I/Os are those that the text counts, and a line of progress is no result.
func TestCounts(t *testing.T) {
	const progress = "9437184 bytes (9.4 MB, 9.0 MiB) copied, 1 s, 9.4 MB/s\n18874368 bytes (19 MB, 18 MiB) copied, 2 s, 9.4 MB/s\n"
	for name, c := range map[string]struct {
		text string
		want []uint64
	}{
		"records":            {"dd if=/dev/zero of=x bs=1M oflag=direct\n" + ddOf(333, 3.21), []uint64{333}},
		"a part of one":      {"dd if=x of=/dev/null bs=1M\n7+1 records in\n7+1 records out\n8000000 bytes (8 MB) copied, 3.3 s, 2.4 MB/s\n", []uint64{8}},
		"no records":         {"dd if=/dev/zero of=x bs=4k\n335544320 bytes (336 MB) copied, 1,86384 s, 180 MB/s\n", []uint64{81920}},
		"of progress":        {"dd if=/dev/zero of=x bs=1M status=progress\n" + progress + ddOf(30, 3), []uint64{30}},
		"progress alone":     {"dd if=/dev/zero of=x bs=1M status=progress\n" + progress, []uint64{18}},
		"rounds of a loop":   {strings.Repeat("9437184 bytes (9.4 MB, 9.0 MiB) copied, 1.1 s, 8.6 MB/s\n", 3), []uint64{0, 0, 0}},
		"two without a word": {ddOf(9, 1) + ddOf(18, 2), []uint64{9, 18}},
		"elbencho's":         {"$ elbencho -r -b 4M /x\nREAD Elapsed time : 1.5s 3.7s\nIOPS : 690 691\nThroughput MiB/s : 2760 2764\nTotal MiB : 10240 10240\n", []uint64{2560}},
	} {
		outs, _ := Read([]byte(c.text))
		var got []uint64
		for _, o := range outs {
			got = append(got, o.Jobs[0].Read.N+o.Jobs[0].Write.N)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestNothingForeign: prose with the same words, tests of other things and fio's own lines are left as
// they are.
func TestNothingForeign(t *testing.T) {
	for _, text := range []string{
		"", "Random Read/Write IOPS: /\nAverage Latency (usec) Read/Write: /\n", "JobName: backup\nread:\n  IOPS=\n",
		"--- . (ext4 /dev/sda) ioping statistics ---\n", "IOPS (Read/Write)\nRandom: many\n",
		"sysbench 1.0.20\nCPU speed:\n    events per second:  1000\ntotal number of events:  10\nexecution time (avg/stddev):   9.9/0.00\n",
		"  read: IOPS=100, BW=400KiB/s (410kB/s)(4000KiB/10s)\n", strings.TrimPrefix(yabsText, "fio Disk Speed Tests"),
		"fio Disk Speed Tests\nBlock Size | 4k (IOPS)\nRead | fast\nWrite | 1.0 MB/s\n",
	} {
		if outs, rest := Read([]byte(text)); len(outs) != 0 || string(rest) != text {
			t.Errorf("%q: %+v, left %q", text, outs, rest)
		}
	}
}

func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[max(0, len(data)-600):])
	}
	f.Add([]byte(kubestrText))
	f.Add([]byte(yabsText))
	f.Add([]byte("dd if=/dev/zero of=x bs=1M\n9437184 bytes (9.4 MB, 9.0 MiB) copied, 1 s, 9.4 MB/s\n" + ddOf(9, 3)))
	f.Add([]byte("Maintaining 16 concurrent writes of 4096 bytes\nsec Cur ops\n 1 16 17 1 4.0 4 0.38 0.38\nTotal time run: 2.0\nTotal writes made: 30\n"))
	f.Add([]byte("Mixed Random Read/Write IOPS: 43.1k/14.4k\nLatency in ns (Read/Write)\nRandom: 469,664 / 2,148,797\n"))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		data = data[:min(len(data), 1<<10)]
		outs, rest := Read(data)
		lines := strings.Count(string(data), "\n")
		if strings.Count(string(rest), "\n") != lines {
			t.Errorf("%d lines of %d are left", strings.Count(string(rest), "\n"), lines)
		}
		for _, o := range outs {
			if o.Line < 1 || o.End < o.Line || o.End > lines+1 || o.Program == "" || len(o.Jobs) == 0 || len(o.Doubts) == 0 {
				t.Errorf("%+v", o)
			}
			for _, j := range o.Jobs {
				for _, d := range j.Directions() {
					if !(d.IOPS >= 0 && d.BW >= 0 && d.Clat.Mean >= 0) || math.IsInf(float64(d.IOPS)+float64(d.BW), 0) ||
						d.Runtime < 0 {
						t.Errorf("%+v", d)
					}
				}
			}
		}
	})
}

// TestCreatedFilesAreNoBlocks: what bonnie++ says of creating files is no doubt of a table of blocks below it.
func TestCreatedFilesAreNoBlocks(t *testing.T) {
	const (
		blocks = "Version 1.03 ------Sequential Output------ --Sequential Input- --Random-\nMachine Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP /sec %CP\n"
		row    = "host 4G 51541 68 53685 14 25609 4 51093 55 53825 2 119.0 0\n"
		fast   = "host 4G 51541 68 53685 14 25609 4 51093 55 +++++ +++ 119.0 0\n"
		create = " ------Sequential Create------ --------Random Create--------\n files /sec %CP /sec %CP /sec %CP /sec %CP /sec %CP /sec %CP\n" +
			" 16 +++++ +++ +++++ +++ +++++ +++ +++++ +++ +++++ +++ +++++ +++\n"
	)
	for text, want := range map[string]bool{blocks + row + create + blocks + row: false, blocks + row + create + blocks +
		fast: true} {
		said := false
		outs, _ := Read([]byte(text))
		for _, o := range outs {
			said = said || strings.Contains(strings.Join(o.Doubts, " "), "+++++")
		}
		if len(outs) < 7 || said != want {
			t.Errorf("%q: %d results, a doubt of +++++: %v", text, len(outs), said)
		}
	}
}
