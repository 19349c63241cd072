package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"plimsoll/internal/units"
)

// Identity is what the instance's metadata service tells.
type Identity struct {
	InstanceID   string `json:"instance_id"`
	InstanceType string `json:"instance_type"`
	Region       string `json:"region"`
	Zone         string `json:"zone"`
	Image        string `json:"image,omitempty"`
}

// EC2 asks Amazon's cloud, with EBS for its volumes.
type EC2 struct{}

const (
	// The service answers in a few milliseconds; where a container's hop limit is 1, its address
	// swallows packets. A host whose CPUs are all busy may need longer, and what it does not hear is
	// lost for a whole run.
	identifyTries = 2
	identifyTry   = 500 * time.Millisecond
	// The AWS CLI's own variable: seconds of one try, as a whole number.
	identifyVar = "AWS_METADATA_SERVICE_TIMEOUT"
	endpointVar = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
)

// On says whether the firmware names Amazon EC2 (root is "/"), or the standard variable names a
// metadata service.
func (EC2) On(root fs.FS) bool {
	if os.Getenv(endpointVar) != "" {
		return true
	}
	for _, name := range []string{"sys_vendor", "board_vendor", "bios_vendor"} {
		if dmi(root, name) == amazon {
			return true
		}
	}
	return false
}

// amazon is what the firmware of EC2's machines calls its vendor.
const amazon = "Amazon EC2"

// dmi is one of the firmware's strings, "" where there is none.
func dmi(root fs.FS, name string) string {
	text, err := fs.ReadFile(root, "sys/class/dmi/id/"+name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Identify asks the metadata service (IMDSv2 only) which instance this is. It asks twice and takes
// one second at most, unless AWS_METADATA_SERVICE_TIMEOUT allows a try longer, and asks nobody
// where the machine does not look like EC2: ErrNotThere.
func (e EC2) Identify(ctx context.Context, root fs.FS) (Identity, error) {
	if !e.On(root) {
		return Identity{}, ErrNotThere
	}
	try := identifyTry
	if s, err := strconv.Atoi(os.Getenv(identifyVar)); err == nil && s > 0 && s <= 60 {
		try = time.Duration(s) * time.Second
	}
	return retried(ctx, "instance", try, "a container needs a hop limit of 2", askOnce)
}

// short reads no more of an answer than metadata can be.
type short struct{ http.RoundTripper }

func (s short) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, mostMetadata), resp.Body}
	}
	return resp, err
}

// askOnce asks once. Its error is context.DeadlineExceeded where nothing answered in time.
func askOnce(ctx context.Context) (id Identity, err error) {
	// A client of its own: the SDK's gives up after its own second, whatever the context allows; no
	// proxy leads to link-local addresses.
	line := &http.Transport{}
	defer line.CloseIdleConnections()
	client := imds.New(imds.Options{
		HTTPClient: &http.Client{Transport: short{line}}, EnableFallback: aws.FalseTernary, Retryer: aws.NopRetryer{},
	})
	doc, err := client.GetInstanceIdentityDocument(ctx, nil)
	switch {
	case err == nil:
		return Identity{doc.InstanceID, doc.InstanceType, doc.Region, doc.AvailabilityZone, doc.ImageID}, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return id, ctx.Err()
	}
	return id, fmt.Errorf("instance metadata: %w", cause(err))
}

// Firmware knows a Nitro instance by its DMI strings: the product is the instance type, the board's
// asset tag the instance id.
func (EC2) Firmware(root fs.FS) Identity {
	var id Identity
	if dmi(root, "sys_vendor") != amazon {
		return id
	}
	id.InstanceType = dmi(root, "product_name")
	if tag := dmi(root, "board_asset_tag"); strings.HasPrefix(tag, "i-") {
		id.InstanceID = tag
	}
	if !strings.Contains(id.InstanceType, ".") { // "HVM domU" on Xen
		id.InstanceType = ""
	}
	return id
}

// Ordered asks the EC2 API for the volumes that are known by their ids.
func (EC2) Ordered(ctx context.Context, machine Identity, attached []Attached) ([]ProvisionedVolume, error) {
	var ids []string
	for _, a := range attached {
		if a.ID != "" {
			ids = append(ids, a.ID)
		}
	}
	return DescribeVolumes(ctx, machine.Region, ids)
}

// Left asks CloudWatch.
func (EC2) Left(ctx context.Context, machine Identity, volumes []string) (Balances, error) {
	return BurstBalances(ctx, machine.Region, machine.InstanceID, volumes)
}

// ProvisionedVolume is a volume as its cloud describes it: by its id, or by the device that it is on
// this machine.
type ProvisionedVolume struct {
	ID string `json:"id"`
	On string `json:"-"` // kernel name of the device, where it has no id
	// Caching is the host's, empty where the cloud has none or does not say.
	Caching Caching    `json:"caching,omitempty"`
	Spec    VolumeSpec `json:"spec"`
	State   string     `json:"state"`
	Device  string     `json:"device,omitempty"` // name in the attach call: /dev/sdf
	Multi   bool       `json:"multi_attach,omitempty"`
	// Snapshot is what it was made from, empty for none.
	Snapshot string      `json:"snapshot,omitempty"`
	Facts    VolumeFacts `json:"facts"`           // by the catalogue
	Doubt    string      `json:"doubt,omitempty"` // where the catalogue's rules do not allow what the API says
}

// ec2 is asked what volumes were ordered with.
var ec2 = service{
	name: "EC2 API", id: "EC2", host: "ec2", version: "2016-11-15", action: "DescribeVolumes", prefix: "ec2",
	instead: ", or declare the volumes in plimsoll.yaml",
}

// DescribeVolumes asks the EC2 API for volumes by their ids (vol-…), with the credentials, region
// and endpoint that the standard variables and files name; region, where not empty, comes after
// those. It takes APIBudget at most. The order is that of ids.
func DescribeVolumes(ctx context.Context, region string, ids []string) ([]ProvisionedVolume, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, APIBudget)
	defer cancel()
	api, err := ec2.open(ctx, region)
	if err != nil {
		return nil, err
	}
	form := url.Values{}
	for i, id := range ids {
		form.Set(fmt.Sprintf("VolumeId.%d", i+1), id)
	}
	var found []ProvisionedVolume
	for range 1 + len(ids) { // a page holds one volume at least
		var answer describeAnswer
		if err := api.ask(ctx, form, &answer); err != nil {
			return nil, err
		}
		for _, v := range answer.Volumes {
			found = append(found, v.provisioned())
		}
		if answer.Next == "" {
			break
		}
		form.Set("NextToken", answer.Next)
	}
	slices.SortFunc(found, func(a, b ProvisionedVolume) int {
		return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID))
	})
	return found, nil
}

// describeAnswer is DescribeVolumesResponse, volumeInfo its items, as the EC2 API reference spells
// them.
type describeAnswer struct {
	Volumes []volumeInfo `xml:"volumeSet>item"`
	Next    string       `xml:"nextToken"`
}

type volumeInfo struct {
	ID         string   `xml:"volumeId"`
	Type       string   `xml:"volumeType"`
	SizeGiB    uint32   `xml:"size"`
	IOPS       uint32   `xml:"iops"`
	MiBs       uint32   `xml:"throughput"`
	State      string   `xml:"status"`
	Multi      bool     `xml:"multiAttachEnabled"`
	Snapshot   string   `xml:"snapshotId"`
	Attachment []string `xml:"attachmentSet>item>device"`
}

func (v volumeInfo) provisioned() ProvisionedVolume {
	p := ProvisionedVolume{
		ID: v.ID, State: v.State, Multi: v.Multi, Snapshot: v.Snapshot,
		Spec: VolumeSpec{
			Type: v.Type,
			Size: units.Bytes(v.SizeGiB) * units.GiB,
			IOPS: units.IOPS(v.IOPS),
			Rate: units.Rate(v.MiBs) * units.MiBPerSec,
		},
	}
	if len(v.Attachment) > 0 {
		p.Device = v.Attachment[0]
	}
	ask := p.Spec
	if t, ok := TypeNamed(ask.Type); ok && t.IOPS.Max == 0 {
		ask.IOPS, ask.Rate = 0, 0 // the API states the baseline of gp2, which cannot be ordered
	}
	p.judge(ask)
	return p
}

// judge takes what the catalogue knows of an order, and its doubt where its rules do not allow it.
func (p *ProvisionedVolume) judge(order VolumeSpec) {
	facts, err := VolumeLimits(order)
	if p.Facts = facts; err != nil {
		p.Doubt = err.Error()
	}
}
