package cloud

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/units"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
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
// order is that of ids.
//
// Only credentials and signature are the SDK's. Its EC2 client would add 36 MB to the binary (measured), because html/template keeps the
// linker from dropping methods (golang/go#72895), for one call whose protocol is a signed form and an XML answer.
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
	if !regionName.MatchString(cfg.Region) {
		return nil, fmt.Errorf("EC2 API: the region is not known (%.40q): set AWS_REGION", cfg.Region)
	}
	keys, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, errors.New("EC2 API: no credentials: give the instance a role with ec2:DescribeVolumes, or declare the volumes in plimsoll.yaml")
	}
	form := url.Values{"Action": {"DescribeVolumes"}, "Version": {"2016-11-15"}}
	for i, id := range ids {
		form.Set(fmt.Sprintf("VolumeId.%d", i+1), id)
	}
	var found []ProvisionedVolume
	for range 1 + len(ids) { // a page holds one volume at least
		var answer describeAnswer
		if err := query(ctx, cfg, keys, form, &answer); err != nil {
			return nil, fmt.Errorf("EC2 API: %w", err)
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

var regionName = regexp.MustCompile(`^[a-z]{2}[a-z0-9-]{2,30}$`)

// describeAnswer is DescribeVolumesResponse, volumeInfo its items, as the EC2 API reference spells them.
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
	Attachment []string `xml:"attachmentSet>item>device"`
}

// query posts one signed form and reads the XML answer or the API's own error.
func query(ctx context.Context, cfg aws.Config, keys aws.Credentials, form url.Values, answer any) error {
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_EC2"), aws.ToString(cfg.BaseEndpoint), "https://ec2."+cfg.Region+".amazonaws.com"+domain(cfg.Region))
	body := form.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(endpoint, "/")+"/", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(body)))
	if err := v4.NewSigner().SignHTTP(ctx, keys, req, hash, "ec2", cfg.Region, time.Now()); err != nil {
		return err
	}
	resp, err := cfg.HTTPClient.Do(req)
	if err != nil {
		return cause(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		var refused struct {
			Code    string `xml:"Errors>Error>Code"`
			Message string `xml:"Errors>Error>Message"`
		}
		_ = xml.Unmarshal(text, &refused) // a proxy's answer is no XML: then the status must do
		return fmt.Errorf("%s: %s", cmp.Or(refused.Code, "HTTP"), cmp.Or(refused.Message, resp.Status))
	}
	if err := xml.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("answer is no XML: %w", err)
	}
	return nil
}

// domain is what China's endpoints add.
func domain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return ".cn"
	}
	return ""
}

func (v volumeInfo) provisioned() ProvisionedVolume {
	p := ProvisionedVolume{
		ID: v.ID, State: v.State, Multi: v.Multi,
		Spec: VolumeSpec{
			Type: v.Type, Size: units.Bytes(v.SizeGiB) * units.GiB, IOPS: units.IOPS(v.IOPS), Rate: units.Rate(v.MiBs) * units.MiBPerSec,
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
