package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// ErrNotEC2 says that this machine does not look like an EC2 instance, so its metadata service was
// not asked.
var ErrNotEC2 = errors.New("not an EC2 instance")

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

// OnEC2 says whether the firmware names Amazon EC2 (root is "/"), or the standard variable names a
// metadata service.
func OnEC2(root fs.FS) bool {
	if os.Getenv(endpointVar) != "" {
		return true
	}
	for _, name := range []string{"sys_vendor", "board_vendor", "bios_vendor"} {
		if text, err := fs.ReadFile(root, "sys/class/dmi/id/"+name); err == nil &&
			strings.TrimSpace(string(text)) == "Amazon EC2" {
			return true
		}
	}
	return false
}

// Identify asks the metadata service (IMDSv2 only) which instance this is. It asks twice and takes
// one second at most, unless AWS_METADATA_SERVICE_TIMEOUT allows a try longer, and asks nobody
// where the machine does not look like EC2: ErrNotEC2.
func Identify(ctx context.Context, root fs.FS) (Identity, error) {
	if !OnEC2(root) {
		return Identity{}, ErrNotEC2
	}
	try := identifyTry
	if s, err := strconv.Atoi(os.Getenv(identifyVar)); err == nil && s > 0 && s <= 60 {
		try = time.Duration(s) * time.Second
	}
	for range identifyTries {
		id, err := askOnce(ctx, try)
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return id, err
		}
	}
	const hint = "a container needs a hop limit of 2"
	return Identity{}, fmt.Errorf("instance metadata: no answer in %v; %s", identifyTries*try, hint)
}

// askOnce asks once. Its error is context.DeadlineExceeded where nothing answered in time.
func askOnce(ctx context.Context, limit time.Duration) (Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// A client of its own: the SDK's gives up after its own second, whatever the context allows; no
	// proxy leads to link-local addresses.
	line := &http.Transport{}
	defer line.CloseIdleConnections()
	client := imds.New(imds.Options{
		HTTPClient: &http.Client{Transport: line}, EnableFallback: aws.FalseTernary, Retryer: aws.NopRetryer{},
	})
	doc, err := client.GetInstanceIdentityDocument(ctx, nil)
	switch {
	case err == nil:
		return Identity{doc.InstanceID, doc.InstanceType, doc.Region, doc.AvailabilityZone, doc.ImageID}, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Identity{}, ctx.Err()
	}
	return Identity{}, fmt.Errorf("instance metadata: %w", cause(err))
}

// ProvisionedVolume is an EBS volume as the EC2 API describes it.
type ProvisionedVolume struct {
	ID     string     `json:"id"`
	Spec   VolumeSpec `json:"spec"`
	State  string     `json:"state"`
	Device string     `json:"device,omitempty"` // name in the attach call: /dev/sdf
	Multi  bool       `json:"multi_attach,omitempty"`
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
	if !orders(ask.Type) {
		ask.IOPS, ask.Rate = 0, 0 // the API states the baseline of gp2, which cannot be ordered
	}
	facts, err := VolumeLimits(ask)
	p.Facts = facts
	if err != nil {
		p.Doubt = err.Error()
	}
	return p
}

// orders says whether IOPS of a type are provisioned.
func orders(typ string) bool {
	for _, t := range VolumeTypes() {
		if t.Type == typ {
			return t.IOPS.Max > 0
		}
	}
	return true
}
