package cloud

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/units"
)

// The rules of a type that is made up, so that each bound decides alone: 10 to 1,000 IOPS, 5 a GiB, and of
// throughput 4 to 200 bytes per second, two for each I/O, of which one is there without being ordered.
func TestRulesOfAMadeUpType(t *testing.T) {
	made := func(change func(*VolumeType)) VolumeType {
		v := VolumeType{Type: "made", MinSize: 10 * units.GiB, MaxSize: 100 * units.GiB}
		v.IOPS.Included, v.IOPS.Min, v.IOPS.Max, v.IOPS.PerGiB = 20, 10, 1000, 5
		v.Rate.Included, v.Rate.Min, v.Rate.Max, v.Rate.PerIOPS, v.Rate.LeastPerIOPS = 30, 4, 200, 2, 1
		if change != nil {
			change(&v)
		}
		return v
	}
	derived := func(v *VolumeType) { v.Rate.Derived = true }
	for name, c := range map[string]struct {
		change func(*VolumeType)
		spec   VolumeSpec
		iops   units.IOPS
		rate   units.Rate
		wrong  string
	}{
		"as it comes":            {nil, VolumeSpec{}, 20, 30, ""},
		"more than included":     {nil, VolumeSpec{IOPS: 50}, 50, 50, ""}, // one for each I/O
		"nothing included":       {func(v *VolumeType) { v.IOPS.Included = 0 }, VolumeSpec{}, 0, 0, "state them"},
		"the smallest":           {nil, VolumeSpec{Size: 10 * units.GiB, IOPS: 50}, 50, 50, ""},
		"smaller":                {nil, VolumeSpec{Size: 10*units.GiB - 1}, 20, 30, "is outside"},
		"the largest":            {nil, VolumeSpec{Size: 100 * units.GiB}, 20, 30, ""},
		"larger":                 {nil, VolumeSpec{Size: 100*units.GiB + 1}, 20, 30, "is outside"},
		"of a byte":              {nil, VolumeSpec{Size: 1}, 20, 30, "is outside"},
		"of no size":             {nil, VolumeSpec{IOPS: 1000}, 1000, 200, ""},
		"the most of its size":   {nil, VolumeSpec{Size: 20 * units.GiB, IOPS: 100}, 100, 100, ""},
		"more than its size has": {nil, VolumeSpec{Size: 20 * units.GiB, IOPS: 101}, 101, 101, "above its maximum of 100, 5 per GiB"},
		"no rule of sizes":       {func(v *VolumeType) { v.IOPS.PerGiB = 0 }, VolumeSpec{Size: 20 * units.GiB, IOPS: 1000}, 1000, 200, ""},
		"half an I/O a GiB":      {func(v *VolumeType) { v.IOPS.PerGiB = 0.5 }, VolumeSpec{Size: 100 * units.GiB, IOPS: 51}, 51, 51, "above its maximum of 50"},
		"included in any size":   {func(v *VolumeType) { v.IOPS.PerGiB = 1 }, VolumeSpec{Size: 10 * units.GiB, IOPS: 20}, 20, 30, ""},
		"the most":               {nil, VolumeSpec{IOPS: 1000}, 1000, 200, ""},
		"above the most":         {nil, VolumeSpec{IOPS: 1001}, 1001, 200, "the most of any size"},
		"the least":              {nil, VolumeSpec{IOPS: 10}, 10, 30, ""},
		"below the least":        {nil, VolumeSpec{IOPS: 9}, 9, 30, "below its minimum of 10"},
		"throughput":             {nil, VolumeSpec{IOPS: 50, Rate: 80}, 50, 80, ""},
		"all that is allowed":    {nil, VolumeSpec{IOPS: 50, Rate: 100}, 50, 100, ""},
		"more than that":         {nil, VolumeSpec{IOPS: 50, Rate: 101}, 50, 101, "above its maximum"},
		"what is included":       {nil, VolumeSpec{IOPS: 10, Rate: 30}, 10, 30, ""}, // two for each of ten are less
		"the least throughput":   {nil, VolumeSpec{IOPS: 50, Rate: 50}, 50, 50, ""},
		"less":                   {nil, VolumeSpec{IOPS: 50, Rate: 49}, 50, 49, "below its minimum"},
		"less than of any":       {func(v *VolumeType) { v.Rate.LeastPerIOPS = 0 }, VolumeSpec{IOPS: 50, Rate: 3}, 50, 3, "below its minimum of"},
		"no rule of I/Os":        {func(v *VolumeType) { v.Rate.PerIOPS = 0 }, VolumeSpec{IOPS: 50, Rate: 200}, 50, 200, ""},
		"half a byte for each":   {func(v *VolumeType) { v.Rate.PerIOPS, v.Rate.Included, v.Rate.LeastPerIOPS = 0.5, 0, 0 }, VolumeSpec{IOPS: 100, Rate: 51}, 100, 51, "above its maximum"},
		"no rule of throughput":  {func(v *VolumeType) { v.Rate.Max = 0 }, VolumeSpec{IOPS: 50, Rate: 7000}, 50, 7000, ""},
		"at most half a byte":    {func(v *VolumeType) { v.Rate.Max, v.Rate.LeastPerIOPS, v.Rate.Min = 0.5, 0, 0 }, VolumeSpec{IOPS: 50}, 50, 0.5, ""},
		"derived":                {derived, VolumeSpec{IOPS: 50}, 50, 100, ""},
		"derived, about that":    {derived, VolumeSpec{IOPS: 50, Rate: 104}, 50, 100, ""},
		"derived, and ordered":   {derived, VolumeSpec{IOPS: 50, Rate: 106}, 50, 106, "it follows from the IOPS"},
		"derived, less":          {derived, VolumeSpec{IOPS: 50, Rate: 94}, 50, 94, "it follows from the IOPS"},
	} {
		v := made(c.change)
		f, err := v.limits(c.spec)
		if f.Sustained.IOPS != c.iops || math.Abs(float64(f.Sustained.Rate-c.rate)) > 1e-9 || (err == nil) != (c.wrong == "") ||
			err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %+v %v, want %v, %v and %q", name, f.Sustained, err, c.iops, c.rate, c.wrong)
		}
	}
	// IOPS that follow from an ordered throughput: four a MiB/s of 20 to 100, 300 at most.
	const mib = units.MiBPerSec
	byRate := made(func(v *VolumeType) { v.IOPS.PerMiB, v.IOPS.Max, v.Rate.Min, v.Rate.Max = 4, 300, 20*mib, 100*mib })
	for name, c := range map[string]struct {
		spec  VolumeSpec
		iops  units.IOPS
		wrong string
	}{
		"none":             {VolumeSpec{}, 0, "has no default"},
		"the least":        {VolumeSpec{Rate: 20 * mib}, 80, ""},
		"less":             {VolumeSpec{Rate: 19 * mib}, 76, "below its minimum"},
		"the most":         {VolumeSpec{Rate: 100 * mib}, 300, ""},
		"more":             {VolumeSpec{Rate: 101 * mib}, 300, "above its maximum"},
		"as many as fit":   {VolumeSpec{Rate: 75 * mib}, 300, ""},
		"IOPS that follow": {VolumeSpec{Rate: 25 * mib, IOPS: 100}, 100, ""},
		"nearly":           {VolumeSpec{Rate: 25 * mib, IOPS: 104}, 100, ""},
		"others":           {VolumeSpec{Rate: 25 * mib, IOPS: 106}, 100, "follow from the throughput"},
		"fewer":            {VolumeSpec{Rate: 25 * mib, IOPS: 94}, 100, "follow from the throughput"},
	} {
		f, err := byRate.limits(c.spec)
		if f.Sustained.IOPS != c.iops || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("by throughput, %s: %+v %v", name, f.Sustained, err)
		}
	}
	// Of types whose limits follow from the size nothing else is ordered, and the size must be said.
	tiers := made(func(v *VolumeType) {
		v.Tiers = []TierFacts{
			{"T1", 10 * units.GiB, Limits{IOPS: 5, Rate: 1e6}, Limits{IOPS: 0.5, Rate: 2e6}}, {"T2", 100 * units.GiB, Limits{IOPS: 50, Rate: 10e6}, Limits{}},
		}
	})
	for name, c := range map[string]struct {
		spec  VolumeSpec
		iops  units.IOPS
		burst units.IOPS
		wrong string
	}{
		"the first":       {VolumeSpec{Size: 10 * units.GiB}, 5, 0.5, ""},
		"the second":      {VolumeSpec{Size: 10*units.GiB + 1}, 50, 0, ""},
		"of no size":      {VolumeSpec{}, 0, 0, "state it"},
		"with IOPS":       {VolumeSpec{Size: 10 * units.GiB, IOPS: 0.5}, 5, 0.5, "cannot be ordered"},
		"with throughput": {VolumeSpec{Size: 10 * units.GiB, Rate: 0.5}, 5, 0.5, "cannot be ordered"},
	} {
		f, err := tiers.limits(c.spec)
		if f.Sustained.IOPS != c.iops || f.Burst.IOPS != c.burst || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("tiers, %s: %+v %+v %v", name, f.Sustained, f.Burst, err)
		}
	}
	if tiers.OrdersIOPS() != true || !tiers.OrdersRate() || made(derived).OrdersRate() || byRate.OrdersIOPS() {
		t.Error("what is ordered")
	}
	half := made(func(v *VolumeType) { v.IOPS.Max, v.Rate.Max = 0.5, 0.5 })
	none := made(func(v *VolumeType) { v.IOPS.Max, v.Rate.Max = 0, 0 })
	if !half.OrdersIOPS() || !half.OrdersRate() || none.OrdersIOPS() || none.OrdersRate() {
		t.Error("what has a maximum is ordered, however small that is")
	}
}

// Sizes of Azure that are made up: what of a row makes a burst, a cap, a cache and a note.
func TestSizesOfAzureByHand(t *testing.T) {
	plain := map[string]string{"name": "Standard_X1", "base_iops": "1000", "base_mbs": "10", "premium": "y", "trust": "p"}
	with := func(more ...string) InstanceFacts {
		cells := maps.Clone(plain)
		for i := 0; i+1 < len(more); i += 2 {
			cells[more[i]] = more[i+1]
		}
		return builtin()["azure"].machine(made(cells))
	}
	for name, c := range map[string]struct {
		f     InstanceFacts
		burst bool
		caps  int
		note  string // empty: none
	}{
		"plain":              {with(), false, 0, ""},
		"a burst":            {with("max_iops", "2000", "max_mbs", "20"), true, 0, ""},
		"no more than that":  {with("max_iops", "1000", "max_mbs", "10"), false, 0, ""},
		"a cap":              {with("v2_iops", "1500", "v2_mbs", "15"), false, 1, ""},
		"a cap that bursts":  {with("v2_iops", "1500", "v2_mbs", "15", "v2_max_iops", "3000", "v2_max_mbs", "30"), true, 1, ""},
		"a cache":            {with("cached_iops", "1500", "cached_mbs", "15"), false, 1, "shares the host cache's limit"},
		"a note":             {with("note", "n"), false, 0, "n"},
		"its API alike":      {with("api_iops", "1000", "api_mbs", "10"), false, 0, ""},
		"its API differs":    {with("api_iops", "900", "api_mbs", "10"), false, 0, "its API prints 900 IOPS and 10 MB/s where its page has 1,000 and 10 MB/s"},
		"its API, half":      {with("api_mbs", "9"), false, 0, "its API prints 0 IOPS and 9 MB/s"},
		"bursts and is kept": {with("max_iops", "2000", "max_mbs", "20", "v2_iops", "1", "v2_mbs", "1"), true, 1, ""},
	} {
		if (c.f.BurstFor == 30*time.Minute) != c.burst || len(c.f.Caps) != c.caps || (c.note == "") != (len(c.f.Notes) == 0) || !strings.Contains(strings.Join(c.f.Notes, "|"), c.note) {
			t.Errorf("%s: %+v", name, c.f)
		}
	}
	if f := with("premium", "n"); !slices.Equal(f.Without, []string{"azure-premium", "azure-premium-v2", "azure-ultra"}) || with().Without != nil {
		t.Errorf("%q", f.Without)
	}
	// A cache of half a MB/s that writes at less.
	row := made(map[string]string{"cached_iops": "1", "cached_mbs": "0.5", "cached_write_mbs": "0.25"})
	if got := cacheOf(row); got != (Limits{IOPS: 1, ReadRate: 0.5e6, WriteRate: 0.25e6}) {
		t.Errorf("%+v", got)
	}
	row = made(map[string]string{"cached_iops": "1", "cached_write_mbs": "0.25"})
	if got := cacheOf(row); got != (Limits{IOPS: 1}) {
		t.Errorf("%+v", got)
	}
	for c, want := range map[Caching]bool{ReadOnly: true, ReadWrite: true, Uncached: false, "": false} {
		if c.Cached() != want {
			t.Errorf("%q is cached: %v", c, !want)
		}
	}
	// What was measured of a size is noted where it is above what is published of all its drives together,
	// and taken where nothing is.
	m := table("azure/measured.csv")[0]
	name, iops := m.text("name"), m.num("read_iops")
	for what, c := range map[string]struct {
		count, read string // of the row
		note        string
		each        float64
	}{
		"no drives":      {"", "", "", 0},
		"nothing known":  {"2", "", "none is published", iops / 2},
		"less published": {"2", shown(iops - 2), "read IOPS instead of", iops/2 - 1},
		"as published":   {"2", shown(iops), "", iops / 2},
		"more published": {"2", shown(iops + 2), "", iops/2 + 1},
		"half an I/O":    {"1", "0.5", "read IOPS instead of 0.5", 0.5},
	} {
		f := InstanceFacts{Type: name}
		builtin()["azure"].drives(&f, made(map[string]string{"local_count": c.count, "local_read_iops": c.read}))
		got := strings.Join(f.Notes, "|")
		if (got == "") != (c.note == "") || !strings.Contains(got, c.note) || math.Abs(float64(f.Local.Limits.ReadIOPS)-c.each) > 1e-6 {
			t.Errorf("%s: %+v %q", what, f.Local.Limits, got)
		}
		if strings.Contains(got, "write IOPS") || strings.Contains(got, "B/s of") {
			t.Errorf("%s: of what is not published nothing is above: %q", what, got)
		}
		// What is published stays; what is not is taken from who measured it, who is named.
		if c.read != "" && (f.Local.Limits.WriteIOPS == 0 || !strings.Contains(f.Local.Source, "was measured") ||
			f.Local.Trust != Partial) {
			t.Errorf("%s: %+v", what, f.Local)
		}
	}
	f := InstanceFacts{Type: "nosuch"}
	if builtin()["azure"].drives(&f, made(map[string]string{"local_count": "1"})); f.Local.Limits.Known() || f.Notes != nil {
		t.Errorf("%+v", f)
	}
}

// Rows of Google's limits by the vCPUs that they are for.
func TestRowsByVCPUs(t *testing.T) {
	row := func(machine string) row {
		return made(map[string]string{"series": "n9", "by": "vcpus", "machine": machine})
	}
	for _, c := range []struct {
		machine string
		vcpus   int
		want    bool
	}{
		{"8", 8, true},
		{"8", 9, false},
		{"8 or more", 7, false},
		{"8 or more", 8, true},
		{"8 or more", 99, true},
		{"8-16", 7, false},
		{"8-16", 8, true},
		{"8-16", 16, true},
		{"8-16", 17, false},
		{"8-x", 8, false},
		{"x", 0, false},
		{"x or more", 8, false},
	} {
		f := InstanceFacts{Type: "n9-standard-8", VCPUs: c.vcpus}
		if got := f.selected(row(c.machine)); got != c.want {
			t.Errorf("%d of %s: %v", c.vcpus, c.machine, got)
		}
	}
	bad := InstanceFacts{Type: "n9-standard-8"}
	if bad.selected(made(map[string]string{"by": "pattern", "machine": "[n9"})) {
		t.Error("a pattern that is none")
	}
	// A later source is the newest.
	a, b := Provenance{Source: "a", AsOf: "2026-01"}, Provenance{Source: "b", AsOf: "2026-01"}
	if newest(a, b).Source != "a" || newest(b, a).Source != "b" || newest(a, Provenance{Source: "c", AsOf: "2026-02"}).Source != "c" {
		t.Error("of two of one date the first stays")
	}
	if _, err := ReadPrices(strings.NewReader("product,unit,above,usd,region,as_of,source\n\nm5.large,year,,1,r,d,s\n")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("%v", err)
	}
	if got := InstanceTypes("Standard_E8bds_v5"); !slices.Equal(got, []string{"Standard_E8bds_v5"}) { // it has two rows
		t.Errorf("%q", got)
	}
	p := builtin()["azure"].Prices()
	for _, r := range table("azure/machines.csv") {
		usd, err := ParseUSD(r.text("usd_hour"))
		if got, ok := p.Instances[r.text("name")]; err == nil && usd > 0 && !ok || ok && got <= 0 {
			t.Fatalf("%s costs %q: %v %v", r.text("name"), r.text("usd_hour"), got, ok)
		}
	}
}
