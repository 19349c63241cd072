package bundle

import (
	"strings"
	"testing"

	"plimsoll/internal/result"
)

// textRow is fio's text of one job of libaio, with what it says of latencies and disks.
func textRow(latencies, disks string) string {
	return `job: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1
fio-3.33
Starting 1 process
job: (groupid=0, jobs=1): err= 0: pid=7: Wed Mar  6 19:00:05 2024
  write: IOPS=1000, BW=4000KiB/s (4096kB/s)(234MiB/60001msec); 0 zone resets
` + latencies + `  cpu          : usr=0.72%, sys=2.58%, ctx=113720, majf=0, minf=1
     issued rwts: total=0,60001,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
  WRITE: bw=4000KiB/s (4096kB/s), 4000KiB/s-4000KiB/s (4096kB/s-4096kB/s), io=234MiB (246MB), run=60001-60001msec
` + disks
}

const (
	ofDevice = "    slat (usec): min=1, max=90, avg= 3.00, stdev= 1.00\n    clat (usec): min=40, max=900, avg=95.00, stdev=9.00\n"
	ofMemory = "    slat (usec): min=1, max=90, avg= 9.00, stdev= 1.00\n    clat (nsec): min=400, max=9000, avg=700.00, stdev=90.00\n"
	sawAll   = "\nDisk stats (read/write):\n  sda: ios=0/60001, merge=0/0, ticks=0/5000, in_queue=5000, util=99.00%\n"
	sawFew   = "\nDisk stats (read/write):\n  sda: ios=0/600, merge=0/0, ticks=0/5000, in_queue=5000, util=99.00%\n"
	ramSaw   = "\nDisk stats (read/write):\n  ram0: ios=0/60001, merge=0/0, ticks=0/5000, in_queue=5000, util=99.00%\n"
)

// TestWhetherItWasDirect: text names no direct=. What the devices saw and when I/Os were complete
// tell; without either nothing is concluded.
func TestWhetherItWasDirect(t *testing.T) {
	for name, c := range map[string]struct {
		doc              string
		direct, buffered bool
	}{
		"the device saw all":    {textRow(ofDevice, sawAll), true, false},
		"the device saw little": {textRow(ofDevice, sawFew), false, true},
		"no disk statistics":    {textRow(ofDevice, ""), false, false},
		"no count of the I/Os": {strings.ReplaceAll(textRow(ofDevice, sawFew), "total=0,60001,0,0",
			"total=0,0,0,0"), false, false},
		"complete at submission":         {textRow(ofMemory, sawAll), false, true},
		"complete at submission, in RAM": {textRow(ofMemory, ramSaw), true, false},
		"the command has no direct":      {"$ fio --name=job --rw=randwrite --bs=4k\n" + textRow(ofDevice, ""), false, true},
		"the command has a job file":     {"$ fio job.fio --size=1G\n" + textRow(ofDevice, ""), false, false},
		"the command was wrapped by a mail": {
			"# fio --rw=randwrite --ioengine=libaio\n--bs=4k --direct=1\n--name=job\n" + textRow(ofMemory, sawAll), true, false,
		},
		"a line below the command": {
			"# fio --name=job --rw=randwrite\n\n--direct=1 is missing\n" + textRow(ofDevice, ""), false, true,
		},
	} {
		all := imported(t, c.doc, Found{})
		if len(all) != 1 || len(all[0].Workloads) != 1 {
			t.Errorf("%s: %d results", name, len(all))
			continue
		}
		if w := all[0].Workloads[0]; w.Direct != c.direct || w.Buffered != c.buffered {
			t.Errorf("%s: direct %v, buffered %v: %q", name, w.Direct, w.Buffered, all[0].Doubts)
		}
	}
}

// TestDepthIsNotGuessed: an excerpt without the line of its job, and a summary that names no depth,
// have no I/Os in flight that anything could be concluded from.
func TestDepthIsNotGuessed(t *testing.T) {
	head, excerpt, _ := strings.Cut(textRow(ofDevice, ""), "\nfio-3.33")
	for name, c := range map[string]struct {
		doc         string
		loads, deep int
	}{
		"whole":           {head + "\nfio-3.33" + excerpt, 1, 1},
		"without its job": {excerpt, 0, 0},
		"described only":  {strings.Replace(excerpt, "2024\n", "2024\n  Description  : [random writes]\n", 1), 0, 0},
		"kbench":          {"IOPS (Read/Write)\n        Random:          90,546 / 73,514\n    Sequential:          94,976 / 68,510\n", 0, 0},
	} {
		all := imported(t, c.doc, Found{})
		if len(all) == 0 {
			t.Errorf("%s: no result", name)
			continue
		}
		if r := all[0]; len(r.Workloads) != c.loads || r.Depth.Asked != c.deep {
			t.Errorf("%s: %d workloads and %d in flight, want %d and %d", name, len(r.Workloads), r.Depth.Asked, c.loads, c.deep)
		}
	}
}

// TestQuotesAreNoResults: an article repeats figures of the output that it quotes.
func TestQuotesAreNoResults(t *testing.T) {
	whole := strings.Replace(textRow(ofDevice+"    lat (usec) : 750=40.00%, 1000=60.00%\n", sawAll), "     issued",
		"  IO depths    : 1=100.0%, 2=0.0%\n     issued", 1)
	const rowLine = "job: (groupid=0, jobs=1): err= 0: pid=7: Wed Mar  6 19:00:05 2024"
	for name, c := range map[string]struct {
		more string
		want int
	}{
		"the rate":           {"\n## In short\n\n  write: IOPS=1000, BW=4000KiB/s (4096kB/s)(234MiB/60001msec)\n", 1},
		"its IOPS":           {"\n## In short\n\n  write: IOPS=1000\n", 1},
		"its group":          {"\n## In short\n\n  WRITE: bw=4000KiB/s (4096kB/s)\n", 1},
		"another rate":       {"\n## Before\n\n  write: IOPS=900, BW=3600KiB/s (3686kB/s)(211MiB/60001msec)\n", 2},
		"the rate, of reads": {"\n## Reads\n\n  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(234MiB/60001msec)\n", 2},
		"its row":            {"\n**Line 1: " + rowLine + "**\n\nthe job's name\n", 1},
		"the row of another": {
			"\n**Line 1: " + strings.Replace(rowLine, "pid=7", "pid=9", 1) + "**\n\nthe job's name\n", 1,
		},
		"its CPU":                 {"\n**Line 6: cpu**\n\n```\ncpu          : usr=0.72%, sys=2.58%, ctx=113720, majf=0, minf=1\n```\n", 1},
		"another's CPU":           {"\n**Line 6: cpu**\n\n```\ncpu          : usr=9.72%, sys=2.58%, ctx=113720, majf=0, minf=1\n```\n", 1},
		"its count":               {"\n**Line 7: issued**\n\n```\n     issued rwts: total=0,60001,0,0 short=0,0,0,0 dropped=0,0,0,0\n```\n", 1},
		"another's count":         {"\n**Line 7: issued**\n\n```\n     issued rwts: total=0,60002,0,0 short=0,0,0,0 dropped=0,0,0,0\n```\n", 2},
		"its buckets, explained":  {"\n## Latency\n\nlat (usec) : 750=40.00%, 1000=60.00%  (40.00% took less than 750)\n", 1},
		"another's buckets":       {"\n## Latency\n\nlat (usec) : 750=50.00%, 1000=50.00%  (half took less than 750)\n", 2},
		"an equal run with disks": {"\n## Again\n\n" + strings.Replace(whole, "pid=7", "pid=8", 1), 2},
	} {
		if all := imported(t, whole+c.more, Found{}); len(all) != c.want {
			t.Errorf("%s: %d results, want %d", name, len(all), c.want)
		}
	}
}

// TestWindowsCommands: a caret continues a line of Windows' shell, whose fio is fio.exe.
func TestWindowsCommands(t *testing.T) {
	doc := "set FILE=x\nfio.exe --name=job ^\n    --rw=randwrite ^\n    --direct=1 ^\n    --bs=4k\n\n" + textRow(ofMemory, "")
	of := func(doc string) []*result.Result {
		return imported(t, doc, Found{Documents: map[string]*Document{"": ReadDocument("x.md", []byte(doc), nil)}})
	}
	for text, direct := range map[string]bool{doc: true, strings.Replace(doc, "--direct=1 ^", "--thread ^", 1): false} {
		all := of(text)
		if len(all) != 1 || len(all[0].Workloads) != 1 || all[0].Workloads[0].Direct != direct {
			t.Errorf("%d results, want direct %v: %+v", len(all), direct, all[0].Workloads)
		}
	}
}

// TestClatAboveLat: clat is a part of lat.
func TestClatAboveLat(t *testing.T) {
	lat := func(mean string) string {
		return ofDevice + "     lat (usec): min=1, max=990, avg=" + mean + ", stdev= 9.00\n"
	}
	for mean, doubted := range map[string]bool{"98.00": false, "5.30": true} {
		doubts := strings.Join(imported(t, textRow(lat(mean), sawAll), Found{})[0].Doubts, "\n")
		if strings.Contains(doubts, "of which it is a part") != doubted {
			t.Errorf("lat %s: %q", mean, doubts)
		}
	}
}
