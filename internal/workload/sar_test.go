package workload

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func within(got, want, share float64) bool { return math.Abs(got-want) <= share*math.Abs(want)+1e-9 }

func seenIn(t *testing.T, file string) []Observed {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := From(data, 0)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return all
}

// The same six seconds as sar -d -p 1 6 (sysstat 12.6.1, recorded on a VM on 2026-11-22; rows of
// idle loop devices taken out) and sadf -d print them.
func TestSarAndSadf(t *testing.T) {
	for _, file := range []string{"sar-12.6.txt", "sadf-12.6.csv"} {
		all := seenIn(t, file)
		if len(all) != 1 || all[0].Device != "vda" || len(all[0].Intervals) != 6 || !all[0].Known {
			t.Fatalf("%s: %+v", file, all)
		}
		i := all[0].Intervals[4] // 7,622 requests, 512 kB read, 121,168 written, 1,516 discarded
		if i.Len != time.Second || !within(i.Read.Rate, 512*1024, 0.001) || !within(i.Write.Rate, 121168*1024, 0.001) ||
			!within(i.Read.IOPS, 7622.0*512/(512+121168+1516), 0.001) || !within(i.Write.IOPS, 7622.0*121168/(512+121168+1516), 0.001) ||
			i.Queue != 5.34 || i.Read.Wait != 700*time.Microsecond || !within(i.Util, 0.168, 0.001) {
			t.Errorf("%s: %+v", file, i)
		}
		if !strings.Contains(strings.Join(all[0].Notes, " "), "counts reads and writes together") {
			t.Errorf("%s: %q: nothing notes that the requests were divided", file, all[0].Notes)
		}
		if _, _, err := Derive("app", all); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Columns up to sysstat 11.6 (rd_sec/s in sectors, DEV first), midnight, AM and PM, and averages.
func TestSarOfOldVersions(t *testing.T) {
	const old = `Linux 3.10.0 (db1) 	11/20/2026 	_x86_64_	(8 CPU)

11:59:58 PM       DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
11:59:59 PM   dev8-16    100.00   1600.00      0.00     16.00      0.50      5.00      1.00     10.00

11:59:59 PM       DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
12:00:00 AM   dev8-16     50.00      0.00    800.00     16.00      0.25      5.00      1.00      5.00
12:00:01 AM   dev8-16      4.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00

Average:          DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
Average:      dev8-16     51.33    533.33    266.67     16.00      0.25      5.00      1.00      5.00
`
	all, err := From([]byte(old), 0)
	if err != nil || len(all) != 1 || len(all[0].Intervals) != 3 {
		t.Fatalf("%+v %v", all, err)
	}
	i := all[0].Intervals
	if i[0].Read != (Flow{100, 1600 * 512, 5 * time.Millisecond}) || i[1].Write != (Flow{50, 800 * 512, 5 * time.Millisecond}) ||
		i[1].Read.IOPS != 0 || i[2].Write.IOPS != 4 || i[2].Len != time.Second || i[0].Queue != 0.5 {
		t.Errorf("%+v", i)
	}
	for text, want := range map[string]string{
		"10:00:00 DEV tps rkB/s\n10:00:01 sda 1\n":                "line 2: want 3 columns",
		"10:00:00 DEV tps rkB/s\n10:00:01 sda x 1\n":              `line 2: "tps": "x" is not a number`,
		"10:00:00 DEV tps rkB/s\n99:00:01 sda 1 1\n":              "is not a time of day",
		"10:00:00 DEV tps rkB/s\n":                                "no report of sar -d",
		sadfHead + "DEV;tps\nh;1;yesterday;sda;1\n":               `"yesterday" is not a time`,
		sadfHead + "CPU;%user\nh;1;2026-11-22 00:00:00 UTC;all;1": "no report of sar -d",
	} {
		if _, err := From([]byte(text), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Made-up events (blktrace is not built into the kernel here): ten reads per second of 8 KiB that
// take 2 ms and five writes of two merged 4 KiB that take 1 ms, printed by blkparse 1.2.0 on
// 2026-11-22.
func TestBlkparse(t *testing.T) {
	all := seenIn(t, "blkparse-1.2.txt")
	if len(all) != 1 || all[0].Device != "dev8-16" || len(all[0].Intervals) != 2 || !all[0].Known || len(all[0].Notes) > 0 {
		t.Fatalf("%+v", all)
	}
	for _, i := range all[0].Intervals {
		if i.Read != (Flow{10, 10 * 8192, 2 * time.Millisecond}) || i.Write != (Flow{5, 5 * 8192, time.Millisecond}) ||
			!within(i.Queue, 10*0.002+5*0.001, 1e-6) || i.Len != time.Second {
			t.Errorf("%+v", i)
		}
	}
	if want := 10.0 / 41; !within(all[0].Merged, want, 0.01) {
		t.Errorf("merged %v, want %v", all[0].Merged, want)
	}
	d, _, err := Derive("app", all)
	if err != nil || len(d.Streams) != 2 {
		t.Fatalf("%+v %v", d, err)
	}
	const noEnd = "  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n"
	if _, err := From([]byte(noEnd), 0); err == nil || !strings.Contains(err.Error(), "no request was completed") {
		t.Errorf("%v", err)
	}
	if _, err := From([]byte(strings.Replace(noEnd, "0.000000000", "99999999999.000000000", 1)), 0); err == nil {
		t.Error("a trace of three thousand years is read")
	}
}
