package cloud

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/units"
)

// Both sides of each boundary in the rules of volume types, worked out from volumes.json.
func TestVolumeLimitsAtTheirBoundaries(t *testing.T) {
	const mib = units.MiBPerSec
	g := func(n float64) units.Bytes { return units.Bytes(n * float64(units.GiB)) }
	for _, c := range []struct {
		spec VolumeSpec
		iops units.IOPS
		rate units.Rate
	}{
		{VolumeSpec{Type: "gp2", Size: g(33)}, 100, 128 * mib}, // 3 × 33 are 99: at least 100
		{VolumeSpec{Type: "gp2", Size: g(34)}, 102, 128 * mib},
		{VolumeSpec{Type: "gp2", Size: g(170)}, 510, 128 * mib},
		{VolumeSpec{Type: "gp2", Size: g(171)}, 513, 250 * mib},
		{VolumeSpec{Type: "gp2", Size: g(5333)}, 15999, 250 * mib},
		{VolumeSpec{Type: "gp2", Size: g(5334)}, 16000, 250 * mib},
		// io1 up to 32,000: 256 KiB each, at most 500 MiB/s; beyond, 16 KiB each.
		{VolumeSpec{Type: "io1", Size: g(1000), IOPS: 1000, Rate: 0}, 1000, 250 * mib},
		{VolumeSpec{Type: "io1", Size: g(1000), IOPS: 2000, Rate: 0}, 2000, 500 * mib},
		{VolumeSpec{Type: "io1", Size: g(1000), IOPS: 32000, Rate: 0}, 32000, 500 * mib},
		{VolumeSpec{Type: "io1", Size: g(1000), IOPS: 32001, Rate: 0}, 32001, 32001 * 16384}, // 500.02 MiB/s
		{VolumeSpec{Type: "io1", Size: g(2000), IOPS: 64000, Rate: 0}, 64000, 1000 * mib},
		// io2: 0.256 MiB/s each, to 4,000.
		{VolumeSpec{Type: "io2", Size: g(100), IOPS: 15000, Rate: 0}, 15000, 15000 * 0.256 * mib},
		{VolumeSpec{Type: "io2", Size: g(100), IOPS: 15625, Rate: 0}, 15625, 4000 * mib},
		{VolumeSpec{Type: "io2", Size: g(100), IOPS: 16000, Rate: 0}, 16000, 4000 * mib},
		// tiers: the smallest that holds the volume.
		{VolumeSpec{Type: "azure-premium", Size: g(32)}, 120, 25e6},
		{VolumeSpec{Type: "azure-premium", Size: g(33)}, 240, 50e6},
		{VolumeSpec{Type: "azure-premium", Size: g(512)}, 2300, 150e6},
		{VolumeSpec{Type: "azure-premium", Size: g(513)}, 5000, 200e6},
		{VolumeSpec{Type: "azure-premium", Size: g(32767)}, 20000, 900e6},
		// HDD: 40 and 12 MiB/s for each TiB, to 500 and 192; an I/O of 1 MiB counts once.
		{VolumeSpec{Type: "st1", Size: units.TiB}, 40, 40 * mib},
		{VolumeSpec{Type: "sc1", Size: 2 * units.TiB}, 24, 24 * mib},
		{VolumeSpec{Type: "gcp-hyperdisk-extreme", Size: g(64), IOPS: 1000}, 1000, 250 * mib},
		{VolumeSpec{Type: "azure-ultra", Size: g(64), IOPS: 1000}, 1000, 1e6},
	} {
		f, err := VolumeLimits(c.spec)
		if err != nil || math.Abs(float64(f.Sustained.IOPS-c.iops)) > 1e-6 || math.Abs(float64(f.Sustained.Rate-c.rate)) > 1 {
			t.Errorf("%+v: %+v %v, want %v and %v", c.spec, f.Sustained, err, c.iops, c.rate)
		}
	}
}

// What bursts, and for how long: gp2 below 1,000 GiB; P20 is the last tier of Azure's that does.
func TestBurstsAtTheirBoundaries(t *testing.T) {
	const mib = units.MiBPerSec
	for _, c := range []struct {
		typ   string
		gib   float64
		burst Limits
		ios   float64
		bytes units.Bytes
	}{
		{"gp2", 999, Limits{IOPS: 3000}, 5.4e6, 0},
		{"gp2", 1000, Limits{}, 0, 0},
		{"azure-premium", 512, Limits{IOPS: 3500, Rate: 170e6}, 1200 * 1800, 20e6 * 1800},
		{"azure-premium", 513, Limits{}, 0, 0},
		{"st1", 1024, Limits{IOPS: 250, Rate: 250 * mib}, 0, units.TiB},
		{"st1", 3072, Limits{IOPS: 500, Rate: 500 * mib}, 0, 3 * units.TiB},
		{"sc1", 1024, Limits{IOPS: 80, Rate: 80 * mib}, 0, units.TiB},
		{"st1", 12800, Limits{}, 0, 0},
		{"st1", 12799, Limits{IOPS: 500, Rate: 500 * mib}, 0, 12799 * units.GiB},
	} {
		f, err := VolumeLimits(VolumeSpec{Type: c.typ, Size: units.Bytes(c.gib) * units.GiB})
		if err != nil || f.Burst != c.burst || f.BurstIOs != c.ios || f.BurstBytes != c.bytes {
			t.Errorf("%s of %v GiB: %+v, %v I/Os, %d bytes, %v", c.typ, c.gib, f.Burst, f.BurstIOs, f.BurstBytes, err)
		}
	}
	for gib, noted := range map[units.Bytes]bool{170: false, 171: true, 333: true, 334: false} {
		f, _ := VolumeLimits(VolumeSpec{Type: "gp2", Size: gib * units.GiB})
		if (len(f.Notes) > 0) != noted {
			t.Errorf("gp2 of %d GiB: %q", gib, f.Notes)
		}
	}
}

// What cannot be ordered, and what just can.
func TestOrdersAtTheirBoundaries(t *testing.T) {
	const mib = units.MiBPerSec
	for _, c := range []struct {
		spec VolumeSpec
		err  string
	}{
		{VolumeSpec{Type: "gp3", Size: units.GiB, IOPS: 3000, Rate: 0}, ""},
		{VolumeSpec{Type: "gp3", Size: units.GiB - 1, IOPS: 3000, Rate: 0}, "is outside"},
		{VolumeSpec{Type: "gp3", Size: 64 * units.TiB, IOPS: 3000, Rate: 0}, ""},
		{VolumeSpec{Type: "gp3", Size: 64*units.TiB + 1, IOPS: 3000, Rate: 0}, "is outside"},
		{VolumeSpec{Type: "gp3", Size: 20 * units.GiB, IOPS: 10000, Rate: 0}, ""},
		{VolumeSpec{Type: "gp3", Size: 20 * units.GiB, IOPS: 10001, Rate: 0}, "above its maximum of 10,000, 500 per GiB at 20 GiB"},
		{VolumeSpec{Type: "gp3", Size: 64 * units.TiB, IOPS: 80001, Rate: 0}, "above its maximum of 80,000, the most of any size"},
		{VolumeSpec{Type: "gp3", Size: 0, IOPS: 80000, Rate: 0}, ""},
		{VolumeSpec{Type: "gp3", Size: 0, IOPS: 2999, Rate: 0}, "2,999 IOPS are below its minimum of 3,000"},
		{VolumeSpec{Type: "gp3", Size: 0, IOPS: 3000, Rate: 125 * mib}, ""},
		{VolumeSpec{Type: "gp3", Size: 0, IOPS: 3000, Rate: 124 * mib}, "are below its minimum of 125 MiB/s"},
		{VolumeSpec{Type: "gp3", Size: 0, IOPS: 4000, Rate: 1000 * mib}, ""},
		{VolumeSpec{Type: "gp3", Size: 0, IOPS: 4000, Rate: 1000.2 * mib}, "above its maximum of 1,000 MiB/s at 4,000 IOPS"},
		{VolumeSpec{Type: "gp3", Size: 0, IOPS: 80000, Rate: 2000 * mib}, ""},
		{VolumeSpec{Type: "gp3", Size: 0, IOPS: 80000, Rate: 2001 * mib}, "above its maximum of 2,000 MiB/s"},
		{VolumeSpec{Type: "io2", Size: 100 * units.GiB, IOPS: 4000, Rate: 1024 * mib}, ""},
		{VolumeSpec{Type: "io2", Size: 100 * units.GiB, IOPS: 4000, Rate: 1070 * mib}, ""}, // within 5 %
		{VolumeSpec{Type: "io2", Size: 100 * units.GiB, IOPS: 4000, Rate: 980 * mib}, ""},
		{VolumeSpec{Type: "io2", Size: 100 * units.GiB, IOPS: 4000, Rate: 1080 * mib}, "throughput cannot be ordered"},
		{VolumeSpec{Type: "io2", Size: 100 * units.GiB, IOPS: 4000, Rate: 960 * mib}, "throughput cannot be ordered"},
		{VolumeSpec{Type: "gp2", Size: 100 * units.GiB, IOPS: 1, Rate: 0}, "cannot be ordered: they follow from the size"},
		{VolumeSpec{Type: "gp2", Size: 100 * units.GiB, IOPS: 0, Rate: 1}, "cannot be ordered: they follow from the size"},
		{VolumeSpec{Type: "io2", Size: 4 * units.GiB, IOPS: 4001, Rate: 0}, "above its maximum of 4,000, 1000 per GiB at 4 GiB"},
		{VolumeSpec{Type: "io2", Size: 0, IOPS: 99, Rate: 0}, "below its minimum of 100"},
		{VolumeSpec{Type: "io2", Size: 0, IOPS: 100, Rate: 0}, ""},
	} {
		_, err := VolumeLimits(c.spec)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%+v: %v, want %q", c.spec, err, c.err)
		}
	}
}

// Tiers: 32,000 at 0.065, the next 32,000 at 0.0455, the rest at 0.03185.
func TestTieredPrices(t *testing.T) {
	tiers := []Tier{{0, 65_000}, {32000, 45_500}, {64000, 31_850}}
	for n, want := range map[float64]USD{
		0: 0, 1: 65_000, 32000: 2_080_000_000, 32001: 2_080_045_500, 64000: 3_536_000_000, 64001: 3_536_031_850, 64002: 3_536_063_700,
	} {
		if got := tiered(tiers, n); got != want {
			t.Errorf("%v: %d, want %d", n, got, want)
		}
	}
	free := []Tier{{3000, 5_000}}
	for n, want := range map[float64]USD{0: 0, 3000: 0, 3001: 5_000, 4000: 5_000_000} {
		if got := tiered(free, n); got != want {
			t.Errorf("%v: %d, want %d", n, got, want)
		}
	}
	if USD(3).Times(0.5) != 2 || USD(3).Times(0.49) != 1 || USD(-3).String() != "-$0.00" {
		t.Error("rounding of money")
	}
	for text, want := range map[string]USD{"0.0000005": 1, "0.0000004": 0, "1e9": 1e15, "0": 0, "12.345678": 12_345_678} {
		if v, err := ParseUSD(text); err != nil || v != want {
			t.Errorf("%s: %d %v", text, v, err)
		}
	}
	if _, err := ParseUSD("1000000001"); err == nil {
		t.Error("more than 1e9")
	}
	for u, want := range map[USD]string{0: "0", 1: "0.000001", 1_000_000: "1", 1_500_000: "1.5", 10_000_000: "10"} {
		if got := u.Exact(); got != want {
			t.Errorf("%d: %s, want %s", u, got, want)
		}
	}
	p := &Prices{Instances: map[string]USD{"x": 1_000_000}, Volumes: map[string]VolumePrice{"v": {GiB: 80_000, IOPS: free, Rate: []Tier{{125, 40_000}}}}}
	if got, ok := p.Instance("x"); !ok || got != 730_000_000 {
		t.Error(got)
	}
	// 100 GiB at 0.08, 1,000 above 3,000 at 0.005, 100 MiB/s above 125 at 0.04: 8 + 5 + 4.
	if got, ok := p.Volume(VolumeSpec{Type: "v", Size: 100 * units.GiB, IOPS: 4000, Rate: 225 * units.MiBPerSec}); !ok || got != 17_000_000 {
		t.Error(got)
	}
}

// Of several capacities the nearest as a factor: 2 TB lies between 1 and 4 TB, 1.9 nearer to 1,
// 2.1 nearer to 4.
func TestNearestCapacity(t *testing.T) {
	for size, want := range map[units.Bytes]string{1e12: "1TB", 4e12: "4TB"} {
		d, ok := DriveLimits("P4510", size)
		if !ok || d.Size != size || len(d.Notes) != 0 {
			t.Errorf("%d: %+v (%s)", size, d, want)
		}
	}
	sizes := []units.Bytes{}
	for _, d := range drives() {
		if d.matches("P4510") {
			sizes = append(sizes, d.Size)
		}
	}
	slices.Sort(sizes)
	for i := 1; i < len(sizes); i++ {
		middle := math.Sqrt(float64(sizes[i-1]) * float64(sizes[i]))
		for share, want := range map[float64]units.Bytes{0.99: sizes[i-1], 1.01: sizes[i]} {
			size := units.Bytes(share * middle)
			d, _ := DriveLimits("P4510", size)
			far := math.Abs(math.Log(float64(size)/float64(want))) > math.Log(1.1)
			if d.Size != want || (len(d.Notes) > 0) != far {
				t.Errorf("%d: %d, want %d; %q", size, d.Size, want, d.Notes)
			}
		}
	}
	if len(sizes) < 2 {
		t.Errorf("%v", sizes)
	}
	for _, c := range []struct {
		share float64
		noted bool
	}{{1.09, false}, {1.11, true}, {0.92, false}, {0.90, true}} {
		d, _ := DriveLimits("P4510", units.Bytes(c.share*float64(sizes[len(sizes)-1])))
		if c.share > 1 && (len(d.Notes) > 0) != c.noted {
			t.Errorf("%v: %q", c.share, d.Notes)
		}
		d, _ = DriveLimits("P4510", units.Bytes(c.share*float64(sizes[0])))
		if c.share < 1 && (len(d.Notes) > 0) != c.noted {
			t.Errorf("%v: %q", c.share, d.Notes)
		}
	}
	for model, want := range map[string]bool{"P4": false, "": false, strings.Repeat("P4510 ", 20): false, "P4510 " + strings.Repeat("x", 94): true, "P4510 " + strings.Repeat("x", 95): false, "x_P4510": true, "p4510": true, "SSD": false} {
		if _, ok := DriveLimits(model, 0); ok != want {
			t.Errorf("%q: %v", model, ok)
		}
	}
}

// The page's counters by their places, and what lies between two pages.
func TestEBSPageByHand(t *testing.T) {
	page := make([]byte, pageSize)
	binary.LittleEndian.PutUint32(page, ebsMagic)
	for i := range uint64(11) {
		binary.LittleEndian.PutUint64(page[8+8*i:], 100+i)
	}
	binary.LittleEndian.PutUint64(page[readHistogram:], 70) // more than there are
	binary.LittleEndian.PutUint64(page[writeHistogram:], 2)
	for i := range uint64(histogramBins) {
		at := readHistogram + 8 + histogramStride*i
		binary.LittleEndian.PutUint64(page[at:], i)
		binary.LittleEndian.PutUint64(page[at+8:], i+1)
		binary.LittleEndian.PutUint32(page[at+16:], uint32(1000+i))
	}
	s, err := ParseEBSStats(page)
	if err != nil || len(s.ReadHist) != 64 || len(s.WriteHist) != 2 {
		t.Fatalf("%d and %d bins, %v", len(s.ReadHist), len(s.WriteHist), err)
	}
	if last := s.ReadHist[63]; last != (EBSBin{63 * time.Microsecond, 64 * time.Microsecond, 1063}) {
		t.Errorf("%+v", last)
	}
	const us = time.Microsecond
	if s.ReadOps != 100 || s.WriteOps != 101 || s.ReadBytes != 102 || s.WriteBytes != 103 || s.ReadTime != 104*us || s.WriteTime != 105*us ||
		s.VolumeIOPSExceeded != 106*us || s.VolumeRateExceeded != 107*us || s.InstanceIOPSExceeded != 108*us || s.InstanceRateExceeded != 109*us || s.Queue != 110 {
		t.Errorf("%+v", s)
	}
	later := s
	later.ReadOps, later.WriteOps, later.ReadBytes, later.WriteBytes = 110, 121, 132, 143
	later.ReadTime, later.WriteTime, later.VolumeIOPSExceeded, later.VolumeRateExceeded = 154*us, 165*us, 176*us, 187*us
	later.InstanceIOPSExceeded, later.InstanceRateExceeded, later.Queue = 198*us, 209*us, 3
	d := later.Minus(s)
	if d.ReadOps != 10 || d.WriteOps != 20 || d.ReadBytes != 30 || d.WriteBytes != 40 || d.ReadTime != 50*us || d.WriteTime != 60*us ||
		d.VolumeIOPSExceeded != 70*us || d.VolumeRateExceeded != 80*us || d.InstanceIOPSExceeded != 90*us || d.InstanceRateExceeded != 100*us || d.Queue != 3 {
		t.Errorf("%+v", d)
	}
	again := later
	again.WriteOps = 100 // the volume was attached again
	if d := again.Minus(s); d.WriteOps != 100 || d.ReadOps != 110 {
		t.Errorf("%+v", d)
	}
	again = later
	if again.ReadOps = 99; again.Minus(s).ReadOps != 99 {
		t.Errorf("%+v", again.Minus(s))
	}
	again = later
	if again.Local = true; again.Minus(s).ReadOps != 110 {
		t.Errorf("%+v", again.Minus(s))
	}
	if since(uint64(5), 5) != 0 || since(uint64(4), 5) != 4 || since(uint64(9), 5) != 4 {
		t.Error("since")
	}
	bins := minusBins([]EBSBin{{0, 1, 10}, {1, 2, 20}, {2, 3, 30}, {3, 4, 5}}, []EBSBin{{0, 1, 4}, {1, 9, 5}, {1, 3, 5}})
	if want := []EBSBin{{0, 1, 6}, {1, 2, 20}, {2, 3, 30}, {3, 4, 5}}; !slices.Equal(bins, want) {
		t.Errorf("%+v", bins)
	}
	if microseconds(7) != 7*us || microseconds(math.MaxUint64) != math.MaxInt64/us*us {
		t.Errorf("%v", microseconds(math.MaxUint64))
	}
}

// A value of CloudWatch counts when it is a percentage of the time asked for; the latest one wins.
func TestBalancesThatCount(t *testing.T) {
	to := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	from := to.Add(-time.Hour)
	at := func(m int) string { return to.Add(time.Duration(m) * time.Minute).Format(time.RFC3339) }
	for name, c := range map[string]struct {
		id     string
		times  []string
		values []string
		want   float64 // -1: none
	}{
		"one":              {"m0", []string{at(-5)}, []string{"40"}, 0.4},
		"the latest":       {"m0", []string{at(-9), at(-5), at(-7)}, []string{"10", "20", "30"}, 0.2},
		"0":                {"m0", []string{at(-5)}, []string{"0"}, 0},
		"100":              {"m0", []string{at(-5)}, []string{"100"}, 1},
		"below 0":          {"m0", []string{at(-5)}, []string{"-0.5"}, -1},
		"above 100":        {"m0", []string{at(-5)}, []string{"100.5"}, -1},
		"NaN":              {"m0", []string{at(-5)}, []string{"NaN"}, -1},
		"just now":         {"m0", []string{at(0)}, []string{"40"}, 0.4},
		"to come":          {"m0", []string{at(1)}, []string{"40"}, -1},
		"began before":     {"m0", []string{at(-65)}, []string{"40"}, 0.4},
		"too old":          {"m0", []string{at(-66)}, []string{"40"}, -1},
		"no value":         {"m0", []string{at(-5)}, nil, -1},
		"not asked for":    {"m1", []string{at(-5)}, []string{"40"}, -1},
		"below the first":  {"m-1", []string{at(-5)}, []string{"40"}, -1},
		"of somebody else": {"0", []string{at(-5)}, []string{"40"}, -1},
	} {
		var a metricAnswer
		a.Results = append(a.Results, struct {
			ID         string   `xml:"Id"`
			Timestamps []string `xml:"Timestamps>member"`
			Values     []string `xml:"Values>member"`
		}{c.id, c.times, c.values})
		found := make([]*Balance, 1)
		a.into(found, from, to)
		got := -1.0
		if found[0] != nil {
			got = found[0].Left
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Tables: the drive of an instance, and its limits.
func TestInstanceStoreByHand(t *testing.T) {
	for count, want := range map[string]InstanceStore{"4": {Count: 4, Size: 7500e9}, "": {}} {
		f := InstanceFacts{Type: "no.such"}
		if builtin()["aws"].drives(&f, row{[]string{"local_count", "local_gb"}, []string{count, "7500"}}); f.Local != want {
			t.Errorf("%+v", f.Local)
		}
	}
	l := limits(row{[]string{"base_iops", "base_mbs"}, []string{"100", "12.5"}}, "base_", 1)
	if l.IOPS != 100 || l.Rate != 12.5e6 {
		t.Errorf("%+v", l)
	}
	if (row{[]string{"a", "b"}, []string{"1"}}).text("b") != "" || (row{[]string{"a"}, []string{"x"}}).num("a") != 0 {
		t.Error("cells")
	}
	over := Limits{IOPS: 1, Rate: 2, ReadIOPS: 3, WriteIOPS: 4, ReadRate: 5, WriteRate: 6}
	over.Override(Limits{Rate: 20, WriteIOPS: 40, ReadRate: 50})
	if over != (Limits{IOPS: 1, Rate: 20, ReadIOPS: 3, WriteIOPS: 40, ReadRate: 50, WriteRate: 6}) {
		t.Errorf("%+v", over)
	}
}
