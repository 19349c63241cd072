package cloud

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// Layouts follow the notes in docs/ceiling.md ("EBS statistics"), which compare amazon-ec2-utils,
// nvme-cli and the EBS CSI driver.
const (
	pageSize        = 4096
	ebsMagic        = 0x3C23B510
	localMagic      = 0xEC2C0D7E
	amazonVendor    = 0x1D0F
	readHistogram   = 512
	writeHistogram  = 2056
	histogramBins   = 64
	histogramStride = 24
)

// EBSStats is the statistics page (log 0xD0) of an EBS volume or a local EC2 drive. Counters run
// since the volume was attached; only differences mean something.
type EBSStats struct {
	// Local is true for an instance store drive, whose page has no histograms that are agreed on.
	Local      bool          `json:"local,omitempty"`
	ReadOps    uint64        `json:"read_ops"`
	WriteOps   uint64        `json:"write_ops"`
	ReadBytes  units.Bytes   `json:"read_bytes"`
	WriteBytes units.Bytes   `json:"write_bytes"`
	ReadTime   time.Duration `json:"read_time"` // summed over all completed reads
	WriteTime  time.Duration `json:"write_time"`
	// Time during which demand was above what the volume, or the instance for all its volumes,
	// allows. On a local drive the instance pair holds the drive's own limits, and the volume pair
	// is zero.
	VolumeIOPSExceeded   time.Duration `json:"volume_iops_exceeded"`
	VolumeRateExceeded   time.Duration `json:"volume_rate_exceeded"`
	InstanceIOPSExceeded time.Duration `json:"instance_iops_exceeded"`
	InstanceRateExceeded time.Duration `json:"instance_rate_exceeded"`
	Queue                uint64        `json:"queue"` // I/Os waiting at the moment, no counter
	ReadHist             []EBSBin      `json:"read_hist,omitempty"`
	WriteHist            []EBSBin      `json:"write_hist,omitempty"`
}

// EBSBin counts completed I/Os whose latency lies from Lower to Upper. The device chooses the
// bounds.
type EBSBin struct {
	Lower time.Duration `json:"lower"`
	Upper time.Duration `json:"upper"`
	Count uint32        `json:"count"`
}

// ErrNoStats says that a device has no such page: it is neither an EBS volume nor an EC2 drive.
var ErrNoStats = errors.New("no EBS statistics page")

// ParseEBSStats reads the page.
func ParseEBSStats(page []byte) (s EBSStats, err error) {
	if len(page) < pageSize {
		return s, fmt.Errorf("EBS statistics page of %d bytes: want %d", len(page), pageSize)
	}
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(page[at:]) }
	magic := binary.LittleEndian.Uint32(page)
	s = EBSStats{
		Local:   magic == localMagic,
		ReadOps: u64(8), WriteOps: u64(16), ReadBytes: units.Bytes(u64(24)), WriteBytes: units.Bytes(u64(32)),
		Queue: u64(88),
	}
	for i, into := range s.times() {
		*into = microseconds(u64(40 + 8*i))
	}
	switch magic {
	case ebsMagic:
		s.ReadHist, s.WriteHist = histogram(page[readHistogram:]), histogram(page[writeHistogram:])
	case localMagic:
		s.VolumeIOPSExceeded, s.VolumeRateExceeded = 0, 0 // do not apply; programs disagree on all behind byte 95
	default:
		return s, fmt.Errorf("%w: it begins with %#08x, want %#08x or %#08x", ErrNoStats, magic, ebsMagic,
			localMagic)
	}
	return s, nil
}

// times are the counters of time, in the order in which the page has them.
func (s *EBSStats) times() [6]*time.Duration {
	return [...]*time.Duration{
		&s.ReadTime, &s.WriteTime, &s.VolumeIOPSExceeded, &s.VolumeRateExceeded, &s.InstanceIOPSExceeded,
		&s.InstanceRateExceeded,
	}
}

// histogram reads the number of bins and the bins. The count is 32 bits wide, the four bytes behind
// it are reserved.
func histogram(page []byte) []EBSBin {
	n := min(binary.LittleEndian.Uint64(page), histogramBins)
	var bins []EBSBin
	for i := range n {
		slot := page[8+i*histogramStride:]
		bins = append(bins, EBSBin{
			microseconds(binary.LittleEndian.Uint64(slot)),
			microseconds(binary.LittleEndian.Uint64(slot[8:])),
			binary.LittleEndian.Uint32(slot[16:]),
		})
	}
	return bins
}

// microseconds saturates: the last bin of a histogram may be without end.
func microseconds(v uint64) time.Duration {
	const most = uint64(1<<63-1) / uint64(time.Microsecond)
	return time.Duration(min(v, most)) * time.Microsecond
}

// Minus is what happened between an earlier page and s. Counters that went backwards (the volume
// was attached again) count from zero. Queue stays that of s.
func (s EBSStats) Minus(before EBSStats) EBSStats {
	d := s
	if s.ReadOps < before.ReadOps || s.WriteOps < before.WriteOps || s.Local != before.Local {
		return d
	}
	d.ReadOps, d.WriteOps = s.ReadOps-before.ReadOps, s.WriteOps-before.WriteOps
	d.ReadBytes, d.WriteBytes = since(s.ReadBytes, before.ReadBytes), since(s.WriteBytes, before.WriteBytes)
	was := before.times()
	for i, now := range d.times() {
		*now = since(*now, *was[i])
	}
	d.ReadHist, d.WriteHist = minusBins(s.ReadHist, before.ReadHist), minusBins(s.WriteHist, before.WriteHist)
	return d
}

func since[T ~uint64 | ~int64](now, before T) T {
	if now < before {
		return now
	}
	return now - before
}

// minusBins subtracts modulo 2^32, as wide as a count is, where the bounds are the same.
func minusBins(now, before []EBSBin) []EBSBin {
	var bins []EBSBin
	for i, b := range now {
		if i < len(before) && before[i].Lower == b.Lower && before[i].Upper == b.Upper {
			b.Count -= before[i].Count
		}
		bins = append(bins, b)
	}
	return bins
}

// NVMeIdentity is what Identify Controller says of a device.
type NVMeIdentity struct {
	Vendor uint16
	Serial string
	Model  string
	Name   string // what an EBS volume was attached as: sdf, without /dev/
}

// IsEBS and IsLocal tell the two kinds of Amazon's drives.
func (n NVMeIdentity) IsEBS() bool { return n.Vendor == amazonVendor && n.Model == EBSModel }

// IsLocal says that it is an instance store drive.
func (n NVMeIdentity) IsLocal() bool {
	return n.Vendor == amazonVendor && n.Model == InstanceStoreModel
}

// ParseIdentify reads the 4096 bytes of Identify Controller.
func ParseIdentify(page []byte) (NVMeIdentity, error) {
	if len(page) < pageSize {
		return NVMeIdentity{}, fmt.Errorf("NVMe identify page of %d bytes: want %d", len(page), pageSize)
	}
	n := NVMeIdentity{
		Vendor: binary.LittleEndian.Uint16(page), Serial: ascii(page[4:24]), Model: ascii(page[24:64]),
	}
	if n.IsEBS() {
		name, _, _ := strings.Cut(ascii(page[3072:3104]), " ")
		n.Name = strings.TrimPrefix(name, "/dev/")
	}
	return n, nil
}

// ascii cuts at NUL, trims spaces and replaces what does not print.
func ascii(field []byte) string {
	field, _, _ = bytes.Cut(field, []byte{0})
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, string(field)))
}
