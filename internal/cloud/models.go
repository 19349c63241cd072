package cloud

import "slices"

// Models by which volumes are known, as NVMe or SCSI reports them, blanks at the ends cut off
// (Amazon's NVMe guide, Google's and Azure's disk guides).
const (
	EBSModel           = "Amazon Elastic Block Store"
	InstanceStoreModel = "Amazon EC2 NVMe Instance Storage"
)

var otherNetworkModels = []string{"nvme_card-pd", "PersistentDisk", "MSFT NVMe Accelerator v1.0"}

// IsEBS says whether a drive of this model is an EBS volume.
func IsEBS(model string) bool { return model == EBSModel }

// IsInstanceStore says whether a drive of this model is a local drive of an EC2 instance.
func IsInstanceStore(model string) bool { return model == InstanceStoreModel }

// IsNetwork says whether a drive of this model is a volume that a cloud attaches over its network.
func IsNetwork(model string) bool { return IsEBS(model) || slices.Contains(otherNetworkModels, model) }
