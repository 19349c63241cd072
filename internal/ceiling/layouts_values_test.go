package ceiling

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// files are sections of jobs that each have a file of a size, or parts of one file.
func files(jobs int, size units.Bytes, shared bool, step units.Bytes) stream {
	return stream{w: fio.Workload{ReadShare: 1, ReadBS: 4 * k, Jobs: jobs, Depth: 2, Size: size, SharedFile: shared, OffsetIncrement: step}}
}

// Over how many members the regions of jobs go, four of them with chunks of 64 KiB.
func TestMembersThatAreCovered(t *testing.T) {
	for name, c := range map[string]struct {
		streams []stream
		want    float64
	}{
		"no size":             {[]stream{files(1, 0, false, 0)}, 4},
		"one of no size":      {[]stream{files(1, 64*k, false, 0), files(1, 0, false, 0)}, 4},
		"a chunk":             {[]stream{files(1, 64*k, false, 0)}, 1},
		"no number of jobs":   {[]stream{files(0, 64*k, false, 0)}, 1},
		"a chunk and a half":  {[]stream{files(1, 96*k, false, 0)}, 1.5},
		"a row":               {[]stream{files(1, 256*k, false, 0)}, 4},
		"a row and a KiB":     {[]stream{files(1, 257*k, false, 0)}, 257. / 65},
		"a row and a half":    {[]stream{files(1, 384*k, false, 0)}, 3},
		"two files":           {[]stream{files(2, 64*k, false, 0)}, 2},
		"two of a bit more":   {[]stream{files(2, 64*k+1, false, 0)}, 4},
		"two of a bit less":   {[]stream{files(2, 64*k-1, false, 0)}, 2},
		"three of two chunks": {[]stream{files(3, 96*k, false, 0)}, 4},
		"one file of two":     {[]stream{files(2, 96*k, true, 0)}, 1.5},
		"parts of one file":   {[]stream{files(2, 96*k, true, 96*k)}, 4},
		"parts by a byte":     {[]stream{files(2, 64*k, true, 1)}, 2},
		"files and a step":    {[]stream{files(2, 64*k, false, 64*k)}, 2},
		"two sections":        {[]stream{files(1, 64*k, false, 0), files(1, 96*k, false, 0)}, 3},
	} {
		p := &problem{streams: c.streams}
		if got := p.covered(members{n: 4, width: 4, chunk: 64 * k}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Over how many volumes reads and writes go, and which serve reads at all.
func TestVolumesThatServe(t *testing.T) {
	const small, first = "small compared with a stripe", "only the first mirror"
	one := stream{w: fio.Workload{ReadShare: 1, ReadBS: 4 * k, Jobs: 1, Depth: 1}}
	oneSmall := one
	oneSmall.w.Size = 64 * k
	near4 := members{n: 4, data: 2, width: 2, copies: 2, chunk: 64 * k}
	with := func(m members, f func(*members)) members { f(&m); return m }
	for name, c := range map[string]struct {
		m              members
		s              stream
		readers, other float64
		note           string
	}{
		"one volume":             {members{n: 1, data: 1, width: 1, copies: 1, chunk: 64 * k}, files(1, 4*k, false, 0), 1, 1, ""},
		"a chunk of four":        {members{n: 4, data: 4, width: 4, copies: 1, chunk: 64 * k}, files(1, 64*k, false, 0), 1, 1, small},
		"no chunk":               {members{n: 4, data: 4, width: 4, copies: 1}, files(1, 64*k, false, 0), 4, 4, ""},
		"of a parity":            {members{n: 5, data: 4, width: 5, copies: 1, parity: 1, chunk: 64 * k}, files(1, 64*k, false, 0), 5, 5, ""},
		"a chunk of two pairs":   {near4, files(1, 64*k, false, 0), 2, 2, small},
		"a row of two pairs":     {near4, files(1, 128*k, false, 0), 4, 4, ""},
		"a hundredth less":       {members{n: 4, data: 4, width: 4, copies: 1, chunk: 64 * k}, files(1, 254*k, false, 0), 4, 4, ""},
		"more than a hundredth":  {members{n: 4, data: 4, width: 4, copies: 1, chunk: 64 * k}, files(1, 253*k, false, 0), 253. / 64, 253. / 64, small},
		"one read of two pairs":  {near4, one, 2, 4, first},
		"one read of a chunk":    {near4, oneSmall, 1, 2, small},
		"one read of five":       {members{n: 5, data: 2, width: 2, copies: 2, chunk: 64 * k}, one, 5, 5, first},
		"one read of two threes": {members{n: 6, data: 2, width: 2, copies: 3, chunk: 64 * k}, one, 2, 6, first},
		"odd near copies":        {members{n: 5, data: 2, width: 2, copies: 2, chunk: 64 * k}, files(1, 0, false, 0), 5, 5, ""},
		"one read, far":          {with(near4, func(m *members) { m.far, m.width = true, 4 }), one, 4, 4, ""},
		// Four pairs of which one lacks its mate: as if there were four volumes.
		"a pair lacks one":          {members{n: 8, data: 4, width: 4, copies: 2, lost: 1, chunk: 64 * k}, files(1, 0, false, 0), 4, 8, ""},
		"it lacks one of few":       {members{n: 8, data: 4, width: 4, copies: 2, lost: 1, chunk: 64 * k}, files(1, 64*k, false, 0), 2, 2, small},
		"no copies and a lost one":  {members{n: 4, data: 4, width: 4, copies: 1, lost: 1, chunk: 64 * k}, files(1, 0, false, 0), 4, 4, ""},
		"a parity, a third rebuilt": {members{n: 5, data: 4, width: 5, copies: 1, parity: 1, lost: 1, done: 0.25}, files(1, 0, false, 0), 4.25, 4.25, ""},
	} {
		p := &problem{streams: []stream{c.s}}
		r, w := p.spread(c.m)
		if math.Abs(r-c.readers) > 1e-9 || math.Abs(w-c.other) > 1e-9 || (len(p.notes) > 0) != (c.note != "") ||
			c.note != "" && !strings.Contains(p.notes[0], c.note) {
			t.Errorf("%s: %v and %v, want %v and %v; %q", name, r, w, c.readers, c.other, p.notes)
		}
	}
	// One read in flight of near copies: the first of each pair serve all, and the others none.
	for name, c := range map[string]struct {
		m    members
		want []float64
	}{
		"two pairs":            {near4, []float64{2, 0, 2, 0}},
		"two pairs, one lost":  {with(near4, func(m *members) { m.lost = 1 }), []float64{2, 2, 2, 2}},
		"a set of three":       {members{level: topology.RAID1, n: 3, data: 1, width: 1, copies: 3}, []float64{1, 0, 0}},
		"five of two":          {members{n: 5, data: 2, width: 2, copies: 2, chunk: 64 * k}, []float64{5, 5, 5, 5, 5}},
		"a concatenation of 1": {members{level: topology.Linear, n: 1, data: 1, width: 1, copies: 1}, []float64{1}},
	} {
		p := &problem{streams: []stream{one}}
		got := p.parts(&topology.Array{Volumes: make([]topology.Volume, c.m.n)}, c.m)
		for i, want := range c.want {
			if got[i].reads != want || got[i].writes != float64(c.m.n) {
				t.Errorf("%s: volume %d: %+v, want %v", name, i, got[i], want)
			}
		}
		if strings.Contains(strings.Join(p.notes, " "), "concatenation") {
			t.Errorf("%s: %q", name, p.notes)
		}
	}
}

// When one read in flight comes back to a set of mirrors: what it reads from the latest place in a chunk
// at which it may begin goes beyond the stripe, of two pairs 128 KiB.
func TestReadsBeyondAStripe(t *testing.T) {
	array := func(f func(*topology.Array)) *topology.Array {
		a := &topology.Array{Level: topology.RAID10, Chunk: 64 * k, Copies: 2, Volumes: make([]topology.Volume, 4)}
		if f != nil {
			f(a)
		}
		return a
	}
	read := func(size, align units.Bytes) fio.Workload { return aligned(load("randread", size, 1, 1), align) }
	for name, c := range map[string]struct {
		a    *topology.Array
		w    fio.Workload
		want bool
	}{
		"a stripe at chunks":  {array(nil), read(128*k, 64*k), false},
		"a page more":         {array(nil), read(132*k, 64*k), true},
		"68 KiB at pages":     {array(nil), read(68*k, 4*k), false}, // begins 60 KiB into a chunk
		"72 KiB at pages":     {array(nil), read(72*k, 4*k), true},
		"at larger multiples": {array(nil), read(128*k, 256*k), false},
		"the larger of two": {array(nil), func() fio.Workload {
			w := read(4*k, 64*k)
			w.ReadSizes = fio.Sizes{{Size: 4 * k, Share: 0.5}, {Size: m, Share: 0.5}}
			return w
		}(), true},
		"two in flight":           {array(nil), aligned(load("randread", m, 2, 1), 64*k), false},
		"a write":                 {array(nil), aligned(load("randwrite", m, 1, 1), 64*k), false},
		"no chunk":                {array(func(a *topology.Array) { a.Chunk = 0 }), read(m, 64*k), false},
		"far":                     {array(func(a *topology.Array) { a.Near = 1 }), read(m, 64*k), false},
		"offset":                  {array(func(a *topology.Array) { a.Near, a.Offset = 1, true }), read(m, 64*k), false},
		"a stripe":                {array(func(a *topology.Array) { a.Level = topology.RAID0 }), read(m, 64*k), false},
		"a mirror":                {array(func(a *topology.Array) { a.Level = topology.RAID1 }), read(m, 64*k), false},
		"one that lacks a member": {array(func(a *topology.Array) { a.Volumes[1].Missing = true }), read(m, 64*k), false},
	} {
		p := &problem{streams: []stream{streamOf(c.w)}}
		if got := p.members(c.a).alone; got != c.want || (len(p.notes) > 0) != c.want {
			t.Errorf("%s: %v; %q", name, got, p.notes)
		}
	}
}

// How a concatenation divides a load, by the region's size and the volumes', in GiB.
func TestPartsOfAConcatenation(t *testing.T) {
	const one, all, through, share = "a file lies on one volume", "what the job touches lies on one", "a stream works on one", "as much of the load"
	region := func(gib int, sequential bool) stream {
		s := files(1, units.Bytes(gib)*units.GiB, true, 0)
		s.w.Sequential = sequential
		return s
	}
	for name, c := range map[string]struct {
		sizes   []int
		streams []stream
		want    []float64 // the inverse of each volume's share; 0 for none of it
		note    string
	}{
		"two and a part":       {[]int{50, 50, 50}, []stream{region(110, false)}, []float64{2.2, 2.2, 11}, share},
		"a stream":             {[]int{50, 50, 50}, []stream{region(110, true)}, []float64{1, 1, 1}, through},
		"a stream on two":      {[]int{50, 50, 50}, []stream{region(60, true)}, []float64{1, 1, 0}, through},
		"one of two streams":   {[]int{50, 50, 50}, []stream{region(60, false), region(10, true)}, []float64{1, 1, 0}, through},
		"a part of the first":  {[]int{50, 50, 50}, []stream{region(40, false)}, []float64{1, 0, 0}, all},
		"the first":            {[]int{50, 50, 50}, []stream{region(50, false)}, []float64{1, 0, 0}, all},
		"a stream on it":       {[]int{50, 50, 50}, []stream{region(50, true)}, []float64{1, 0, 0}, all},
		"one more":             {[]int{50, 50, 50}, []stream{region(51, false)}, []float64{51. / 50, 51, 0}, share},
		"the larger of two":    {[]int{50, 50, 50}, []stream{region(60, false), region(20, false)}, []float64{1.2, 6, 0}, share},
		"more than there is":   {[]int{50, 50}, []stream{region(200, false)}, []float64{2, 2}, share},
		"no region":            {[]int{50, 50}, []stream{region(0, false)}, []float64{1, 0}, one},
		"one of no region":     {[]int{50, 50}, []stream{region(90, false), region(0, false)}, []float64{1, 0}, one},
		"no size of the first": {[]int{0, 50}, []stream{region(60, false)}, []float64{1, 0}, all},
		"of the second":        {[]int{50, 0, 50}, []stream{region(110, false)}, []float64{2.2, 110. / 60, 0}, share},
		"of what is beyond":    {[]int{50, 0}, []stream{region(40, false)}, []float64{1, 0}, all},
	} {
		a := &topology.Array{Name: "md0", Level: topology.Linear}
		for _, s := range c.sizes {
			a.Volumes = append(a.Volumes, topology.Volume{Size: units.Bytes(s) * units.GiB})
		}
		p := &problem{streams: c.streams}
		got := p.concatenated(a)
		for i, want := range c.want {
			if math.Abs(got[i].reads-want) > 1e-9 || got[i].writes != got[i].reads {
				t.Errorf("%s: volume %d: %+v, want %v", name, i, got[i], want)
			}
		}
		if len(p.notes) != 1 || !strings.Contains(p.notes[0], c.note) {
			t.Errorf("%s: %q, want %q", name, p.notes, c.note)
		}
		// What of it is a machine's volumes: the first one alone, and all but it.
		a.Volumes[0].Network = true
		m := membersOf(a)
		inFirst := 0.0
		if c.want[0] > 0 {
			inFirst = 1 / c.want[0]
		}
		if s := p.share(a, m, func(v topology.Volume) bool { return v.Network }); math.Abs(s-inFirst) > 1e-9 {
			t.Errorf("%s: %v of it is on the first, want %v", name, s, inFirst)
		}
		rest := 0.0
		for _, w := range c.want[1:] {
			if w > 0 {
				rest += 1 / w
			}
		}
		if s := p.share(a, m, func(v topology.Volume) bool { return !v.Network }); math.Abs(s-min(rest, 1)) > 1e-9 {
			t.Errorf("%s: %v of it is on the others, want %v", name, s, min(rest, 1))
		}
	}
	// Of other levels it goes by the number of volumes.
	a := &topology.Array{Level: topology.RAID0, Chunk: 64 * k, Volumes: make([]topology.Volume, 4)}
	a.Volumes[1].Network = true
	p := &problem{streams: []stream{files(1, 0, false, 0)}}
	if s := p.share(a, membersOf(a), func(v topology.Volume) bool { return v.Network }); s != 0.25 {
		t.Errorf("%v of a stripe, want a quarter", s)
	}
	// Also of a mirror whose reads all go to the first.
	mirror := &topology.Array{Level: topology.RAID1, Volumes: []topology.Volume{{}, {Network: true}}}
	p = &problem{streams: []stream{streamOf(load("randread", 4*k, 1, 1))}}
	if s := p.share(mirror, membersOf(mirror), func(v topology.Volume) bool { return v.Network }); s != 0.5 {
		t.Errorf("%v of a mirror, want a half", s)
	}
}

// How a volume's limit is put into words: of how many volumes, in which unit, of which direction.
func TestWordsOfALimit(t *testing.T) {
	iops, rate, writes := limits[0], limits[3], limits[5]
	network, drive := topology.Volume{Network: true}, topology.Volume{}
	disk := topology.Volume{Network: true, CountedIO: m, Merges: true, Sustained: topology.Limits{Rate: 1}}
	for name, c := range map[string]struct {
		l                limit
		n                float64
		m                members
		v                topology.Volume
		capacity, demand float64
		want             string
	}{
		"all":               {iops, 8, members{n: 8}, network, 24000, 1, "8 volumes × 3,000 IOPS ÷ 1 volume I/O per I/O"},
		"all but for noise": {iops, 7.993, members{n: 8}, network, 7993, 2, "7.99 volumes × 1,000 IOPS ÷ 2 volume I/Os per I/O"},
		"not all":           {iops, 7.9, members{n: 8}, network, 7900, 1, "7.9 of 8 volumes × 1,000 IOPS ÷ 1 volume I/O per I/O"},
		"of a degraded one": {iops, 7, members{n: 8, lost: 1}, network, 7000, 1, "7 of 8 volumes (the array is degraded) × 1,000 IOPS ÷ 1 volume I/O per I/O"},
		"all of a degraded": {iops, 8, members{n: 8, lost: 1}, network, 8000, 1, "8 volumes × 1,000 IOPS ÷ 1 volume I/O per I/O"},
		"one":               {iops, 1, members{n: 1}, network, 1000, 1.5, "1 volume × 1,000 IOPS ÷ 1.5 volume I/Os per I/O"},
		"a rate":            {rate, 2, members{n: 2}, network, 2 << 20, 8192, "2 volumes × 1 MiB/s ÷ 8 KiB per I/O"},
		"of a data sheet":   {rate, 2, members{n: 2}, drive, 2e6, 8191.6, "2 volumes × 1 MB/s ÷ 8 KiB per I/O"},
		"of writes":         {writes, 2, members{n: 2}, network, 2 << 20, 8192, "2 volumes × 1 MiB/s write ÷ 8 KiB per I/O"},
		"counted in units":  {rate, 2, members{n: 2}, disk, 2 << 20, 8192, "2 volumes × 1 MiB/s ÷ 8 KiB per I/O (each that is counted takes 1 MiB)"},
	} {
		if got := howVolumes(c.l, c.l.of(topology.Limits{}), c.n, c.m, c.v)(c.capacity, c.demand); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What limits make resources of a volume: stated ones alone, a burst only where it is more, and each
// class of unlike members.
func TestResourcesOfVolumes(t *testing.T) {
	type list = []topology.Volume
	iops := func(base, burst units.IOPS) topology.Volume {
		return topology.Volume{Sustained: topology.Limits{IOPS: base}, Burst: topology.Limits{IOPS: burst}, BurstIOs: 1000}
	}
	read := load("randread", 4*k, 8, 1)
	const differ, unknown = "differ: each gets an equal part", "are unknown"
	for name, c := range map[string]struct {
		level topology.Level
		v     list
		w     fio.Workload
		want  string // base/top of each resource
		note  string
	}{
		"a limit":            {topology.Single, list{iops(100, 0)}, read, "100/0", ""},
		"half an I/O":        {topology.Single, list{iops(0.5, 0)}, read, "0.50/0", ""},
		"a burst":            {topology.Single, list{iops(100, 300)}, read, "100/300", ""},
		"as much":            {topology.Single, list{iops(100, 100)}, read, "100/0", ""},
		"less":               {topology.Single, list{iops(100, 50)}, read, "100/0", ""},
		"a burst alone":      {topology.Single, list{iops(0, 300)}, read, "0/300", ""},
		"half an I/O of it":  {topology.Single, list{iops(0, 0.5)}, read, "0/0.50", ""},
		"nothing stated":     {topology.Single, list{{}}, read, "", "the limits of 1 of 1 volumes are unknown"},
		"one of two":         {topology.RAID0, list{iops(100, 0), {}}, read, "200/0", "the limits of 1 of 2 volumes are unknown"},
		"one is missing":     {topology.RAID1, list{iops(100, 0), {Missing: true}}, read, "100/0", "is degraded"},
		"alike":              {topology.RAID0, list{iops(100, 300), iops(100, 300)}, read, "200/600", ""},
		"of another base":    {topology.RAID0, list{iops(100, 0), iops(90, 0)}, read, "180/0", differ},
		"of another burst":   {topology.RAID0, list{iops(100, 300), iops(100, 400)}, read, "200/600", differ},
		"the third of three": {topology.RAID0, list{iops(100, 0), iops(100, 0), iops(90, 0)}, read, "270/0", differ},
		"in a concatenation": {topology.Linear, list{iops(100, 0), iops(90, 0)}, read, "100/0", "a concatenation"},
		"both worse":         {topology.RAID0, list{iops(100, 300), iops(90, 400)}, read, "200/600 180/800", differ},
		"pooled":             {topology.Single, list{{Pooled: true, Sustained: topology.Limits{IOPS: 100}}}, read, "", ""},
		"writes of a mirror": {topology.RAID1, list{iops(100, 0), iops(100, 0)}, load("randwrite", 4*k, 8, 1), "200/0", ""},
		"one read of it":     {topology.RAID1, list{iops(100, 0), iops(100, 0)}, load("randread", 4*k, 1, 1), "100/0", "only the first mirror"},
		"unlike mirrors":     {topology.RAID1, list{iops(1000, 0), iops(100, 0)}, load("randrw", 4*k, 1, 1), "2,000/0 200/0", differ},
		"one that may write": {topology.RAID1, list{iops(100, 0), iops(100, 0)}, load("randrw", 4*k, 1, 1), "200/0", "only the first mirror"},
	} {
		a := &topology.Array{Name: "md0", Level: c.level, Volumes: c.v}
		if c.level == topology.RAID0 {
			a.Chunk = 64 * k
		}
		p := &problem{}
		p.take([]fio.Workload{c.w})
		p.volumes(a)
		var got []string
		for _, r := range p.resources {
			got = append(got, units.IOPS(r.base).String()+"/"+units.IOPS(r.top).String())
		}
		if text := strings.Join(got, " "); text != c.want || (len(p.notes) > 0) != (c.note != "") || c.note != "" && !strings.Contains(strings.Join(p.notes, " "), c.note) {
			t.Errorf("%s: %q, want %q; %q", name, text, c.want, p.notes)
		}
		if c.note != differ && strings.Contains(strings.Join(p.notes, " "), "differ") || !strings.Contains(c.note, unknown) && strings.Contains(strings.Join(p.notes, " "), unknown) {
			t.Errorf("%s: %q", name, p.notes)
		}
	}
	// The second mirror serves none of the reads of one I/O in flight, and each of the writes.
	mirrors := &topology.Array{Name: "md0", Level: topology.RAID1, Volumes: list{iops(1000, 0), iops(100, 0)}}
	p := &problem{}
	p.take([]fio.Workload{load("randrw", 4*k, 1, 1)})
	if p.volumes(mirrors); p.resources[0].demand[0] != [2]float64{2, 2} || p.resources[1].demand[0] != [2]float64{0, 2} {
		t.Errorf("%v and %v", p.resources[0].demand, p.resources[1].demand)
	}
	// Where the latency of the data sheet comes from: that of the reads, else of the writes.
	sheet := map[string]topology.Origin{"read_latency": {Where: "r"}, "write_latency": {Where: "w"}}
	us := time.Microsecond
	for name, c := range map[string]struct {
		level       topology.Level
		v           list
		read, write time.Duration
		from        string
	}{
		"both":                 {topology.Single, list{{ReadLatency: us, WriteLatency: 2 * us, Origins: sheet}}, us, 2 * us, "r"},
		"of a nanosecond":      {topology.Single, list{{ReadLatency: 1, WriteLatency: 2 * us, Origins: sheet}}, 1, 2 * us, "r"},
		"reads of a nano":      {topology.Single, list{{ReadLatency: 1, Origins: sheet}}, 1, 0, "r"},
		"writes of a nano":     {topology.Single, list{{WriteLatency: 1, Origins: sheet}}, 0, 1, "w"},
		"writes alone":         {topology.Single, list{{WriteLatency: 2 * us, Origins: sheet}}, 0, 2 * us, "w"},
		"a stripe":             {topology.RAID0, list{{ReadLatency: 3 * us, WriteLatency: 2 * us}, {ReadLatency: us, WriteLatency: us}}, us, us, ""},
		"a mirror":             {topology.RAID1, list{{ReadLatency: 3 * us, WriteLatency: us}, {ReadLatency: us, WriteLatency: 2 * us}}, us, 2 * us, ""},
		"a mirror's first":     {topology.RAID1, list{{ReadLatency: us}, {ReadLatency: us, WriteLatency: 2 * us}}, us, 0, ""},
		"a mirror's second":    {topology.RAID1, list{{ReadLatency: us, WriteLatency: 2 * us}, {ReadLatency: us}}, us, 0, ""},
		"a mirror's nano":      {topology.RAID1, list{{ReadLatency: us, WriteLatency: 1}, {ReadLatency: us, WriteLatency: 2}}, us, 2, ""},
		"without the missing":  {topology.RAID1, list{{Missing: true}, {ReadLatency: us, WriteLatency: 2 * us, Origins: sheet}}, us, 2 * us, "r"},
		"a parity, of nothing": {topology.RAID5, list{{ReadLatency: us, WriteLatency: us}, {ReadLatency: us, WriteLatency: us}, {ReadLatency: us, WriteLatency: us}}, 0, 0, ""},
	} {
		a := &topology.Array{Name: "md0", Level: c.level, Chunk: 64 * k, Volumes: c.v}
		p := &problem{}
		if p.latency(a, membersOf(a)); p.read != c.read || p.write != c.write || p.latencyOrigin.Where != c.from {
			t.Errorf("%s: %v and %v of %+v, want %v and %v", name, p.read, p.write, p.latencyOrigin, c.read, c.write)
		}
		// Either alone is a bound of its own direction.
		for share, latency := range map[float64]time.Duration{1: c.read, 0: c.write} {
			of := Ceiling{InFlight: 1, IOSize: 4096, ReadShare: share}
			with := p.stated(of)
			if (with.Concurrency() != nil) != (latency > 0) || noted(with, "data sheet") != (latency > 0) {
				t.Errorf("%s: %v of reads: %+v", name, share, with)
			}
		}
	}
}

// What the limits of a machine make of a volume of 256 KiB units on its network.
func TestResourcesOfAMachine(t *testing.T) {
	iops := func(n units.IOPS) topology.Limits { return topology.Limits{IOPS: n} }
	const credits, once = "bursts on credits", "can burst for"
	for name, c := range map[string]struct {
		i    topology.Instance
		want string // base/top, credits, lasts
		note string
	}{
		"a baseline":         {topology.Instance{Type: "x", Baseline: iops(100)}, "100/0 0 0s", ""},
		"half an I/O":        {topology.Instance{Type: "x", Baseline: iops(0.5)}, "0.50/0 0 0s", ""},
		"as much in bursts":  {topology.Instance{Type: "x", Baseline: iops(100), Burst: iops(100)}, "100/0 0 0s", ""},
		"a burst":            {topology.Instance{Type: "x", Baseline: iops(100), Burst: iops(300)}, "100/300 0 0s", ""},
		"a burst alone":      {topology.Instance{Type: "x", Burst: iops(300)}, "0/300 0 0s", ""},
		"half an I/O of it":  {topology.Instance{Type: "x", Burst: iops(0.5)}, "0/0.50 0 0s", ""},
		"so long":            {topology.Instance{Type: "x", Baseline: iops(100), Burst: iops(300), BurstFor: time.Minute}, "100/300 0 1m0s", ""},
		"so long so often":   {topology.Instance{Type: "x", Baseline: iops(100), Burst: iops(300), BurstFor: time.Minute, BurstPer: time.Hour}, "100/300 0 1m0s", once},
		"so often":           {topology.Instance{Type: "x", Baseline: iops(100), Burst: iops(300), BurstPer: time.Hour}, "100/300 0 0s", ""},
		"by time":            {topology.Instance{Type: "x", Baseline: iops(100), Burst: iops(300), BurstFor: time.Minute, BurstRule: cloud.ByTime}, "100/300 0 1m0s", ""},
		"on credits":         {topology.Instance{Type: "x", Baseline: iops(100), Burst: iops(300), BurstFor: time.Minute, BurstPer: time.Hour, BurstRule: cloud.ByCredits}, "100/300 12000 0s", credits},
		"no burst by credit": {topology.Instance{Type: "x", Baseline: iops(100), BurstFor: time.Minute, BurstRule: cloud.ByCredits}, "100/0 0 0s", ""},
	} {
		a := machine(t, 1, gp3, topology.Single, 0, "").Arrays[0]
		p := &problem{}
		p.take([]fio.Workload{load("randread", 512*k, 8, 1)})
		p.instance(c.i, &a)
		if len(p.resources) != 1 {
			t.Errorf("%s: %d resources", name, len(p.resources))
			continue
		}
		r := p.resources[0]
		got := units.IOPS(r.base).String() + "/" + units.IOPS(r.top).String() + " " + units.Number(r.credits) + " " + r.lasts.String()
		if strings.ReplaceAll(got, ",", "") != c.want || r.kind != InstanceIOPS || r.demand[0] != [2]float64{2, 0} ||
			(len(p.notes) > 0) != (c.note != "") || c.note != "" && !strings.Contains(p.notes[0], c.note) {
			t.Errorf("%s: %s, want %s; %q", name, got, c.want, p.notes)
		}
	}
}
