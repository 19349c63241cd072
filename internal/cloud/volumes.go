package cloud

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/units"
)

// VolumeSpec is a volume as it was ordered; zero fields were not stated.
type VolumeSpec struct {
	Type string // gp3, io2, azure-ultra, …
	Size units.Bytes
	IOPS units.IOPS
	Rate units.Rate
	// Tier is the performance tier of a type of fixed sizes where it was named, such as P50; else it is
	// the one that holds Size.
	Tier string
	// OnDemand says that bursting on demand was switched on.
	OnDemand bool
}

// Caching is what a host's cache does for a volume.
type Caching string

// The kinds of host caching, as Azure has them.
const (
	Uncached  Caching = "none"
	ReadOnly  Caching = "readonly"
	ReadWrite Caching = "readwrite"
)

// Cached says that I/Os pass the host's cache.
func (c Caching) Cached() bool { return c == ReadOnly || c == ReadWrite }

// VolumeFacts are the limits of a volume. Fields and meaning follow topology.Volume.
type VolumeFacts struct {
	Type     string `json:"type"`
	Provider string `json:"provider"`
	Name     string `json:"name"`
	// Sustained has no time limit. Burst holds only what is higher, until BurstIOs or BurstBytes
	// are spent, which fill again at the sustained rate.
	Sustained  Limits      `json:"sustained"`
	Burst      Limits      `json:"burst"`
	BurstIOs   float64     `json:"burst_ios,omitempty"`
	BurstBytes units.Bytes `json:"burst_bytes,omitempty"`
	CountedIO  units.Bytes `json:"counted_io,omitempty"` // an I/O counts once for each such piece; 0: no such rule
	Merges     bool        `json:"merges,omitempty"`     // sequential I/Os are merged up to CountedIO before they are counted
	// Pooled says that all volumes of the type on a machine share one allowance; Sustained is then that
	// of a machine with this volume alone.
	Pooled bool `json:"pooled,omitempty"`
	// Inferred says that the limits follow from the size, and that more may have been ordered.
	Inferred   bool     `json:"inferred,omitempty"`
	Latency    string   `json:"latency"` // as the vendor words it
	Rules      []string `json:"rules"`
	Notes      []string `json:"notes,omitempty"`
	Provenance `yaml:",inline"`
}

// VolumeType is an entry of the catalogue: the rules that limits follow from.
type VolumeType struct {
	Type     string      `json:"type"`
	Provider string      `json:"provider"`
	Name     string      `json:"name"`
	MinSize  units.Bytes `json:"min_size"`
	MaxSize  units.Bytes `json:"max_size"`
	// IOPS and Rate of provisioned types. A derived rate cannot be ordered, it follows from the
	// IOPS.
	IOPS struct {
		Included units.IOPS `json:"included"`
		Min      units.IOPS `json:"min"`
		Max      units.IOPS `json:"max"`
		PerGiB   float64    `json:"per_gib"`
		// LeastPerGiB is how many have to be ordered for each GiB.
		LeastPerGiB float64 `json:"least_per_gib"`
		// PerMiB is how many follow from each MiB/s of types whose throughput is ordered.
		PerMiB float64 `json:"per_mib"`
	} `json:"iops"`
	Rate struct {
		Included units.Rate `json:"included"`
		Min      units.Rate `json:"min"`
		Max      units.Rate `json:"max"`
		PerIOPS  units.Rate `json:"per_iops"`
		// PerGiB is the most that each GiB allows, LeastPerGiB the least that it asks for.
		PerGiB      units.Rate `json:"per_gib"`
		LeastPerGiB units.Rate `json:"least_per_gib"`
		// LeastPerIOPS is what each IOPS brings without being ordered.
		LeastPerIOPS units.Rate `json:"least_per_iops"`
		// PerIOPS reaches no more than Knee, where that is set; IOPS bring PerIOPSBeyond from there on.
		Knee          units.Rate `json:"knee,omitempty"`
		PerIOPSBeyond units.Rate `json:"per_iops_beyond,omitempty"`
		Derived       bool       `json:"derived"`
	} `json:"rate"`
	// Sized are limits that follow from the size, in steps of throughput, with a bucket of I/Os.
	Sized *struct {
		IOPSPerGiB float64    `json:"iops_per_gib"`
		LeastIOPS  units.IOPS `json:"least_iops"`
		MostIOPS   units.IOPS `json:"most_iops"`
		Rate       units.Rate `json:"rate"`
		// RatePerGiB is what each GiB brings, up to Rate; else each volume has Rate.
		RatePerGiB units.Rate  `json:"rate_per_gib,omitempty"`
		Above      units.Bytes `json:"above"`
		RateAbove  units.Rate  `json:"rate_above"`
		BurstIOPS  units.IOPS  `json:"burst_iops"`
		BurstIOs   float64     `json:"burst_ios"`
	} `json:"sized,omitempty"`
	// HDD types: rates for each TiB, and their maxima.
	HDD *struct {
		Base     units.Rate `json:"base"`
		BaseMax  units.Rate `json:"base_max"`
		Burst    units.Rate `json:"burst"`
		BurstMax units.Rate `json:"burst_max"`
	} `json:"hdd"`
	// Pool is the allowance of all volumes of the type on a machine together: a baseline and what each
	// GiB adds. Reads and writes share its IOPS, and its throughput where SharedRate says so.
	Pool *struct {
		ReadPerGiB  float64    `json:"read_iops_per_gib"`
		WritePerGiB float64    `json:"write_iops_per_gib"`
		RatePerGiB  units.Rate `json:"rate_per_gib"`
		IOPS        units.IOPS `json:"iops"`
		Rate        units.Rate `json:"rate"`
		LeastRead   units.IOPS `json:"least_read_iops"`
		LeastWrite  units.IOPS `json:"least_write_iops"`
		LeastRate   units.Rate `json:"least_rate"`
		SharedRate  bool       `json:"shared_rate"`
	} `json:"pool"`
	// Tiers are fixed sizes, ascending.
	Tiers []TierFacts `json:"tiers"`
	// Raised is what bursting on demand reaches, without end; it and what is ordered beyond a tier are for
	// volumes larger than Above.
	Raised *struct {
		Above    units.Bytes `json:"above"`
		OnDemand Limits      `json:"on_demand"`
	} `json:"raised,omitempty"`
	// Billed is what a price of the catalogue does not hold.
	Billed string `json:"billed,omitempty"`
	// Uncached says that the type allows no host caching.
	Uncached bool `json:"uncached"`
	// AFR is the highest share of volumes that AWS says fail in a year, 0 where none is stated.
	AFR float64 `json:"afr,omitempty"`
	// Typical are latencies at depth 1, nil where nothing is known.
	Typical    *TypicalLatency `json:"typical,omitempty"`
	Counted    units.Bytes     `json:"counted"`
	Merges     bool            `json:"merges"`
	Latency    string          `json:"latency"`
	Rules      []string        `json:"rules"`
	Provenance `yaml:",inline"`
}

// TypicalLatency is how long one I/O of a volume takes at depth 1, in microseconds, and a write
// that is followed by fdatasync. It rests on the source named, often on one measurement.
type TypicalLatency struct {
	Read   int    `json:"read_us"`
	Write  int    `json:"write_us"`
	Synced int    `json:"synced_us"`
	Source string `json:"source"`
}

// Names of types of EC2 that texts and rules name.
const (
	GP2 = "gp2"
	GP3 = "gp3"
	ST1 = "st1"
	SC1 = "sc1"
)

// EBS says that the type is one of EC2.
func (t VolumeType) EBS() bool { return t.Provider == AWS().terms.Vendor }

// Credits says that volumes of the type may burst on credits.
func (t VolumeType) Credits() bool {
	return t.Sized != nil || t.HDD != nil ||
		slices.ContainsFunc(t.Tiers, func(f TierFacts) bool { return f.Burst.Known() })
}

// BySize says that a larger volume of the type is a faster one.
func (t VolumeType) BySize() bool {
	return t.Sized != nil || t.HDD != nil || len(t.Tiers) > 0 || t.Pool != nil
}

// TypeNamed returns an entry of the catalogue, false when there is none of that name. The names that
// vendors use, such as pd-ssd, premium-v2 or Premium_LRS, will do.
func TypeNamed(name string) (VolumeType, bool) { return typeOf(VolumeTypes(), name) }

func typeOf(all []VolumeType, name string) (VolumeType, bool) {
	names := []string{name}
	for _, cloud := range []string{"azure", "gcp"} {
		t := builtin()[cloud].terms
		names = append(names, t.Prefix+name)
		for account, typ := range t.Accounts {
			if strings.EqualFold(account, name) {
				names = append(names, typ)
			}
		}
	}
	for _, n := range names {
		if i := slices.IndexFunc(all, func(t VolumeType) bool { return t.Type == n }); n != "" && i >= 0 {
			return all[i], true
		}
	}
	return VolumeType{}, false
}

// OrdersIOPS says that volumes of the type are ordered with a number of IOPS, OrdersRate with a throughput.
func (t VolumeType) OrdersIOPS() bool { return t.IOPS.Max > 0 && t.IOPS.PerMiB == 0 }

// OrdersRate says that volumes of the type are ordered with a throughput.
func (t VolumeType) OrdersRate() bool { return t.Rate.Max > 0 && !t.Rate.Derived }

// RateUnit is what throughput of the type is ordered in: MB/s on Azure, MiB/s elsewhere.
func (t VolumeType) RateUnit() units.Rate {
	if p := Named(t.Provider); p != nil && p.Terms().Megabytes {
		return units.MBPerSec
	}
	return units.MiBPerSec
}

// VolumeNames matches the names by which texts call the volume types of EC2 and Google Cloud, as part of
// a regular expression: longer ones first. Azure's are words such as premium, and so are left out.
var VolumeNames = sync.OnceValue(func() string {
	var names []string
	for _, t := range VolumeTypes() {
		if name := strings.TrimPrefix(t.Type, "gcp-"); name != t.Type || t.EBS() {
			names = append(names, regexp.QuoteMeta(name))
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return strings.Join(names, "|")
})

// TierNamed is the volume that a tier such as P30 stands for: its type and its size. False for what is
// no tier.
func TierNamed(name string) (typ string, size units.Bytes, ok bool) {
	for _, t := range VolumeTypes() {
		if tier := t.tierOf(VolumeSpec{Tier: name}); tier != nil && name != "" {
			return t.Type, tier.Size, true
		}
	}
	return "", 0, false
}

// TierFacts are the limits of a fixed size.
type TierFacts struct {
	Name             string
	Size             units.Bytes
	Sustained, Burst Limits
}

// UnmarshalYAML reads one line of a type's tiers.
func (f *TierFacts) UnmarshalYAML(unmarshal func(any) error) error {
	var t struct {
		Name      string      `json:"name"`
		Size      units.Bytes `json:"size"`
		IOPS      units.IOPS  `json:"iops"`
		Rate      units.Rate  `json:"rate"`
		BurstIOPS units.IOPS  `json:"burst_iops"`
		BurstRate units.Rate  `json:"burst_rate"`
	}
	err := unmarshal(&t)
	*f = TierFacts{t.Name, t.Size, Limits{IOPS: t.IOPS, Rate: t.Rate}, Limits{IOPS: t.BurstIOPS, Rate: t.BurstRate}}
	return err
}

// UnmarshalJSON reads the same.
func (f *TierFacts) UnmarshalJSON(data []byte) error {
	return f.UnmarshalYAML(func(into any) error { return json.Unmarshal(data, into) })
}

// MarshalJSON writes name, GiB, IOPS, MB/s, and where it bursts IOPS and MB/s of that.
func (f TierFacts) MarshalJSON() ([]byte, error) {
	parts := []any{f.Name, f.Size / units.GiB, f.Sustained.IOPS, f.Sustained.Rate / units.MBPerSec, nil, nil}
	if f.Burst.Known() {
		parts[4], parts[5] = f.Burst.IOPS, f.Burst.Rate/units.MBPerSec
	}
	return json.Marshal(parts)
}

// tierOf is the tier that a volume is of: the one that is named, or the smallest that holds it; nil for none.
func (t VolumeType) tierOf(spec VolumeSpec) *TierFacts {
	i := slices.IndexFunc(t.Tiers, func(f TierFacts) bool {
		return spec.Tier == "" && spec.Size <= f.Size || spec.Tier != "" && strings.EqualFold(spec.Tier, f.Name)
	})
	if i < 0 {
		return nil
	}
	return &t.Tiers[i]
}

// VolumeTypes lists the catalogue's volume types, and those of the user's own clouds.
var VolumeTypes = sync.OnceValue(func() []VolumeType {
	all := builtinTypes()
	for _, d := range own() {
		all = append(all, d.types()...)
	}
	return all
})

func builtinTypes() []VolumeType {
	var all []VolumeType
	for _, name := range []string{"aws", "azure", "gcp", "other"} {
		all = append(all, builtin()[name].types()...)
	}
	return all
}

const gib = float64(units.GiB)

// VolumeLimits works out the limits of a volume by its type's rules. An order that the rules do not
// allow (gp3 with more than 500 IOPS per GiB) is an error; the facts then still hold the figures as
// ordered, for a caller who knows better.
func VolumeLimits(spec VolumeSpec) (VolumeFacts, error) {
	if t, ok := TypeNamed(spec.Type); ok {
		return t.limits(spec)
	}
	err := fmt.Errorf("volume type %.40q is not in the catalogue (plimsoll catalog): state what each does, as "+
		"8x600000iops:3GB/s", spec.Type)
	return VolumeFacts{Type: spec.Type}, err
}

func (t VolumeType) limits(spec VolumeSpec) (VolumeFacts, error) {
	f := VolumeFacts{
		Type: t.Type, Provider: t.Provider, Name: t.Name, CountedIO: t.Counted, Merges: t.Merges, Latency: t.Latency,
		Rules: t.Rules, Provenance: t.Provenance,
	}
	var first error
	wrong := func(format string, a ...any) {
		if first == nil {
			first = fmt.Errorf("%s: %s (as of %s)", t.Type, fmt.Sprintf(format, a...), t.AsOf)
		}
	}
	if spec.Size > 0 && (spec.Size < t.MinSize || spec.Size > t.MaxSize) {
		wrong("size %v is outside %v to %v", spec.Size, t.MinSize, t.MaxSize)
	}
	sized := t.BySize()
	if sized && len(t.Tiers) == 0 && (spec.IOPS > 0 || spec.Rate > 0) {
		wrong("IOPS and throughput cannot be ordered: they follow from the size")
	}
	if sized && spec.Size == 0 {
		wrong("limits follow from the size: state it")
		return f, first
	}
	switch {
	case t.Sized != nil:
		f.sized(t, spec)
	case t.HDD != nil:
		f.hdd(t, spec)
	case len(t.Tiers) > 0:
		f.tier(t.tierOf(spec))
		f.raised(t, spec, wrong)
	case t.Pool != nil:
		f.pool(t, spec)
	case t.IOPS.Max == 0:
		f.Sustained = Limits{IOPS: spec.IOPS, Rate: spec.Rate}
		if !f.Sustained.Known() {
			wrong("no limit of it is published: declare its IOPS and throughput")
		}
	case t.IOPS.PerMiB > 0:
		f.byRate(t, spec, wrong)
	default:
		f.provisioned(t, spec, wrong)
	}
	return f, first
}

// sized volumes earn and spend I/Os: https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html,
// "I/O credits and burst performance".
func (f *VolumeFacts) sized(t VolumeType, spec VolumeSpec) {
	by := t.Sized
	f.Sustained = Limits{
		IOPS: min(max(units.IOPS(by.IOPSPerGiB*float64(spec.Size)/gib), by.LeastIOPS), by.MostIOPS), Rate: by.Rate,
	}
	if by.RatePerGiB > 0 {
		f.Sustained.Rate = min(by.Rate, by.RatePerGiB*units.Rate(float64(spec.Size)/gib))
	}
	if by.Above > 0 && spec.Size > by.Above {
		f.Sustained.Rate = by.RateAbove
	}
	if f.Sustained.IOPS < by.BurstIOPS {
		f.Burst.IOPS, f.BurstIOs = by.BurstIOPS, by.BurstIOs
	}
	whole := units.Rate(float64(f.Sustained.IOPS) * float64(t.Counted))
	if by.Above > 0 && spec.Size > by.Above && whole < by.RateAbove {
		f.Notes = append(f.Notes, fmt.Sprintf("%v need burst credits at this size; without them baseline IOPS × %v bound "+
			"the throughput (AWS gives no figure)", by.RateAbove, t.Counted))
	}
}

// hdd volumes earn and spend bytes; IOPS are the throughput in counted I/Os of 1 MiB.
func (f *VolumeFacts) hdd(t VolumeType, spec VolumeSpec) {
	tib := units.Rate(float64(spec.Size) / float64(units.TiB))
	iops := func(r units.Rate) units.IOPS { return units.IOPS(float64(r) / float64(t.Counted)) }
	f.Sustained.Rate = min(t.HDD.Base*tib, t.HDD.BaseMax)
	f.Sustained.IOPS = iops(f.Sustained.Rate)
	if burst := min(t.HDD.Burst*tib, t.HDD.BurstMax); burst > f.Sustained.Rate {
		f.Burst.Rate, f.Burst.IOPS, f.BurstBytes = burst, iops(burst), spec.Size
	}
}

// tier takes a fixed size. A full bucket of Azure's credits lasts for BurstForMinutes at the whole burst
// (MicrosoftDocs/azure-compute-docs, managed-disks-bursting-2.md, 2025-01-14). The size of the bucket
// is not printed: what is above the base for so long fits both that and the times to fill it again.
func (f *VolumeFacts) tier(t *TierFacts) {
	if t == nil {
		return
	}
	f.Sustained, f.Burst, f.Inferred = t.Sustained, t.Burst, true
	f.Notes = append(f.Notes, "tier "+t.Name)
	if long := builtin()["azure"].terms.burstFor().Seconds(); t.Burst.Known() {
		f.BurstIOs = float64(t.Burst.IOPS-t.Sustained.IOPS) * long
		f.BurstBytes = units.Bytes(float64(t.Burst.Rate-t.Sustained.Rate) * long)
	}
}

// raised is what was ordered above a tier: performance plus, in figures, and bursting on demand
// (MicrosoftDocs/azure-compute-docs, disks-enable-performance.md and managed-disks-bursting-2.md: both for
// disks above 512 GiB; bursts on demand reach 30,000 IOPS and 1,000 MB/s, without end).
func (f *VolumeFacts) raised(t VolumeType, spec VolumeSpec, wrong func(string, ...any)) {
	ordered := spec.IOPS > 0 || spec.Rate > 0
	switch {
	case !ordered && !spec.OnDemand:
		return
	case t.Raised == nil || spec.Size <= t.Raised.Above:
		wrong("IOPS and throughput cannot be ordered: they follow from the size: performance plus and bursting on demand " +
			"are for disks above 512 GiB")
		return
	case spec.OnDemand && !t.Raised.OnDemand.Known():
		wrong("only azure-premium bursts on demand")
	case spec.IOPS > 0 && spec.IOPS < f.Sustained.IOPS || spec.Rate > 0 && spec.Rate < f.Sustained.Rate*0.9999:
		wrong("performance plus does not lower a tier's %v IOPS and %s", f.Sustained.IOPS, f.Sustained.Rate.SI())
	}
	f.Inferred, f.Burst, f.BurstIOs, f.BurstBytes = false, Limits{}, 0, 0
	f.Sustained.Override(Limits{IOPS: spec.IOPS, Rate: spec.Rate})
	if spec.OnDemand {
		most := t.Raised.OnDemand
		f.Sustained = Limits{IOPS: max(f.Sustained.IOPS, most.IOPS), Rate: max(f.Sustained.Rate, most.Rate)}
		f.Notes = append(f.Notes, "bursting on demand is billed by use")
	}
}

// pool is the allowance of a machine whose volumes of the type are as large together.
func (f *VolumeFacts) pool(t VolumeType, spec VolumeSpec) {
	size := float64(spec.Size) / gib
	f.Pooled = true
	rate := max(t.Pool.Rate+t.Pool.RatePerGiB*units.Rate(size), t.Pool.LeastRate)
	f.Sustained = oneBudget(Limits{
		ReadIOPS:  max(t.Pool.IOPS+units.IOPS(t.Pool.ReadPerGiB*size), t.Pool.LeastRead),
		WriteIOPS: max(t.Pool.IOPS+units.IOPS(t.Pool.WritePerGiB*size), t.Pool.LeastWrite),
		ReadRate:  rate, WriteRate: rate,
	}, t.Pool.SharedRate)
}

// oneBudget says of limits by direction that reads and writes share their IOPS, as all of Google's
// Persistent Disk do, and their rate too where that is said. Of two equal figures one is enough.
func oneBudget(l Limits, rate bool) Limits {
	if l.ReadIOPS > 0 && l.WriteIOPS > 0 {
		l.SharedIOPS = Stated
	}
	if rate && l.ReadRate > 0 && l.WriteRate > 0 {
		l.SharedRate = Stated
	}
	if l.SharedIOPS != Apart && l.ReadIOPS == l.WriteIOPS {
		l.IOPS, l.ReadIOPS, l.WriteIOPS, l.SharedIOPS = l.ReadIOPS, 0, 0, Apart
	}
	if l.SharedRate != Apart && l.ReadRate == l.WriteRate {
		l.Rate, l.ReadRate, l.WriteRate, l.SharedRate = l.ReadRate, 0, 0, Apart
	}
	return l
}

// byRate is a volume whose throughput is ordered; its IOPS follow from it.
func (f *VolumeFacts) byRate(t VolumeType, spec VolumeSpec, wrong func(string, ...any)) {
	rate, size := spec.Rate, units.Rate(float64(spec.Size)/gib)
	switch {
	case rate == 0:
		wrong("throughput is provisioned and has no default: state it")
		return
	case rate > t.Rate.Max:
		wrong("%v are above its maximum of %v", rate, t.Rate.Max)
	case rate < t.Rate.Min:
		wrong("%v are below its minimum of %v", rate, t.Rate.Min)
	case t.Rate.PerGiB > 0 && spec.Size > 0 && rate > t.Rate.PerGiB*size*1.0001:
		wrong("%v are above the %v that %v allow", rate, t.Rate.PerGiB*size, spec.Size)
	case rate < t.Rate.LeastPerGiB*size*0.9999:
		wrong("%v are below the %v that %v ask for", rate, t.Rate.LeastPerGiB*size, spec.Size)
	}
	f.Sustained.Rate = rate
	f.Sustained.IOPS = min(units.IOPS(float64(rate/units.MiBPerSec)*t.IOPS.PerMiB), t.IOPS.Max)
	if spec.IOPS > 0 && math.Abs(float64(spec.IOPS/f.Sustained.IOPS-1)) > 0.05 {
		wrong("IOPS cannot be ordered: they follow from the throughput: %v", f.Sustained.IOPS)
	}
}

func (f *VolumeFacts) provisioned(t VolumeType, spec VolumeSpec, wrong func(string, ...any)) {
	iops := spec.IOPS
	if iops == 0 {
		iops = t.IOPS.Included
	}
	if iops == 0 {
		wrong("IOPS are provisioned and have no default: state them")
		return
	}
	top, why := t.IOPS.Max, "the most of any size"
	if perSize := max(
		t.IOPS.Included,
		units.IOPS(t.IOPS.PerGiB*float64(spec.Size)/gib),
	); spec.Size > 0 && t.IOPS.PerGiB > 0 &&
		perSize < top {
		top, why = perSize, fmt.Sprintf("%v per GiB at %v", t.IOPS.PerGiB, spec.Size)
	}
	switch {
	case iops > top:
		wrong("%v IOPS are above its maximum of %v, %s", iops, top, why)
	case iops < t.IOPS.Min:
		wrong("%v IOPS are below its minimum of %v", iops, t.IOPS.Min)
	case float64(iops) < t.IOPS.LeastPerGiB*float64(spec.Size)/gib*0.9999:
		wrong("%v IOPS are below its minimum of %v per GiB at %v", iops, t.IOPS.LeastPerGiB, spec.Size)
	}
	f.Sustained.IOPS = iops
	f.Sustained.Rate = f.rate(t, spec, iops, wrong)
}

// LeastRate is the smallest throughput that can be ordered with so many IOPS.
func (t VolumeType) LeastRate(iops units.IOPS) units.Rate {
	return max(t.Rate.Min, t.Rate.LeastPerIOPS*units.Rate(iops))
}

func (f *VolumeFacts) rate(t VolumeType, spec VolumeSpec, iops units.IOPS, wrong func(string, ...any)) units.Rate {
	top := t.Rate.Max
	switch {
	case top == 0:
		return spec.Rate // no rule is known
	case t.Rate.PerIOPS > 0:
		each := max(t.Rate.Included, units.Rate(iops)*t.Rate.PerIOPS)
		if t.Rate.Knee > 0 {
			each = max(min(each, t.Rate.Knee), units.Rate(iops)*t.Rate.PerIOPSBeyond)
		}
		top = min(top, each)
	}
	rate := spec.Rate
	switch {
	case t.Rate.Derived && rate > 0 && math.Abs(float64(rate/top-1)) > 0.05:
		wrong("throughput cannot be ordered: it follows from the IOPS: %v", top)
	case t.Rate.Derived:
		rate = top
	case rate == 0:
		rate = min(top, max(t.Rate.Included, t.LeastRate(iops)))
	case rate > top*1.0001:
		wrong("%v are above its maximum of %v at %v IOPS", rate, top, iops)
	case rate < t.LeastRate(iops)*0.9999:
		wrong("%v are below its minimum of %v at %v IOPS", rate, t.LeastRate(iops), iops)
	}
	return rate
}
