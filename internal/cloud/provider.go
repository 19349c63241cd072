package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/units"
)

// Provider is a cloud that rents out machines and volumes. All that differs between clouds lies
// behind it, so that a cloud is one file that implements it, and a machine type is one row of the
// catalogue. Nothing that it does changes anything.
type Provider interface {
	// Terms are what of it is data.
	Terms() *Terms
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
	// Machine is what a machine type allows; false where the catalogue has no row.
	Machine(typ string) (InstanceFacts, bool)
	// Machines are the facts of all its types, in the catalogue's order.
	Machines() []InstanceFacts
	// Prices are those of the catalogue, of one region.
	Prices() *Prices
}

// Terms are what of a cloud is data: its entry in catalogue/clouds.json.
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
	// How the bursts of its machines are spent.
	BurstForMinutes time.Duration `json:"burst_for_minutes"`
	BurstPerHours   time.Duration `json:"burst_per_hours"`
	BurstRule       BurstRule     `json:"burst_rule"`
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
}

// pattern is a regular expression of the catalogue; one that is missing matches nothing.
type pattern struct{ *regexp.Regexp }

func (p pattern) matches(s string) bool { return p.Regexp != nil && p.MatchString(s) }

// UnmarshalText compiles it.
func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}

var allTerms = sync.OnceValue(func() map[string]*Terms {
	data, _ := catalogue.ReadFile("catalogue/clouds.json")
	var all []*Terms
	_ = json.Unmarshal(data, &all) // a test reads it
	named := map[string]*Terms{}
	for _, t := range all {
		named[t.Short] = t
	}
	return named
})

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

// Providers are the clouds that are known.
func Providers() []Provider { return []Provider{EC2{}, Azure{}, Google{}} }

// Named is the cloud of a vendor's or a cloud's name, such as AWS, azure or google; nil for none.
func Named(name string) Provider {
	for _, p := range Providers() {
		w := p.Terms()
		first, _, _ := strings.Cut(w.Vendor, " ")
		if name != "" && slices.ContainsFunc([]string{w.Vendor, w.Cloud, first, w.Short}, func(s string) bool {
			return strings.EqualFold(s, name)
		}) {
			return p
		}
	}
	return nil
}

// At is the cloud that a machine says it is on, nil for none. What the firmware says comes before what
// the environment says, as EC2's may.
func At(root fs.FS) Provider {
	for _, p := range []Provider{Azure{}, Google{}, EC2{}} {
		if p.On(root) {
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
	for _, p := range Providers() {
		if f, ok := p.Machine(typ); ok {
			return f, true
		}
	}
	return InstanceFacts{}, false
}
