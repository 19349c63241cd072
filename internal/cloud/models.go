package cloud

import (
	"slices"
	"strings"
)

// Models by which volumes are known, as NVMe or SCSI reports them, blanks at the ends cut off
// (Amazon's NVMe guide, Google's and Azure's disk guides).
const (
	EBSModel           = "Amazon Elastic Block Store"
	InstanceStoreModel = "Amazon EC2 NVMe Instance Storage"
	AzureRemoteModel   = "MSFT NVMe Accelerator v1.0"
)

// Remote disks of Azure on SCSI are a "Virtual Disk" like any of Hyper-V, and so is its temp disk:
// only udev's links of Azure tell them apart.
var otherNetworkModels = []string{"nvme_card-pd", "PersistentDisk", AzureRemoteModel}

// otherLocalModels are those of drives of the machine itself; "nvme_card0" and so on of Google's.
var otherLocalModels = []string{"Microsoft NVMe Direct Disk", "Microsoft NVMe Direct Disk v2", "nvme_card"}

// IsEBS says whether a drive of this model is an EBS volume.
func IsEBS(model string) bool { return model == EBSModel }

// IsInstanceStore says whether a drive of this model is a local drive of an EC2 instance.
func IsInstanceStore(model string) bool { return model == InstanceStoreModel }

// IsLocal says whether a drive of this model is a local drive of a cloud's machine.
func IsLocal(model string) bool {
	numbered := strings.HasPrefix(model, "nvme_card") && strings.Trim(model[len("nvme_card"):], "0123456789") == ""
	return IsInstanceStore(model) || numbered || slices.Contains(otherLocalModels, model)
}

// IsNetwork says whether a drive of this model is a volume that a cloud attaches over its network.
func IsNetwork(model string) bool { return IsEBS(model) || slices.Contains(otherNetworkModels, model) }
