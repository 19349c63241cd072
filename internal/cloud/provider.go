package cloud

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"plimsoll/internal/units"
)

// Provider is a cloud that rents out machines and volumes. All that differs between clouds lies
// behind it, so that a cloud is one file that implements it, and a machine type is one row of the
// catalogue. Nothing that it does changes anything.
type Provider interface {
	// Words are what texts call the cloud and its parts.
	Words() Words
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

// Words are the names by which texts speak of a cloud.
type Words struct {
	Cloud   string // "EC2"
	Short   string // for flags: "aws"
	Vendor  string // as VolumeType.Provider has it: "AWS"
	Volumes string // its network volumes: "EBS"
	Example string // of a volume as --volumes has it: "gp3"
	API     string // that says what volumes were ordered with: "EC2 API, DescribeVolumes"
	// What tells how much burst is left: of the machine's IOPS, its throughput, and of a volume.
	IOLeft, ByLeft, VolLeft string
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

// Providers are the clouds that are known.
func Providers() []Provider { return []Provider{EC2{}, Azure{}, Google{}} }

// Named is the cloud of a vendor's or a cloud's name, such as AWS, azure or google; nil for none.
func Named(name string) Provider {
	for _, p := range Providers() {
		w := p.Words()
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
