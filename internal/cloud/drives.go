package cloud

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/units"
)

// DriveFacts are a drive's data sheet. IOPS are for 4 KiB random I/O (writes at steady state),
// rates in MB/s.
type DriveFacts struct {
	Model        string        `json:"model"`
	Capacity     string        `json:"capacity"` // of the drive that the figures are for, or "series" for a series' maxima
	Size         units.Bytes   `json:"size,omitempty"`
	Interface    string        `json:"interface,omitempty"`
	Limits       Limits        `json:"limits"`
	ReadLatency  time.Duration `json:"read_latency,omitempty"` // 4 KiB at depth 1, typical
	WriteLatency time.Duration `json:"write_latency,omitempty"`
	Note         string        `json:"note,omitempty"`
	Notes        []string      `json:"notes,omitempty"`
	Provenance

	pattern *regexp.Regexp
}

var drives = sync.OnceValue(func() []DriveFacts {
	var all []DriveFacts
	for r := range newSheet(catalogue.ReadFile("catalogue/drives.csv")).rows() {
		us := func(column string) time.Duration { return time.Duration(r.num(column) * float64(time.Microsecond)) }
		all = append(all, DriveFacts{
			Model: r.text("model"), Capacity: r.text("capacity"), Size: units.Bytes(r.num("size_gb") * 1e9),
			Interface:   r.text("interface"),
			Limits:      limits(r, "", 1).OfDrive(),
			ReadLatency: us("read_us"), WriteLatency: us("write_us"), Note: r.text("note"),
			Provenance: Provenance{r.text("source"), r.text("as_of"), r.trust()},
			pattern:    regexp.MustCompile("(?i)" + r.text("pattern")),
		})
	}
	return append(all, googleDrives()...)
})

// DriveLimits returns the data sheet of a drive by the model name that the kernel shows (INTEL
// SSDPE2KX040T8), or by its trade name (P4510), and its size: of several capacities the nearest.
// Size 0 takes the first listed. False when the catalogue does not know the model.
func DriveLimits(model string, size units.Bytes) (DriveFacts, bool) {
	best, found, distance := DriveFacts{}, false, math.Inf(1)
	for _, d := range drives() {
		if !d.matches(model) {
			continue
		}
		far := math.MaxFloat64 / 2
		if d.Size > 0 && size > 0 {
			far = math.Abs(math.Log(float64(d.Size) / float64(size)))
		}
		if !found || far < distance {
			best, found, distance = d, true, far
		}
	}
	if found && best.Size > 0 && size > 0 && distance > math.Log(1.1) {
		best.Notes = append(best.Notes, "figures are for "+best.Capacity+", the nearest capacity known")
	}
	return best, found
}

// matches takes the kernel's name by its pattern, and a trade name by its distinctive word: P4510,
// PM1733.
func (d DriveFacts) matches(model string) bool {
	model = strings.TrimSpace(model)
	if model == "" || len(model) > 100 {
		return false
	}
	if d.pattern.MatchString(model) {
		return true
	}
	for _, word := range strings.FieldsFunc(model, func(r rune) bool { return r == ' ' || r == '_' || r == '-' }) {
		if !strings.ContainsAny(word, "0123456789") || len(word) < 3 {
			continue
		}
		for _, own := range strings.FieldsFunc(d.Model, func(r rune) bool { return r == ' ' || r == '-' }) {
			if strings.EqualFold(word, own) {
				return true
			}
		}
	}
	return false
}

// Drives lists the data sheets whose model matches or contains text, in the catalogue's order.
func Drives(text string) []DriveFacts {
	var some []DriveFacts
	for _, d := range drives() {
		if strings.Contains(strings.ToLower(d.Model), strings.ToLower(text)) || d.matches(text) {
			some = append(some, d)
		}
	}
	return some
}

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
