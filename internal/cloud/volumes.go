package cloud

import (
	"encoding/json"
	"fmt"
	"math"
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
}

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
	Latency    string      `json:"latency"`              // as the vendor words it
	Rules      []string    `json:"rules"`
	Notes      []string    `json:"notes,omitempty"`
	Provenance
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
	} `json:"iops"`
	Rate struct {
		Included units.Rate `json:"included"`
		Min      units.Rate `json:"min"`
		Max      units.Rate `json:"max"`
		PerIOPS  units.Rate `json:"per_iops"`
		Derived  bool       `json:"derived"`
	} `json:"rate"`
	// HDD types: rates for each TiB, and their maxima.
	HDD *struct {
		Base     units.Rate `json:"base"`
		BaseMax  units.Rate `json:"base_max"`
		Burst    units.Rate `json:"burst"`
		BurstMax units.Rate `json:"burst_max"`
	} `json:"hdd"`
	// Tiers are fixed sizes: name, GiB, IOPS, MB/s.
	Tiers     [][4]any `json:"tiers"`
	TierBurst struct {
		UpToGiB float64 `json:"up_to_gib"`
		IOPS    float64 `json:"iops"`
		MBs     float64 `json:"mbs"`
	} `json:"tier_burst"`
	// AFR is the highest share of volumes that AWS says fail in a year, 0 where none is stated.
	AFR float64 `json:"afr,omitempty"`
	// Typical are latencies at depth 1, nil where nothing is known.
	Typical *TypicalLatency `json:"typical,omitempty"`
	Counted units.Bytes     `json:"counted"`
	Merges  bool            `json:"merges"`
	Latency string          `json:"latency"`
	Rules   []string        `json:"rules"`
	Provenance
}

// TypicalLatency is how long one I/O of a volume takes at depth 1, in microseconds, and a write
// that is followed by fdatasync. It rests on the source named, often on one measurement.
type TypicalLatency struct {
	Read   int    `json:"read_us"`
	Write  int    `json:"write_us"`
	Synced int    `json:"synced_us"`
	Source string `json:"source"`
}

// TypeNamed returns an entry of the catalogue, false when there is none of that name.
func TypeNamed(name string) (VolumeType, bool) {
	for _, t := range VolumeTypes() {
		if t.Type == name {
			return t, true
		}
	}
	return VolumeType{}, false
}

// VolumeTypes lists the catalogue's volume types.
var VolumeTypes = sync.OnceValue(func() []VolumeType {
	data, _ := catalogue.ReadFile("catalogue/volumes.json")
	var types []VolumeType
	_ = json.Unmarshal(data, &types) // a test reads it
	return types
})

const gib = float64(units.GiB)

// VolumeLimits works out the limits of a volume by its type's rules. An order that the rules do not
// allow (gp3 with more than 500 IOPS per GiB) is an error; the facts then still hold the figures as
// ordered, for a caller who knows better.
func VolumeLimits(spec VolumeSpec) (VolumeFacts, error) {
	for _, t := range VolumeTypes() {
		if t.Type == spec.Type {
			return t.limits(spec)
		}
	}
	var names []string
	for _, t := range VolumeTypes() {
		names = append(names, t.Type)
	}
	err := fmt.Errorf("volume type %.40q is not in the catalogue: it knows %s", spec.Type, strings.Join(names, ", "))
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
	provisioned := t.IOPS.Max > 0
	if !provisioned && (spec.IOPS > 0 || spec.Rate > 0) {
		wrong("IOPS and throughput cannot be ordered, they follow from the size")
	}
	if !provisioned && spec.Size == 0 {
		wrong("limits follow from the size: state it")
		return f, first
	}
	switch {
	case t.Type == "gp2":
		f.gp2(spec)
	case t.HDD != nil:
		f.hdd(t, spec)
	case len(t.Tiers) > 0:
		f.tier(t, spec)
	default:
		f.provisioned(t, spec, wrong)
	}
	return f, first
}

// gp2: https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html, "I/O credits and
// burst performance".
func (f *VolumeFacts) gp2(spec VolumeSpec) {
	size := float64(spec.Size) / gib
	f.Sustained.IOPS = units.IOPS(min(max(3*size, 100), 16000))
	f.Sustained.Rate = 250 * units.MiBPerSec
	if size <= 170 {
		f.Sustained.Rate = 128 * units.MiBPerSec
	}
	if f.Sustained.IOPS < 3000 {
		f.Burst.IOPS, f.BurstIOs = 3000, 5.4e6
	}
	if size > 170 && size < 334 {
		f.Notes = append(
			f.Notes,
			"250 MiB/s need burst credits at this size; without them baseline IOPS × 256 KiB bound the throughput "+
				"(AWS gives no figure)",
		)
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

// tier takes the smallest fixed size that holds the volume.
func (f *VolumeFacts) tier(t VolumeType, spec VolumeSpec) {
	n := func(v any) float64 { x, _ := v.(float64); return x }
	const burstFor = 1800 // seconds
	for _, tier := range t.Tiers {
		if n(tier[1])*gib < float64(spec.Size) {
			continue
		}
		f.Sustained = Limits{IOPS: units.IOPS(n(tier[2])), Rate: units.Rate(n(tier[3])) * units.MBPerSec}
		if n(tier[1]) <= t.TierBurst.UpToGiB {
			f.Burst = Limits{IOPS: units.IOPS(t.TierBurst.IOPS), Rate: units.Rate(t.TierBurst.MBs) * units.MBPerSec}
			f.BurstIOs = float64(f.Burst.IOPS-f.Sustained.IOPS) * burstFor
			f.BurstBytes = units.Bytes(float64(f.Burst.Rate-f.Sustained.Rate) * burstFor)
		}
		f.Notes = append(f.Notes, fmt.Sprintf("tier %v", tier[0]))
		return
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
	}
	f.Sustained.IOPS = iops
	f.Sustained.Rate = f.rate(t, spec, iops, wrong)
}

func (f *VolumeFacts) rate(t VolumeType, spec VolumeSpec, iops units.IOPS, wrong func(string, ...any)) units.Rate {
	top := t.Rate.Max
	switch {
	case t.Type == "io1" && iops <= 32000:
		top = min(500*units.MiBPerSec, units.Rate(iops)*256*1024)
	case t.Type == "io1":
		top = min(top, max(500*units.MiBPerSec, units.Rate(iops)*16*1024))
	case t.Rate.PerIOPS > 0:
		top = min(top, max(t.Rate.Included, units.Rate(iops)*t.Rate.PerIOPS))
	}
	rate := spec.Rate
	switch {
	case t.Rate.Derived && rate > 0 && math.Abs(float64(rate/top-1)) > 0.05:
		wrong("throughput cannot be ordered, it follows from the IOPS: %v", top)
	case t.Rate.Derived:
		rate = top
	case rate == 0:
		rate = max(t.Rate.Included, t.Rate.Min)
	case rate > top*1.0001:
		wrong("%v are above its maximum of %v at %v IOPS", rate, top, iops)
	case rate < t.Rate.Min:
		wrong("%v are below its minimum of %v", rate, t.Rate.Min)
	}
	return rate
}
