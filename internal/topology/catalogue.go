package topology

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"plimsoll/internal/cloud"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

func catalogued(p cloud.Provenance) Origin {
	o := Origin{Catalogue, p.String()}
	if p.Trust != cloud.Verified && p.Trust != "" {
		o.Where += ", " + p.Trust.String()
	}
	return o
}

// catalogue fills in the limits of what was detected, where the catalogue knows them by model or
// instance type.
func (t *Topology) catalogue() {
	facts, known := cloud.InstanceLimits(t.Instance.controlled(t.Arrays))
	if known {
		t.Instance.take(facts)
	} else if t.Instance.Type != "" {
		t.note("instance type %s is not in the catalogue: declare its limits", t.Instance.Type)
	}
	for v := range t.Volumes() {
		switch {
		case cloud.IsLocal(v.Model) && known && facts.Local.Limits.Known():
			v.ofMachine(facts.Local)
		case !v.Network:
			v.drive(cloud.LocalModel(t.Instance.Type, v.Model))
		}
	}
}

// Volumes are those of all arrays, everyVolume with them those beside the paths under test.
func (t *Topology) Volumes() iter.Seq[*Volume] { return volumesOf(t.Arrays) }

func (t *Topology) everyVolume() iter.Seq[*Volume] {
	return volumesOf(append(slices.Clone(t.Arrays), Array{Volumes: t.others}))
}

func volumesOf(arrays []Array) iter.Seq[*Volume] {
	return func(yield func(*Volume) bool) {
		for _, a := range arrays {
			for j := range a.Volumes {
				if !yield(&a.Volumes[j]) {
					return
				}
			}
		}
	}
}

// controlled is the name by which the catalogue has the type: of sizes whose limits depend on the
// controller, with that of the volumes that are seen.
func (i *Instance) controlled(arrays []Array) string {
	for v := range volumesOf(arrays) {
		if v.Model == cloud.AzureRemoteModel {
			if _, ok := cloud.InstanceLimits(i.Type + cloud.AzureNVMe); ok {
				return i.Type + cloud.AzureNVMe
			}
		}
	}
	return i.Type
}

// take takes over an instance type's limits.
func (i *Instance) take(f cloud.InstanceFacts) {
	i.Type, i.Baseline, i.Burst = f.Type, f.Baseline, f.Burst
	i.BurstFor, i.BurstPer, i.BurstRule = f.BurstFor, f.BurstPer, f.BurstRule
	i.Caps, i.Unknown, i.Cloud = f.Caps, f.Unknown, cloudOf(cloud.Named(f.Vendor))
	i.Origin = catalogued(f.Provenance)
}

// ofMachine takes over what is known of the machine's own drives.
func (v *Volume) ofMachine(s cloud.InstanceStore) {
	v.Sustained, v.Origin, v.AtLeast = s.Limits, catalogued(s.Provenance), doubt(s.Trust)
}

// doubt is why more than a figure of the catalogue may be seen; empty where the vendor states it.
func doubt(t cloud.Trust) string {
	if t == cloud.Verified || t == "" {
		return ""
	}
	return "the catalogue's figures for it are " + t.String()
}

// drive takes over the data sheet of a local drive.
func (v *Volume) drive(model string) bool {
	if model == "" {
		return false
	}
	f, ok := cloud.DriveLimits(model, v.Size)
	if !ok {
		return false
	}
	v.Sustained, v.ReadLatency, v.WriteLatency = f.Limits, f.ReadLatency, f.WriteLatency
	v.Origin, v.AtLeast = catalogued(f.Provenance), doubt(f.Trust)
	return true
}

// check says whether anything is known of the instance.
func (i *DeclaredInstance) check() error {
	if _, ok := cloud.InstanceLimits(i.Type); !ok && i.Type != "" && !i.Baseline.Known() && !i.Burst.Known() {
		return fmt.Errorf("type %.40q is not in the catalogue; declare its baseline and burst in plimsoll.yaml", i.Type)
	}
	return nil
}

// capVolumes limits volumes to what they reach on this instance: a type that is not built on Nitro
// gives one volume 32,000 IOPS, however many it was ordered with. What volumes share is worked out
// here too, for it needs them all.
func (t *Topology) capVolumes() {
	t.pools()
	f, ok := cloud.InstanceLimits(t.Instance.Type)
	if !ok {
		return
	}
	t.ownDrives(f)
	if f.NVMe {
		return
	}
	for v := range t.Volumes() {
		if v.Network && v.Sustained.IOPS > cloud.XenVolumeIOPS {
			v.Sustained.IOPS = cloud.XenVolumeIOPS
			v.Origin.Where += "; at most 32,000 IOPS on " + t.Instance.Type
			t.note("one volume reaches at most 32,000 IOPS on %s, which is not built on Nitro", t.Instance.Type)
		}
	}
}

// ownDrives gives volumes that are declared as NVMe drives, of which nothing else is known, the limits of
// the machine's own drives.
func (t *Topology) ownDrives(f cloud.InstanceFacts) {
	for v := range t.Volumes() {
		declared := v.Type == NVMe && !v.Network && v.Device == "" && !v.Sustained.Known()
		if declared && f.Local.Limits.Known() && !f.Local.Temp {
			v.ofMachine(f.Local)
		}
	}
}

// impossible says why declared volumes cannot be on the declared machine; nil where they can, or where
// nothing is known of it. What a machine shows is never refused.
func (t *Topology) impossible() error {
	f, ok := cloud.InstanceLimits(t.Instance.Type)
	if !ok {
		return nil
	}
	attached, drives := 0, 0
	for v := range t.Volumes() {
		typ, known := cloud.TypeNamed(v.Type)
		switch {
		case known && typ.Provider != f.Vendor:
			return fmt.Errorf("%s is a volume of %s, and %s is a machine of %s", typ.Type, typ.Provider, f.Type, f.Vendor)
		case known && slices.Contains(f.Without, typ.Type):
			return fmt.Errorf("%s does not support %s: %s", f.Type, typ.Type, f.WithoutWhy)
		case v.Caching.Cached() && (f.NoCaching || !cloud.Named(f.Vendor).Terms().Caching):
			return fmt.Errorf("%s has no host caching: leave %s out", f.Type, v.Caching)
		case v.Type == NVMe && v.Origin.Kind != Declared &&
			cmp.Or(v.Model, cloud.InstanceStoreModel) == cloud.InstanceStoreModel:
			drives++
		case v.Network:
			attached++
		}
	}
	switch own := f.Local.Count; {
	case drives > own && own > 0 && !f.Local.Temp:
		return fmt.Errorf("%s has %s, but %d are declared", f.Type, text.Plural(own, "local drive"), drives)
	case drives > 0 && own == 0 && !f.AddsDrives:
		return fmt.Errorf("%s has no local drive", f.Type)
	case f.Attachments > 0 && attached > f.Attachments:
		return fmt.Errorf(
			"%s can attach at most %s, but %d are declared",
			f.Type,
			text.Plural(f.Attachments, "volume"),
			attached,
		)
	}
	return nil
}

// declareInstance lays a declared instance over the detected one.
func (t *Topology) declareInstance(d *DeclaredInstance) error {
	if d == nil {
		return nil
	}
	if err := d.check(); err != nil {
		return fmt.Errorf("%s: %w", d.Origin.Where, err)
	}
	i := &t.Instance
	if d.Type != "" && d.Type != i.Type {
		if i.Type != "" {
			t.note("the instance is a %s as declared (%s); the machine says %s", d.Type, d.Origin.Where, i.Type)
		}
		*i = Instance{Type: d.Type, ID: i.ID, Cloud: i.Cloud, Origin: d.Origin}
		if f, ok := cloud.InstanceLimits(d.Type); ok {
			i.take(f)
		}
	}
	i.Baseline.Override(d.Baseline)
	i.Burst.Override(d.Burst)
	i.BurstFor, i.BurstPer = cmp.Or(d.BurstFor, i.BurstFor), cmp.Or(d.BurstPer, i.BurstPer)
	if d.Baseline.Known() || d.Burst.Known() {
		i.Origin = d.Origin
		f, _ := cloud.InstanceLimits(i.Type) // whose own drives are known to be apart
		i.Whole = f.Local.Count == 0
	}
	return nil
}

// declare lays a declared volume over a detected one, or over an empty one: its type's limits from
// the catalogue, and over them the figures that are stated.
func (v *Volume) declare(d DeclaredVolume) error {
	d.tiered()
	if err := v.declareLimits(d); err != nil {
		return fmt.Errorf("%s: %w", d.Origin.Where, err)
	}
	if v.Origins == nil {
		v.Origins = map[string]Origin{}
	}
	for figure, declared := range map[string]bool{
		"size":           d.Size > 0,
		"type":           d.Type != "",
		"sustained.iops": d.Limits.IOPS > 0,
		"sustained.rate": d.Limits.Rate > 0,
		"read_latency":   d.ReadLatency > 0,
		"write_latency":  d.WriteLatency > 0,
	} {
		if declared {
			v.Origins[figure] = d.Origin
		}
	}
	v.Size = cmp.Or(d.Size, v.Size)
	if v.Device == "" {
		v.Serial, v.ID, v.Model = d.Serial, cmp.Or(d.ID, ebsID(d.Serial)), cmp.Or(d.Model, v.Model)
	}
	v.Sustained.Override(d.Limits)
	v.Burst.Override(d.Burst)
	v.BurstIOs, v.BurstBytes = cmp.Or(d.BurstIOs, v.BurstIOs), cmp.Or(d.BurstBytes, v.BurstBytes)
	if d.Limits.Known() && v.Origin.Kind != Catalogue {
		v.Origin = d.Origin
	}
	if d.Limits.Known() {
		v.AtLeast = ""
	}
	v.ReadLatency, v.WriteLatency = cmp.Or(d.ReadLatency, v.ReadLatency), cmp.Or(d.WriteLatency, v.WriteLatency)
	if d.Merge > 0 {
		v.CountedIO, v.Merges = d.Merge, true
	}
	return nil
}

func (v *Volume) declareLimits(d DeclaredVolume) error {
	size := cmp.Or(d.Size, v.Size)
	v.Caching = cmp.Or(d.Caching, v.Caching)
	t, rented := cloud.TypeNamed(d.Type)
	switch {
	case d.Type == "":
		if v.Device == "" && d.Model != "" {
			v.drive(d.Model)
		} else if v.Device == "" {
			v.Network = true // limits without a type are how rented volumes are described
		}
	case rented:
		f, err := cloud.VolumeLimits(
			cloud.VolumeSpec{
				Type:     d.Type,
				Size:     size,
				IOPS:     d.Limits.IOPS,
				Rate:     d.Limits.Rate,
				Tier:     d.Tier,
				OnDemand: d.OnDemand,
			},
		)
		if err != nil {
			return err
		}
		v.take(f)
		if d.Origin.Kind == Assumed && d.Limits.IOPS == 0 && t.OrdersIOPS() {
			v.AtLeast = "nothing says how many IOPS were ordered: as many as are included, or more"
		}
		if d.Tier != "" {
			v.Inferred, v.AtLeast = false, ""
		}
		if v.Caching.Cached() && t.Uncached {
			return fmt.Errorf("%s allows no host caching", t.Type)
		}
	default:
		model := cmp.Or(d.Model, d.Type)
		local := d.Type == NVMe || d.Type == "ssd" || d.Type == "hdd" || d.Type == "loop"
		if probe := (Volume{Size: size}); probe.drive(model) {
			v.drive(model)
			v.Type, v.Network = NVMe, false
			if v.Device == "" && !local {
				v.Model = d.Type
			}
			return nil
		}
		if !local && !d.Limits.Known() {
			_, err := cloud.VolumeLimits(cloud.VolumeSpec{Type: d.Type})
			return err
		}
		v.Type, v.Network = d.Type, !local
	}
	return nil
}

// take takes over what the catalogue says of a network volume.
func (v *Volume) take(f cloud.VolumeFacts) {
	v.Type, v.Network, v.Origin = f.Type, true, catalogued(f.Provenance)
	v.Pooled, v.Inferred = f.Pooled, f.Inferred
	if v.AtLeast = ""; f.Inferred {
		v.AtLeast = "its tier follows from its size, and more may have been ordered"
	}
	v.Sustained, v.Burst = f.Sustained, f.Burst
	v.BurstIOs, v.BurstBytes, v.CountedIO, v.Merges = f.BurstIOs, f.BurstBytes, f.CountedIO, f.Merges
}

// tiered writes a tier such as P30 as its type and size. A tier that is named is ordered, not
// inferred.
func (v *DeclaredVolume) tiered() {
	typ, size, ok := cloud.TierNamed(v.Type)
	if !ok {
		return
	}
	v.Type, v.Tier = typ, strings.ToUpper(v.Type)
	if v.Size == 0 {
		v.Size = size
	}
}

// pools works out what volumes share of which a machine has one allowance for each type. Those that
// are not below the paths under test add to it too, where they are known.
func (t *Topology) pools() {
	t.Instance.Pools = nil
	var types []string
	size := map[string]units.Bytes{}
	seen := map[string]bool{}
	for v := range t.everyVolume() {
		if !v.Pooled || v.Device != "" && seen[v.Device] {
			continue
		}
		seen[v.Device] = true
		types = text.Once(types, v.Type)
		size[v.Type] += v.Size
	}
	for _, typ := range types {
		f, err := cloud.VolumeLimits(cloud.VolumeSpec{Type: typ, Size: size[typ]})
		if err == nil || f.Sustained.Known() {
			t.Instance.Pools = append(t.Instance.Pools, Pool{typ, size[typ], f.Sustained, catalogued(f.Provenance)})
		}
	}
}

// check finds an order that cannot be, before the volume is known.
func (v *DeclaredVolume) check() error {
	trial := *v
	trial.tiered()
	if trial.Size == 0 {
		trial.Size = 4 * units.TiB // some types' limits follow from a size that may yet be detected
	}
	return (&Volume{}).declareLimits(trial)
}
