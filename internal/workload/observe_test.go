package workload

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/units"
)

// flat is seconds of a device that writes at these MiB/s in blocks of 64 KiB, 1 ms each.
func flat(mib ...float64) Observed {
	o := Observed{Device: "md0", Known: true}
	for i, m := range mib {
		o.Intervals = append(o.Intervals, Interval{
			At:    time.Duration(i+1) * time.Second,
			Len:   time.Second,
			Write: Flow{IOPS: m * 16, Rate: m * (1 << 20), Wait: time.Millisecond},
		})
	}
	return o
}

func repeat(n int, pattern ...float64) []float64 {
	var all []float64
	for range n {
		all = append(all, pattern...)
	}
	return all
}

// TestBurstsAreFound: 5 s of 96 MiB/s in 30 s over a base of 16 MiB/s.
func TestBurstsAreFound(t *testing.T) {
	var pattern []float64
	for s := range 30 {
		pattern = append(pattern, map[bool]float64{true: 96, false: 16}[s >= 10 && s < 15])
	}
	d, seen, err := Derive("app", []Observed{flat(repeat(4, pattern...)...)})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Streams) != 2 || d.Streams[1].Burst == nil {
		t.Fatalf("%+v", d.Streams)
	}
	base, burst := d.Streams[0], d.Streams[1]
	if b := burst.Burst; b.For != 5*time.Second || b.Every != 30*time.Second {
		t.Errorf("%+v", b)
	}
	if base.Rate != 16*units.MiBPerSec || burst.Rate != 80*units.MiBPerSec || base.Blocks[0].Size != 64*units.KiB {
		t.Errorf("base %v, burst %v, block %v", base.Rate, burst.Rate, base.Blocks[0].Size)
	}
	// The largest mean of ten seconds holds the whole burst: (5 × 96 + 5 × 16) / 10.
	for _, w := range seen[0].Largest {
		if w.Len == 10*time.Second && w.Load.Rate != 56*units.MiBPerSec {
			t.Errorf("10 s: %v", w.Load.Rate)
		}
	}
}

func TestNoBursts(t *testing.T) {
	noisy := make([]float64, 100)
	for i := range noisy {
		noisy[i] = 20 + float64(i*7%10)
	}
	for name, o := range map[string]Observed{
		"steady": flat(repeat(60, 20)...), "noisy": flat(noisy...), "two only": flat(append(repeat(20, 1), append(repeat(3, 50), append(repeat(20, 1), append(repeat(3, 50), repeat(20, 1)...)...)...)...)...),
		"one second each": flat(repeat(20, 1, 1, 1, 1, 50)...),
	} {
		d, _, err := Derive("x", []Observed{o})
		if err != nil || len(d.Streams) != 1 || d.Streams[0].Burst != nil {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// TestShortBurstsAreSaid: 1,500 I/Os of every other second are no steady 1,500; a steady load and
// bursts that are a stream of their own need no word.
func TestShortBurstsAreSaid(t *testing.T) {
	const words = "writes of md0: the rate is what 99 of 100 intervals stay below, 2 times the mean of 10 MiB/s"
	d, _, err := Derive("x", []Observed{flat(repeat(30, 20, 0)...)})
	if err != nil || len(d.Streams) != 1 || !strings.Contains(strings.Join(d.Notes, "\n"), words) {
		t.Errorf("%q %v", d.Notes, err)
	}
	for name, o := range map[string]Observed{
		"steady": flat(repeat(60, 20)...), "a stream of bursts": flat(repeat(4, append(repeat(25, 16), repeat(5, 96)...)...)...),
	} {
		if d, _, _ := Derive("x", []Observed{o}); strings.Contains(strings.Join(d.Notes, "\n"), "99 of 100") {
			t.Errorf("%s: %q", name, d.Notes)
		}
	}
}

// TestAtMostIsNoLess: what 99 of 100 seconds stay below is no more than what is reached over 1 s,
// though none of them is exactly a second long.
func TestAtMostIsNoLess(t *testing.T) {
	o := flat(repeat(15, 20, 2)...)
	for i := range o.Intervals {
		o.Intervals[i].Len = 985 * time.Millisecond
	}
	for _, s := range See([]Observed{o}) {
		if len(s.Largest) == 0 || s.Largest[0].Len != time.Second || s.Largest[0].Load.Rate < s.P99.Rate {
			t.Errorf("at most %+v, and 99 of 100 stay below %+v", s.Largest, s.P99)
		}
	}
}

// TestSaturated: a device that queues at its largest rate gives no demand, only a least one.
func TestSaturated(t *testing.T) {
	o := flat(repeat(30, 20)...)
	for i := 10; i < 25; i++ {
		o.Intervals[i].Write = Flow{IOPS: 2000, Rate: 125 << 20, Wait: 20 * time.Millisecond}
	}
	d, _, err := Derive("x", []Observed{o})
	if err != nil || len(d.AtLeast) != 1 || !strings.Contains(d.AtLeast[0], "50.0 % of the time") {
		t.Errorf("%q, %v", d.AtLeast, err)
	}
	again, err := Parse("x.yaml", []byte(d.YAML("a comment\nof two lines")))
	if err != nil || len(again.AtLeast) != 1 {
		t.Errorf("%v in\n%s", err, d.YAML())
	}
	if d, _, _ := Derive("x", []Observed{flat(repeat(30, 20)...)}); len(d.AtLeast) != 0 {
		t.Errorf("at ease: %q", d.AtLeast)
	}
}

func TestGather(t *testing.T) {
	a, b := flat(10, 20), flat(10, 20)
	sum, err := Gather("md0", 2, []Observed{a, b})
	if err != nil || sum.Intervals[1].Write.Rate != 20<<20 || sum.Intervals[1].Write.Wait != time.Millisecond {
		t.Errorf("%+v, %v", sum, err)
	}
	if _, err := Gather("md0", 1, []Observed{a, flat(1)}); err == nil {
		t.Error("logs of different lengths are added")
	}
}

func TestIostat(t *testing.T) {
	for _, name := range []string{"iostat-12.6.txt", "iostat-12.6.json"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all, err := From(data, 0)
		if err != nil || len(all) != 1 || len(all[0].Intervals) != 7 {
			t.Fatalf("%s: %v, %+v", name, err, all)
		}
		i := all[0].Intervals[1] // the third report: the first is the mean since boot
		if !near(i.Read.IOPS, 5535) && !near(i.Read.IOPS, 5528) || i.Write.Wait == 0 || i.Queue < 7 ||
			i.Len != time.Second ||
			!all[0].Known {
			t.Errorf("%s: %+v", name, i)
		}
		if i.Write.Rate != 153184*1024 && i.Write.Rate != 152568*1024 {
			t.Errorf("%s: %v bytes/s", name, i.Write.Rate)
		}
	}
}

// Headings of older versions: sysstat 10 and 11.2 (avgqu-sz), 11.7 with -m, and 10 with sectors; a
// locale with decimal commas.
func TestIostatOfOtherVersions(t *testing.T) {
	for name, text := range map[string]string{
		"11.2": "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util\n" +
			"sda               0.00     0.00  100.00   50.00   800.00   400.00    16.00     0.50    3.00    2.00    5.00   1.00  15.00\n",
		"11.7 -m": "Device            r/s     w/s     rMB/s     wMB/s   rrqm/s   wrqm/s  %rrqm  %wrqm r_await w_await aqu-sz rareq-sz wareq-sz  svctm  %util\n" +
			"sda           100.00   50.00  0.78125  0.390625     0.00     0.00   0.00   0.00    2.00    5.00   0.50     8.00     8.00   1.00  15.00\n",
		"9, sectors": "Device:  rrqm/s wrqm/s r/s w/s rsec/s wsec/s avgrq-sz avgqu-sz await svctm %util\n" +
			"sda 0.00 0.00 100.00 50.00 1600.00 800.00 16.00 0.50 3.00 1.00 15.00\n",
		"commas": "Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\nsda 100,00 50,00 800,00 400,00 2,00 5,00 0,50 15,00\n",
	} {
		all, err := From([]byte("Linux 5.4 (host)\n\navg-cpu:  %user\n   1.00\n\n"+text+"\n"+text), 10*time.Second)
		if err != nil || len(all) != 1 || len(all[0].Intervals) != 1 {
			t.Errorf("%s: %v %+v", name, err, all)
			continue
		}
		i := all[0].Intervals[0]
		if i.Read.IOPS != 100 || i.Write.IOPS != 50 || i.Read.Rate != 819200 || i.Write.Rate != 409600 ||
			i.Queue != 0.5 ||
			i.Util != 0.15 ||
			i.Len != 10*time.Second {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

func TestIostatGapsAndMistakes(t *testing.T) {
	const head = "Device r/s w/s rkB/s wkB/s aqu-sz %util\n"
	report := func(at string) string { return at + "\n" + head + "sda 1 1 8 8 0.1 1\n\n" }
	all, err := From([]byte(report("2026-11-21T20:00:00+0000")+report("2026-11-21T20:00:10+0000")+
		report("2026-11-21T20:00:20+0000")+report("2026-11-21T20:05:00+0000")+report("2026-11-21T20:05:10+0000")), 0)
	if err != nil || len(all[0].Notes) != 1 || !strings.Contains(all[0].Notes[0], "1 gap") ||
		all[0].Intervals[0].Len != 10*time.Second {
		t.Errorf("%+v, %v", all, err)
	}
	one, err := From([]byte(head+"sda 1 1 8 8 0.1 1\n"), 0)
	if err != nil || !strings.Contains(strings.Join(one[0].Notes, " "), "since boot") {
		t.Errorf("%+v, %v", one, err)
	}
	for text, want := range map[string]string{
		"":                           "no report of iostat -x, sar -d, sadf -d, blkparse or CloudWatch",
		"hello\n":                    "no report of iostat -x",
		"Device tps kB_read/s\nsda":  "no column r/s",
		head + "sda 1 2\n":           "line 2: \"sda\": want 7 columns as in the heading, found 3",
		head + "sda 1 x 8 8 0 1\n":   `"sda" "w/s": "x" is not a number`,
		head + "sda -1 1 8 8 0 1\n":  "is not a number",
		`{"sysstat": {"hosts": []}}`: "no report",
		`{"sysstat": `:               "JSON",
		`{"sysstat":{"hosts":[{"statistics":[{"disk":[{"disk_device":"sda","tps":1}]}]}]}}`: "no r/s",
		`{"Label":"Other","Datapoints":[]}`:                                                 "no metric of EBS volumes",
		"timestamp,VolumeReadOps\nnever,1\n":                                                `time "never"`,
		"timestamp,VolumeReadOps\n2026-11-21T20:00:00Z,x\n":                                 "want a number",
		"timestamp,VolumeReadOps\n2026-11-21T20:00:00Z,5\n":                                 "one period only",
		"timestamp,VolumeReadOps\n2026-11-21T20:00:00Z,-5\n2026-11-21T20:01:00Z,5\n":        "is -5",
	} {
		if _, err := From([]byte(text), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestCloudWatch: sums over 300 s, as get-metric-data, get-metric-statistics and a table give them.
func TestCloudWatch(t *testing.T) {
	metrics := map[string][2]float64{
		"VolumeReadOps":       {30000, 60000},
		"VolumeReadBytes":     {30000 * 8192, 60000 * 8192},
		"VolumeTotalReadTime": {30, 120},
		"VolumeQueueLength":   {0.1, 0.4},
	}
	var data, statistics strings.Builder
	data.WriteString(`{"MetricDataResults":[`)
	comma := ""
	for name, v := range metrics {
		fmt.Fprintf(
			&data,
			`%s{"Id":"m","Label":"vol-0abc %s","Timestamps":["2026-11-21T20:05:00+00:00","2026-11-21T20:00:00+00:00"],"Values":[%g,%g]}`,
			comma,
			name,
			v[1],
			v[0],
		)
		comma = ","
		kind := "Sum"
		if name == "VolumeQueueLength" {
			kind = "Average"
		}
		fmt.Fprintf(
			&statistics,
			`{"Label":"%s","Datapoints":[{"Timestamp":"2026-11-21T20:00:00Z","%s":%g,"Unit":"Count"},{"Timestamp":"2026-11-21T20:05:00Z","%s":%g}]}`+"\n",
			name,
			kind,
			v[0],
			kind,
			v[1],
		)
	}
	data.WriteString(`],"Messages":[]}`)
	table := "timestamp,VolumeReadOps,VolumeReadBytes,VolumeTotalReadTime,VolumeQueueLength\n2026-11-21T20:00:00Z,30000,245760000,30,0.1\n2026-11-21T20:05:00Z,60000,491520000,120,0.4\n"
	for name, text := range map[string]string{"data": data.String(), "statistics": statistics.String(), "table": table} {
		all, err := From([]byte(text), 0)
		if err != nil || len(all) != 1 || len(all[0].Intervals) != 2 {
			t.Errorf("%s: %v %+v", name, err, all)
			continue
		}
		i := all[0].Intervals[1]
		if i.Read.IOPS != 200 || i.Read.Rate != 200*8192 || i.Read.Wait != 2*time.Millisecond || i.Queue != 0.4 ||
			i.Len != 5*time.Minute {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

// TestObserve: two seconds of counters, one of which wraps at 32 bits, and a device that began
// again.
func TestObserve(t *testing.T) {
	s := &telemetry.Series{Devices: []string{"sda"}}
	for i := range 21 {
		d := telemetry.Device{
			Reads:     uint64(i) * 10,
			ReadBytes: units.Bytes(i) * 10 * 8192,
			ReadTime:  time.Duration(i*20) * time.Millisecond,
			InFlight:  4,
		}
		s.Samples = append(s.Samples,
			telemetry.Sample{At: time.Duration(i) * 100 * time.Millisecond, Devices: []telemetry.Device{d}})
	}
	all := Observe(s, time.Second)
	if len(all) != 1 || len(all[0].Intervals) != 2 || all[0].Depth != 4 {
		t.Fatalf("%+v", all)
	}
	if i := all[0].Intervals[1]; i.Read.IOPS != 100 || i.Read.Rate != 819200 || i.Read.Wait != 2*time.Millisecond {
		t.Errorf("%+v", i)
	}
	s.Samples[20].Devices[0].Reads = 3 // it went away and came back
	if i := Observe(s, time.Second)[0].Intervals[1]; i.Read.IOPS < 0 || i.Read.IOPS > 100 {
		t.Errorf("after a reset: %+v", i)
	}
	if got := Observe(&telemetry.Series{}, time.Second); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestProcesses(t *testing.T) {
	root := fstest.MapFS{
		"proc/7/io":   {Data: []byte("rchar: 5\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 4096\n")},
		"proc/7/stat": {Data: []byte("7 (a) b (c) S 1 7 7 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 1 0 4711 1 1")},
		"proc/self":   {Data: []byte("x")},
	}
	all, blind := processes((&sys.Machine{Root: root}).Reader())
	if c := all[7]; c.read != 4096 || c.written != 4096 || c.name != "a) b (c" || c.start != 4711 || blind {
		t.Errorf("%+v %t", all, blind)
	}
}

func TestYAMLRoundTrip(t *testing.T) {
	for _, name := range []string{"logging-app.yaml"} {
		d := read(t, name)
		again, err := Parse(name, []byte(d.YAML()))
		if err != nil {
			t.Fatal(err, d.YAML())
		}
		if again.YAML() != d.YAML() || again.Peak() != d.Peak() || again.Mean() != d.Mean() {
			t.Errorf("%s\n%s", d.YAML(), again.YAML())
		}
	}
}

func FuzzFrom(f *testing.F) {
	for _, name := range []string{"iostat-12.6.txt", "iostat-12.6.json", "sar-12.6.txt", "sadf-12.6.csv", "blkparse-1.2.txt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 1500)])
	}
	f.Add(
		[]byte(
			"Device r/s w/s rkB/s wkB/s aqu-sz %util\nsda 1 1 8 8 0.1 1\n\nDevice r/s w/s rkB/s wkB/s aqu-sz %util\nsda 1 1 8 8 0.1 1\n",
		),
	)
	f.Add([]byte("timestamp,VolumeReadOps,VolumeReadBytes\n2026-11-21T20:00:00Z,5,5\n2026-11-21T20:05:00Z,5,5\n"))
	f.Add(
		[]byte(
			`{"MetricDataResults":[{"Id":"m","Label":"vol-0 VolumeReadOps","Timestamps":["2026-11-21T20:05:00Z","2026-11-21T20:00:00Z"],"Values":[1,2]}]}`,
		),
	)
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		all, err := From(data, 0)
		if err != nil {
			return
		}
		d, _, err := Derive("x", all)
		if err != nil {
			return
		}
		if _, err := Parse("x.yaml", []byte(d.YAML())); err != nil {
			t.Errorf("%q: the demand cannot be read back: %v\n%s", data, err, d.YAML())
		}
		if p := d.Peak(); math.IsNaN(float64(p.Rate)) || p.Rate < 0 {
			t.Errorf("%q: %+v", data, p)
		}
	})
}
