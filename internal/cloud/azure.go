package cloud

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"plimsoll/internal/units"
)

// Azure is Microsoft's cloud. What its machines are limited by is in docs/clouds.md.
type Azure struct {
	// Endpoint of the metadata service, that of every Azure machine where it is empty.
	Endpoint string
}

// Terms of the catalogue.
func (Azure) Terms() *Terms { return allTerms()["azure"] }

// azureTag is the chassis asset tag of every Azure machine, which no other Hyper-V has.
const azureTag = "7783-7084-3265-9085-8269-3286-77"

// On goes by the chassis' asset tag.
func (Azure) On(root fs.FS) bool { return dmi(root, "chassis_asset_tag") == azureTag }

// Firmware does not tell the size of an Azure machine.
func (Azure) Firmware(fs.FS) Identity { return Identity{} }

// azureInstance is what is read of an answer of the instance metadata service, version 2021-05-01. All
// of its values are strings.
type azureInstance struct {
	Compute struct {
		ID       string `json:"vmId"`
		Size     string `json:"vmSize"`
		Location string `json:"location"`
		Zone     string `json:"zone"`
		Storage  struct {
			OS   azureDisk   `json:"osDisk"`
			Data []azureDisk `json:"dataDisks"`
		} `json:"storageProfile"`
	} `json:"compute"`
}

type azureDisk struct {
	LUN     string `json:"lun"`
	Name    string `json:"name"`
	Caching string `json:"caching"`
	GiB     string `json:"diskSizeGB"`
	IOPS    string `json:"opsPerSecondThrottle"`   // of Ultra disks only
	Rate    string `json:"bytesPerSecondThrottle"` //
	Managed struct {
		Type string `json:"storageAccountType"`
	} `json:"managedDisk"`
}

// Identify asks the instance metadata service for the size. Without proxy and credentials.
func (a Azure) Identify(ctx context.Context, root fs.FS) (Identity, error) {
	if !a.On(root) {
		return Identity{}, ErrNotThere
	}
	at, err := a.ask(ctx)
	if err != nil {
		return Identity{}, err
	}
	c := at.Compute
	return Identity{InstanceID: c.ID, InstanceType: c.Size, Region: c.Location, Zone: c.Zone}, nil
}

func (a Azure) ask(ctx context.Context) (azureInstance, error) {
	m := linkLocal{
		cloud: "Azure", header: http.Header{"Metadata": {"true"}},
		hint: "a container may be kept from it: name the size with --instance",
	}
	url := cmp.Or(a.Endpoint, "http://169.254.169.254") + "/metadata/instance?api-version=2021-05-01"
	body, err := m.get(ctx, url)
	if err != nil {
		return azureInstance{}, err
	}
	return parseAzureInstance(body)
}

func parseAzureInstance(body []byte) (azureInstance, error) {
	var at azureInstance
	if err := json.Unmarshal(body, &at); err != nil {
		return azureInstance{}, fmt.Errorf("Azure metadata: the answer is not what its version 2021-05-01 has: %w", err)
	}
	if at.Compute.Size == "" {
		return azureInstance{}, errors.New("Azure metadata: the answer has no vmSize")
	}
	return at, nil
}

// Ordered takes type, size and caching of the disks from the metadata service. Of what was provisioned
// it tells for Ultra disks only.
func (a Azure) Ordered(ctx context.Context, _ Identity, attached []Attached) ([]ProvisionedVolume, error) {
	at, err := a.ask(ctx)
	if err != nil {
		return nil, err
	}
	return at.ordered(attached), nil
}

func (at azureInstance) ordered(attached []Attached) []ProvisionedVolume {
	var all []ProvisionedVolume
	for _, one := range attached {
		lun, ok := azureLUN(one)
		if !ok {
			continue
		}
		disk := at.Compute.Storage.OS
		if lun != azureRoot {
			i := slices.IndexFunc(at.Compute.Storage.Data, func(d azureDisk) bool { return d.LUN == lun })
			if i < 0 {
				continue
			}
			disk = at.Compute.Storage.Data[i]
		}
		if v, ok := disk.provisioned(one); ok {
			all = append(all, v)
		}
	}
	return all
}

// azureRoot is what stands for the number of the OS disk.
const azureRoot = "os"

var azureLink = regexp.MustCompile(`^/dev/disk/azure/(?:scsi1/lun|data/by-lun/)([0-9]+)$`)

// azureNamespace is a remote disk on NVMe: namespace 1 is the OS disk, namespace n LUN n-2.
var azureNamespace = regexp.MustCompile(`^nvme[0-9]+n([0-9]+)$`)

// azureLUN is the number by which the metadata service lists a disk: from udev's links of Azure, or
// from the namespace.
func azureLUN(one Attached) (string, bool) {
	for _, l := range one.Links {
		if m := azureLink.FindStringSubmatch(l); m != nil {
			return m[1], true
		}
		if l == "/dev/disk/azure/root" || l == "/dev/disk/azure/os" {
			return azureRoot, true
		}
	}
	if m := azureNamespace.FindStringSubmatch(one.Device); m != nil && one.Model == AzureRemoteModel {
		n, err := strconv.Atoi(m[1])
		if err == nil && n == 1 {
			return azureRoot, true
		}
		return strconv.Itoa(n - 2), err == nil
	}
	return "", false
}

// AzureRemote says whether udev's links are those of a disk that Azure attaches over its network: on
// SCSI its model is that of every disk of Hyper-V.
func AzureRemote(links []string) bool {
	_, ok := azureLUN(Attached{Links: links})
	return ok
}

func (d azureDisk) provisioned(one Attached) (ProvisionedVolume, bool) {
	typ := Azure{}.Terms().Accounts[d.Managed.Type]
	if typ == "" {
		return ProvisionedVolume{}, false
	}
	n := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
	v := ProvisionedVolume{On: one.Device, Spec: VolumeSpec{Type: typ, Size: units.Bytes(n(d.GiB)) * units.GiB}}
	v.Caching = Caching(strings.ToLower(d.Caching))
	if v.Spec.Size == 0 {
		v.Spec.Size = one.Size
	}
	if typ == "azure-ultra" {
		v.Spec.IOPS, v.Spec.Rate = units.IOPS(n(d.IOPS)), units.Rate(n(d.Rate))
	}
	if typ == "azure-premium-v2" || typ == "azure-ultra" && v.Spec.IOPS == 0 {
		v.Facts = VolumeFacts{Type: typ, Provider: "Azure"}
		v.Doubt = "Azure does not tell the machine what a disk of " + typ +
			" was provisioned with: declare its IOPS and throughput"
		return v, true
	}
	v.judge(v.Spec)
	return v, true
}

// Left cannot be asked inside an Azure machine.
func (Azure) Left(context.Context, Identity, []string) (Balances, error) {
	return Balances{}, errors.New("Azure tells the machine nothing of its credits; Azure Monitor has them")
}

// Prices are those of the catalogue.
func (a Azure) Prices() *Prices { return azurePrices() }

var azurePrices = sync.OnceValue(func() *Prices { return cataloguePrices("azure", Azure{}.Terms()) })

// AzureNVMe and AzureSCSI end the name of a size whose limits depend on how its disks are attached.
const (
	AzureNVMe = ":nvme"
	AzureSCSI = ":scsi"
)

// Machine is what is known of a size such as Standard_D8s_v5; the prefix may be missing. Where NVMe
// and SCSI have limits of their own, SCSI's are meant, unless the name ends in :nvme.
func (Azure) Machine(typ string) (InstanceFacts, bool) {
	name, controller, _ := strings.Cut(typ, ":")
	rows := azureRows(name)
	if len(rows) == 0 || controller != "" && len(rows) < 2 && rows[0].text("controller") != controller {
		return InstanceFacts{}, false
	}
	r := rows[0]
	for _, o := range rows {
		if o.text("controller") == cmp.Or(controller, "scsi") {
			r = o
		}
	}
	f := azureFacts(r)
	if len(rows) > 1 {
		f.Type += ":" + r.text("controller")
		f.Notes = append(f.Notes, "limits of this size differ between NVMe and SCSI: "+
			azureRange(rows)+"; SCSI's count unless the name ends in "+AzureNVMe)
	}
	return f, true
}

func azureRange(rows []row) string {
	var parts []string
	for _, r := range rows {
		l := limits(r, "base")
		controller := map[string]string{"nvme": "NVMe", "scsi": "SCSI"}[r.text("controller")]
		parts = append(parts, fmt.Sprintf("%s %v IOPS and %s", controller, l.IOPS, l.Rate.SI()))
	}
	return strings.Join(parts, ", ")
}

// azureRows finds a size however its name is written.
func azureRows(name string) []row {
	if rows := findAll("azure.csv", name); rows != nil {
		return rows
	}
	lower := strings.ToLower(name)
	if !strings.HasPrefix(lower, "standard_") && !strings.HasPrefix(lower, "basic_") {
		lower = "standard_" + lower
	}
	data, _ := catalogue.ReadFile("catalogue/azure.csv")
	for line := range bytes.Lines(data) {
		if first, _, _ := bytes.Cut(line, []byte(",")); strings.EqualFold(string(first), lower) {
			return findAll("azure.csv", string(first))
		}
	}
	return nil
}

// Machines are all sizes; of those with two controllers SCSI's limits.
func (Azure) Machines() []InstanceFacts { return azureMachines() }

var azureMachines = sync.OnceValue(func() []InstanceFacts {
	var all []InstanceFacts
	byName := map[string]int{}
	for _, r := range table("azure.csv") {
		f := azureFacts(r)
		i, twice := byName[f.Type]
		if !twice {
			byName[f.Type] = len(all)
			all = append(all, f)
		} else if r.text("controller") == "scsi" {
			all[i] = f
		}
	}
	return all
})

// azureTrust are the ways in which a row's limits are known.
var azureTrust = map[string]Trust{"p": Verified, "e": Verified, "r": Partial}

func azureFacts(r row) InstanceFacts {
	f := InstanceFacts{
		Type: r.text("name"), Vendor: "Azure", Arch: arch(r.text("arch")), VCPUs: int(r.num("vcpus")),
		Memory: units.Bytes(r.num("memory_gib") * float64(units.GiB)), Baseline: limits(r, "base"),
		NVMe: true, Attachments: int(r.num("disks")), BurstRule: Azure{}.Terms().BurstRule,
		Provenance: r.from(azureTrust[r.text("trust")]),
	}
	f.Burst = above(limits(r, "max"), f.Baseline)
	if v2 := limits(r, "v2"); v2.Known() {
		f.Caps = append(f.Caps, Cap{
			Name: "Premium SSD v2 and Ultra", Types: []string{"azure-premium-v2", "azure-ultra"}, Baseline: v2,
			Burst: above(limits(r, "v2_max"), v2), Provenance: f.Provenance,
		})
	}
	if f.Burst.Known() || len(f.Caps) > 0 && f.Caps[0].Burst.Known() {
		f.BurstFor = Azure{}.Terms().burstFor()
	}
	if c := azureCache(r); c.Known() {
		f.Caps = append(f.Caps, Cap{Name: "host cache", Cache: true, Baseline: c, Provenance: f.Provenance})
		f.Notes = append(f.Notes, "its temp disk, where it has one, shares the host cache's limit")
	}
	f.of(Azure{}.Terms(), r.text("premium"))
	f.Local = azureLocal(r)
	f.unknown(r)
	if note := r.text("note"); note != "" {
		f.Notes = append(f.Notes, note)
	}
	if api := limits(r, "api"); api.Known() && api != f.Baseline {
		f.Notes = append(f.Notes, fmt.Sprintf("its API prints %v IOPS and %s where its page has %v and %s", api.IOPS,
			api.Rate.SI(), f.Baseline.IOPS, f.Baseline.Rate.SI()))
	}
	f.measured()
	return f
}

// azureCache reads the limits of what the cache serves; writes have a throughput of their own on some.
func azureCache(r row) Limits {
	l := limits(r, "cached")
	if w := units.Rate(r.num("cached_write_mbs")) * units.MBPerSec; w > 0 && l.Rate > 0 && w < l.Rate*0.99 {
		l.ReadRate, l.WriteRate, l.Rate = l.Rate, w, 0
	}
	return l
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

// unknown says what the catalogue lacks. The names are those of capabilities in a Resource SKU answer.
func (f *InstanceFacts) unknown(r row) {
	closing := func(what, figure string) {
		f.Unknown = append(f.Unknown, fmt.Sprintf("%s of %s: %s in the answer of az vm list-skus would close it",
			what, f.Type, figure))
	}
	if !f.Baseline.Known() {
		closing("the limits on uncached disks", "UncachedDiskIOPS and UncachedDiskBytesPerSecond")
		return
	}
	if r.text("trust") != "p" && r.text("premium") == "y" {
		f.Unknown = append(f.Unknown, "the burst of "+f.Type+": its size page would close it")
	}
	if !slices.ContainsFunc(f.Caps, func(c Cap) bool { return c.Cache }) {
		closing("the limit of host caching", "CombinedTempDiskAndCachedIOPS")
	}
}

// azureLocal are the local drives. The page states them for all together.
func azureLocal(r row) InstanceStore {
	n := r.num("local_count")
	if n == 0 {
		return InstanceStore{}
	}
	each := func(column string) float64 { return r.num(column) / n }
	return InstanceStore{
		Count: int(n), Size: units.Bytes(r.num("local_gib") * float64(units.GiB)), Temp: r.text("local_kind") == "temp",
		Limits: Limits{
			ReadIOPS: units.IOPS(each("local_read_iops")), WriteIOPS: units.IOPS(each("local_write_iops")),
			ReadRate:  units.Rate(each("local_read_mbs")) * units.MBPerSec,
			WriteRate: units.Rate(each("local_write_mbs")) * units.MBPerSec,
		}.OfDrive(),
		Provenance: r.from(azureTrust[r.text("trust")]),
	}
}

// arch is an architecture as EC2 spells it.
func arch(s string) string { return strings.Replace(s, "x64", "x86_64", 1) }

// measured gives local drives of which nothing is published what was measured on them all together, and
// notes where that is above what is published.
func (f *InstanceFacts) measured() {
	m, ok := find("local-measured.csv", f.Type)
	if !ok || f.Local.Count == 0 {
		return
	}
	each, n := f.Local.Limits, float64(f.Local.Count)
	if !each.Known() {
		f.Local.Limits = Limits{
			ReadIOPS: units.IOPS(m.num("read_iops") / n), WriteIOPS: units.IOPS(m.num("write_iops") / n),
			ReadRate: units.Rate(m.num("read_bps") / n), WriteRate: units.Rate(m.num("write_bps") / n),
		}.OfDrive()
		f.Local.Provenance = m.from(Partial)
		f.Notes = append(f.Notes, "the limits of its local drives were measured, none is published")
		return
	}
	var over strings.Builder
	for _, c := range []struct {
		name      string
		published float64
		column    string
	}{
		{"read IOPS", float64(each.ReadIOPS), "read_iops"},
		{"write IOPS", float64(each.WriteIOPS), "write_iops"},
		{"B/s of reads", float64(each.ReadRate), "read_bps"},
		{"B/s of writes", float64(each.WriteRate), "write_bps"},
	} {
		if all := c.published * n; all > 0 && m.num(c.column) > all {
			fmt.Fprintf(&over, ", %s %s instead of %s", units.Number(m.num(c.column)), c.name, units.Number(all))
		}
	}
	if over.String() != "" {
		f.Notes = append(f.Notes, "measured on its local drives, above what is published: "+over.String()[2:]+
			" ("+m.from(Partial).String()+")")
	}
}
