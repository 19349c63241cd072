package advise

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// allAsked are asks of all I/Os of a demand, of its reads and of its writes.
type allAsked struct{ all, reads, writes bruteLoad }

func asksApart(d *workload.Demand, l Layout, unit units.Bytes) allAsked {
	if unit == 0 {
		unit = units.TiB // any I/O counts once
	}
	one := func(read bool) bruteLoad {
		apart := &workload.Demand{}
		for _, s := range d.Streams {
			share, of := 1-s.ReadShare, 0.0
			if read {
				share, of = s.ReadShare, 1
			}
			s.IOPS, s.ReadShare = s.IOPS*units.IOPS(share), of
			apart.Streams = append(apart.Streams, s)
		}
		return asks(apart, l, unit)
	}
	return allAsked{asks(d, l, unit), one(true), one(false)}
}

// under says whether limits, of which a zero is none, let so much through.
func (a allAsked) under(l cloud.Limits, times float64) bool {
	ok := func(have, want float64) bool { return have == 0 || enough(have, times*want) }
	return ok(float64(l.IOPS), a.all.ios) && ok(float64(l.Rate), a.all.bytes) &&
		ok(float64(l.ReadIOPS), a.reads.ios) && ok(float64(l.ReadRate), a.reads.bytes) &&
		ok(float64(l.WriteIOPS), a.writes.ios) && ok(float64(l.WriteRate), a.writes.bytes) &&
		(l.SharedIOPS == "" || enough(1, times*(a.reads.ios/float64(l.ReadIOPS)+a.writes.ios/float64(l.WriteIOPS)))) &&
		(l.SharedRate == "" || enough(1, times*(a.reads.bytes/float64(l.ReadRate)+a.writes.bytes/float64(l.WriteRate))))
}

// bruteOrders are all orders of a type for a layout that are enough and may be the cheapest: each tier,
// the smallest size of a pool, or the least that order finds.
func bruteOrders(t cloud.VolumeType, l Layout, a allAsked, times, gib float64) (all []cloud.VolumeSpec) {
	n := float64(l.N)
	switch {
	case len(t.Tiers) > 0:
		for _, tier := range t.Tiers {
			s := cloud.VolumeSpec{Type: t.Type, Size: tier.Size}
			f, err := cloud.VolumeLimits(s)
			if err == nil && float64(tier.Size/units.GiB) >= gib && enough(n*float64(f.Sustained.IOPS), times*a.all.busyIOs) &&
				enough(n*float64(f.Sustained.Rate), times*a.all.busyBytes) {
				all = append(all, s)
			}
		}
	case t.Pool != nil:
		size := func(i int) units.Bytes { return t.MinSize + units.Bytes(i)*units.GiB }
		most := int((t.MaxSize-t.MinSize)/units.GiB) + 1
		i := sort.Search(most, func(i int) bool {
			f, _ := cloud.VolumeLimits(cloud.VolumeSpec{Type: t.Type, Size: size(i) * units.Bytes(l.N)})
			return float64(size(i))/float64(units.GiB) >= gib && a.under(f.Sustained, times)
		})
		if i < most {
			all = append(all, cloud.VolumeSpec{Type: t.Type, Size: size(i)})
		}
	default:
		if s, ok := order(t, times*a.all.busyIOs/n, times*a.all.busyBytes/n, gib); ok {
			all = append(all, s)
		}
	}
	return all
}

// bruteElsewhere is the cheapest purchase of one type.
func bruteElsewhere(r Request, machines []priced) (best purchase, found bool) {
	t, _ := cloud.TypeNamed(r.Types[0])
	for n := 1; n <= r.most(); n++ {
		for _, l := range bruteShapes(n) {
			copies := 1.0
			if l.Level.Mirrored() {
				copies = 2
			} else if r.Demand.Durability.Survives == workload.LostVolume {
				continue
			}
			a, times := asksApart(r.Demand, l, t.Counted), 1+r.Headroom
			gib := float64(r.Demand.Capacity) / float64(units.GiB) * copies / float64(n)
			for _, l.Spec = range bruteOrders(t, l, a, times, gib) {
				each, ok := r.Prices.Volume(l.Spec)
				if !ok {
					continue
				}
				for _, m := range machines {
					allowed := m.Baseline
					for _, c := range m.Caps {
						if slices.Contains(c.Types, t.Type) {
							allowed = c.Baseline
						}
					}
					if !allowed.Known() || !a.under(allowed, times) || m.Attachments > 0 && m.Attachments < n ||
						slices.Contains(m.Without, t.Type) {
						continue
					}
					p := purchase{l, m.Type, m.month + each*cloud.USD(n)}
					if !found || p.month < best.month {
						best, found = p, true
					}
					break
				}
			}
		}
	}
	return best, found
}

// randomPrices are of all machines of a cloud as the catalogue has them, and of the disks of one type:
// of a tier more the larger it is, and now and then a whim.
func randomPrices(rnd *rand.Rand, p *cloud.Provider, t cloud.VolumeType) *cloud.Prices {
	prices := *p.Prices()
	prices.Volumes = map[string]cloud.VolumePrice{}
	usd := func(v float64) cloud.USD { return cloud.USD(v * 1e6) }
	for i, tier := range t.Tiers {
		each := 0.1 * float64(tier.Size/units.GiB) * (0.6 + rnd.Float64()*0.8)
		prices.Volumes[tier.Name] = cloud.VolumePrice{Each: usd(each + float64(i))}
	}
	if len(t.Tiers) == 0 {
		prices.Volumes[t.Type] = cloud.VolumePrice{
			GiB:  usd(0.02 + rnd.Float64()*0.2),
			IOPS: []cloud.Tier{{Above: float64(t.IOPS.Included), USD: usd(0.01 * rnd.Float64())}},
			Rate: []cloud.Tier{{Above: float64(t.Rate.Included / units.MiBPerSec), USD: usd(0.05 * rnd.Float64())}},
		}
	}
	return &prices
}

// TestBruteForceElsewhere holds the row of each type against the cheapest purchase there is of it on
// Azure and Google Cloud, with a price list and without one.
func TestBruteForceElsewhere(t *testing.T) {
	types := []string{
		"azure-premium", "gcp-pd-ssd", "azure-premium-v2", "gcp-hyperdisk-balanced", "azure-standard-ssd", "gcp-pd-balanced",
		"azure-ultra",
	}
	families := map[string][]string{"Azure": {"Standard_D*s_v5", "Standard_E*s_v6", "Standard_F*"}, "Google Cloud": {"n2-*", "c3-*"}}
	n := sampled(t, 10)
	none := 0
	for seed := range n {
		seed += firstSeed()
		rnd := rand.New(rand.NewPCG(uint64(seed), 31))
		r := randomDemand(rnd)
		volume, _ := cloud.TypeNamed(types[seed%len(types)])
		r.Types, r.Cloud, r.Families, r.Older = []string{volume.Type}, cloud.Named(volume.Provider), families[volume.Provider], false
		r.Demand.Durability.AFR, r.Prices = 0, nil
		if seed%3 > 0 {
			r.Prices = randomPrices(rnd, r.Cloud, volume)
		}
		a, err := Advise(r)
		if err != nil {
			t.Fatal(seed, err)
		}
		if r.Prices == nil {
			r.Prices = r.Cloud.Prices()
		}
		what := fmt.Sprintf("case %d, %s, headroom %g", seed, r.Demand.YAML(), r.Headroom)
		best, found := bruteElsewhere(r, bruteMachines(r))
		switch {
		case !found && len(a.Rows) == 0:
			none++
			continue
		case !found:
			t.Errorf("%s: %+v is advised, and brute force finds nothing", what, a.Rows[0])
			continue
		case len(a.Rows) == 0:
			t.Errorf("%s: refused (%q), and there is %v", what, a.Rejected, best)
			continue
		}
		row := a.Rows[0]
		if row.Month > best.month {
			t.Errorf("%s: %+v at %v, and there is %v", what, row.Layout, row.Month, best)
		}
		tooSmallElsewhere(t, r, &row, what)
	}
	t.Logf("%d random demands, %d of which nothing meets", n, none)
}

// bruteMachines are those of the families with enough CPUs, cheapest first.
func bruteMachines(r Request) []priced {
	var all []priced
	for _, f := range r.Cloud.Machines() {
		if r.wanted(f.Type) && f.VCPUs >= r.VCPUs {
			if month, ok := r.Prices.Instance(f.Type); ok {
				all = append(all, priced{f, month})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b priced) int { return int(min(max(a.month-b.month, -1), 1)) })
	return all
}

// tooSmallElsewhere counts apart from advise whether a row sustains the demand with its headroom.
func tooSmallElsewhere(t *testing.T, r Request, row *Candidate, what string) {
	t.Helper()
	volume, _ := cloud.TypeNamed(row.Layout.Spec.Type)
	a, times, n := asksApart(r.Demand, row.Layout, volume.Counted), 1+r.Headroom, float64(row.Layout.N)
	f, err := cloud.VolumeLimits(row.Layout.Spec)
	machine, _ := r.Cloud.Machine(row.Type)
	allowed := machine.Baseline
	for _, c := range machine.Caps {
		if slices.Contains(c.Types, volume.Type) {
			allowed = c.Baseline
		}
	}
	volumes := enough(n*float64(f.Sustained.IOPS), times*a.all.busyIOs) && enough(n*float64(f.Sustained.Rate), times*a.all.busyBytes)
	if f.Pooled {
		pool, _ := cloud.VolumeLimits(cloud.VolumeSpec{Type: volume.Type, Size: row.Layout.Spec.Size * units.Bytes(row.Layout.N)})
		volumes = a.under(pool.Sustained, times)
	}
	copies := 1.0
	if row.Layout.Level.Mirrored() {
		copies = 2
	}
	holds := enough(float64(row.Layout.Spec.Size)*n/copies, float64(r.Demand.Capacity))
	survives := row.Layout.Level.Mirrored() || r.Demand.Durability.Survives != workload.LostVolume
	single := row.Layout.Level != topology.Single || row.Layout.N == 1
	if err != nil || !volumes || !a.under(allowed, times) || !holds || !survives || !single {
		t.Errorf("%s: %+v on %s is too small: order %v, volumes %v, machine %v, capacity %v", what, row.Layout, row.Type, err,
			volumes, a.under(allowed, times), holds)
	}
}
