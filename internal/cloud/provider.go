package cloud

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// asker is what a machine can ask of its cloud, of each in its own way. Nothing that it does changes anything.
type asker interface {
	// On says whether the machine that root is the "/" of is one of the cloud's, by its firmware.
	On(root fs.FS) bool
	// Firmware is what the firmware tells of the machine without a question over the network.
	Firmware(root fs.FS) Identity
	// Identify asks the cloud's metadata service which machine this is, in a second or so.
	Identify(ctx context.Context, root fs.FS) (Identity, error)
	// Ordered says what volumes of the machine were ordered with; those that the cloud tells nothing
	// of are missing in the answer.
	Ordered(ctx context.Context, machine Identity, attached []Attached) ([]ProvisionedVolume, error)
	// Left is how much burst machine and volumes have left; the machine is asked for only where it
	// has an InstanceID.
	Left(ctx context.Context, machine Identity, volumes []string) (Balances, error)
}

// nobody is asked on a cloud of the user's own: nothing tells that a machine is one of it.
type nobody struct{ of *Terms }

func (nobody) On(fs.FS) bool { return false }

func (nobody) Firmware(fs.FS) Identity { return Identity{} }

func (nobody) Identify(context.Context, fs.FS) (Identity, error) { return Identity{}, ErrNotThere }

func (nobody) Ordered(context.Context, Identity, []Attached) ([]ProvisionedVolume, error) {
	return nil, nil
}

func (n nobody) Left(context.Context, Identity, []string) (Balances, error) {
	return Balances{}, fmt.Errorf("what is left of bursts on %s is not queried", n.of.Cloud)
}

// Terms are what a cloud's cloud.yaml says of it.
type Terms struct {
	// The names by which texts speak of it.
	Cloud   string `json:"cloud"`   // "EC2"
	Short   string `json:"short"`   // for flags: "aws"
	Vendor  string `json:"vendor"`  // as VolumeType.Provider has it: "AWS"
	Volumes string `json:"volumes"` // its network volumes: "EBS"
	Example string `json:"example"` // of a volume as --volumes has it: "gp3"
	API     string `json:"api"`     // that says what volumes were ordered with: "EC2 API, DescribeVolumes"
	// What tells how much burst is left: of the machine's IOPS, its throughput, and of a volume.
	IOLeft  string `json:"io_left"`
	ByLeft  string `json:"by_left"`
	VolLeft string `json:"vol_left"`
	// Types are the kinds of volume that are looked at where none is named; MeasuredOn those that a
	// measured latency is taken to be of where nothing says more.
	Types      []string `json:"types"`
	MeasuredOn []string `json:"measured_on"`
	// Accounts are the catalogue's names of the types that the metadata service has.
	Accounts map[string]string `json:"accounts"`
	// Megabytes says that throughput is ordered and stated in MB/s of 10^6 bytes, else in MiB/s.
	Megabytes bool `json:"megabytes"`
	// Caching says that hosts cache volumes, but those of types that Uncached matches.
	Caching  bool    `json:"caching"`
	Uncached pattern `json:"uncached"`
	Source   string  `json:"uncached_source"`
	// How the bursts of its machines are spent.
	BurstForMinutes int       `json:"burst_for_minutes"`
	BurstPerHours   int       `json:"burst_per_hours"`
	BurstRule       BurstRule `json:"burst_rule"`
	// Taken are the attachments of a machine that its network cards and its root volume take, where they
	// count with those of volumes.
	Taken int `json:"taken"`
	// Older matches machine types of previous generations, CPUCredits those whose CPU is shared by credits.
	Older      pattern `json:"older"`
	CPUCredits pattern `json:"cpu_credits"`
	// Without are the volumes that machines cannot have: those whose name matches, or whose row says so
	// of premium storage.
	Without []struct {
		Machines pattern  `json:"machines"`
		Premium  string   `json:"premium"`
		Types    []string `json:"types"`
		Why      string   `json:"why"`
	} `json:"without"`
	// Region is that of the catalogue's prices; Prices say where those of machines are from.
	Region string     `json:"region"`
	Prices Provenance `json:"machine_prices"`
	// Lacks says of a flag of advise why it cannot be answered here.
	Lacks map[string]string `json:"lacks"`
	// Prefix begins the names of volume types that people leave out, Machine those of machine types.
	Prefix  string `json:"prefix"`
	Machine string `json:"machines"`
	// Caps are limits that machines' rows state beside those of all volumes, by the names of their columns.
	Caps []CapTerms `json:"caps"`
	// AddsDrives says that local drives can be added to machines. Drives are the catalogue's names of those
	// by the series of the machine, where they have one.
	AddsDrives bool              `json:"adds_drives"`
	Drives     map[string]string `json:"drives"`
	// Custom matches machine types of a person's own vCPUs: series, vCPUs, MiB.
	Custom pattern `json:"custom"`
	// Alike names for a type of volume the one whose limit is taken where only that one's is published.
	Alike map[string]string `json:"alike"`
	// Closes says of what is not known which figure would close it, and Notes what else is to be said.
	Closes map[string]string `json:"closes"`
	Notes  map[string]string `json:"notes"`
}

// CapTerms are a cap of machines whose figures stand in columns of their table.
type CapTerms struct {
	Columns string   `json:"columns"` // v2 for v2_iops, v2_mbs, v2_max_iops
	Name    string   `json:"name"`
	Types   []string `json:"types"`
	Cache   bool     `json:"cache"`
	Note    string   `json:"note"` // of machines that have it
}

// pattern is a regular expression of the catalogue; one that is missing matches nothing.
type pattern struct{ *regexp.Regexp }

func (p pattern) matches(s string) bool { return p.Regexp != nil && p.MatchString(s) }

// UnmarshalText compiles it.
func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}

// Attached is a volume as the machine sees it, for its cloud to be asked about.
type Attached struct {
	ID     string // vol-…, where the serial number is one
	Device string // kernel name
	Model  string
	Links  []string // below /dev/disk
	Size   units.Bytes
}

// ErrNotThere says that a machine is none of a cloud's, so that it asked nobody.
var ErrNotThere = errors.New("not a machine of this cloud")

// Providers are the clouds that are known, those that plimsoll brings first.
func Providers() []*Provider { return append(rented(), own()...) }

// rented are the clouds of the catalogue whose machines are rented.
func rented() []*Provider { return []*Provider{AWS(), builtin()["azure"], builtin()["gcp"]} }

// Named is the cloud of a vendor's or a cloud's name, such as AWS, azure or google; nil for none.
func Named(name string) *Provider {
	for _, p := range Providers() {
		if name != "" && p.terms.named(name) {
			return p
		}
	}
	return nil
}

func (t *Terms) burstFor() time.Duration { return time.Duration(t.BurstForMinutes) * time.Minute }

func (t *Terms) named(name string) bool {
	first, _, _ := strings.Cut(t.Vendor, " ")
	return slices.ContainsFunc([]string{t.Vendor, t.Cloud, first, t.Short}, func(s string) bool {
		return strings.EqualFold(s, name)
	})
}

// At is the cloud that a machine says it is on, nil for none. What the firmware says comes before what
// the environment says, as EC2's may.
func At(root fs.FS) *Provider {
	for _, name := range []string{"azure", "gcp", "aws"} {
		if p := builtin()[name]; p.On(root) {
			return p
		}
	}
	return nil
}

// InstanceLimits returns what is known of a machine type of any cloud, such as c8g.2xlarge; false
// when the catalogue has no row: an unknown type, or one without published limits.
func InstanceLimits(typ string) (InstanceFacts, bool) {
	if typ == "" { // of ten thousand results none may name one, and the tables are searched for each
		return InstanceFacts{}, false
	}
	return machineOf(typ, Providers())
}

func machineOf(typ string, all []*Provider) (f InstanceFacts, ok bool) {
	for _, p := range all {
		if f, ok = p.Machine(typ); ok {
			break
		}
	}
	return f, ok
}
