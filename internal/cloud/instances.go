package cloud

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"math"
	"slices"
	"strings"
	"sync"
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
	// Limits of one drive: IOPS as AWS states them, rates as measured by ScyllaDB, zero where
	// neither did.
	Limits Limits `json:"limits"`
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

func (t *Terms) burstFor() time.Duration { return t.BurstForMinutes * time.Minute }

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

// datasets dates the releases that instances.csv was taken from.
var datasets = map[string]string{
	"moto-5.2.5": "2026-10-27", "moto-5.1.0": "2025-02-23", "moto-5.0.0": "2024-01-27", "moto-4.2.0": "2023-08-23",
}

// Machine is what is known of an EC2 instance type such as c8g.2xlarge.
func (EC2) Machine(typ string) (InstanceFacts, bool) {
	r, ok := find("instances.csv", typ)
	if !ok {
		return InstanceFacts{}, false
	}
	f := instanceFacts(r)
	for _, c := range findAll("instances-history.csv", typ) {
		f.Changes = append(f.Changes, InstanceChange{
			c.text("first_seen"), c.text("last_seen"), limits(c, "base"), limits(c, "max"), c.text("source"),
		})
	}
	return f, true
}

// Machines are the facts of every EC2 instance type, without their earlier limits.
func (EC2) Machines() []InstanceFacts { return ec2Instances() }

var ec2Instances = sync.OnceValue(func() []InstanceFacts {
	rows := table("instances.csv")
	all := make([]InstanceFacts, len(rows))
	for i, r := range rows {
		all[i] = instanceFacts(r)
	}
	return all
})

func instanceFacts(r row) InstanceFacts {
	typ := r.text("type")
	f := InstanceFacts{
		Type:        typ,
		Vendor:      EC2{}.Terms().Vendor,
		Arch:        r.text("arch"),
		VCPUs:       int(r.num("vcpus")),
		Memory:      units.Bytes(r.num("memory_mib")) * units.MiB,
		Baseline:    limits(r, "base"),
		NVMe:        r.text("ebs_nvme") == "required",
		Attachments: int(r.num("attachments")),
		Provenance: Provenance{
			Source: "EC2 DescribeInstanceTypes (" + r.text("dataset") + ")",
			AsOf:   datasets[r.text("dataset")],
			Trust:  Verified,
		},
	}
	if top := limits(r, "max"); top != f.Baseline {
		t := EC2{}.Terms()
		f.Burst, f.BurstFor, f.BurstPer = top, t.burstFor(), t.BurstPerHours*time.Hour
	}
	if w := r.text("weightings"); w != "" {
		f.Weightings = strings.Split(w, "|")
		f.Notes = append(f.Notes, "limits are for the default bandwidth weighting; ebs-1 adds 25 % of throughput")
	}
	f.Local = instanceStore(typ, r.text("local"))
	f.of(EC2{}.Terms(), "")
	return f
}

func limits(r row, which string) Limits {
	return Limits{IOPS: units.IOPS(r.num(which + "_iops")), Rate: units.Rate(r.num(which+"_mbs")) * units.MBPerSec}
}

// find returns the first row whose first cell is key.
func find(file, key string) (row, bool) {
	rows := findAll(file, key)
	if len(rows) == 0 {
		return row{}, false
	}
	return rows[0], true
}

// findAll returns the rows whose first cell is key, without reading the whole table: a lookup costs
// microseconds.
func findAll(file, key string) []row {
	if strings.ContainsAny(key, ",\n\"") || key == "" {
		return nil
	}
	data, _ := catalogue.ReadFile("catalogue/" + file)
	head, _, _ := bytes.Cut(data, []byte("\n"))
	columns, start := strings.Split(string(head), ","), []byte("\n"+key+",")
	text := data[len(head):] // with its newline
	var rows []row
	for {
		i := bytes.Index(text, start)
		if i < 0 {
			return rows
		}
		text = text[i+1:]
		line, _, _ := bytes.Cut(text, []byte("\n"))
		if cells, err := csv.NewReader(bytes.NewReader(line)).Read(); err == nil {
			rows = append(rows, row{columns, cells})
		}
	}
}

// instanceStore reads COUNTxSIZE_GB and adds the published figures of one drive.
func instanceStore(typ, local string) InstanceStore {
	count, size, ok := strings.Cut(local, "x")
	if !ok {
		return InstanceStore{}
	}
	n := row{[]string{"n", "gb"}, []string{count, size}}
	s := InstanceStore{Count: int(n.num("n")), Size: units.Bytes(n.num("gb") * 1e9)}
	r, ok := find("instance-store.csv", typ)
	if !ok {
		return s
	}
	s.Limits = Limits{
		ReadIOPS: units.IOPS(r.num("read_iops")), WriteIOPS: units.IOPS(r.num("write_iops")),
		ReadRate: units.Rate(r.num("measured_read_bps")), WriteRate: units.Rate(r.num("measured_write_bps")),
	}.OfDrive()
	s.Provenance = Provenance{"docs.aws.amazon.com/ec2/latest/instancetypes/so.html", "2026", Verified}
	if s.Limits.ReadRate > 0 {
		s.Source, s.Trust = s.Source+"; rates measured by ScyllaDB (2025-10-22)", Partial
	}
	return s
}

// InstanceTypes lists the known instance types whose name contains text, by family and size.
func InstanceTypes(text string) []string {
	type entry struct {
		name, family string
		vcpus        float64
	}
	var some []entry
	for _, r := range table("instances.csv") {
		if name := r.text("type"); strings.Contains(name, text) {
			family, _, _ := strings.Cut(name, ".")
			some = append(some, entry{name, family, r.num("vcpus")})
		}
	}
	slices.SortFunc(some, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.family, b.family), cmp.Compare(a.vcpus, b.vcpus), cmp.Compare(a.name, b.name))
	})
	types := make([]string, len(some))
	for i, e := range some {
		types[i] = e.name
	}
	for _, file := range []string{"azure.csv", "google.csv"} { // in the order of their tables
		for _, r := range table(file) {
			if name := r.text("name"); strings.Contains(name, text) && !slices.Contains(types[max(0, len(types)-1):], name) {
				types = append(types, name)
			}
		}
	}
	return types
}
