package cloud

import (
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

	"plimsoll/internal/units"
)

// Azure asks Microsoft's cloud. What its machines are limited by is in docs/clouds.md.
type Azure struct {
	nobody
	// Endpoint of the metadata service, that of every Azure machine where it is empty.
	Endpoint string
}

// azureTag is the chassis asset tag of every Azure machine, which no other Hyper-V has.
const azureTag = "7783-7084-3265-9085-8269-3286-77"

// On goes by the chassis' asset tag.
func (Azure) On(root fs.FS) bool { return dmi(root, "chassis_asset_tag") == azureTag }

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
	Caching string `json:"caching"`
	GiB     string `json:"diskSizeGB"`
	IOPS    string `json:"opsPerSecondThrottle"`   // of Ultra disks only
	Rate    string `json:"bytesPerSecondThrottle"` //
	Managed struct {
		Type string `json:"storageAccountType"`
	} `json:"managedDisk"`
}

// Identify asks the instance metadata service for the size. Without proxy and credentials.
func (a Azure) Identify(ctx context.Context, root fs.FS) (id Identity, err error) {
	if !a.On(root) {
		return id, ErrNotThere
	}
	at, err := a.ask(ctx)
	if err != nil {
		return id, err
	}
	c := at.Compute
	return Identity{InstanceID: c.ID, InstanceType: c.Size, Region: c.Location, Zone: c.Zone}, nil
}

func (a Azure) ask(ctx context.Context) (at azureInstance, err error) {
	m := linkLocal{
		cloud: "Azure", header: http.Header{"Metadata": {"true"}},
		hint: "a container may be kept from it: name the size with --instance",
	}
	url := cmp.Or(a.Endpoint, "http://169.254.169.254") + "/metadata/instance?api-version=2021-05-01"
	body, err := m.get(ctx, url)
	if err != nil {
		return at, err
	}
	return parseAzureInstance(body)
}

func parseAzureInstance(body []byte) (at azureInstance, err error) {
	if err := json.Unmarshal(body, &at); err != nil {
		return at, fmt.Errorf("Azure metadata: the answer is not what its version 2021-05-01 has: %w", err)
	}
	if at.Compute.Size == "" {
		return at, errors.New("Azure metadata: the answer has no vmSize")
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
	typ := builtin()["azure"].terms.Accounts[d.Managed.Type]
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

// AzureNVMe ends the name of a size whose limits depend on how its disks are attached; :scsi is the other end.
const AzureNVMe = ":nvme"
