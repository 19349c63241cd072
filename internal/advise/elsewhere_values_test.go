package advise

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Each of six limits holds alone, to the rounding that arithmetic may lose; one that is not known holds
// nothing.
func TestWantsWithinLimits(t *testing.T) {
	q := wants{volumes: 4, typ: "t", all: need{100, 1000}, reads: need{70, 700}, writes: need{30, 300}}
	set := []func(*cloud.Limits, float64){
		func(l *cloud.Limits, v float64) { l.IOPS = units.IOPS(100 * v) },
		func(l *cloud.Limits, v float64) { l.Rate = units.Rate(1000 * v) },
		func(l *cloud.Limits, v float64) { l.ReadIOPS = units.IOPS(70 * v) },
		func(l *cloud.Limits, v float64) { l.ReadRate = units.Rate(700 * v) },
		func(l *cloud.Limits, v float64) { l.WriteIOPS = units.IOPS(30 * v) },
		func(l *cloud.Limits, v float64) { l.WriteRate = units.Rate(300 * v) },
	}
	for i, f := range set {
		for share, want := range map[float64]bool{1.01: true, 1: true, 1 - loss/2: true, 1 - 2*loss: false, 0.005: false, 0: true} {
			var l cloud.Limits
			if f(&l, share); q.within(l) != want {
				t.Errorf("limit %d at %v of what is wanted: %v", i, share, !want)
			}
			for j, other := range set {
				if other(&l, 2); j == i {
					f(&l, share)
				}
			}
			if q.within(l) != want {
				t.Errorf("limit %d at %v, the others at twice: %v", i, share, !want)
			}
		}
	}
	enough, few := cloud.Limits{IOPS: 100}, cloud.Limits{IOPS: 50}
	of := func(typ string, l cloud.Limits) cloud.Cap { return cloud.Cap{Types: []string{typ}, Baseline: l} }
	for name, c := range map[string]struct {
		f    cloud.InstanceFacts
		want bool
	}{
		"its own limit":            {cloud.InstanceFacts{Baseline: enough}, true},
		"too little":               {cloud.InstanceFacts{Baseline: few}, false},
		"nothing known":            {cloud.InstanceFacts{}, false},
		"that of the type":         {cloud.InstanceFacts{Caps: []cloud.Cap{of("t", enough)}}, true},
		"too little of the type":   {cloud.InstanceFacts{Baseline: enough, Caps: []cloud.Cap{of("t", few)}}, false},
		"the type's, not its own":  {cloud.InstanceFacts{Baseline: few, Caps: []cloud.Cap{of("t", enough)}}, true},
		"that of another type":     {cloud.InstanceFacts{Caps: []cloud.Cap{of("u", enough)}}, false},
		"another's, and its own":   {cloud.InstanceFacts{Baseline: enough, Caps: []cloud.Cap{of("u", few)}}, true},
		"two of the type":          {cloud.InstanceFacts{Caps: []cloud.Cap{of("t", enough), of("t", few)}}, false},
		"four attached":            {cloud.InstanceFacts{Baseline: enough, Attachments: 4}, true},
		"three attached":           {cloud.InstanceFacts{Baseline: enough, Attachments: 3}, false},
		"one attached":             {cloud.InstanceFacts{Baseline: enough, Attachments: 1}, false},
		"how many is not known":    {cloud.InstanceFacts{Baseline: enough, Attachments: 0}, true},
		"it takes none of them":    {cloud.InstanceFacts{Baseline: enough, Without: []string{"s", "t"}}, false},
		"it takes none of another": {cloud.InstanceFacts{Baseline: enough, Without: []string{"s"}}, true},
	} {
		if got := q.on(c.f); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A choice is better that costs less; what has no price is behind what has one, and then the fewer
// volumes and the cheaper machine decide.
func TestBetterChoices(t *testing.T) {
	choice := func(month, machine cloud.USD, n int) *Choice {
		return &Choice{Month: month, InstanceMonth: machine, Layout: Layout{N: n}}
	}
	for name, c := range map[string]struct {
		a, b *Choice
		want bool
	}{
		"cheaper":               {choice(1, 9, 9), choice(2, 1, 1), true},
		"dearer":                {choice(2, 1, 1), choice(1, 9, 9), false},
		"alike":                 {choice(2, 1, 1), choice(2, 1, 1), false},
		"with a price":          {choice(5, 1, 9), choice(0, 1, 1), true},
		"without":               {choice(0, 1, 1), choice(5, 1, 9), false},
		"fewer volumes":         {choice(0, 9, 1), choice(0, 1, 2), true},
		"more volumes":          {choice(0, 1, 2), choice(0, 9, 1), false},
		"a priced machine":      {choice(0, 9, 1), choice(0, 0, 1), true},
		"a machine of no price": {choice(0, 0, 1), choice(0, 9, 1), false},
		"a cheaper machine":     {choice(0, 1, 1), choice(0, 2, 1), true},
		"a dearer machine":      {choice(0, 2, 1), choice(0, 1, 1), false},
	} {
		if got := c.a.better(c.b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	all := &Choices{Rows: []Choice{*choice(0, 0, 1), *choice(3, 1, 1), *choice(0, 5, 1), *choice(2, 9, 1), *choice(2, 1, 1)}}
	all.sort()
	got := []cloud.USD{}
	for _, c := range all.Rows {
		got = append(got, c.Month*10+c.InstanceMonth)
	}
	if !slices.Equal(got, []cloud.USD{21, 29, 31, 0, 5}) {
		t.Errorf("%v", got)
	}
	// A sum needs the price of the machine, and that of volumes unless they are its own.
	r := &Request{Prices: &cloud.Prices{
		Instances: map[string]cloud.USD{"m": 1_000_000}, Volumes: map[string]cloud.VolumePrice{"v": {GiB: 1_000_000}},
	}}
	for name, c := range map[string]struct {
		typ, volume string
		local       bool
		want        cloud.USD
	}{
		"both":            {"m", "v", false, 730_000_000 + 20_000_000},
		"no volume price": {"m", "w", false, 0},
		"its own drives":  {"m", "w", true, 730_000_000},
		"no machine's":    {"n", "v", false, 0},
	} {
		out := r.choice(&Candidate{Type: c.typ, Layout: Layout{N: 2, Local: c.local, Spec: cloud.VolumeSpec{Type: c.volume, Size: 10 * units.GiB}}})
		if out.Month != c.want {
			t.Errorf("%s: %v, want %v", name, out.Month, c.want)
		}
	}
}

// What is said of choices of which a part was ignored.
func TestNotesOfChoices(t *testing.T) {
	prices := &cloud.Prices{Instances: map[string]cloud.USD{"m": 1}}
	plain := func(change func(*Request, *workload.Stream)) *Request {
		s := workload.Stream{Name: "s"}
		r := &Request{Cloud: cloud.EC2{}, Prices: &cloud.Prices{}}
		change(r, &s)
		if r.Demand == nil {
			r.Demand = &workload.Demand{}
		}
		r.Demand.Streams = []workload.Stream{s}
		return r
	}
	demand := func(change func(*workload.Demand)) *workload.Demand { d := &workload.Demand{}; change(d); return d }
	for name, c := range map[string]struct {
		r    *Request
		rows []Choice
		want []string
	}{
		"nothing":          {plain(func(*Request, *workload.Stream) {}), []Choice{{VolumesMonth: 1}}, nil},
		"no price of disk": {plain(func(*Request, *workload.Stream) {}), []Choice{{}}, nil},
		"no row":           {plain(func(*Request, *workload.Stream) {}), nil, nil},
		"of machines":      {plain(func(r *Request, _ *workload.Stream) { r.Prices = prices }), []Choice{{VolumesMonth: 1}}, []string{"prices of machines"}},
		"commits":          {plain(func(_ *Request, s *workload.Stream) { s.Commits = true }), []Choice{{VolumesMonth: 1}}, []string{"the demand's limits of latency and its commits are ignored"}},
		"a failure rate": {plain(func(r *Request, _ *workload.Stream) {
			r.Demand = demand(func(d *workload.Demand) { d.Durability.AFR = 1e-9 })
		}), []Choice{{VolumesMonth: 1}}, []string{"the demand's limit on data loss is ignored"}},
		"bursts": {plain(func(r *Request, _ *workload.Stream) { r.BurstOK = true }), []Choice{{VolumesMonth: 1}}, []string{"bursts do not count"}},
		"at least": {plain(func(r *Request, _ *workload.Stream) {
			r.Demand = demand(func(d *workload.Demand) { d.AtLeast = []string{"x"} })
		}), []Choice{{VolumesMonth: 1}}, []string{"the demand was watched on storage that was full (x)"}},
	} {
		out := &Choices{Rows: c.rows}
		out.notes(c.r)
		out.Notes = slices.DeleteFunc(out.Notes, func(s string) bool { return strings.Contains(s, "have no known limit and are left out") })
		ok := len(out.Notes) == len(c.want)
		for i := range min(len(out.Notes), len(c.want)) {
			ok = ok && strings.HasPrefix(out.Notes[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", name, out.Notes, c.want)
		}
	}
	for _, p := range []cloud.Provider{cloud.EC2{}, cloud.Azure{}, cloud.Google{}} {
		n := 0
		for _, f := range p.Machines() {
			if f.Baseline == (cloud.Limits{}) && f.Caps == nil {
				n++
			}
		}
		if got := unknownLimits(p); got != n {
			t.Errorf("%s: %d types of no known limit, want %d", p.Words().Cloud, got, n)
		}
	}
}

// What fio's rows say of each section: those of its name, the only one's whatever it is called, and else a
// part of all by what was asked for or is in flight.
func TestMeasuredOfSections(t *testing.T) {
	row := func(name string, read, write units.IOPS) fio.Job {
		return fio.Job{Name: name, Read: fio.Direction{IOPS: read, BW: units.Rate(read) * 4096}, Write: fio.Direction{IOPS: write, BW: units.Rate(write) * 4096}}
	}
	a := fio.Workload{Name: "a", ReadShare: 0.5, ReadBS: 4096, WriteBS: 4096, Jobs: 1, Depth: 3}
	b := fio.Workload{Name: "b", ReadShare: 0.5, ReadBS: 4096, WriteBS: 4096, Jobs: 1, Depth: 1}
	paced, reads := b, b
	paced.ReadIOPS = 9
	reads.WriteBS = 0
	whole := row("all", 80, 40)
	for name, c := range map[string]struct {
		loads []fio.Workload
		rows  []fio.Job
		i     int
		read  bool
		want  units.IOPS
	}{
		"its own":              {[]fio.Workload{a, b}, []fio.Job{row("a", 60, 10), row("b", 20, 30)}, 1, true, 20},
		"its own writes":       {[]fio.Workload{a, b}, []fio.Job{row("a", 60, 10), row("b", 20, 30)}, 1, false, 30},
		"two of its name":      {[]fio.Workload{a, b}, []fio.Job{row("a", 30, 10), row("a", 30, 10), row("b", 20, 30)}, 0, true, 60},
		"the only one":         {[]fio.Workload{a}, []fio.Job{row("z", 80, 40)}, 0, true, 80},
		"one row of two, by 3": {[]fio.Workload{a, b}, []fio.Job{row("a", 80, 40)}, 0, true, 60},
		"and by 1":             {[]fio.Workload{a, b}, []fio.Job{row("a", 80, 40)}, 1, true, 20},
		"by what was asked":    {[]fio.Workload{a, paced}, []fio.Job{row("a", 80, 40)}, 1, true, 60},
		"writes of one only":   {[]fio.Workload{a, reads}, []fio.Job{row("a", 80, 40)}, 0, false, 40},
		"of no rows":           {[]fio.Workload{a, b}, nil, 0, true, 60},
		"of one and no rows":   {[]fio.Workload{a}, nil, 0, true, 80},
	} {
		r := &result.Result{Jobs: c.rows, Total: whole}
		if got := measuredOf(c.loads, c.i, c.read, r); got.IOPS != c.want || got.Rate != units.Rate(c.want)*4096 {
			t.Errorf("%s: %+v, want %v", name, got, c.want)
		}
	}
	// Of a list the first, the last, and what lies evenly between them.
	var list []Candidate
	for n := range 11 {
		list = append(list, Candidate{Layout: Layout{N: n, Level: topology.RAID0}})
	}
	for n, want := range map[int][]int{5: {0, 2, 5, 7, 10}, 2: {0, 10}, 10: {0, 1, 2, 3, 4, 5, 6, 7, 8, 10}} {
		var got []int
		for _, c := range spread(list, n) {
			got = append(got, c.Layout.N)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d of 11: %v, want %v", n, got, want)
		}
	}
	if len(spread(list, 11)) != 11 || len(spread(list[:3], 5)) != 3 {
		t.Error("no more than there are")
	}
}

// madeUp is Azure with machines of its own.
type madeUp struct {
	cloud.Azure
	machines []cloud.InstanceFacts
}

func (m madeUp) Machines() []cloud.InstanceFacts { return m.machines }

func (m madeUp) Machine(typ string) (cloud.InstanceFacts, bool) {
	i := slices.IndexFunc(m.machines, func(f cloud.InstanceFacts) bool { return f.Type == typ })
	if i < 0 {
		return cloud.InstanceFacts{}, false
	}
	return m.machines[i], true
}

// Machines that fit: those whose limits are known, as large as asked for, of the architecture and the families; first
// those with a price, the cheapest first, and of the others the smallest.
func TestMachinesElsewhere(t *testing.T) {
	limits := cloud.Limits{IOPS: 1000}
	all := madeUp{machines: []cloud.InstanceFacts{
		{Type: "x8", VCPUs: 8, Memory: 16 * units.GiB, Arch: "x86_64", Baseline: limits},
		{Type: "x4b", VCPUs: 4, Memory: 9 * units.GiB, Arch: "x86_64", Baseline: limits},
		{Type: "x4a", VCPUs: 4, Memory: 8 * units.GiB, Arch: "x86_64", Baseline: limits},
		{Type: "a4", VCPUs: 4, Memory: 8 * units.GiB, Arch: "arm64", Caps: []cloud.Cap{{Baseline: limits}}},
		{Type: "unknown", VCPUs: 64, Memory: 99 * units.GiB, Arch: "x86_64"},
	}}
	prices := func(pairs ...any) *cloud.Prices {
		p := &cloud.Prices{Instances: map[string]cloud.USD{}}
		for i := 0; i < len(pairs); i += 2 {
			p.Instances[pairs[i].(string)] = cloud.USD(pairs[i+1].(int))
		}
		return p
	}
	for name, c := range map[string]struct {
		r    Request
		want string
		err  string
	}{
		"all, the smallest first": {Request{Prices: prices()}, "x4a a4 x4b x8", ""},
		"by price":                {Request{Prices: prices("x8", 1, "x4b", 3, "x4a", 2)}, "x8 x4a x4b a4", ""},
		"one price":               {Request{Prices: prices("x8", 9)}, "x8 x4a a4 x4b", ""},
		"of the same price":       {Request{Prices: prices("x8", 1, "x4b", 1, "x4a", 1, "a4", 1)}, "x4a a4 x4b x8", ""},
		"eight vCPUs":             {Request{Prices: prices(), VCPUs: 8}, "x8", ""},
		"nine vCPUs":              {Request{Prices: prices(), VCPUs: 9}, "", ""},
		"memory":                  {Request{Prices: prices(), Memory: 9 * units.GiB}, "x4b x8", ""},
		"more memory":             {Request{Prices: prices(), Memory: 9*units.GiB + 1}, "x8", ""},
		"arm64":                   {Request{Prices: prices(), Arch: "arm64"}, "a4", ""},
		"families":                {Request{Prices: prices(), Families: []string{"nothing", "x4*"}}, "x4a x4b", ""},
		"no such family":          {Request{Prices: prices(), Families: []string{"x"}}, "", ""},
		"no pattern":              {Request{Prices: prices(), Families: []string{"[x"}}, "", "want a pattern such as Standard_D*"},
		"one by name":             {Request{Prices: prices(), Instance: "x8"}, "x8", ""},
		"one that is too small":   {Request{Prices: prices(), Instance: "x8", VCPUs: 9}, "", ""},
		"one without limits":      {Request{Prices: prices(), Instance: "unknown"}, "", ""},
		"one that is not there":   {Request{Prices: prices(), Instance: "y"}, "", `"y" is not a machine type of Azure in the catalogue`},
	} {
		c.r.Cloud = all
		fit, err := c.r.fitting()
		var got []string
		for _, f := range fit {
			got = append(got, f.Type)
		}
		if strings.Join(got, " ") != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q %v, want %q %q", name, got, err, c.want, c.err)
		}
	}
}

// Of Azure's tiers the cheapest that is enough, and the smallest where none has a price. P15 has 256 GiB and 1,100 IOPS,
// P20 512 GiB and 2,300, P30 1,024 GiB and 5,000, P40 2,048 GiB and 7,500 (Azure's page of managed disks).
func TestTiersThatAreEnough(t *testing.T) {
	premium, _ := cloud.TypeNamed("azure-premium")
	each := func(pairs ...any) map[string]cloud.VolumePrice {
		all := map[string]cloud.VolumePrice{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i].(string)] = cloud.VolumePrice{Each: cloud.USD(pairs[i+1].(int))}
		}
		return all
	}
	for name, c := range map[string]struct {
		iops     units.IOPS
		headroom float64
		capacity units.Bytes
		n        int
		prices   map[string]cloud.VolumePrice
		want     units.Bytes // GiB; 0 for none
	}{
		"its limit":                 {2300, 0, 100, 1, nil, 512},
		"one more":                  {2301, 0, 100, 1, nil, 1024},
		"with headroom":             {2000, 0.2, 100, 1, nil, 1024},
		"within it":                 {2000, 0.15, 100, 1, nil, 512},
		"of two":                    {4600, 0, 100, 2, nil, 512},
		"as it is large":            {100, 0, 512, 1, nil, 512},
		"larger":                    {100, 0, 513, 1, nil, 1024},
		"a larger one costs less":   {2300, 0, 100, 1, each("P20", 3, "P30", 2, "P40", 4), 1024},
		"a smaller one costs less":  {2300, 0, 100, 1, each("P15", 1, "P20", 2, "P30", 3), 512},
		"as dear":                   {2300, 0, 100, 1, each("P20", 2, "P30", 2), 512},
		"only a larger has a price": {2300, 0, 100, 1, each("P40", 9), 2048},
		"the smallest has one":      {2300, 0, 100, 1, each("P20", 9), 512},
		"no tier is enough":         {1e6, 0, 100, 1, each("P20", 9), 0},
	} {
		r := Request{Headroom: c.headroom, Prices: &cloud.Prices{Volumes: c.prices}, Demand: &workload.Demand{Capacity: c.capacity * units.GiB, Streams: []workload.Stream{
			{ReadShare: 1, Random: true, IOPS: c.iops, Blocks: []workload.Block{{Size: 4096, Share: 1}}},
		}}}
		l, ok := r.sized(premium, Layout{Level: topology.RAID0, N: c.n, Chunk: chunk, Spec: cloud.VolumeSpec{Type: premium.Type}})
		if ok != (c.want > 0) || l.Spec.Size != c.want*units.GiB {
			t.Errorf("%s: %v %v, want %d GiB", name, l.Spec.Size, ok, uint64(c.want))
		}
	}
}

// A machine's own drives stand behind all rows, or among them by price where the data may be lost; alone they are no
// choice, and that they would do is said.
func TestOwnDrivesByHand(t *testing.T) {
	drives := cloud.InstanceStore{Count: 2, Size: 100 * units.GiB, Limits: cloud.Limits{ReadIOPS: 1000, WriteIOPS: 1000, ReadRate: 1e9, WriteRate: 1e9}}
	machines := []cloud.InstanceFacts{{Type: "none"}, {Type: "own", Local: drives}}
	rows := []Choice{{Type: "a", Month: 730 * 5}, {Type: "b", Month: 730 * 9}}
	for name, c := range map[string]struct {
		rows     []Choice
		survives workload.Survives
		types    []string
		iops     units.IOPS
		want     string // types of rows
		rejected string
	}{
		"behind all":          {rows, "", nil, 2000, "a b own", ""},
		"among them":          {rows, workload.NoLoss, nil, 2000, "a own b", ""},
		"alone":               {nil, "", nil, 2000, "", "local drives: 2 in an own meet it, but are empty once it stops; --survives none allows that"},
		"alone, as they may":  {nil, workload.NoLoss, nil, 2000, "own", ""},
		"too much for them":   {rows, "", nil, 2001, "a b", "local drives: no instance that fits has drives whose published figures meet the demand"},
		"not for this demand": {rows, workload.LostInstance, nil, 2000, "a b", "local drives: they are empty after the instance stops, and the data must survive more"},
		"not asked for":       {rows, "", []string{"azure-premium"}, 2000, "a b", ""},
	} {
		r := &Request{Types: c.types, Prices: &cloud.Prices{Instances: map[string]cloud.USD{"own": 7}}, Demand: &workload.Demand{Capacity: 200 * units.GiB, Streams: []workload.Stream{
			{Name: "r", ReadShare: 1, Random: true, IOPS: c.iops, Rate: units.Rate(c.iops) * 4096, Blocks: []workload.Block{{Size: 4096, Share: 1}}},
		}}}
		r.Demand.Durability.Survives = c.survives
		out := &Choices{Rows: slices.Clone(c.rows)}
		out.ownDrives(r, machines)
		var got []string
		for _, row := range out.Rows {
			got = append(got, row.Type)
		}
		if strings.Join(got, " ") != c.want || strings.Join(out.Rejected, "|") != c.rejected {
			t.Errorf("%s: %q, rejected %q; want %q, %q", name, got, out.Rejected, c.want, c.rejected)
		}
	}
}
