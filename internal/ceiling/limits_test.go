package ceiling_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// ran is what a job measured.
func ran(w fio.Workload, iops units.IOPS) *result.Result {
	r := &result.Result{Name: "it", State: result.Done, Workloads: []fio.Workload{w}}
	d := fio.Direction{IOPS: iops, BW: units.Rate(iops) * units.Rate(max(w.ReadBS, w.WriteBS))}
	if w.ReadShare == 1 {
		r.Total.Read = d
	} else {
		r.Total.Write = d
	}
	return r
}

// What storage sustains is the model's, or what was measured where that is less or nothing else is known; what a job
// could not reach by itself, or would not, says nothing.
func TestRatesOfLimits(t *testing.T) {
	of := func(volumes string) *topology.Topology {
		d, err := topology.FromFlags(volumes, "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		whole, err := topology.FromDeclaration(d)
		if err != nil {
			t.Fatal(err)
		}
		return whole
	}
	deep := fio.Workload{Direct: true, ReadShare: 1, ReadBS: 4096, Jobs: 4, Depth: 8}
	with := func(f func(*fio.Workload)) fio.Workload { w := deep; f(&w); return w }
	write := with(func(w *fio.Workload) { w.ReadShare, w.ReadBS, w.WriteBS = 0, 0, 8192 })
	read1M := with(func(w *fio.Workload) { w.ReadBS, w.Sequential = 1<<20, true })
	write1M := with(func(w *fio.Workload) { w.ReadShare, w.ReadBS, w.WriteBS, w.Sequential = 0, 0, 1<<20, true })
	all := func(more ...*result.Result) []*result.Result {
		return append([]*result.Result{ran(deep, 700), ran(write, 600), ran(read1M, 50), ran(write1M, 40)}, more...)
	}
	for name, c := range map[string]struct {
		volumes string
		results []*result.Result
		want    string // of rrandiops, rseqiops, rbps in MiB/s and the same of writes, or of the error
	}{
		"the model":       {"1x1000iops:125MiB/s", nil, "1000 1000 125 1000 1000 125"},
		"measured less":   {"1x1000iops:125MiB/s", all(), "700 1000 50 600 1000 40"},
		"measured more":   {"1x500iops:45MiB/s", all(), "500 500 45 500 500 40"},
		"the best of two": {"1x1000iops:125MiB/s", all(ran(deep, 800)), "800 1000 50 600 1000 40"},
		"one in flight": {"1x1000iops:125MiB/s", []*result.Result{
			ran(with(func(w *fio.Workload) { w.Jobs, w.Depth = 1, 15 }), 300),
		}, "1000 1000 125 1000 1000 125"},
		"sixteen in flight": {
			"1x1000iops:125MiB/s",
			[]*result.Result{ran(with(func(w *fio.Workload) { w.Jobs, w.Depth = 2, 8 }), 300)},
			"300 1000 125 1000 1000 125",
		},
		"a rate of its own": {
			"1x1000iops:125MiB/s",
			[]*result.Result{ran(with(func(w *fio.Workload) { w.ReadIOPS = 100 }), 300)},
			"1000 1000 125 1000 1000 125",
		},
		"buffered": {
			"1x1000iops:125MiB/s",
			[]*result.Result{ran(with(func(w *fio.Workload) { w.Direct = false }), 300)},
			"1000 1000 125 1000 1000 125",
		},
		"mixed": {
			"1x1000iops:125MiB/s",
			[]*result.Result{ran(with(func(w *fio.Workload) { w.ReadShare = 0.7 }), 300)},
			"1000 1000 125 1000 1000 125",
		},
		"synced": {
			"1x1000iops:125MiB/s",
			[]*result.Result{ran(with(func(w *fio.Workload) { w.ReadShare, w.ReadBS, w.WriteBS, w.SyncEvery = 0, 0, 8192, 1 }),
				300)},
			"1000 1000 125 1000 1000 125",
		},
		"sequential, small": {
			"1x1000iops:125MiB/s",
			[]*result.Result{ran(with(func(w *fio.Workload) { w.Sequential = true }), 300)},
			"1000 300 125 1000 1000 125",
		},
		"32 KiB": {
			"1x1000iops:125MiB/s",
			[]*result.Result{ran(with(func(w *fio.Workload) { w.ReadBS = 32 << 10 }), 300)},
			"1000 1000 125 1000 1000 125",
		},
		"nothing known":              {"1xnvme", nil, "no limits are known for the volumes"},
		"nothing known but measured": {"1xnvme", all(), "700 700 50 600 600 40"},
		"nothing known, reads alone": {
			"1xnvme",
			[]*result.Result{ran(deep, 700), ran(read1M, 50)},
			"runs/1 measured no load similar to writes of 4 KiB",
		},
	} {
		rates, err := ceiling.Rates(of(c.volumes), topology.Data, c.results, "runs/1")
		var got []string
		for _, r := range rates {
			per := r.Per()
			if strings.HasSuffix(r.Key, "bps") {
				per /= float64(units.MiB)
			}
			got = append(got, units.IOPS(per).Arg())
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if said := strings.Join(got, " "); !strings.HasPrefix(said, c.want) {
			t.Errorf("%s: %s, want %s", name, said, c.want)
		}
	}
}

// What groups may take together is what is not kept, and they hold up an I/O for no longer than a slice of it takes.
func TestAllowedPart(t *testing.T) {
	rates := []ceiling.Rate{
		{Key: "rrandiops", Of: ceiling.Bound{IOPS: 1239}},
		{Key: "rseqiops", Of: ceiling.Bound{IOPS: 9}},
		{Key: "wbps", Of: ceiling.Bound{BW: 100 << 20}},
	}
	got := ceiling.Allow(rates, 0.3, 0.5)
	if len(got) != 2 || got[0].Key != "riops" || got[0].Value != 180 || got[1].Key != "wbps" || got[1].Value != 15<<20 {
		t.Errorf("%+v", got)
	}
	if got := ceiling.Wait(0.3); got != 30*time.Millisecond {
		t.Error(got)
	}
}
