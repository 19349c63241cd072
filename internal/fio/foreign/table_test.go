package foreign

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys/bounded"
)

// TestRoundsOfATable: the article that quotes no output has its rounds in a table, by number.
func TestRoundsOfATable(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/seeds/striped-8xnvme-rounds.md")
	if err != nil {
		t.Fatal(err)
	}
	outs := ReadTable(data)
	if len(outs) != 3 {
		t.Fatalf("%d rows", len(outs))
	}
	for i, want := range []struct {
		title string
		iops  float64
	}{{"round 11", 137000}, {"round 15", 137000}, {"round 16", 238000}} {
		if o := outs[i]; o.Title != want.title || float64(o.Jobs[0].Read.IOPS) != want.iops {
			t.Errorf("%s: %v IOPS, want %+v", o.Title, o.Jobs[0].Read.IOPS, want)
		}
	}
	for _, none := range []string{"", "a | b\n---|---\n1 | 2\n", "IOPS | x\n---|---\n1 | 2\n", "round | IOPS\n---|---\n11 |\n| \n"} {
		if outs := ReadTable([]byte(none)); len(outs) != 0 {
			t.Errorf("%q: %d rows", none, len(outs))
		}
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add([]byte("0k IOPS|IOPS\n0|1"))
	f.Add([]byte("round | IOPS\n---|----\n11 | 137K\n|16|238.1k|\n"))
	f.Add([]byte("Block Size | 4k (IOPS) | 8k (IOPS)\n--- | ---- | ---\nRead | 4 MB/s (5.0k) | - |\n\nx | p50 | p99\n-|-|-\na | 1 ms | 2 s\n"))
	f.Add([]byte("## A\n|Metric|Measured|\n|-|--|\n|IOPS|~5k|\n|Latency (p99)|1.5ms|\n|Bandwidth|5 MB/s|\n"))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		for _, o := range ReadTable(data) {
			if j := o.Jobs[0]; j.Name == "" || j.Read.IOPS < 0 || j.Write.IOPS < 0 || j.Read.BW < 0 {
				t.Errorf("%+v", o)
			}
		}
	})
}

// TestMeasuredTables: a table whose rows are metrics is one result; targets and words are none.
func TestMeasuredTables(t *testing.T) {
	outs := ReadTable([]byte("# A\n\n### Mixed\n| Metric | Target | Measured |\n|---|---|---|\n" +
		"| Read IOPS | ~13,000 | **13,100** |\n| Write IOPS | 5k | 5.6k |\n| Total IOPS | 1 | 18,700 |\n" +
		"| Bandwidth | x | 146 MiB/s |\n| Latency (avg) | <1ms | 0.589 ms |\n| Latency (p99) | | 1.06ms |\n| Cost | | 12 |\n"))
	if len(outs) != 1 {
		t.Fatalf("%d results", len(outs))
	}
	o, j := outs[0], outs[0].Jobs[0]
	if o.Title != "Mixed" || j.Read.IOPS != 13100 || j.Write.IOPS != 5600 || j.Read.BW != 146<<20 ||
		j.Read.Clat.Mean != 589e3 || len(j.Read.Clat.Percentiles) != 1 || j.Read.Clat.Percentiles[0].P != 99 {
		t.Errorf("%s: %+v", o.Title, j)
	}
	want := []fio.Goal{
		{Side: "read", Figure: "iops", Value: 12350},
		{Side: "write", Figure: "iops", Value: 5000},
		{Side: "total", Figure: "iops", Value: 1},
		{Figure: "clat", Statistic: "mean", Value: 1e6},
	}
	if !slices.Equal(o.Goals, want) {
		t.Errorf("%+v", o.Goals)
	}
	// In whatever language: what is about something, or a bound, was expected; beside nothing else it was measured.
	for text, want := range map[string]string{
		"## A\n| x | Mục tiêu | Đo được |\n|--|--|--|\n| Bandwidth | ~500 MB/s | 508 MB/s |\n| IOPS | ≥ 480 | 508 |\n": "A: 508 [{ bw  4.75e+08 true} { iops  480 false}]",
		"| x | Alt | Neu |\n|--|--|--|\n| IOPS | 500 | ~508 |\n":                                                       "table: 500 [{ iops  482.6 false}]",
		"| x | Alt | Neu |\n|--|--|--|\n| IOPS | 500 | 508 |\n":                                                        "Alt: 500 []; Neu: 508 []",
		"| x | Measured |\n|--|--|\n| IOPS | ~508 |\n":                                                                 "table: 508 []",
	} {
		var got []string
		for _, o := range ReadTable([]byte(text)) {
			got = append(got, fmt.Sprintf("%s: %v %v", o.Title, float64(o.Jobs[0].Read.IOPS), o.Goals))
		}
		if all := strings.Join(got, "; "); all != want {
			t.Errorf("%q: %s, want %s", text, all, want)
		}
	}
	if outs := ReadTable([]byte("| x | Measured |\n|--|--|\n| IOPS | 16.200 |\n| Bandwidth | 5 MB/s |\n")); len(outs) != 1 ||
		!strings.Contains(outs[0].Doubts[0], "16.200 can be read in two ways") {
		t.Errorf("%+v", outs)
	}
	for _, none := range []string{
		"| Metric | Target |\n|---|---|\n| IOPS | 540 |\n", "| Metric | Measured |\n|---|---|\n| Cost | 12 |\n| IOPS | many |\n",
		"| # | Scenario | Measured |\n|---|---|---|\n| 1 | IOPS | 12 |\n",
	} {
		if outs := ReadTable([]byte(none)); len(outs) != 0 {
			t.Errorf("%q: %d results", none, len(outs))
		}
	}
}

// TestColumnsOfATable: beside IOPS the columns with a known name count, in the unit of the cell or of
// the head; the row or the column says the direction, or nobody.
func TestColumnsOfATable(t *testing.T) {
	outs := ReadTable([]byte("| Test | Bandwidth | IOPS | Avg Latency | p99 clat | Total |\n|---|---|---|---|---|---|\n" +
		"| Random Write | 189 MiB/s (198 MB/s) | 48,300 | 2.65 ms | 9 ms | 5 GiB |\n| Mixed read/write | 4 MiB/s | 1,024 | n/a | | |\n" +
		"\n| engine | read bw (MiB/s) | read IOPS | read lat (us) | write IOPS | write latency (s) |\n|---|---|---|---|---|---|\n" +
		"| aio | 13.5 | 3456 | 4572.4 | 57 | 0.25 |\n"))
	if len(outs) != 4 {
		t.Fatalf("%d results", len(outs))
	}
	w, both, aio, written := outs[0].Jobs[0], outs[1].Jobs[0], outs[2].Jobs[0], outs[3].Jobs[0]
	if w.Read.IOPS != 0 || w.Write.IOPS != 48300 || w.Write.BW != 189<<20 || w.Write.Clat.Mean != 2.65e6 ||
		len(w.Write.Clat.Percentiles) != 1 || w.Write.Clat.Percentiles[0].Value != 9*time.Millisecond {
		t.Errorf("%+v", w)
	}
	if both.Read.IOPS != 1024 || both.Write.IOPS != 0 || !strings.Contains(outs[1].Doubts[0], "is not known") {
		t.Errorf("%+v, %q", both, outs[1].Doubts)
	}
	if aio.Read.IOPS != 3456 || aio.Read.BW != 13.5*(1<<20) || aio.Read.Clat.Mean != 4572.4e3 || aio.Write.IOPS != 0 ||
		written.Read.IOPS != 0 || written.Write.IOPS != 57 || written.Write.Clat.Mean != 250e6 ||
		strings.Contains(outs[2].Doubts[0], "not known") {
		t.Errorf("%+v, %q", aio, outs[2].Doubts)
	}
	outs = ReadTable(
		[]byte("| file | rw | read-iops-mean | read-bw-mean(KiB/s) | latency-read-max(us) | latency-read-mean(us) | " +
			"write-iops-mean |\n|---|---|---|---|---|---|---|\n| /dev/vdb | randread | 1293.7 | 5175 | 11699 | 767.4 | 0 |\n" +
			"\n| Disk | Random Read (IOPS) | IOPS (write) | IOPS stddev |\n|---|---|---|---|\n| SSD | 22,025 | 18,731 | 12 |\n"),
	)
	if len(outs) != 3 {
		t.Fatalf("%d results of heads in other words", len(outs))
	}
	vdb, ssd, written := outs[0].Jobs[0], outs[1].Jobs[0], outs[2].Jobs[0]
	if vdb.Read.IOPS != 1293.7 || vdb.Read.BW != 5175<<10 || vdb.Read.Clat.Mean != 767.4e3 || vdb.Write.IOPS != 0 {
		t.Errorf("%+v", vdb)
	}
	if ssd.Read.IOPS != 22025 || ssd.Write.IOPS != 0 || written.Write.IOPS != 18731 {
		t.Errorf("%+v", ssd)
	}
	if outs := ReadTable(
		[]byte("| a | 4K Random Read (IOPS) | Random Read IOPS | Sequential Read IOPS |\n|---|---|---|---|\n" +
			"| x | 1 | 2 | 3 |\n"),
	); len(
		outs,
	) != 3 {
		t.Errorf("three kinds of reads in a row are no one result: %d results", len(outs))
	}
	if outs := ReadTable([]byte("| a | Bandwidth | Latency |\n|---|---|---|\n| x | 1 MiB/s | 2 ms |\n")); len(outs) != 0 {
		t.Errorf("without IOPS: %d rows", len(outs))
	}
}

// TestTablesOfOthers: CSV with a header, pipes without a rule, a rule of one dash, columns that say what was done, and
// a table whose columns are systems: "name rw bs: read, write IOPS, MB/s, mean in us" of each result.
func TestTablesOfOthers(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"CSV": {
			"workload,size,run,op,bw_MB_s,iops,p99_ms,lat_mean_ms\nrand,100M,1,read,361.5,2758.3,1.12,0.36\n",
			"rand 100M run 1 read randread 128k: 2758 0 361.5 360",
		},
		"semicolons, decimal commas": {"test;read bw (MB/s);read iops\na;12,5;3052\n", "a  : 3052 0 12.5 0"},
		"pipes alone": {
			"object_size | operation | read-iops | write-iops\n 4KiB | randread | 40,074 | 0\n 4KiB | randwrite | 0 | 36,92\n",
			"4KiB randread randread 4k: 40074 0 0.0 0",
		},
		"one dash": {"|iodepth|rw|bs|iops|iops, ceph|\n|-|-|-|-|-|\n|16|write|4M|40.1k IOPS|194|\n", "iodepth 16 write 4M write 4m: 0 40100 0.0 0"},
		"systems": {
			"| | Old | New | Change |\n|-|-|-|-|\n| Total IOPS | 100 | 200 | 2 |\n| p99 latency | 1 ms | 2ms | |\n",
			"Old  : 100 0 0.0 0\nNew  : 200 0 0.0 0",
		},
		"reads alone, no IOPS": {"| disk | seq read (MB/s) |\n|--|--|\n| sda | 120 |\n", "sda  : 0 0 120.0 0"},
		"kinds of reads and writes side by side": {
			"| Block Size (KB) | Sequential Read (MB/s) | Sequential Write (MB/s) | Random Read (MB/s) |\n|--|--|--|--|\n| 4 | 24.5 | 13.8 | 17.1 |\n",
			"Block Size (KB) 4 sequential read read 4k: 0 0 24.5 0\nBlock Size (KB) 4 sequential write write 4k: 0 0 13.8 0\n" +
				"Block Size (KB) 4 random read randread 4k: 0 0 17.1 0",
		},
		"two quantities in a cell, two tables without a gap": {
			"Block Size | 4k            (IOPS) | 8k            (IOPS)\n  ------   | ---            ----  | ----           ----\n" +
				"Read       | 400.00 MB/s  (100000) | 402.40 MB/s  (50300)\nRandwrite  | 300.00 MB/s (75.0k) | - | \n           |            |\n" +
				"Block Size | 1m            (IOPS) |\n  ------   | ---            ----  |\nRandread   | 400.0 MB/s   (382) |\n",
			"Read 4k read 4k: 100000 0 400.0 0\nRead 8k read 8k: 50300 0 402.4 0\nRandwrite 4k randwrite 4k: 0 75000 300.0 0\n" +
				"Randread 1m randread 1m: 382 0 400.0 0",
		},
		"two tests in a row": {
			"| test | read MB/s | write MB/s |\n|--|--|--|\n| seq 1M | 7,400 | 6,900 |\n| 70/30 | 700 | 300 |\n",
			"seq 1M read  1m: 0 0 7400.0 0\nseq 1M write  1m: 0 0 6900.0 0\n70/30  : 0 0 1000.0 0",
		},
		"a mix by its heading":      {"# rw=randrw\n| test | read MB/s | write MB/s |\n|--|--|--|\n| a | 7 | 3 |\n", "a  : 0 0 10.0 0"},
		"a mix by its latency":      {"| test | read IOPS | write IOPS | avg lat ms |\n|--|--|--|--|\n| a | 7 | 3 | 2 |\n", "a  : 7 3 0.0 2000"},
		"a mix of reads and writes": {"Block Size | 4k (IOPS)\n--- | ---\nRead | 4.00 MB/s (1000)\nWrite | 4.00 MB/s (1000)\nTotal | 8.00 MB/s (2.0k)\n", ""},
		"percentiles alone":         {"| Setup | p50 | p99 | max |\n|--|--|--|--|\n| zfs | 276 ms | 16.6 s | 24.6 s |\n| now | a | 2 ms | |\n", "zfs  : 0 0 0.0 0"},
		"what ran in each second":   {"Label,Phase,MiB/s,IOPS,Entries,Lat IO us\nx,READ,100,200,0,90\n", "x READ Entries 0 read 512k: 200 0 104.9 90"},
		"tests of a disk, in Portuguese, with decimal commas": {
			"| Teste | Leitura (MB/s) | Escrita (MB/s) |\n|--|--|--|\n| SEQ1M Q8T1 (x) | 541,73 | 3,20 |\n",
			"SEQ1M Q8T1 (x) read  1m: 0 0 541.7 0\nSEQ1M Q8T1 (x) write  1m: 0 0 3.2 0",
		},
		"units in the cells": {
			"| Test | Read | Write |\n|--|--|--|\n| RND4K Q32T1 | 2,048 MB/s (500K IOPS) | 41 MB/s (10,000 IOPS) |\n",
			"RND4K Q32T1 read  4k: 500000 0 2048.0 0\nRND4K Q32T1 write  4k: 0 10000 41.0 0",
		},
		"sizes in the cells":   {"| Test | Read | Write |\n|--|--|--|\n| RND4K Q32T1 | 2,048 MB | 41 MB |\n", ""},
		"points for decimals":  {"| |Read(MB/s)|Write(MB/s)|\n|--|--|--|\n| 512K | 17422.000 | 907.000 |\n", "512K read  512k: 0 0 17422.0 0\n512K write  512k: 0 0 907.0 0"},
		"points for thousands": {"| |Read(MB/s)|Write(MB/s)|\n|--|--|--|\n| 512K | 17.422 | 7.000 |\n", ""},
		"a specification":      {"| type | max IOPS | price |\n|--|--|--|\n| gp3 | 16000 | 5 |\n", ""},
	} {
		var got []string
		for _, o := range ReadTable([]byte(c.text)) {
			j := o.Jobs[0]
			got = append(
				got,
				fmt.Sprintf("%s %s %s: %.0f %.0f %.1f %.0f", j.Name, j.Options["rw"], j.Options["bs"], float64(j.Read.IOPS),
					float64(j.Write.IOPS), float64(j.Read.BW+j.Write.BW)/1e6, (j.Read.Clat.Mean+j.Write.Clat.Mean)/1e3),
			)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), c.want)
		}
	}
}

// TestTablesOfOtherWords: what people call IOPS and MB/s is known; a figure by another time is not.
func TestTablesOfOtherWords(t *testing.T) {
	for text, want := range map[string]string{
		"SIZE | BS | IOP/s (R) | IOP/s (W)\n--- | --- | --- | ---\n1G | 4K | 1500 | 500\n": "1500 IOPS 0 read, 0 IOPS 0 written0 IOPS 0 read, 500 IOPS 0 written",
		"| Disk | 4K Random Read |\n| --- | --- |\n| SD card | 8.00 MiB/sec |\n":           "0 IOPS 8388608 read, 0 IOPS 0 written",
		"| Disk | 4K Random Read |\n| --- | --- |\n| SD card | 8.00 MiB/min |\n":           "",
	} {
		got := ""
		for _, o := range ReadTable([]byte(text)) {
			r, w := o.Jobs[0].Read, o.Jobs[0].Write
			got += fmt.Sprintf("%.0f IOPS %.0f read, %.0f IOPS %.0f written", float64(r.IOPS), float64(r.BW), float64(w.IOPS),
				float64(w.BW))
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Columns of random and of sequential I/O are results of their own, whatever the text says of a mix.
func TestColumnsOfOrders(t *testing.T) {
	outs := ReadTable([]byte("### mixed fio profiles\n| Pool | Random read IOPS | Random write IOPS | Random read p99 | Seq read |\n" +
		"|--|--:|--:|--:|--:|\n| **rep2** | **61,490** | 43,326 | 3.39 ms | 5,737 MiB/s |\n"))
	if len(outs) != 3 {
		t.Fatalf("%d results", len(outs))
	}
	for i, want := range []string{"rep2 random read: 61490 0 0 B/s", "rep2 random write: 0 43326 0 B/s", "rep2 sequential read: 0 0 5,737 MiB/s"} {
		j := outs[i].Jobs[0]
		if got := fmt.Sprintf("%s: %.0f %.0f %v", j.Name, float64(j.Read.IOPS), float64(j.Write.IOPS), j.Read.BW); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
