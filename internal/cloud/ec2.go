package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"plimsoll/internal/units"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Identity is what the instance's metadata service tells.
type Identity struct {
	InstanceID   string `json:"instance_id"`
	InstanceType string `json:"instance_type"`
	Region       string `json:"region"`
	Zone         string `json:"zone"`
	Image        string `json:"image,omitempty"`
}

// ErrNotEC2 says that this machine does not look like an EC2 instance, so its metadata service was not asked.
var ErrNotEC2 = errors.New("not an EC2 instance")

const (
	identifyBudget = 200 * time.Millisecond // the service answers in a few; elsewhere its address swallows packets
	describeBudget = 5 * time.Second
	endpointVar    = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
)

// OnEC2 says whether the firmware names Amazon EC2 (root is "/"), or the standard variable names a metadata service.
func OnEC2(root fs.FS) bool {
	if os.Getenv(endpointVar) != "" {
		return true
	}
	for _, name := range []string{"sys_vendor", "board_vendor", "bios_vendor"} {
		if text, err := fs.ReadFile(root, "sys/class/dmi/id/"+name); err == nil && strings.TrimSpace(string(text)) == "Amazon EC2" {
			return true
		}
	}
	return false
}

// Identify asks the metadata service (IMDSv2 only) which instance this is. It takes 200 ms at most, and asks nobody where
// the machine does not look like EC2: ErrNotEC2.
func Identify(ctx context.Context, root fs.FS) (Identity, error) {
	if !OnEC2(root) {
		return Identity{}, ErrNotEC2
	}
	ctx, cancel := context.WithTimeout(ctx, identifyBudget)
	defer cancel()
	client := imds.New(imds.Options{EnableFallback: aws.FalseTernary, Retryer: aws.NopRetryer{}})
	doc, err := client.GetInstanceIdentityDocument(ctx, nil)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return Identity{}, fmt.Errorf("instance metadata: no answer in %v; a container needs a hop limit of 2", identifyBudget)
		}
		return Identity{}, fmt.Errorf("instance metadata: %w", cause(err))
	}
	return Identity{doc.InstanceID, doc.InstanceType, doc.Region, doc.AvailabilityZone, doc.ImageID}, nil
}

// ProvisionedVolume is an EBS volume as the EC2 API describes it.
type ProvisionedVolume struct {
	ID     string      `json:"id"`
	Spec   VolumeSpec  `json:"spec"`
	State  string      `json:"state"`
	Device string      `json:"device,omitempty"` // name in the attach call: /dev/sdf
	Multi  bool        `json:"multi_attach,omitempty"`
	Facts  VolumeFacts `json:"facts"`           // by the catalogue
	Doubt  string      `json:"doubt,omitempty"` // where the catalogue's rules do not allow what the API says
}

// DescribeVolumes asks the EC2 API for volumes by their ids (vol-…), with the credentials, region and endpoint that the
// standard variables and files name; region, where not empty, comes after those. It takes 5 s at most. The
// order is that of ids; a volume that the API does not list is left out.
func DescribeVolumes(ctx context.Context, region string, ids []string) ([]ProvisionedVolume, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, describeBudget)
	defer cancel()
	cfg, err := config.LoadDefaultConfig(ctx, config.WithDefaultRegion(region))
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		return nil, errors.New("EC2 API: the region is not known: set AWS_REGION")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return nil, errors.New("EC2 API: no credentials: give the instance a role with ec2:DescribeVolumes, or declare the volumes in plimsoll.yaml")
	}
	var found []ProvisionedVolume
	pages := ec2.NewDescribeVolumesPaginator(ec2.NewFromConfig(cfg), &ec2.DescribeVolumesInput{VolumeIds: ids})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("EC2 API: %w", cause(err))
		}
		for _, v := range out.Volumes {
			found = append(found, provisioned(v))
		}
	}
	slices.SortFunc(found, func(a, b ProvisionedVolume) int {
		return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID))
	})
	return found, nil
}

func provisioned(v types.Volume) ProvisionedVolume {
	p := ProvisionedVolume{
		ID: aws.ToString(v.VolumeId), State: string(v.State), Multi: aws.ToBool(v.MultiAttachEnabled),
		Spec: VolumeSpec{
			Type: string(v.VolumeType), Size: units.Bytes(max(aws.ToInt32(v.Size), 0)) * units.GiB,
			IOPS: units.IOPS(aws.ToInt32(v.Iops)), Rate: units.Rate(aws.ToInt32(v.Throughput)) * units.MiBPerSec,
		},
	}
	for _, a := range v.Attachments {
		p.Device = aws.ToString(a.Device)
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

// cause shortens the SDK's chain of "operation error …" to what is wrong.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
