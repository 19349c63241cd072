package fio

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio/bins"
	"plimsoll/internal/units"
)

// Bytes become I/Os where the size of a block is known, and neither a count nor a rate is; half a block
// counts as one.
func TestCountsFromBytes(t *testing.T) {
	const k = units.KiB
	load := Workload{ReadShare: 0.5, ReadBS: 4 * k, WriteBS: 8 * k, TrimBS: 16 * k}
	for name, c := range map[string]struct {
		d    Direction
		want [3]uint64 // by reads, writes and trims
	}{
		"whole blocks":       {Direction{Bytes: 160 * k, Runtime: 2 * time.Second}, [3]uint64{40, 20, 10}},
		"one byte":           {Direction{Bytes: 160*k + 1, Runtime: 2 * time.Second}, [3]uint64{40, 20, 10}},
		"half a block":       {Direction{Bytes: 160*k + 2*k, Runtime: 2 * time.Second}, [3]uint64{41, 20, 10}},
		"less than half":     {Direction{Bytes: 160*k + 2*k - 1, Runtime: 2 * time.Second}, [3]uint64{40, 20, 10}},
		"a whole one":        {Direction{Bytes: 160*k + 4*k, Runtime: 2 * time.Second}, [3]uint64{41, 21, 10}},
		"of no time":         {Direction{Bytes: 160 * k}, [3]uint64{}},
		"a count is known":   {Direction{Bytes: 160 * k, N: 1, Runtime: 2 * time.Second}, [3]uint64{1, 1, 1}},
		"a rate is known":    {Direction{Bytes: 160 * k, IOPS: 0.5, Runtime: 2 * time.Second}, [3]uint64{}},
		"no bytes":           {Direction{Runtime: 2 * time.Second}, [3]uint64{}},
		"a time of a moment": {Direction{Bytes: 160 * k, Runtime: 1}, [3]uint64{40, 20, 10}},
	} {
		for d, direction := range []string{"reads", "writes", "trims"} {
			rows := []Job{{Name: "j"}}
			of := rows[0].Directions()[d]
			*of = c.d
			got := CountIOs(rows, nil, []Workload{load})
			counted := c.want[d] > 0 && c.d.N == 0
			if of.N != c.want[d] || counted != slices.Equal(got, []string{direction}) || !counted && got != nil {
				t.Errorf("%s of %s: %d, %q; want %d", name, direction, of.N, got, c.want[d])
			}
			if rate := units.IOPS(float64(c.want[d]) / c.d.Runtime.Seconds()); counted && of.IOPS != rate {
				t.Errorf("%s of %s: %v a second, want %v", name, direction, of.IOPS, rate)
			}
		}
	}
	// Jobs of one row whose blocks differ in one direction are counted in the others; what one of them does
	// not say differs from nothing.
	for name, c := range map[string]struct {
		other Workload
		want  string
	}{
		"alike":              {load, "reads writes trims"},
		"other reads":        {Workload{ReadBS: 8 * k, WriteBS: 8 * k, TrimBS: 16 * k}, "writes trims"},
		"other writes":       {Workload{ReadBS: 4 * k, WriteBS: 4 * k, TrimBS: 16 * k}, "reads trims"},
		"other trims":        {Workload{ReadBS: 4 * k, WriteBS: 8 * k, TrimBS: 8 * k}, "reads writes"},
		"of no size at all":  {Workload{}, "reads writes trims"},
		"blocks of a byte":   {Workload{ReadBS: 1, WriteBS: 1, TrimBS: 1}, ""},
		"sizes in the mean":  {Workload{ReadBS: 4 * k, WriteBS: 8 * k, TrimBS: 16 * k, ReadLeast: 512, WriteLeast: 512}, "reads writes trims"},
		"of reads, no other": {Workload{ReadBS: 4 * k}, "reads writes trims"},
	} {
		for _, loads := range [][]Workload{{load, c.other}, {c.other, load}} {
			d := Direction{Bytes: 160 * k, Runtime: time.Second}
			rows := []Job{{Read: d, Write: d, Trim: d}}
			if got := strings.Join(CountIOs(rows, nil, loads), " "); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	}
	// A document that was printed meanwhile counts more I/Os than bytes; several sizes tell nothing of it.
	for name, c := range map[string]struct {
		load          Workload
		reads, writes uint64
	}{
		"one size each":         {Workload{ReadBS: 4 * k, WriteBS: 8 * k}, 40, 20},
		"several of reads":      {Workload{ReadBS: 4 * k, WriteBS: 8 * k, ReadLeast: 1}, 99, 20},
		"several of writes":     {Workload{ReadBS: 4 * k, WriteBS: 8 * k, WriteLeast: 1}, 40, 99},
		"blocks of a byte":      {Workload{ReadBS: 1, WriteBS: 1}, 99, 99},
		"not a whole of writes": {Workload{ReadBS: 4 * k, WriteBS: 9 * k}, 40, 99},
	} {
		rows := []Job{{Read: Direction{N: 99, Bytes: 160 * k}, Write: Direction{N: 99, Bytes: 160 * k}}}
		if Align(rows, nil, []Workload{c.load}); rows[0].Read.N != c.reads || rows[0].Write.N != c.writes {
			t.Errorf("%s: %d and %d, want %d and %d", name, rows[0].Read.N, rows[0].Write.N, c.reads, c.writes)
		}
	}
}

// Which workloads a row stands for: all where it is the only one, else those of its name, else its own
// options.
func TestWorkloadsOfARow(t *testing.T) {
	loads := nameLoads([]Workload{{Name: "a", ReadBS: 1}, {Name: "b", ReadBS: 2}, {Name: "b", ReadBS: 3}})
	none := nameLoads(nil)
	for name, c := range map[string]struct {
		j      Job
		global Options
		loads  namedLoads
		alone  bool
		want   []units.Bytes // sizes of reads
	}{
		"alone":                    {Job{Name: "b"}, nil, loads, true, []units.Bytes{1, 2, 3}},
		"by its name":              {Job{Name: "b"}, nil, loads, false, []units.Bytes{2, 3}},
		"of another name":          {Job{Name: "c"}, nil, loads, false, nil},
		"its own options":          {Job{Name: "c", Options: Options{"rw": "read", "bs": "16k"}}, nil, loads, false, []units.Bytes{16384}},
		"global options":           {Job{Name: "c"}, Options{"rw": "read", "bs": "16k"}, loads, false, []units.Bytes{16384}},
		"its own before global":    {Job{Name: "c", Options: Options{"bs": "8k"}}, Options{"rw": "read", "bs": "16k"}, loads, false, []units.Bytes{8192}},
		"by the long name":         {Job{Name: "c", Options: Options{"readwrite": "read", "bs": "8k"}}, nil, loads, false, []units.Bytes{8192}},
		"without a direction":      {Job{Name: "c", Options: Options{"bs": "8k"}}, nil, loads, false, nil},
		"options that are none":    {Job{Name: "c", Options: Options{"rw": "read", "bs": "x"}}, nil, loads, false, nil},
		"its name before options":  {Job{Name: "a", Options: Options{"rw": "read", "bs": "16k"}}, nil, loads, false, []units.Bytes{1}},
		"alone, of none known":     {Job{Name: "c", Options: Options{"rw": "read", "bs": "8k"}}, nil, none, true, []units.Bytes{8192}},
		"alone, nothing is known":  {Job{Name: "c"}, nil, none, true, nil},
		"alone before its options": {Job{Name: "c", Options: Options{"rw": "read", "bs": "8k"}}, nil, loads, true, []units.Bytes{1, 2, 3}},
	} {
		var got []units.Bytes
		for _, w := range loadsOf(&c.j, c.global, c.loads, c.alone) {
			got = append(got, w.ReadBS)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// Times of rows: a row of the only group stands for all jobs, rows of two groups for those of their name.
	const s = time.Second
	write := func(name string, delay time.Duration) Workload {
		return Workload{Name: name, WriteBS: 4096, StartDelay: delay}
	}
	row := func(name string, group int, read time.Duration) Job {
		return Job{
			Name:    name,
			Group:   group,
			Runtime: 10 * s,
			Read:    Direction{Runtime: read},
			Write:   Direction{Runtime: 10 * s},
		}
	}
	for name, c := range map[string]struct {
		rows   []Job
		loads  []Workload
		window []time.Duration
		delay  []time.Duration
	}{
		"one row of two jobs":  {[]Job{row("a", 0, 0)}, []Workload{write("a", 0), write("b", 5*s)}, []time.Duration{15 * s}, []time.Duration{0}},
		"two rows of a group":  {[]Job{row("a", 0, 0), row("b", 0, 0)}, []Workload{write("a", 2*s), write("b", 5*s)}, []time.Duration{10 * s, 10 * s}, []time.Duration{2 * s, 5 * s}},
		"two rows, two groups": {[]Job{row("a", 0, 0), row("b", 1, 0)}, []Workload{write("a", 2*s), write("b", 5*s)}, []time.Duration{10 * s, 10 * s}, []time.Duration{2 * s, 5 * s}},
		"what it wrote":        {[]Job{row("a", 0, 4*s)}, []Workload{write("a", 0)}, []time.Duration{14 * s}, []time.Duration{0}},
		"a moment of reads":    {[]Job{row("a", 0, 1)}, []Workload{write("a", 0)}, []time.Duration{10*s + 1}, []time.Duration{0}},
		"reads and writes":     {[]Job{row("a", 0, 4*s)}, []Workload{{Name: "a", ReadShare: 0.5}}, []time.Duration{10 * s}, []time.Duration{0}},
		"one of them reads":    {[]Job{row("a", 0, 4*s)}, []Workload{write("a", 0), {Name: "b", ReadShare: 1}}, []time.Duration{10 * s}, []time.Duration{0}},
		"nothing was written": {
			[]Job{{Name: "a", Runtime: 10 * s, Read: Direction{Runtime: 4 * s}}},
			[]Workload{write("a", 0)},
			[]time.Duration{10 * s},
			[]time.Duration{0},
		},
		"a job of no known load": {[]Job{row("x", 0, 4*s), row("b", 0, 0)}, []Workload{write("b", 5*s)}, []time.Duration{10 * s, 10 * s}, []time.Duration{0, 5 * s}},
	} {
		Time(c.rows, nil, c.loads)
		for i, j := range c.rows {
			if j.Window != c.window[i] || j.Delay != c.delay[i] {
				t.Errorf("%s: row %d of %s after %s, want %s after %s", name, i, j.Window, j.Delay, c.window[i], c.delay[i])
			}
		}
	}
}

// An output of several phases in parts: rows, groups and doubts by where they belong, and what no job is
// named in with the first.
func TestPartsByPhase(t *testing.T) {
	o := &Output{
		Jobs: []Job{{Name: "a"}, {Name: "b", Group: 1}, {Name: "c", Group: 1}, {Name: "d", Group: 2}},
		Groups: []Group{
			{ID: 2},
			{ID: 0},
			{ID: 1},
			{ID: 7},
		},
		Doubts:   []string{"c: of c", "of none", "a: of a", "d: of d", "bc: of none"},
		Messages: []string{"m"},
		Progress: 1,
	}
	parts := o.Phases()
	var got []string
	for _, p := range parts {
		text := fmt.Sprint(p.Phase, ":")
		for _, j := range p.Jobs {
			text += " " + j.Name
		}
		for _, g := range p.Groups {
			text += fmt.Sprint(" ", g.ID)
		}
		got = append(got, text+" "+strings.Join(p.Doubts, "|")+" "+strings.Join(p.Messages, "")+fmt.Sprint(p.Progress))
	}
	want := []string{"1: a 0 of none|a: of a|bc: of none m1", "2: b c 1 c: of c 0", "3: d 2 d: of d 0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for name, o := range map[string]*Output{
		"of clients":        {AllClients: &Job{}, Jobs: []Job{{}, {Group: 1}}},
		"groups not known":  {Jobs: []Job{{}, {Group: -1}, {Group: 1}}},
		"one phase":         {Jobs: []Job{{}, {}}},
		"nothing":           {},
		"beside each other": {Jobs: []Job{{}, {Group: 1, Options: Options{"new_group": "1"}}}},
	} {
		if parts := o.Phases(); len(parts) != 1 || parts[0] != o || o.Phase != 0 {
			t.Errorf("%s: %d parts", name, len(parts))
		}
	}
	// What fio reported as one goes where the job says, once, and only where nothing else was counted.
	for name, c := range map[string]struct {
		own, global string
		n           uint64
		want        [3]uint64
		doubts      int
	}{
		"reads": {"randread", "write", 0, [3]uint64{9, 0, 0}, 0}, "writes": {"write", "", 0, [3]uint64{0, 9, 0}, 0}, "trims": {"randtrim", "", 0, [3]uint64{0, 0, 9}, 0},
		"all write": {"", "randwrite", 0, [3]uint64{0, 9, 0}, 0}, "both": {"randrw", "", 0, [3]uint64{9, 0, 0}, 1}, "not known": {"", "", 0, [3]uint64{9, 0, 0}, 1},
		"counted": {"read", "", 1, [3]uint64{0, 1, 0}, 0},
	} {
		j := Job{Name: "j", Options: Options{"rw": c.own}, Mixed: &Direction{N: 9}, Write: Direction{N: c.n}}
		o := &Output{Jobs: []Job{j, {Name: "none"}}, Global: Options{"rw": c.global}}
		o.PlaceMixed()
		if got := [3]uint64{
			o.Jobs[0].Read.N,
			o.Jobs[0].Write.N,
			o.Jobs[0].Trim.N,
		}; got != c.want || len(o.Doubts) != c.doubts ||
			o.Jobs[1].Read.N != 0 {
			t.Errorf("%s: %v, %q", name, got, o.Doubts)
		}
	}
	for n, d := range map[string]Job{"read": {Read: Direction{N: 1}}, "trimmed": {Trim: Direction{N: 1}}} {
		d.Mixed = &Direction{N: 9}
		o := &Output{Jobs: []Job{d}}
		if o.PlaceMixed(); o.Jobs[0].Read.N+o.Jobs[0].Write.N+o.Jobs[0].Trim.N != 1 || o.Doubts != nil {
			t.Errorf("%s: %+v", n, o.Jobs[0])
		}
	}
}

// A job that waits for another, or ends all, ties its file together; each of the options by itself, and
// nothing that is switched off.
func TestFilesThatCannotBeTakenApart(t *testing.T) {
	for option, want := range map[string]int{"": 2, "wait_for=a": 1, "exitall": 1, "exitall=1": 1, "exitall=0": 2, "exit_what=all": 1, "stonewall=0": 1, "new_group": 2} {
		f, err := ParseJobFile("x.fio", []byte("[a]\nrw=read\n[b]\nstonewall\nrw=read\n"+option+"\n"), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(f.Phases()); got != want {
			t.Errorf("%q: %d phases, want %d", option, got, want)
		}
	}
	// The ramp of a row: its own before the global one, none where neither says it.
	for name, c := range map[string]struct {
		own, global Options
		want        time.Duration
	}{
		"its own": {Options{"ramp_time": "3"}, Options{"ramp_time": "5"}, 3 * time.Second}, "of all": {nil, Options{"ramp_time": "5"}, 5 * time.Second},
		"none": {Options{"rw": "read"}, Options{"bs": "4k"}, 0}, "in minutes": {Options{"ramp_time": "2m"}, nil, 2 * time.Minute}, "its own none": {Options{"ramp_time": "0"}, Options{"ramp_time": "5"}, 0},
	} {
		if got := (&Job{Options: c.own}).ramp(c.global); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	// Groups had no time to run one after the other where fio's own time is less than theirs together.
	group := func(elapsed time.Duration, runs ...time.Duration) (list []Job) {
		for _, r := range runs {
			list = append(list, Job{Runtime: r, Elapsed: elapsed})
		}
		return list
	}
	for name, c := range map[string]struct {
		groups [][]Job
		want   bool
	}{
		"less":         {[][]Job{group(9, 5, 3), group(9, 5)}, true},
		"as much":      {[][]Job{group(10, 5, 3), group(10, 5)}, false},
		"the longest":  {[][]Job{group(9, 3, 5), group(9, 4)}, false},
		"not known":    {[][]Job{group(0, 5), group(0, 5)}, false},
		"a nanosecond": {[][]Job{group(1, 5), group(0, 5)}, true},
	} {
		if got := crowded(c.groups); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	// Shares of rows by their I/Os; a row without I/Os or without shares does not thin those of the others.
	shares := func(n uint64, list ...Share) Job { return Job{Write: Direction{N: n}, Depths: list} }
	depths := func(j *Job) []Share { return j.Depths }
	got := mergeShares(
		[]Job{shares(30, Share{"1", 1}), shares(0, Share{"2", 1}), shares(50), shares(10, Share{"1", 0.5}, Share{"4", 0.5})},
		depths,
	)
	if !slices.Equal(got, []Share{{"1", 0.875}, {"4", 0.125}}) {
		t.Errorf("%v", got)
	}
	buckets := func(n uint64, list ...Bucket) Job { return Job{Trim: Direction{N: n}, Buckets: list} }
	sums := mergeBuckets(
		[]Job{
			buckets(30, Bucket{10, 1}),
			buckets(0, Bucket{20, 1}),
			buckets(50),
			buckets(10, Bucket{0, 0.5}, Bucket{1, 0.5}),
		},
	)
	if !slices.Equal(sums, []Bucket{{1, 0.125}, {10, 0.75}, {0, 0.125}}) {
		t.Errorf("%v", sums)
	}
}

// Bins at the ends: the last takes all that is longer, a bin that is none is refused, and nothing at all
// is nothing.
func TestBinsAtTheirEnds(t *testing.T) {
	var h Hist
	h.Add(time.Hour, 2)
	h.Add(0, 1)
	h.Add(7, 0)
	last, _ := bins.Range(bins.Count - 1)
	if last != 1<<34-1<<27 || h.Above(last) != 2 || h.Above(last+1) != 0 || h.Above(0) != 3 ||
		h.Percentile(100) != bins.Value(bins.Count-1) ||
		h.Count() != 3 {
		t.Errorf("the last bin from %d on: %d of %d", last, h.Above(last), h.Count())
	}
	if err := new(
		Hist,
	).UnmarshalJSON(
		[]byte("[[1856,1]]"),
	); err == nil ||
		err.Error() != "latency bin 1856: fio has 1856" {
		t.Error(err)
	}
	var back Hist
	if err := back.UnmarshalJSON(
		[]byte("[[1855,2],[0,1]]"),
	); err != nil || back.Count() != 3 ||
		back.Percentile(100) != h.Percentile(100) {
		t.Error(err, back.Count())
	}
	var none *Hist
	none.Each(func(int, uint64) { t.Error("a bin of nothing") })
	if h.Merge(none); h.Count() != 3 {
		t.Error(h.Count())
	}
	empty := Hist{}
	if d := h.Minus(&empty); d.Count() != 3 {
		t.Error(d.Count())
	}
	if got := h.Percentile(0); got != 0 {
		t.Error(got)
	}
}
