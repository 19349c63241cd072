package advise

import (
	"errors"
	"os"
	"path/filepath"
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
	q := requirement{sized: sized{peak: need{100, 1000}, reads: need{70, 700}, writes: need{30, 300}}, volumes: 4, typ: "t"}
	within := func(l cloud.Limits) bool { return q.peak.under(q.gives(l)) }
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
			if f(&l, share); within(l) != want {
				t.Errorf("limit %d at %v of what is wanted: %v", i, share, !want)
			}
			for j, other := range set {
				if other(&l, 2); j == i {
					f(&l, share)
				}
			}
			if within(l) != want {
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
		"four attached":            {cloud.InstanceFacts{Baseline: enough, Attachments: 4}, true},
		"three attached":           {cloud.InstanceFacts{Baseline: enough, Attachments: 3}, false},
		"one attached":             {cloud.InstanceFacts{Baseline: enough, Attachments: 1}, false},
		"how many is not known":    {cloud.InstanceFacts{Baseline: enough, Attachments: 0}, true},
		"it takes none of them":    {cloud.InstanceFacts{Baseline: enough, Without: []string{"s", "t"}}, false},
		"it takes none of another": {cloud.InstanceFacts{Baseline: enough, Without: []string{"s"}}, true},
	} {
		c.f.NVMe = true
		if got := q.holds(c.f); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What is said of an advice of which a part was ignored, as the terms of the cloud have it.
func TestNotesOfWhatIsIgnored(t *testing.T) {
	stream := func(s workload.Stream) *workload.Demand { return &workload.Demand{Streams: []workload.Stream{s}} }
	random := workload.Stream{Random: true}
	waits := workload.Stream{Random: true, Commits: true}
	for name, c := range map[string]struct {
		cloud string
		d     *workload.Demand
		want  string
	}{
		"nothing":                  {"azure", stream(random), ""},
		"commits on Azure":         {"azure", stream(waits), "no latency for Azure's disks"},
		"commits on EC2":           {"aws", stream(waits), ""},
		"a failure rate on Google": {"gcp", &workload.Demand{Durability: workload.Durability{AFR: 1e-9}}, "no failure rate for Google's disks"},
		"a failure rate on EC2":    {"aws", &workload.Demand{Durability: workload.Durability{AFR: 1e-9}}, ""},
		"at least":                 {"aws", &workload.Demand{AtLeast: []string{"x"}}, "the demand was observed on saturated storage (x)"},
	} {
		out := &Advice{}
		out.notes(Request{Cloud: cloud.Named(c.cloud), Prices: &cloud.Prices{}, Demand: c.d})
		if (len(out.Notes) == 0) != (c.want == "") || len(out.Notes) > 1 || !strings.Contains(strings.Join(out.Notes, ""), c.want) {
			t.Errorf("%s: %q, want %q", name, out.Notes, c.want)
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
func madeUp(t *testing.T, machines string) *cloud.Provider {
	t.Helper()
	dir := t.TempDir()
	err := os.Mkdir(filepath.Join(dir, "dc"), 0o700)
	for name, text := range map[string]string{"cloud.yaml": "cloud: Azure\nvendor: Azure\n", "machines.csv": machines} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "dc", name), []byte(text), 0o600))
	}
	clouds, err2 := cloud.In(dir)
	if err = errors.Join(err, err2); err != nil || len(clouds) != 1 {
		t.Fatal(clouds, err)
	}
	return clouds[0]
}

// Machines that fit: as large as asked for, of the architecture and the families, the cheapest first; those without a
// price are kept apart.
func TestMachinesThatFit(t *testing.T) {
	made := madeUp(t, "name,vcpus,memory_gib,arch,base_iops\nx8,8,16,x86_64,1000\nx4b,4,9,x86_64,1000\nx4a,4,8,x86_64,1000\n"+
		"arm4,4,8,arm64,1000\nunknown,64,99,x86_64,\n")
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
		"none has a price":      {Request{Prices: prices()}, "", ""},
		"by price":              {Request{Prices: prices("x8", 1, "x4b", 3, "x4a", 2)}, "x8 x4a x4b", ""},
		"of the same price":     {Request{Prices: prices("x8", 1, "x4b", 1, "x4a", 1, "arm4", 1)}, "arm4 x4a x4b x8", ""},
		"eight vCPUs":           {Request{Prices: prices("x8", 1, "x4b", 1), VCPUs: 8}, "x8", ""},
		"nine vCPUs":            {Request{Prices: prices("x8", 1), VCPUs: 9}, "", ""},
		"memory":                {Request{Prices: prices("x8", 1, "x4b", 1, "x4a", 1), Memory: 9 * units.GiB}, "x4b x8", ""},
		"more memory":           {Request{Prices: prices("x8", 1, "x4b", 1), Memory: 9*units.GiB + 1}, "x8", ""},
		"arm64":                 {Request{Prices: prices("x8", 1, "arm4", 1), Arch: "arm64"}, "arm4", ""},
		"families":              {Request{Prices: prices("x8", 1, "x4b", 1, "x4a", 1), Families: []string{"nothing", "x4*"}}, "x4a x4b", ""},
		"no such family":        {Request{Prices: prices("x8", 1), Families: []string{"x"}}, "", ""},
		"no pattern":            {Request{Prices: prices("x8", 1), Families: []string{"[x"}}, "", "want a name or a pattern"},
		"one by name":           {Request{Prices: prices("x8", 1), Instance: "x8"}, "x8", ""},
		"one that is too small": {Request{Prices: prices("x8", 1), Instance: "x8", VCPUs: 9}, "x8", "has 8 vCPUs, but 9 are asked for"},
		"one without a price":   {Request{Prices: prices(), Instance: "x8"}, "", "x8 has no price"},
		"one that is not there": {Request{Prices: prices(), Instance: "y"}, "", `"y" is not a machine type of Azure in the catalogue`},
	} {
		c.r.Cloud = made
		fit, err := c.r.instances()
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
		l, ok := r.provision(Layout{Level: topology.RAID0, N: c.n, Chunk: chunk, Spec: cloud.VolumeSpec{Type: premium.Type}})
		if ok != (c.want > 0) || ok && l.Spec.Size != c.want*units.GiB {
			t.Errorf("%s: %v %v, want %d GiB", name, l.Spec.Size, ok, uint64(c.want))
		}
	}
}
