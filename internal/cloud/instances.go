package cloud

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// InstanceFacts are the limits of a machine type on all its network volumes together. AWS states
// IOPS for 16 KiB I/Os and throughput in MB/s (10^6 bytes/s) for 128 KiB I/Os; Azure in MB/s for what
// bypasses the host's cache; Google in MiB/s, for each type of volume apart.
type InstanceFacts struct {
	Type string `json:"type"`
	// Vendor is as VolumeType.Provider has it.
	Vendor   string      `json:"vendor,omitempty"`
	Arch     string      `json:"arch"`
	VCPUs    int         `json:"vcpus"`
	Memory   units.Bytes `json:"memory"`
	Baseline Limits      `json:"baseline"` // sustained
	// Burst is the maximum where it is above the baseline: it holds for BurstFor at least once in
	// BurstPer. Zero without burst.
	Burst     Limits        `json:"burst"`
	BurstFor  time.Duration `json:"burst_for,omitempty"`
	BurstPer  time.Duration `json:"burst_per,omitempty"`
	BurstRule BurstRule     `json:"burst_rule,omitempty"`
	// Caps are limits on some of the volumes. Those whose type has a cap do not count against Baseline.
	Caps []Cap `json:"caps,omitempty"`
	// Unknown says what is not known of the type and which figure would close it.
	Unknown []string `json:"unknown,omitempty"`
	// Without are volume types that cannot be attached, and WithoutWhy says why.
	Without    []string `json:"without,omitempty"`
	WithoutWhy string   `json:"without_why,omitempty"`
	// NoCaching says that its host caches no disk, AddsDrives that local drives can be added to it.
	NoCaching  bool `json:"no_caching,omitempty"`
	AddsDrives bool `json:"adds_drives,omitempty"`
	// Local are the instance's own drives, zero when it has none. Their limits are for one drive.
	Local InstanceStore `json:"local"`
	// NVMe is false on Xen types, which show EBS volumes as /dev/xvd* without identity.
	NVMe bool `json:"nvme"`
	// Attachments are the volumes that can be attached: on EC2 with the root volume, elsewhere beside it.
	Attachments int `json:"attachments,omitempty"`
	// Taken are those of Attachments that network cards, the root volume and local drives take.
	Taken int `json:"-"`
	// Older says that the type is of a previous generation, CPUCredits that its CPU is shared by credits.
	Older      bool     `json:"-"`
	CPUCredits bool     `json:"-"`
	Weightings []string `json:"weightings,omitempty"` // bandwidth weightings on offer; the limits are for "default"
	// Changes are limits that AWS published earlier, oldest first.
	Changes []InstanceChange `json:"changes,omitempty"`
	Notes   []string         `json:"notes,omitempty"`
	Provenance
}

// InstanceChange is what a page showed between two dates.
type InstanceChange struct {
	From     string `json:"from"` // 2022-02-21
	To       string `json:"to"`   // "2023-06-15<": some time after
	Baseline Limits `json:"baseline"`
	Burst    Limits `json:"burst"` // the published maximum
	Source   string `json:"source"`
}

// InstanceStore is the local drives of an instance type.
type InstanceStore struct {
	Count int         `json:"count"`
	Size  units.Bytes `json:"size"`
	// Temp is Azure's temp disk, which shares the limit of the host's cache.
	Temp bool `json:"temp,omitempty"`
	// Limits of one drive: as the vendor states them, else as they were measured, zero where neither is.
	Limits Limits `json:"limits"`
	// Surpassed says that more was measured than the vendor states, if that states anything.
	Surpassed bool `json:"-"`
	Provenance
}

// of takes what the cloud's terms say of the machine, premium being what its row says of premium storage.
func (f *InstanceFacts) of(t *Terms, premium string) {
	f.NoCaching = t.Uncached.matches(f.Type)
	f.Older = t.Older.matches(f.Type) || !f.NVMe
	f.CPUCredits = t.CPUCredits.matches(f.Type)
	for _, w := range t.Without {
		if w.Machines.matches(f.Type) || premium != "" && w.Premium == premium {
			f.Without, f.WithoutWhy = w.Types, w.Why
		}
	}
	if t.Taken > 0 {
		f.Taken = t.Taken + f.Local.Count
	}
}

// Room is how many volumes can be attached beside what takes attachments already; a number that no
// layout reaches where that is not known.
func (f *InstanceFacts) Room() int {
	if f.Attachments == 0 {
		return math.MaxInt
	}
	return f.Attachments - f.Taken
}

// Allows is what the machine lets through to all its volumes of a type; false where that is not known, or
// where it takes none of them.
func (f *InstanceFacts) Allows(typ string) (base, burst Limits, ok bool) {
	if slices.Contains(f.Without, typ) {
		return base, burst, false
	}
	for _, c := range f.Caps {
		if c.For(typ) {
			return c.Baseline, c.Burst, true
		}
	}
	return f.Baseline, f.Burst, f.Baseline.Known()
}

// XenVolumeIOPS is the most that one volume reaches on a type that is not built on Nitro
// (docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html, as of 2025-11).
const XenVolumeIOPS = 32000

// OfVolume is what is left on this instance of a volume's limits.
func (f *InstanceFacts) OfVolume(v VolumeFacts) VolumeFacts {
	if !f.NVMe {
		v.Sustained.IOPS, v.Burst.IOPS = min(v.Sustained.IOPS, XenVolumeIOPS), min(v.Burst.IOPS, XenVolumeIOPS)
	}
	return v
}

// Machine is what is known of a machine type, however the case of its name and with or without the prefix of
// all. Where NVMe and SCSI have limits of their own, SCSI's are meant, unless the name ends in :nvme.
func (d *Provider) Machine(typ string) (InstanceFacts, bool) {
	name, controller, _ := strings.Cut(typ, ":")
	rows := d.sheet(fileMachines).of(name)
	if rows == nil && d.terms.Machine != "" {
		rows = d.sheet(fileMachines).of(d.terms.Machine + name)
	}
	if rows == nil {
		return d.custom(typ)
	}
	r := rows[0]
	for _, o := range rows {
		if o.text("controller") == cmp.Or(controller, "scsi") {
			r = o
		}
	}
	if controller != "" && r.text("controller") != controller {
		return InstanceFacts{}, false
	}
	f := d.machine(r)
	if len(rows) > 1 {
		f.Type += ":" + r.text("controller")
		f.Notes = append(f.Notes, "limits of this size differ between NVMe and SCSI: "+
			controllers(rows)+"; SCSI's count unless the name ends in "+AzureNVMe)
	}
	for _, c := range d.sheet(fileHistory).of(name) {
		f.Changes = append(f.Changes, InstanceChange{
			c.text("first_seen"), c.text("last_seen"), limits(c, "base_", 1), limits(c, "max_", 1), c.text("source"),
		})
	}
	return f, true
}

func controllers(rows []row) string {
	var parts []string
	for _, r := range rows {
		l := limits(r, "base_", 1)
		controller := map[string]string{"nvme": "NVMe", "scsi": "SCSI"}[r.text("controller")]
		parts = append(parts, fmt.Sprintf("%s %v IOPS and %s", controller, l.IOPS, l.Rate.SI()))
	}
	return strings.Join(parts, ", ")
}

// custom is a machine of a person's own vCPUs and memory, in a series whose limits are known.
func (d *Provider) custom(typ string) (InstanceFacts, bool) {
	if d.terms.Custom.Regexp == nil {
		return InstanceFacts{}, false
	}
	m := d.terms.Custom.FindStringSubmatch(typ)
	if m == nil || len(d.sheet(fileLimits).of(m[1])) == 0 {
		return InstanceFacts{}, false
	}
	mib, _ := strconv.ParseFloat(m[3], 64)
	return d.machine(row{
		[]string{"name", "vcpus", "memory_gib"}, []string{typ, m[2], strconv.FormatFloat(mib/1024, 'g', -1, 64)},
	}), true
}

func (d *Provider) machines() []InstanceFacts {
	var all []InstanceFacts
	at := map[string]int{}
	for r := range d.sheet(fileMachines).rows() {
		name := r.text("name")
		i, twice := at[name]
		switch {
		case !twice:
			at[name] = len(all)
			all = append(all, d.machine(r))
		case r.text("controller") == "scsi":
			all[i] = d.machine(r)
		}
	}
	return all
}

// machine reads a row of machines.csv, with the caps that other tables have of it.
func (d *Provider) machine(r row) InstanceFacts {
	t := d.terms
	f := InstanceFacts{
		Type: r.text("name"), Vendor: t.Vendor, Arch: strings.Replace(r.text("arch"), "x64", "x86_64", 1),
		VCPUs: int(r.num("vcpus")), Memory: units.Bytes(r.num("memory_gib") * gib), Baseline: limits(r, "base_", 1),
		BurstRule: t.BurstRule, NVMe: r.text("xen") == "", Attachments: int(r.num("disks")), AddsDrives: t.AddsDrives,
		Provenance: r.from(),
	}
	f.Burst = above(limits(r, "max_", 1), f.Baseline)
	for _, c := range t.Caps {
		base := limits(r, c.Columns+"_", 1)
		if w := base.WriteRate; c.Cache { // its throughput, of which some let writes have less
			if base.WriteRate = 0; w > 0 && w < base.Rate*0.99 {
				base.ReadRate, base.WriteRate, base.Rate = base.Rate, w, 0
			}
		}
		if base.Known() {
			f.Caps = append(f.Caps, Cap{
				Name: c.Name, Types: c.Types, Cache: c.Cache, Baseline: base,
				Burst: above(limits(r, c.Columns+"_max_", 1), base), Provenance: f.Provenance,
			})
			f.note(c.Note)
		}
	}
	d.capped(&f)
	if f.Burst.Known() || slices.ContainsFunc(f.Caps, func(c Cap) bool { return c.Burst.Known() }) {
		f.BurstFor, f.BurstPer = t.burstFor(), time.Duration(t.BurstPerHours)*time.Hour
	}
	if w := r.text("weightings"); w != "" {
		f.Weightings = strings.Split(w, "|")
		f.note(t.Notes["weightings"])
	}
	f.note(r.text("note"))
	if api := limits(r, "api_", 1); api.Known() && api != f.Baseline {
		f.note(fmt.Sprintf("its API prints %v IOPS and %s where its page has %v and %s", api.IOPS, api.Rate.SI(),
			f.Baseline.IOPS, f.Baseline.Rate.SI()))
	}
	d.drives(&f, r)
	d.unknown(&f, r)
	f.of(t, r.text("premium"))
	d.attachments(&f)
	return f
}

func (f *InstanceFacts) note(text string) {
	if text != "" {
		f.Notes = append(f.Notes, text)
	}
}

// limits are those of the columns that begin so, base_iops or base_read_mbs, of both directions together or of
// one: IOPS, 10^6 (mbs), 2^20 (mibs) or single (bps) bytes/s, each a part of n.
func limits(r row, which string, n float64) Limits {
	iops := func(way string) units.IOPS { return units.IOPS(r.num(which+way+"iops") / n) }
	rate := func(way string) units.Rate {
		of := func(unit string) units.Rate { return units.Rate(r.num(which+way+unit) / n) }
		return of("mbs")*units.MBPerSec + of("mibs")*units.MiBPerSec + of("bps")
	}
	return Limits{
		IOPS: iops(""), ReadIOPS: iops("read_"), WriteIOPS: iops("write_"),
		Rate: rate(""), ReadRate: rate("read_"), WriteRate: rate("write_"),
	}
}

// above keeps of a burst what is above the baseline: some pages print less.
func above(burst, base Limits) Limits {
	if burst.IOPS <= base.IOPS {
		burst.IOPS = 0
	}
	if burst.Rate <= base.Rate {
		burst.Rate = 0
	}
	return burst
}

// capped adds what limits.csv says that the machine allows each type of volume.
func (d *Provider) capped(f *InstanceFacts) {
	known := map[string]Cap{}
	series, _, _ := strings.Cut(f.Type, "-")
	for _, r := range d.sheet(fileLimits).of(series) {
		if !f.selected(r) {
			continue
		}
		typ := strings.TrimPrefix(r.text("type"), d.terms.Prefix)
		if _, twice := known[typ]; twice {
			continue
		}
		c := Cap{
			Name: typ, Types: []string{d.terms.Prefix + typ}, Baseline: directions(r), MiB: r.num("read_mbs") == 0,
			Provenance: r.from(),
		}
		known[typ] = c
		f.Caps = append(f.Caps, c)
		if note := r.text("note"); note != "" {
			f.note(typ + ": " + note)
		}
	}
	for typ, other := range d.terms.Alike {
		if c, ok := known[other]; ok && known[typ].Name == "" {
			c.Name, c.Types, c.Trust = typ, []string{d.terms.Prefix + typ}, Inferred
			f.Caps = append(f.Caps, c)
			f.note(d.terms.Notes["alike"])
		}
	}
	if len(known) > 0 {
		f.Provenance = f.Caps[0].Provenance
	}
}

// directions are limits by direction, of which shared says what they are of: "sum" of reads and writes
// together, "iops" or "all" of one budget (r/R + w/W is at most 1) in IOPS or in throughput too; else apart.
func directions(r row) Limits {
	l := limits(r, "", 1)
	switch shared := r.text("shared"); shared {
	case "sum":
		return Limits{IOPS: l.ReadIOPS, Rate: l.ReadRate}
	case "iops", "all":
		return oneBudget(l, shared == "all")
	}
	return l
}

// selected says whether a row of limits is about the type: it names it, a pattern of it, or a range of
// vCPUs of its series.
func (f *InstanceFacts) selected(r row) bool {
	if r.text("by") != "vcpus" {
		fits, err := path.Match(r.text("machine"), f.Type)
		return err == nil && fits
	}
	low, high, between := strings.Cut(r.text("machine"), "-")
	least, open := strings.CutSuffix(low, " or more")
	a, err := strconv.Atoi(least)
	if err != nil {
		return false
	}
	switch {
	case open:
		return f.VCPUs >= a
	case between:
		b, err := strconv.Atoi(high)
		return err == nil && f.VCPUs >= a && f.VCPUs <= b
	}
	return f.VCPUs == a
}

// attachments is how many volumes can be attached beside the boot disk, where attach.csv says.
func (d *Provider) attachments(f *InstanceFacts) {
	series, _, _ := strings.Cut(f.Type, "-")
	for r := range d.sheet(fileAttach).rows() {
		limit, unit, _ := strings.Cut(r.text("up_to"), " ")
		n, err := strconv.Atoi(limit)
		if named := r.text("series"); named == f.Type || named == "all others" ||
			named == series && unit == "vCPUs" && err == nil && f.VCPUs <= n {
			f.Attachments = int(r.num("disks"))
			return
		}
	}
}

// unknown says what is not known of a machine, and which figure would close it.
func (d *Provider) unknown(f *InstanceFacts, r row) {
	closed := func(what string, missing bool) {
		if text := d.terms.Closes[what]; missing && text != "" {
			f.Unknown = append(f.Unknown, strings.Replace(text, "TYPE", f.Type, 1))
		}
	}
	closed("local", f.Local.Count > 0 && !f.Local.Temp && !f.Local.Limits.Known())
	none := !f.Baseline.Known() && len(f.Caps) == 0
	closed("limits", none)
	closed("burst", !none && r.text("trust") != "p" && r.text("premium") == "y")
	closed("cache", !none && !slices.ContainsFunc(f.Caps, func(c Cap) bool { return c.Cache }))
}

// drives are the machine's own: as its row or local.csv says, which have all of them together, and what
// was measured where neither does. What was measured above what is published is noted.
func (d *Provider) drives(f *InstanceFacts, r row) {
	n := r.num("local_count")
	if n == 0 {
		return
	}
	f.Local = InstanceStore{
		Count: int(n), Size: units.Bytes(r.num("local_gib")*gib + r.num("local_gb")*1e9),
		Temp: r.text("local_kind") == "temp", Limits: limits(r, "local_", n),
	}
	if f.Local.Limits.Known() {
		f.Local.Provenance = r.from()
	}
	for _, p := range d.sheet(fileLocal).of(f.Type) {
		f.Local.Limits, f.Local.Provenance = limits(p, "", n), p.from()
	}
	var over []string
	for _, m := range d.sheet(fileMeasured).of(f.Type) {
		seen, stated := limits(m, "", n), f.Local.Limits
		f.Local.Limits = seen
		f.Local.Limits.Override(stated)
		switch from := m.from(); {
		case !stated.Known():
			f.Local.Provenance = from
			f.note("the limits of its local drives were measured; none is published")
		case f.Local.Limits != stated:
			f.Local.Source += "; what it does not state was measured: " + from.String()
			f.Local.Trust = Partial
		}
		figures := func(l Limits) []float64 {
			return []float64{float64(l.ReadIOPS), float64(l.WriteIOPS), float64(l.ReadRate), float64(l.WriteRate)}
		}
		found, page := figures(seen), figures(stated)
		for i, name := range []string{"read IOPS", "write IOPS", "B/s of reads", "B/s of writes"} {
			if page[i] > 0 && found[i] > page[i] {
				over = append(over, fmt.Sprintf("%s %s instead of %s", units.Number(found[i]*n), name, units.Number(page[i]*n)))
			}
		}
		if f.Local.Surpassed = over != nil || !stated.Known(); over != nil {
			f.note("measured on its local drives, above what is published: " + strings.Join(over, ", ") +
				" (" + m.from().String() + ")")
		}
	}
	f.Local.Limits = f.Local.Limits.OfDrive()
}

// InstanceTypes lists the known machine types whose name contains text: EC2's by family and size, others in
// the order of their tables.
func InstanceTypes(text string) []string {
	var types []string
	for _, p := range Providers() {
		some := slices.DeleteFunc(slices.Clone(p.Machines()), func(f InstanceFacts) bool {
			return !strings.Contains(f.Type, text)
		})
		if p == AWS() {
			slices.SortFunc(some, func(a, b InstanceFacts) int {
				family := func(f InstanceFacts) string { first, _, _ := strings.Cut(f.Type, "."); return first }
				return cmp.Or(cmp.Compare(family(a), family(b)), cmp.Compare(a.VCPUs, b.VCPUs), cmp.Compare(a.Type, b.Type))
			})
		}
		for _, f := range some {
			types = append(types, f.Type)
		}
	}
	return types
}
