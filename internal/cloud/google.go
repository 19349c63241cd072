package cloud

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"plimsoll/internal/units"
)

// Google is Google's cloud. What its machines are limited by is in docs/clouds.md.
type Google struct{}

// Terms of the catalogue.
func (Google) Terms() *Terms { return allTerms()["gcp"] }

// hostVar is the variable by which Google's own clients find the metadata server: a host and a port.
const hostVar = "GCE_METADATA_HOST"

// On goes by the product's name.
func (Google) On(root fs.FS) bool {
	return os.Getenv(hostVar) != "" || dmi(root, "product_name") == "Google Compute Engine"
}

// Firmware does not tell the machine type.
func (Google) Firmware(fs.FS) Identity { return Identity{} }

func (Google) get(ctx context.Context, what string) (string, error) {
	m := linkLocal{
		cloud: "Google", header: http.Header{"Metadata-Flavor": {"Google"}},
		hint: "a container may be kept from it: name the machine type with --instance",
	}
	body, err := m.get(ctx, "http://"+cmp.Or(os.Getenv(hostVar), "169.254.169.254")+"/computeMetadata/v1/instance/"+what)
	return string(body), err
}

// Identify asks the metadata server for the machine type.
func (g Google) Identify(ctx context.Context, root fs.FS) (Identity, error) {
	if !g.On(root) {
		return Identity{}, ErrNotThere
	}
	typ, err := g.get(ctx, "machine-type")
	if err != nil {
		return Identity{}, err
	}
	id := Identity{InstanceType: path.Base(strings.TrimSpace(typ))}
	if !googleName.MatchString(id.InstanceType) {
		return Identity{}, fmt.Errorf("Google metadata: %.60q is no machine type", typ)
	}
	return id, nil
}

var googleName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)+$`)

type googleDisk struct {
	Name      string `json:"deviceName"`
	Interface string `json:"interface"`
	Type      string `json:"type"`
}

// Ordered takes the types of the disks from the metadata server; their sizes are those of the devices.
func (g Google) Ordered(ctx context.Context, _ Identity, attached []Attached) ([]ProvisionedVolume, error) {
	text, err := g.get(ctx, "disks/?recursive=true")
	if err != nil {
		return nil, err
	}
	return g.ordered([]byte(text), attached)
}

func (g Google) ordered(body []byte, attached []Attached) ([]ProvisionedVolume, error) {
	var disks []googleDisk
	if err := json.Unmarshal(body, &disks); err != nil {
		return nil, fmt.Errorf("Google metadata: the list of disks: %w", err)
	}
	var all []ProvisionedVolume
	for _, one := range attached {
		for _, d := range disks {
			if d.Name == "" || !one.linked("/dev/disk/by-id/google-"+d.Name) {
				continue
			}
			v := ProvisionedVolume{On: one.Device, Spec: VolumeSpec{Type: g.Terms().Accounts[d.Type], Size: one.Size}}
			if v.Spec.Type == "" {
				v.Doubt = fmt.Sprintf("the metadata server calls its type %.40q, which is not known here: declare it", d.Type)
			} else {
				v.judge(v.Spec)
			}
			all = append(all, v)
		}
	}
	return all, nil
}

// googleDrives are the local drives of Google's machines as one of them, of tables that have several
// together. They have one model name whatever they are, so that they go by names of the catalogue.
func googleDrives() []DriveFacts {
	var all []DriveFacts
	for _, r := range table("google-local.csv") {
		name, n := "google-local-"+r.text("kind"), r.num("drives")
		if slices.ContainsFunc(all, func(d DriveFacts) bool { return d.Model == name }) {
			continue // more of them have as much each
		}
		rate := func(column string) units.Rate { return units.Rate(r.num(column)/n) * units.MiBPerSec }
		d := DriveFacts{
			Model: name, Capacity: r.text("gib") + " GiB", Size: units.Bytes(r.num("gib") * float64(units.GiB)),
			Limits: Limits{
				ReadIOPS: units.IOPS(r.num("read_iops") / n), WriteIOPS: units.IOPS(r.num("write_iops") / n),
				ReadRate: rate("read_mibs"), WriteRate: rate("write_mibs"),
			}.OfDrive(),
			Provenance: r.from(Partial), pattern: regexp.MustCompile("^" + name + "$"),
		}
		if r.text("as_of") < "2020" {
			d.Notes = append(d.Notes, "an old table, of a machine's 4 drives together: newer machines may reach more")
		}
		all = append(all, d)
	}
	return all
}

// LocalModel is the catalogue's name of a local drive of a machine: its model, but on series of Google's
// whose drives have a table.
func LocalModel(machine, model string) string {
	series, _, _ := strings.Cut(machine, "-")
	if kind := map[string]string{"n1": "nvme", "c4n": "titanium-c4n"}[series]; kind != "" && IsLocal(model) {
		return "google-local-" + kind
	}
	return model
}

func (a Attached) linked(name string) bool {
	return slices.Contains(a.Links, name)
}

// Left is nothing: no type of Google's bursts.
func (Google) Left(context.Context, Identity, []string) (Balances, error) {
	return Balances{}, errors.New("nothing of Google's bursts on credits")
}

// Prices are those of the catalogue.
func (Google) Prices() *Prices { return googlePrices() }

var googlePrices = sync.OnceValue(func() *Prices { return cataloguePrices("google", Google{}.Terms()) })

var googleCustom = regexp.MustCompile(`^([a-z][a-z0-9]*)-custom-([0-9]+)-([0-9]+)(-ext)?$`)

// Machine is what is known of a machine type such as n2-standard-8, or a custom one such as
// n2-custom-8-32768.
func (Google) Machine(typ string) (InstanceFacts, bool) {
	if r, ok := find("google.csv", typ); ok {
		return googleFacts(r), true
	}
	m := googleCustom.FindStringSubmatch(typ)
	if m == nil || !googleSeries(m[1]) {
		return InstanceFacts{}, false
	}
	f := InstanceFacts{Type: typ, Vendor: "Google Cloud", NVMe: true}
	f.VCPUs, _ = strconv.Atoi(m[2])
	mib, _ := strconv.ParseUint(m[3], 10, 40)
	f.Memory = units.Bytes(mib) * units.MiB
	f.capped()
	return f, true
}

func googleSeries(series string) bool {
	for _, r := range googleLimits() {
		if r.text("series") == series {
			return true
		}
	}
	return false
}

// Machines are all machine types but the custom ones.
func (Google) Machines() []InstanceFacts { return googleMachines() }

var googleMachines = sync.OnceValue(func() []InstanceFacts {
	var all []InstanceFacts
	for _, r := range table("google.csv") {
		all = append(all, googleFacts(r))
	}
	return all
})

var (
	googleLimits = sync.OnceValue(func() []row { return table("google-limits.csv") })
	googleAttach = sync.OnceValue(func() []row { return table("google-attach.csv") })
)

func googleFacts(r row) InstanceFacts {
	f := InstanceFacts{
		Type: r.text("name"), Vendor: "Google Cloud", Arch: arch(r.text("arch")), VCPUs: int(r.num("vcpus")),
		Memory: units.Bytes(r.num("memory_gib") * float64(units.GiB)), NVMe: true, Provenance: r.from(Partial),
	}
	f.AddsDrives = true
	f.Local = InstanceStore{Count: int(r.num("local_count")), Size: units.Bytes(r.num("local_gib") * float64(units.GiB))}
	f.measured()
	if f.Local.Count > 0 && !f.Local.Limits.Known() {
		f.Unknown = append(f.Unknown, "what the local drives of "+f.Type+" reach: Google's table of Local SSD performance "+
			"by machine series would close it")
	}
	f.capped()
	return f
}

// capped adds what the machine allows each type of volume, and how many it attaches.
func (f *InstanceFacts) capped() {
	known := map[string]Cap{}
	for _, r := range googleLimits() {
		if !f.selected(r) {
			continue
		}
		typ := r.text("type")
		if _, twice := known[typ]; twice {
			continue
		}
		c := googleCap(r)
		known[typ] = c
		f.Caps = append(f.Caps, c)
		if note := r.text("note"); note != "" {
			f.Notes = append(f.Notes, typ+": "+note)
		}
	}
	const balanced = "hyperdisk-balanced"
	if c, ok := known[balanced+"-high-availability"]; ok && known[balanced].Name == "" {
		c.Name, c.Types, c.Trust = balanced, []string{"gcp-" + balanced}, Inferred
		f.Caps = append(f.Caps, c)
		f.Notes = append(f.Notes, "its limit for hyperdisk-balanced is taken from the table of High Availability: where "+
			"both are published they are equal")
	}
	if len(f.Caps) > 0 {
		f.Provenance = f.Caps[0].Provenance
	} else {
		f.Unknown = append(f.Unknown, "what "+f.Type+" allows its volumes: the maximum IOPS and throughput of its series in "+
			"Google's tables of Persistent Disk and Hyperdisk limits would close it")
	}
	f.of(Google{}.Terms(), "")
	f.attachments()
}

func googleCap(r row) Cap {
	trust := Partial
	if r.text("trust") == "v" {
		trust = Verified
	}
	c := Cap{Name: r.text("type"), Types: []string{"gcp-" + r.text("type")}, MiB: true, Provenance: r.from(trust)}
	rate := func(column string) units.Rate { return units.Rate(r.num(column)) * units.MiBPerSec }
	switch r.text("shared") {
	case "y":
		c.Baseline = Limits{IOPS: units.IOPS(r.num("read_iops")), Rate: rate("read_mibs")}
	case "r":
		c.Baseline = Limits{ReadIOPS: units.IOPS(r.num("read_iops")), ReadRate: rate("read_mibs")}
	default:
		c.Baseline = oneBudget(Limits{
			ReadIOPS: units.IOPS(r.num("read_iops")), WriteIOPS: units.IOPS(r.num("write_iops")),
			ReadRate: rate("read_mibs"), WriteRate: rate("write_mibs"),
		}, r.text("type") == "pd-standard")
	}
	return c
}

// selected says whether a row of limits is about the type: it names it, a pattern of it, or a range of
// vCPUs of its series.
func (f *InstanceFacts) selected(r row) bool {
	if r.text("by") != "vcpus" {
		fits, err := path.Match(r.text("machine"), f.Type)
		return err == nil && fits
	}
	series, _, _ := strings.Cut(f.Type, "-")
	if series != r.text("series") {
		return false
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

// attachments is how many volumes can be attached beside the boot disk.
func (f *InstanceFacts) attachments() {
	series, _, _ := strings.Cut(f.Type, "-")
	for _, r := range googleAttach() {
		switch limit, unit, _ := strings.Cut(r.text("up_to"), " "); {
		case r.text("series") == f.Type, r.text("series") == "all others":
			f.Attachments = int(r.num("disks"))
			return
		case r.text("series") == series && unit == "vCPUs":
			if n, err := strconv.Atoi(limit); err == nil && f.VCPUs <= n {
				f.Attachments = int(r.num("disks"))
				return
			}
		}
	}
}
