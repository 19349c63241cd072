package output

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	fiotext "plimsoll/internal/fio/text"
)

func readSeed(t *testing.T, name string) []*fio.Output {
	t.Helper()
	outs, err := ReadText(bytes.NewReader(mustRead(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return outs
}

// printed writes an Output as fio would, one item a figure, so that each line of a seed can be
// looked up in it. Nothing here is taken from the text: what a reader lost or changed is missing.
func printed(o *fio.Output) map[string]bool {
	lines := map[string]bool{}
	add := func(format string, args ...any) { lines[squeeze(fmt.Sprintf(format, args...))] = true }
	for _, j := range o.Jobs {
		if j.Count > 0 {
			add("%s: (groupid=%d, jobs=%d): err= %d: pid=%d: %s", j.Name, j.Group, j.Count, j.Error, j.PID, o.Time.Format("Mon Jan _2 15:04:05 2006"))
		}
		printedDirection(add, "read", j.Read)
		printedDirection(add, "write", j.Write)
		for _, unit := range []string{"nsec", "usec", "msec"} {
			u, _ := fiotext.UnitOf(unit)
			var list []string
			for _, b := range j.Buckets {
				label := fmt.Sprint(int64(b.Upto / u))
				if b.Upto == 0 {
					label = ">=2000"
				}
				list = append(list, fmt.Sprintf("%s=%.2f%%", label, 100*b.Value))
			}
			for from := range list { // fio breaks the line after five
				for to := from + 1; to <= min(from+5, len(list)); to++ {
					add("lat (%s) : %s", unit, strings.Join(list[from:to], ", "))
				}
			}
		}
		add("cpu : usr=%.2f%%, sys=%.2f%%, ctx=%d, majf=%d, minf=%d", 100*j.CPU.User, 100*j.CPU.System, j.CPU.ContextSwitches, j.CPU.MajorFaults, j.CPU.MinorFaults)
		add("IO depths : %s", printedShares(j.Depths))
		add("submit : %s", printedShares(j.Submit))
		add("complete : %s", printedShares(j.Complete))
		add("issued rwts: total=%d,%d,%d,%d short=%d,%d,0,0 dropped=%d,%d,0,0", j.Read.N, j.Write.N, j.Trim.N, j.Sync.Lat.N, j.Read.Short, j.Write.Short, j.Read.Dropped, j.Write.Dropped)
		add("issued : total=r=%d/w=%d/d=%d, short=r=%d/w=%d/d=0, drop=r=%d/w=%d/d=0", j.Read.N, j.Write.N, j.Trim.N, j.Read.Short, j.Write.Short, j.Read.Dropped, j.Write.Dropped)
		if tgt := j.Target; tgt != nil {
			add("latency : target=%d, window=%d, percentile=%.2f%%, depth=%d", tgt.Target.Nanoseconds(), tgt.Window.Microseconds(), tgt.Percentile, tgt.Depth)
		}
		if bs := j.Options["bs"]; bs != "" {
			kib := strings.TrimSuffix(bs, "k") + ".0KiB"
			add("%s: (g=%d): rw=%s, bs=(R) %s-%s, (W) %s-%s, (T) %s-%s, ioengine=%s, iodepth=%s", j.Name, j.Group, j.Options["rw"], kib, kib, kib, kib, kib, kib, j.Options["ioengine"], j.Options["iodepth"])
		}
	}
	add("%s", o.Version)
	for _, g := range o.Groups {
		add("Run status group %d (all jobs):", g.ID)
		for name, d := range g.Directions {
			p, run := d.Printed, d.MaxRun.Milliseconds()
			add("%s: bw=%s, io=%s, run=%dmsec", name, p["bw"], p["io"], run)
			add("%s: io=%dMB, aggrb=%dKB/s, maxt=%dmsec", name, d.Bytes>>20, int64(d.BW)/1024, run)
		}
	}
	for _, d := range o.Disks {
		line := d.Name + ": " + printedDisk("", d)
		if d.Aggregate != nil {
			line += ", " + printedDisk("aggr", *d.Aggregate)
		}
		add("%s", line)
	}
	return lines
}

func printedDirection(add func(string, ...any), name string, d fio.Direction) {
	p, run := d.Printed, d.Runtime.Milliseconds()
	k := float64(d.IOPS) / 1000
	iops := fmt.Sprintf("%.0fk", k)
	if k < 100 {
		iops = fmt.Sprintf("%.1fk", k)
	}
	zones := ""
	if name == "write" {
		zones = "; 0 zone resets"
	}
	// The text of a rounded figure must stand beside the refined figure, and both must agree.
	add("%s: IOPS=%s, BW=%.0fMiB/s (%.0fMB/s)(%s/%dmsec)%s", name, iops, float64(d.BW)/(1<<20), float64(d.BW)/1e6, p["io"], run, zones)
	add("%s: IOPS=%s, BW=%s (%s)(%s/%dmsec)%s", name, p["iops"], p["bw"], p["bw_si"], p["io"], run, zones)
	add("%s : io=%.0fMB, bw=%.0fKB/s, iops=%d, runt=%dmsec", name, float64(d.Bytes)/(1<<20), float64(d.BW)/1024, int64(d.IOPS), run)
	for kind, l := range map[string]fio.Latency{"slat": d.Slat, "clat": d.Clat, "lat": d.Lat} {
		for _, unit := range []string{"nsec", "usec"} {
			u, _ := fiotext.UnitOf(unit)
			value := func(key string, v time.Duration) string {
				s, n := p[kind+"."+key], int64(v/u)
				if digits, k := strings.CutSuffix(strings.ToLower(s), "k"); k && fmt.Sprintf("%.1f", float64(n)/1000) == digits || fmt.Sprint(n/1000) == digits {
					return s
				}
				return fmt.Sprint(n)
			}
			add("%s (%s): min=%s, max=%s, avg=%.2f, stdev=%.2f", kind, unit, value("min", l.Min), value("max", l.Max), l.Mean/float64(u), l.StdDev/float64(u))
			for i := 0; i < len(l.Percentiles); i++ {
				var row []string
				for k := i; k < min(i+4, len(l.Percentiles)); k++ {
					row = append(row, fmt.Sprintf("%.2fth=[%d]", l.Percentiles[k].P, l.Percentiles[k].Value/u))
					add("| %s", strings.Join(row, ", "))
				}
			}
			if len(l.Percentiles) > 0 {
				add("%s percentiles (%s):", kind, unit)
			}
		}
	}
	b, n := d.BWSamples, d.IOPSSamples
	for unit, f := range map[string]float64{"KiB/s": 1 << 10, "MiB/s": 1 << 20} {
		add("bw (%s): min=%.0f, max=%.0f, per=%.2f%%, avg=%.2f, stdev=%.2f, samples=%d", unit, b.Min/f, b.Max/f, 100*b.Share, b.Mean/f, b.StdDev/f, b.N)
	}
	add("iops : min=%.0f, max=%.0f, avg=%.2f, stdev=%.2f, samples=%d", n.Min, n.Max, n.Mean, n.StdDev, n.N)
}

func printedShares(list []fio.Share) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, fmt.Sprintf("%s=%.1f%%", s.Label, 100*s.Value))
	}
	return strings.Join(parts, ", ")
}

func printedDisk(prefix string, d fio.Disk) string {
	sectors := ""
	if d.HasSectors {
		sectors = fmt.Sprintf(" %ssectors=%d/%d,", prefix, d.ReadBytes/512, d.WriteBytes/512)
	}
	return strings.ReplaceAll(fmt.Sprintf("@ios=%d/%d,%s @merge=%d/%d, @ticks=%d/%d, @in_queue=%d, @util=%.2f%%", d.Reads, d.Writes, sectors, d.ReadMerges, d.WriteMerges,
		d.ReadTicks, d.WriteTicks, d.InQueue, 100*d.Util), "@", prefix)
}

// ofRows is what a status group's line says of its slowest and fastest rows, and again in powers of 1000: nobody reads it.
var ofRows = regexp.MustCompile(`\([^)]*\)|,[\d.]+\w+/s(?:\([^)]*\))?-[\d.]+\w+/s|,(?:minb|maxb|mint)=[^,]*|\b\d+-`)

// squeeze makes lines comparable that differ in blanks and Markdown only.
func squeeze(s string) string {
	s = strings.TrimRight(strings.NewReplacer(" ", "", "*", "", "\t", "").Replace(s), ",")
	if strings.HasPrefix(s, "READ:") || strings.HasPrefix(s, "WRITE:") {
		s = ofRows.ReplaceAllString(s, "")
	}
	return s
}

// TestEveryFigureOfTheSeeds looks up each line that fio printed in the seeds and examples among the
// lines that the results give when printed again: a figure that is not kept to the digit makes its
// line missing.
func TestEveryFigureOfTheSeeds(t *testing.T) {
	// what fio prints: all that these documents hold of it, and nothing else in them
	figures := regexp.MustCompile(`\(groupid=|\(g=0\): rw=|(read|write) ?: ?(\*|IOPS|io=)|write: IOPS|[cs]?lat \([num]sec\)|percentiles \(|th=\[|^ *(bw \(|iops +:|cpu +:|IO depths|submit +:|complete +:|issued|latency +: target|READ:|WRITE:)|Run status|: ios=|^fio-3`)
	runs := map[string]int{
		"raid0-4xgp2-m5.12xlarge.md": 4, "ebs-across-instances.md": 4, "workload-to-jobfile.md": 4, "MS-28k-r-r-15.log": 1, "MS-28k-r-r-16.log": 1,
		"disk-benchmark-guide.md": 0, "striped-8xnvme-rounds.md": 0,
	}
	total := 0
	for name, want := range runs {
		outs := readSeed(t, name)
		if len(outs) != want {
			t.Errorf("%s: %d runs, want %d", name, len(outs), want)
		}
		kept := map[string]int{}
		for _, o := range outs {
			for _, u := range o.Unread {
				t.Errorf("%s:%d: not understood: %s", name, u.Line, u.Text)
			}
			for _, d := range o.Doubts {
				t.Errorf("%s: %s", name, d)
			}
			for line := range printed(o) {
				kept[line]++
			}
		}
		in := bufio.NewScanner(bytes.NewReader(mustRead(t, name)))
		for n := 1; in.Scan(); n++ {
			line := in.Text()
			if !figures.MatchString(line) {
				continue
			}
			total++
			if kept[squeeze(line)] == 0 {
				t.Errorf("%s:%d: not in the result: %s", name, n, line)
			}
		}
	}
	if total != 287 {
		t.Errorf("%d lines of figures compared", total)
	}
}

// TestFiguresOfTheSeedsByHand holds figures that were read in the seeds by eye and typed here.
func TestFiguresOfTheSeedsByHand(t *testing.T) {
	type row struct {
		file                  string
		run                   int
		n, bytes              uint64
		iops, printed         string
		bw                    string
		ms                    int64
		min, max              time.Duration
		mean, dev, p50, p9999 float64 // microseconds
		ctx                   uint64
	}
	for _, w := range []row{
		{"raid0-4xgp2-m5.12xlarge.md", 0, 6508565, 106636328960, "36,155", "36155", "578488KB/s", 180016, 394 * time.Microsecond, 1718900 * time.Microsecond, 13732.69, 16516.64, 12608, 602112, 1682508},
		{"raid0-4xgp2-m5.12xlarge.md", 1, 4787740, 78442332160, "26,598", "26598", "425575KB/s", 180001, 410 * time.Microsecond, 153938 * time.Microsecond, 600.91, 441.18, 580, 6944, 4791196},
		{"raid0-4xgp2-m5.12xlarge.md", 2, 6534465, 107060674560, "36,300", "36299", "580793KB/s", 180015, 0, 231588 * time.Microsecond, 13679.77, 13415.46, 12864, 76288, 1716075},
		{"raid0-4xgp2-m5.12xlarge.md", 3, 6319555, 103539589120, "35,108", "35108", "561735KB/s", 180001, 2 * time.Microsecond, 151427 * time.Microsecond, 455.34, 842.88, 310, 39680, 6304074},
		{"ebs-across-instances.md", 0, 7211815, 118158376960, "40,065", "40.1k", "626MiB/s", 180001, 196 * time.Microsecond, 2394 * time.Microsecond, 398.38, 60.19, 396, 1565, 7212248},
		{"ebs-across-instances.md", 2, 7212079, 118162702336, "40,067", "40.1k", "626MiB/s", 180001, 272 * time.Microsecond, 1587 * time.Microsecond, 398.49, 37.56, 396, 799, 7212160},
		{"ebs-across-instances.md", 3, 2885512, 47276228608, "16,030", "16.0k", "250MiB/s", 180002, 268 * time.Microsecond, 15796 * time.Microsecond, 996.46, 182.05, 996, 8586, 2889910},
		{"MS-28k-r-r-15.log", 0, 8194307, 234947170304, "136,529", "137k", "3733MiB/s", 60019, 16 * time.Microsecond, 49361 * time.Microsecond, 1868.19, 5831.46, 200, 45876, 6627714},
		{"MS-28k-r-r-16.log", 0, 21434824, 614579273728, "238,133", "238k", "6512MiB/s", 90012, 567 * time.Nanosecond, 39040 * time.Microsecond, 1068.777, 5278.601, 42, 32375, 15369018},
	} {
		j := readSeed(t, w.file)[w.run].Jobs[0]
		d := j.Read
		if d.N == 0 {
			d = j.Write
		}
		p50, _ := d.Clat.At(50)
		p9999, _ := d.Clat.At(99.99)
		got := row{
			w.file, w.run, d.N, uint64(d.Bytes), d.IOPS.String(), d.Printed["iops"], d.Printed["bw"], d.Runtime.Milliseconds(), d.Clat.Min, d.Clat.Max,
			math.Round(d.Clat.Mean) / 1000, math.Round(d.Clat.StdDev) / 1000, float64(p50) / 1000, float64(p9999) / 1000, j.CPU.ContextSwitches,
		}
		if got != w {
			t.Errorf("got  %+v\nwant %+v", got, w)
		}
	}
	frag := readSeed(t, "workload-to-jobfile.md")
	if titles := []string{frag[0].Title, frag[1].Title, frag[2].Title, frag[3].Title}; !slices.Equal(titles, []string{"nvme1", "nvme2", "nvme2", "nvme1"}) {
		t.Errorf("headings %q", titles)
	}
	if g := frag[1].Groups[0].Directions["WRITE"]; g.Printed["bw"] != "60.3MiB/s" || g.Bytes != 1816<<20 || g.MaxRun != 30119*time.Millisecond {
		t.Errorf("status of nvme2: %+v", g)
	}
	if d := frag[0].Disks[0]; d.ReadBytes != 1294480*512 || d.WriteTicks != 454840 || d.Util != 0.6219 {
		t.Errorf("disk: %+v", d)
	}
	if b := frag[2].Jobs[0].Buckets; b[len(b)-1] != (fio.Bucket{Upto: 0, Value: 0.0677}) || b[len(b)-2] != (fio.Bucket{Upto: 2 * time.Second, Value: 0.1959}) {
		t.Errorf("buckets of nvme2: %v", b)
	}
	if c := readSeed(t, "ebs-across-instances.md")[0].Command; !strings.HasPrefix(c, "sudo fio —directory=/mnt —ioengine=psync") {
		t.Errorf("command %q", c)
	}
}

// TestVersions reads what three versions printed of one job in two forms on 2026-11-21: 128 I/Os of
// 8 KiB, fdatasync=8.
func TestVersions(t *testing.T) {
	for version, want := range map[string]struct{ sectors, start bool }{
		"fio-3.16": {}, "fio-3.28": {}, "fio-3.41": {sectors: true, start: true}, // from 3.36 on
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", "versions", version+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		outs := readBytes(t, raw)
		if len(outs) != 1 || len(outs[0].Unread) > 0 || len(outs[0].Jobs) != 1 || len(outs[0].Groups) != 1 ||
			len(outs[0].Disks) == 0 {
			t.Fatalf("%s: %s", version, asJSON(t, outs)) // the text is found to be the same run
		}
		o := outs[0]
		j := o.Jobs[0]
		if o.Version != version || j.Read.N+j.Write.N != 128 || j.Read.Bytes+j.Write.Bytes != 1<<20 ||
			!j.Sync.Lat.Measured() {
			t.Errorf("%s: %s", version, asJSON(t, o))
		}
		if o.Disks[0].HasSectors != want.sectors || j.Start.IsZero() == want.start {
			t.Errorf("%s: sectors %v, start %s", version, o.Disks[0].HasSectors, j.Start)
		}
	}
}
