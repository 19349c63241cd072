package ceiling

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// boundsOf reads bounds like "a100 a300! b50": a letter for the resource, its IOPS, and ! for a burst.
// A and a are resources of one kind with names of their own; all others have the same name.
func boundsOf(t *testing.T, text string) Ceiling {
	t.Helper()
	kinds := map[byte]Kind{
		'a': VolumeIOPS, 'A': VolumeIOPS, 'b': InstanceIOPS, 'd': InstanceRate, 'c': Concurrency, 'r': RequestedRate,
	}
	var c Ceiling
	for f := range strings.FieldsSeq(text) {
		number, burst := strings.CutSuffix(f[1:], "!")
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || kinds[f[0]] == "" {
			t.Fatalf("%q", f)
		}
		b := Bound{Kind: kinds[f[0]], IOPS: units.IOPS(n), Burst: burst}
		if f[0] == 'A' {
			b.Name = "another"
		}
		c.Bounds = append(c.Bounds, b)
	}
	c.Bounds = sorted(c.Bounds)
	return c
}

// boundText is the inverse for one bound, without the resource; - for none.
func boundText(b *Bound) string {
	if b == nil {
		return "-"
	}
	text := strconv.FormatFloat(float64(b.IOPS), 'g', -1, 64)
	if b.Burst {
		text += "!"
	}
	return text
}

// Which of some bounds is the one that binds, the hardware's, the one that lasts, what the hardware comes
// down to, and what binds next, at first and in the long run.
func TestWhichBoundIsMeant(t *testing.T) {
	for text, want := range map[string]string{
		//                   binding hardware sustained lasting next sustainednext
		"":                 "- - - - - -",
		"a100":             "100 100 100 - - -",
		"a100 b200":        "100 100 100 - 200 200",
		"a100 b100":        "100 100 100 - 100 100",
		"a100 a300!":       "300! 300! 100 100 - -",
		"a100 a100!":       "100 100 100 - - -",     // as much is no burst
		"a100 a200":        "100 100 100 - - -",     // two limits of one resource: the larger excuses nothing
		"a100! a200!":      "100! 100! - - - -",     // nor does a larger burst
		"b50! a100 d150":   "50! 50! 100 - 100 150", // a burst of no known baseline counts, but does not last
		"a100 b300! d200":  "100 100 100 - 200 200",
		"a100 b150 b300!":  "100 100 100 - 300! 150",
		"a100 b300!":       "100 100 100 - 300! -",      // the burst of another kind
		"A100 a150 a300!":  "100 100 100 - - -",         // of another resource of the kind
		"a100 a300! b200":  "200 200 100 100 300! 200",  // the burst is held back
		"c50 a100":         "50 100 50 - 100 100",       // what the job brings
		"r50 a100 a300!":   "50 300! 50 100 300! 100",   // and what it asks for
		"c50 r60":          "50 - 50 - 60 60",           //
		"c150 a100 a300!":  "150 300! 100 100 300! 150", //
		"a0 a300!":         "300! 300! 0 - - -",         // a baseline of nothing is not known
		"a0.5 a300!":       "300! 300! 0.5 0.5 - -",     // one of half an I/O is
		"a300!":            "300! 300! - - - -",         //
		"a98 b100 a300!":   "100 100 98 98 300! 100",    // a hundredth less is no fall
		"a99.5 b100 a300!": "100 100 99.5 - 300! 100",
	} {
		c := boundsOf(t, text)
		var got []string
		for _, b := range []*Bound{c.Binding(), c.Hardware(), c.Sustained(), c.Lasting(), c.Next(), c.SustainedNext()} {
			got = append(got, boundText(b))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
	for text, want := range map[string]float64{
		"a100 c200": 50, "c50 a100": 0, "a100": 0, "a100 a300! c400": 150, "r100 c200": 50, "c100 b100": 0, "c100 a100": 0,
	} {
		c := boundsOf(t, text)
		for i := range c.Bounds {
			c.Bounds[i].Demand = 0.5 // seconds, of the concurrency bound
		}
		if got := c.Saturation(); got != want {
			t.Errorf("%q: saturates at %v, want %v", text, got, want)
		}
	}
}

// The bound of Little's law, and what it needs to be known.
func TestLittlesLawByHand(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		own, given  int
		size        units.Bytes
		share       float64
		read, write time.Duration
		want        units.IOPS // 0 for no bound
		how         string
	}{
		"the jobs' own":         {4, 0, 4096, 1, ms, 0, 4000, "4 I/Os in flight ÷ 1 ms"},
		"given":                 {4, 2, 4096, 1, ms, 0, 2000, "2 I/Os in flight ÷ 1 ms"},
		"one":                   {4, 1, 4096, 1, ms, 0, 1000, "1 I/O in flight ÷ 1 ms"},
		"less than none":        {4, -1, 4096, 1, ms, 0, 4000, "4 I/Os in flight ÷ 1 ms"},
		"not known":             {0, 0, 4096, 1, ms, 0, 0, ""},
		"below zero":            {-4, 0, 4096, 1, ms, 0, 0, ""},
		"of no size":            {4, 0, 0, 1, ms, 0, 0, ""},
		"of a byte":             {4, 0, 1, 1, ms, 0, 4000, "4 I/Os in flight ÷ 1 ms"},
		"reads of none":         {4, 0, 4096, 1, 0, ms, 0, ""},
		"of a nanosecond":       {1, 0, 4096, 1, 1, 0, 1e9, "1 I/O in flight ÷ 1 ns"},
		"reads below none":      {4, 0, 4096, 1, -ms, ms, 0, ""},
		"writes":                {4, 0, 4096, 0, 0, ms, 4000, "4 I/Os in flight ÷ 1 ms"},
		"writes of a nano":      {1, 0, 4096, 0, 0, 1, 1e9, "1 I/O in flight ÷ 1 ns"},
		"writes of none":        {4, 0, 4096, 0, ms, 0, 0, ""},
		"both":                  {4, 0, 4096, 0.25, ms, 3 * ms, 1600, "4 I/Os in flight ÷ (0.25 × 1 ms + 0.75 × 3 ms)"},
		"both, reads of none":   {4, 0, 4096, 0.25, 0, 3 * ms, 0, ""},
		"both, writes of none":  {4, 0, 4096, 0.75, ms, 0, 0, ""},
		"rarely a read of none": {4, 0, 4096, 0.01, 0, ms, 0, ""},
	} {
		of := Ceiling{InFlight: c.own, IOSize: c.size, ReadShare: c.share, Bounds: []Bound{{Kind: Concurrency, IOPS: 7}}}
		if c.want == 0 {
			of.Bounds = nil
		}
		with := of.WithLatency(c.read, c.write, c.given, topology.Origin{})
		b := with.Concurrency()
		if (b == nil) != (c.want == 0) {
			t.Errorf("%s: %+v", name, b)
		} else if b != nil && (!within(b.IOPS, float64(c.want)) || b.How != c.how || math.Abs(float64(b.BW/units.Rate(b.IOPS))-float64(c.size)) > 1e-6 ||
			math.Abs(float64(b.ReadIOPS/b.IOPS)-c.share) > 1e-9 || math.Abs(float64(b.WriteIOPS/b.IOPS)-(1-c.share)) > 1e-9) {
			t.Errorf("%s: %+v, want %v, %q", name, b, c.want, c.how)
		}
	}
}

// Buckets at their edges: nothing saved up, less than floating point loses, and tops below the base.
func TestBucketsAtTheirEdges(t *testing.T) {
	for name, c := range map[string]struct {
		b      Bucket
		allows float64
		empty  bool
	}{
		"full":                 {Bucket{Base: 100, Top: 300, Size: 1000, Left: 1000}, 300, false},
		"of nothing":           {Bucket{Base: 100, Top: 300}, 100, true},
		"a top below its base": {Bucket{Base: 100, Top: 50, Size: 1000, Left: 1000}, 100, false},
		"noise of its size":    {Bucket{Base: 100, Top: 300, Size: 1000, Left: 5e-7}, 100, true},
		"more than the noise":  {Bucket{Base: 100, Top: 300, Size: 1000, Left: 2e-6}, 300, false},
		"a small one":          {Bucket{Base: 100, Top: 300, Size: 1e-3, Left: 1e-9}, 300, false},
		"overdrawn":            {Bucket{Base: 100, Top: 300, Size: 1000, Left: -1}, 100, true},
	} {
		if c.b.Allows() != c.allows || c.b.Empty() != c.empty {
			t.Errorf("%s: %v, empty %v", name, c.b.Allows(), c.b.Empty())
		}
	}
	// Twice the noise of the base is above it by nothing: 1e9 × 2e-9 = 2.
	for over, want := range map[float64]bool{-5: true, 0: true, 1.5: true, 1.9: true, 2.5: false, 100: false} {
		b := Bucket{Base: 1e9, Top: 2e9, Size: 100, Left: 50}
		if got := math.IsInf(b.Lasts(1e9+over), 1); got != want || !want && math.Abs(b.Lasts(1e9+over)-50/over) > 1e-3 {
			t.Errorf("%v above the base lasts for %v s", over, b.Lasts(1e9+over))
		}
		timed := Bucket{Base: 1e9, Top: 2e9, Size: 100, Left: 50, Timed: true}
		left := map[bool]float64{true: 50, false: 43}[want]
		if timed.Pass(1e9+over, 7); timed.Left != left {
			t.Errorf("%v above the base for 7 s leave %v s, want %v", over, timed.Left, left)
		}
	}
	if b := (Bucket{Top: 10, Size: 5, Left: 5, Timed: true}); !math.IsInf(b.Lasts(0), 1) || b.Lasts(1e-3) != 5 {
		t.Errorf("of no base: %v and %v", b.Lasts(0), b.Lasts(1e-3))
	}
}

// What a section is as a stream: its weight, the shares of its directions, and what they ask for.
func TestStreamsOfSections(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		w    fio.Workload
		want stream
	}{
		"a mix":           {fio.Workload{ReadShare: 0.75, Jobs: 2, Depth: 4}, stream{weight: 8, share: [2]float64{0.75, 0.25}, most: [2]float64{inf, inf}}},
		"one a second":    {fio.Workload{ReadShare: 1, ReadBS: 4096, ReadIOPS: 1, WriteIOPS: 9}, stream{weight: 1, share: [2]float64{1, 0}, most: [2]float64{1, 0}}},
		"half a write":    {fio.Workload{ReadShare: 0.5, WriteIOPS: 0.5}, stream{weight: 1, share: [2]float64{0.5, 0.5}, most: [2]float64{inf, 0.5}}},
		"trims":           {fio.Workload{TrimShare: 1}, stream{weight: 1}},
		"reads and trims": {fio.Workload{ReadShare: 0.75, TrimShare: 0.25}, stream{weight: 1, share: [2]float64{0.75, 0}, most: [2]float64{inf, 0}}},
		"all three":       {fio.Workload{ReadShare: 0.25, TrimShare: 0.25}, stream{weight: 1, share: [2]float64{0.25, 0.5}, most: [2]float64{inf, inf}}},
		"more than all":   {fio.Workload{ReadShare: 0.75, TrimShare: 0.26}, stream{weight: 1, share: [2]float64{0.75, 0}, most: [2]float64{inf, 0}}},
		"writes":          {fio.Workload{Jobs: 3}, stream{weight: 3, share: [2]float64{0, 1}, most: [2]float64{0, inf}}},
	} {
		got := streamOf(c.w)
		if got.weight != c.want.weight || got.share != c.want.share || got.most != c.want.most {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// What each stream does where together they use a capacity up: each row's streams, the demand of their
// I/Os, and by capacity the I/Os per second of each.
func TestHowACapacityIsFilled(t *testing.T) {
	inf := math.Inf(1)
	reads := func(rate float64) stream {
		return stream{weight: 1, share: [2]float64{1, 0}, most: [2]float64{rate, 0}}
	}
	writes := func(weight float64) stream {
		return stream{weight: weight, share: [2]float64{0, 1}, most: [2]float64{0, inf}}
	}
	type rates map[float64][]float64 // by capacity; nil where it is not used up
	for name, c := range map[string]struct {
		streams []stream
		each    []float64 // demand of an I/O
		asked   bool      // all have a rate
		want    rates
	}{
		"none": {nil, nil, false, rates{10: nil}},
		// What all ask for is scaled to a capacity that is more.
		"a rate":       {[]stream{reads(100)}, []float64{1}, true, rates{40: {40}, 100: {100}, 250: {250}}},
		"a low rate":   {[]stream{reads(0.25)}, []float64{1}, true, rates{0.1: {0.1}, 10: {10}}},
		"of no demand": {[]stream{reads(100)}, []float64{0}, true, rates{10: nil}},
		// The second one rises with the first, and alone once that has its rate.
		"a rate and none": {[]stream{reads(100), writes(1)}, []float64{1, 1}, false, rates{
			50: {25, 25}, 200: {100, 100}, 300: {100, 200}, 3000: {100, 2900},
		}},
		"a rate below one": {[]stream{reads(0.5), writes(1)}, []float64{1, 1}, false, rates{3: {0.5, 2.5}}},
		"the other is free": {[]stream{reads(100), writes(1)}, []float64{1, 0}, false, rates{
			50: {50, 50}, 100: {100, 100}, 150: nil,
		}},
		"by weight": {[]stream{reads(inf), writes(3)}, []float64{1, 1}, false, rates{40: {10, 30}}},
		"by demand": {[]stream{reads(inf), writes(3)}, []float64{2, 4}, false, rates{140: {10, 30}}},
		// Bends at 10 and 20 a second, where the three use 60 and 100.
		"three": {[]stream{reads(10), reads(20), writes(1)}, []float64{2, 2, 2}, false, rates{
			48: {8, 8, 8}, 60: {10, 10, 10}, 80: {10, 15, 15}, 100: {10, 20, 20}, 160: {10, 20, 50},
		}},
		// A trim asks for nothing: the reads' rate is not all.
		"a trim":    {[]stream{reads(100), {weight: 1}}, []float64{1, 0}, false, rates{50: {50, 0}, 250: nil}},
		"two rates": {[]stream{reads(100), reads(300)}, []float64{1, 1}, true, rates{100: {50, 50}, 300: {100, 200}, 800: {200, 600}}},
	} {
		p := &problem{streams: c.streams}
		if _, all := p.asked(); all != c.asked {
			t.Errorf("%s: all ask for a rate: %v", name, all)
		}
		demand := make([][2]float64, len(c.each))
		for i, d := range c.each {
			demand[i] = [2]float64{d, d}
		}
		for capacity, want := range c.want {
			got := p.fill(capacity, demand)
			ok := (got == nil) == (want == nil)
			for i := range want {
				ok = ok && len(got) == len(want) && math.Abs(got[i][0]+got[i][1]-want[i]) < 1e-6
			}
			if !ok {
				t.Errorf("%s: of %v %v, want %v", name, capacity, got, want)
			}
		}
	}
	// So many I/Os per second of all together: above their bends at 10 and 20 each the last one does the rest.
	p := &problem{streams: []stream{reads(10), reads(20), writes(1)}}
	for iops, want := range map[float64][3]float64{15: {5, 5, 5}, 45: {10, 17.5, 17.5}, 90: {10, 20, 60}} {
		got := p.carrying(iops)
		if sum := [3]float64{got[0][0], got[1][0], got[2][1]}; sum != want {
			t.Errorf("%v a second: %v, want %v", iops, sum, want)
		}
	}
}

// The chunk that a ratio of device I/Os to issued ones shows. Of 28 KiB at multiples of 28 KiB the
// greatest common divisor with each chunk is 4 KiB: 1 + 24 KiB / chunk pieces.
func TestInferredChunks(t *testing.T) {
	for c, pieces := range map[units.Bytes]float64{
		4 * k: 7, 8 * k: 4, 16 * k: 2.5, 32 * k: 1.75, 64 * k: 1.375, 128 * k: 1.1875, 256 * k: 1.09375, 512 * k: 1.046875,
		m: 1.0234375, 2 * m: 1.01171875, 4 * m: 1.005859375,
	} {
		if chunk, sure := InferChunk(28*k, pieces*1e6, 1e6); chunk != c || sure != 1 {
			t.Errorf("a ratio of %v: %v (%v), want %v", pieces, chunk, sure, c)
		}
	}
	for name, c := range map[string]struct {
		bs          units.Bytes
		ios, issued float64
		chunk       units.Bytes
		sure        float64
	}{
		// A sixth of the way from 256 to 128 KiB, 0.015625 off; from 512 KiB it is 0.0625.
		"a sixth of the way": {28 * k, 1.109375, 1, 256 * k, 0.75},
		// As far on the other side, where 512 KiB are 0.03125 off.
		"a third of the way": {28 * k, 1.078125, 1, 256 * k, 0.5},
		// As far from 256 KiB as from 512: the smaller, and not sure of it.
		"half of the way": {28 * k, 1.0703125, 1, 256 * k, 0},
		// 12 MiB at multiples of 12: 4 of 16 MiB in common, so that 8 of 16 cross, and 1 + 8/16.
		"the largest":       {12 * m, 1.5, 1, 16 * m, 1},
		"the smallest":      {8 * k, 2, 1, 4 * k, 1},
		"half an I/O":       {8 * k, 1, 0.5, 4 * k, 1},
		"a 22nd off":        {8 * k, 1.91, 1, 4 * k, 1}, // 0.09 of 1.91: below a twentieth
		"a 19th off":        {8 * k, 1.90, 1, 0, 0},
		"more than any":     {8 * k, 2.2, 1, 0, 0},
		"hardly split":      {28 * k, 1.004, 1, 0, 0},
		"issued below none": {8 * k, -2, -1, 0, 0},
		"of no size":        {0, 2, 1, 0, 0},
	} {
		if chunk, sure := InferChunk(c.bs, c.ios, c.issued); chunk != c.chunk || math.Abs(sure-c.sure) > 1e-9 {
			t.Errorf("%s: %v (%v), want %v (%v)", name, chunk, sure, c.chunk, c.sure)
		}
	}
}

// What a rebuild takes of a member, and what it leaves of each limit.
func TestWhatARebuildTakes(t *testing.T) {
	volume := func(counted units.Bytes, merges bool) topology.Volume {
		return topology.Volume{CountedIO: counted, Merges: merges}
	}
	for name, c := range map[string]struct {
		syncing string
		floor   units.Rate
		v       topology.Volume
		want    cost
	}{
		"of 64 KiB":          {"recover", 128 << 10, volume(0, false), cost{readIOs: 2, readBytes: 128 << 10}},
		"merged":             {"recover", 128 << 10, volume(256*k, true), cost{readIOs: 0.5, readBytes: 128 << 10}},
		"merged without end": {"recover", 128 << 10, volume(0, true), cost{readIOs: 2, readBytes: 128 << 10}},
		"not merged":         {"recover", 128 << 10, volume(256*k, false), cost{readIOs: 2, readBytes: 128 << 10}},
		"half a byte":        {"recover", 0.5, volume(0, false), cost{readIOs: 0.5 / 65536, readBytes: 0.5}},
		"of no rate":         {"recover", 0, volume(0, false), cost{}},
		"below none":         {"recover", -1, volume(0, false), cost{}},
		"a resync":           {"resync", 128 << 10, volume(0, false), cost{}},
	} {
		if got := rebuild(&topology.Array{Syncing: c.syncing, SyncFloor: c.floor}, c.v); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	// It reads 30 I/Os and 4,000 bytes a second, or writes as much: never more than half is taken.
	taken := cost{readIOs: 30, readBytes: 4000}
	for _, l := range limits {
		for capacity, want := range map[string]map[float64]float64{
			"IOPS": {100: 70, 60: 30, 50: 25, 0: 0},
			"rate": {10000: 6000, 8000: 4000, 5000: 2500, 0: 0},
		}[map[Kind]string{VolumeIOPS: "IOPS", VolumeRate: "rate"}[l.kind]] {
			if got := left(l, l.of(topology.Limits{}), capacity, taken); got != want {
				t.Errorf("of %v %s %v are left, want %v", capacity, l.name, got, want)
			}
		}
	}
	a := &topology.Array{Syncing: "recover", SyncFloor: 64 << 10, Volumes: []topology.Volume{{}}} // one I/O per second
	for name, c := range map[string]struct {
		l          topology.Limits
		iops, rate float64
	}{
		"a tenth":               {topology.Limits{IOPS: 10}, 0.1, 0},
		"half of half an I/O":   {topology.Limits{IOPS: 0.5}, 0.5, 0},
		"the most of its kind":  {topology.Limits{IOPS: 100, ReadIOPS: 10, WriteIOPS: 20}, 0.1, 0},
		"of each kind":          {topology.Limits{IOPS: 10, Rate: 256 << 10}, 0.1, 0.25},
		"of what is not stated": {topology.Limits{}, 0, 0},
	} {
		a.Volumes[0].Sustained = c.l
		if i, r := RebuildTakes(a, VolumeIOPS), RebuildTakes(a, VolumeRate); math.Abs(i-c.iops) > 1e-9 || math.Abs(r-c.rate) > 1e-9 {
			t.Errorf("%s: %v and %v, want %v and %v", name, i, r, c.iops, c.rate)
		}
	}
}

// Parts of stripes of an array that lacks a member, the mean over which one it is.
func TestPartsOfADegradedStripe(t *testing.T) {
	five := members{n: 5, data: 4, parity: 1, lost: 1} // RAID5
	six := members{n: 6, data: 4, parity: 2, lost: 1}  // RAID6
	for name, c := range map[string]struct {
		m             members
		touched       float64
		unit          units.Bytes
		reads, writes float64 // I/Os; each is of 4 KiB
	}{
		// A chunk of RAID5: P lost or the chunk itself, 1/5 each: three others read, one written; one of three
		// others: the chunk and P read and written.
		"one chunk of RAID5": {five, 1, 0, (3 + 3 + 3*2) / 5., (1 + 1 + 3*2) / 5.},
		// P: one read, three written; one of the three: one read, two and P written; the other one: three and P.
		"three of RAID5": {five, 3, 0, (1 + 3*1 + 4) / 5., (3 + 3*3 + 4) / 5.},
		// Nothing is read; of five one is not there.
		"a stripe of RAID5": {five, 4, 0, 0, 4},
		// P or Q, 2/6: three read, the chunk and one parity written; the chunk: three read, both parities
		// written; another, 3/6: the chunk and both read and written.
		"one chunk of RAID6":   {six, 1, 0, (2*3 + 3 + 3*3) / 6., (2*2 + 2 + 3*3) / 6.},
		"counted in four":      {five, 1, 1024, 4 * 12 / 5., 4 * 8 / 5.},
		"a stripe, in four":    {five, 4, 1024, 0, 16},
		"one of RAID5 by half": {members{n: 5, data: 4, parity: 1, lost: 1, done: 0.5}, 4, 0, 0, 4.5},
	} {
		got := c.m.degradedPart(c.touched, 4096, counting{unit: c.unit})
		ios := 1.0
		if c.unit > 0 {
			ios = 4096 / float64(c.unit)
		}
		if math.Abs(got.readIOs-c.reads) > 1e-9 || math.Abs(got.writeIOs-c.writes) > 1e-9 ||
			math.Abs(got.readBytes-c.reads/ios*4096) > 1e-6 || math.Abs(got.writeBytes-c.writes/ios*4096) > 1e-6 {
			t.Errorf("%s: %+v, want %v reads and %v writes", name, got, c.reads, c.writes)
		}
	}
	for _, c := range []struct {
		m    members
		want float64
	}{
		{members{n: 4}, 1},
		{members{n: 4, lost: 1}, 1},
		{members{n: 5, parity: 1}, 1},
		{five, 0.8},
		{members{n: 5, parity: 1, lost: 1, done: 0.5}, 0.9},
		{members{n: 6, parity: 2, lost: 2, done: 0.25}, 0.75},
	} {
		if got := c.m.whole(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v of a stripe, want %v", c.m, got, c.want)
		}
	}
	// How much is rebuilt is a share; and who counts as lost where nothing or all is known.
	array := func(level topology.Level, n, copies, degraded int, progress float64, missing ...int) *topology.Array {
		a := &topology.Array{Level: level, Copies: copies, Degraded: degraded, Chunk: 64 * k, Volumes: make([]topology.Volume, n)}
		for _, i := range missing {
			a.Volumes[i].Missing = true
		}
		if progress != 0 {
			a.Syncing, a.Progress = "recover", progress
		}
		return a
	}
	for name, c := range map[string]struct {
		a    *topology.Array
		n    int
		done float64
	}{
		"more than all is rebuilt":    {array(topology.RAID5, 4, 1, 1, 1.5), 1, 1},
		"less than none":              {array(topology.RAID5, 4, 1, 1, -0.5), 1, 0},
		"no redundancy":               {array(topology.RAID0, 4, 1, 1, 0, 2), 0, 0},
		"two of three, and counted":   {array(topology.RAID10, 6, 3, 2, 0, 3, 4), 2, 0},
		"two of a pair, not which":    {array(topology.RAID10, 4, 2, 2, 0), 1, 0},
		"one of three, not which":     {array(topology.RAID10, 6, 3, 1, 0), 1, 0},
		"one of each of two threes":   {array(topology.RAID10, 6, 3, 2, 0, 0, 3), 1, 0},
		"more by the count of parity": {array(topology.RAID6, 6, 1, 2, 0, 3), 2, 0},
	} {
		if m := membersOf(c.a); m.lost != c.n || m.done != c.done {
			t.Errorf("%s: %d lost, %v done", name, m.lost, m.done)
		}
	}
}

// How long bursts last of made-up resources under reads that take what they are given: each row's resources
// with base, top, credits and seconds, and how long each burst lasts.
func TestHowLongBurstsLast(t *testing.T) {
	type resources = [][4]float64
	const none = 0
	kindOf, nameOf := []Kind{VolumeIOPS, InstanceIOPS, VolumeIOPS}, []string{"x", "x", "y"} // of both together
	for name, c := range map[string]struct {
		of      resources
		rate    units.IOPS    // that is asked for
		latency time.Duration // of one read at a time
		want    []float64     // seconds
	}{
		"one":                 {resources{{100, 300, 2000}}, none, none, []float64{10}},
		"of no known length":  {resources{{100, 300}}, none, none, []float64{0}},
		"of seconds":          {resources{{100, 300, 0, 60}}, none, none, []float64{60}},
		"and both":            {resources{{100, 300, 2000, 60}}, none, none, []float64{60}},
		"without a base":      {resources{{0, 300, 3000}}, none, none, []float64{10}},
		"no burst":            {resources{{100}}, none, none, nil},
		"held back":           {resources{{100, 300, 2000}, {150}}, none, none, []float64{40}}, // 50 a second above its base
		"seconds, held back":  {resources{{100, 300, 0, 60}, {150}}, none, none, []float64{60}},
		"no base, held back":  {resources{{0, 300, 3000}, {150}}, none, none, []float64{20}},
		"by a latency":        {resources{{100, 300, 2000}}, none, 8 * time.Millisecond, []float64{80}}, // 125 a second
		"by what is asked":    {resources{{100, 300, 2000}}, 140, none, []float64{50}},
		"below its base":      {resources{{100, 300, 2000}, {80}}, none, none, []float64{10}}, // as if it were used whole
		"below it, by a rate": {resources{{100, 300, 2000}}, 80, none, []float64{10}},
		// 200 a second at first: 150 above the second's base for 10 s. Then 50, which never spends the first:
		// at its first rate it would last 20 s.
		"the second ends": {resources{{100, 300, 2000}, {50, 200, 1500}}, none, none, []float64{20, 10}},
		// 9 s at 200; then 100, of which 50 are above the second's base, which has 150 left.
		"one after the other": {resources{{100, 300, 900}, {50, 200, 1500}}, none, none, []float64{9, 12}},
		"both at once":        {resources{{100, 300, 1000}, {50, 200, 1500}}, none, none, []float64{10, 10}},
		// 10 s at 200, 40 s at 120; then 50. The first has spent 1,000 and 800 of 2,000, and lasted for all that.
		"three": {resources{{100, 300, 2000}, {120, 200, 800}, {50, 1000, 1500 + 2800}}, none, none, []float64{50, 10, 50}},
	} {
		w := fio.Workload{ReadShare: 1, ReadBS: 4096, Jobs: 1, Depth: 1, ReadIOPS: c.rate}
		p := &problem{streams: []stream{streamOf(w)}}
		for i, r := range c.of {
			p.resources = append(p.resources, &resource{
				kind: kindOf[i], name: nameOf[i], base: r[0], top: r[1], credits: r[2],
				lasts: time.Duration(r[3]) * time.Second, demand: [][2]float64{{1, 1}}, how: func(_, _ float64) string { return "" },
			})
		}
		got := p.ceiling(nil)
		if c.latency > 0 {
			got = got.WithLatency(c.latency, 0, 1, topology.Origin{})
		}
		bursts := 0
		for _, b := range got.Bounds {
			want := 0.0
			for i := range c.want {
				if b.Burst && kindOf[i] == b.Kind && nameOf[i] == b.Name {
					want = c.want[i]
					bursts++
				}
			}
			if b.BurstFor.Seconds() != want {
				t.Errorf("%s: %s lasts %v, want %v s", name, b.Name, b.BurstFor, c.want)
			}
		}
		if bursts != len(c.want) {
			t.Errorf("%s: %d bursts", name, bursts)
		}
	}
}

// What a control group's limits make of a load: one I/O for each of the job's own, on a member of an array
// what goes to it.
func TestThrottlesByHand(t *testing.T) {
	for name, c := range map[string]struct {
		level  topology.Level
		n      int
		device string
		limits topology.Limits
		load   fio.Workload
		want   float64 // 0: no bound
		how    string
	}{
		"the array":            {topology.RAID0, 4, "md0", topology.Limits{ReadIOPS: 500}, load("randread", 512*k, 8, 1), 500, "500 read IOPS on md0"},
		"half an I/O":          {topology.RAID0, 4, "md0", topology.Limits{ReadIOPS: 0.5}, load("randread", 4*k, 8, 1), 0.5, "0.50 read IOPS on md0"},
		"both directions":      {topology.RAID0, 4, "md0", topology.Limits{IOPS: 500}, load("randrw", 4*k, 8, 1), 500, "500 IOPS on md0"},
		"of writes":            {topology.RAID0, 4, "md0", topology.Limits{WriteIOPS: 30}, load("randrw", 4*k, 8, 1), 100, "30 write IOPS on md0"},
		"a rate":               {topology.RAID0, 4, "md0", topology.Limits{Rate: 1 << 20}, load("randrw", 4*k, 8, 1), 256, "1 MiB/s on md0"},
		"of reads":             {topology.RAID0, 4, "md0", topology.Limits{ReadRate: 1 << 20}, load("randread", 4*k, 8, 1), 256, "1 MiB/s of reads on md0"},
		"a rate of writes":     {topology.RAID0, 4, "md0", topology.Limits{WriteRate: 1 << 20}, load("randwrite", 4*k, 8, 1), 256, "1 MiB/s of writes on md0"},
		"the other direction":  {topology.RAID0, 4, "md0", topology.Limits{WriteRate: 1 << 20}, load("randread", 4*k, 8, 1), 0, ""},
		"the first of four":    {topology.RAID0, 4, "d0", topology.Limits{ReadIOPS: 100}, load("randread", 4*k, 8, 1), 400, "100 read IOPS on d0"},
		"the last of four":     {topology.RAID0, 4, "d3", topology.Limits{ReadIOPS: 100}, load("randread", 4*k, 8, 1), 400, "100 read IOPS on d3"},
		"chunks of it":         {topology.RAID0, 4, "d3", topology.Limits{ReadIOPS: 100}, load("randread", 256*k, 8, 1), 100, "100 read IOPS on d3"},
		"of a mirror":          {topology.RAID1, 2, "d1", topology.Limits{WriteIOPS: 100}, load("randwrite", 4*k, 8, 1), 100, "100 write IOPS on d1"},
		"that serves no reads": {topology.RAID1, 2, "d1", topology.Limits{ReadIOPS: 100}, load("randread", 4*k, 1, 1), 0, ""},
		// Below the only volume a group counts what is submitted, however the volume counts.
		"the only volume": {topology.Single, 1, "d0", topology.Limits{ReadIOPS: 100}, load("randread", 512*k, 8, 1), 100, "100 read IOPS on d0"},
		"nothing":         {topology.Single, 1, "d0", topology.Limits{}, load("randread", 4*k, 8, 1), 0, ""},
	} {
		a := &topology.Array{Name: "md0", Level: c.level, Chunk: 64 * k}
		for i := range c.n {
			a.Volumes = append(a.Volumes, topology.Volume{Device: "d" + strconv.Itoa(i), CountedIO: 256 * k, Sustained: topology.Limits{IOPS: 1e6}})
		}
		p := &problem{}
		p.take([]fio.Workload{c.load})
		p.throttles(&topology.Target{Throttles: []topology.Throttle{{Device: c.device, Group: "/g", Limits: c.limits}}}, a)
		got := p.ceiling(nil)
		b := got.Binding()
		if (b != nil) != (c.want > 0) || b != nil && (!within(b.IOPS, c.want) || b.How != "the cgroup /g allows "+c.how || (b.Kind == CgroupRate) != strings.Contains(c.how, "/s")) {
			t.Errorf("%s: %+v, want %v, %q", name, b, c.want, c.how)
		}
	}
	p := &problem{}
	if p.throttles(nil, &topology.Array{}); len(p.resources) != 0 {
		t.Errorf("no target has %d resources", len(p.resources))
	}
	// A rebuild is md's own, and in no group: nothing of the group's limit is deducted for it.
	a := &topology.Array{Name: "md0", Level: topology.RAID1, Syncing: "recover", SyncFloor: 64 << 10, Degraded: 1, Volumes: []topology.Volume{{Device: "d0"}, {Device: "d1"}}}
	p.take([]fio.Workload{load("randwrite", 4*k, 8, 1)})
	p.throttles(&topology.Target{Throttles: []topology.Throttle{{Device: "d0", Limits: topology.Limits{WriteIOPS: 10}}}}, a)
	if c := p.ceiling(nil); iopsOf(c.Binding()) != 10 {
		t.Errorf("beside a rebuild: %+v", c.Bounds)
	}
}
