package lab

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/lab/ebs"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/yamlfile"
)

// Spec is a lab.yaml: the volumes of a machine, what limits them, and how its arrays are made. Its keys
// are the names of fields in lower case, where no tag says another. Figures are those of the real
// thing; Scale shrinks rates and credits to what an emulated machine can carry.
type Spec struct {
	Name        string `yaml:"-"`
	Description string
	Scale       float64 // 0 means 1; latencies and sizes are not scaled
	// System is what the guest runs: SystemSmall, the default, or SystemDebian.
	System string
	// Programs are more than a small guest holds: postgresql, copied from the host.
	Programs words
	// Instance limits all volumes together.
	Instance *InstanceSpec
	Volumes  []VolumeSpec
	// Arrays say which volumes will make an array, for the guest's plimsoll.yaml; Setup makes it.
	Arrays []ArraySpec
	// Setup are bash commands that make the arrays, run without limits. For volumes named data,
	// "${data[@]}" are their devices and ${data[0]} the first.
	Setup []string
	// Then are bash commands run with the limits in force.
	Then []string
	// Shows is what a broken preset shows, in one line.
	Shows string

	// Mounts are where a declared layout's filesystems will be.
	Mounts map[topology.Role]string `yaml:"-"`

	layouts []yamlfile.MapSlice // of Arrays, where a plimsoll.yaml declared them: what it said but for the volumes
}

// ArraySpec names an array and its volumes.
type ArraySpec struct {
	Name    string
	Role    words
	Volumes words
}

// words is a list in YAML, or one word.
type words []string

func (w *words) UnmarshalYAML(decode func(any) error) error {
	var one string
	if decode(&one) == nil {
		*w = words{one}
		return nil
	}
	return decode((*[]string)(w))
}

// InstanceSpec is what an instance lets through to its volumes.
type InstanceSpec struct {
	IOPS       units.IOPS
	Throughput units.Rate
	Burst      *BurstSpec
}

// BurstSpec is what is let through while credits last.
type BurstSpec struct {
	IOPS       units.IOPS
	Throughput units.Rate
	Credits    float64     // I/Os
	Bytes      units.Bytes `yaml:"byte_credits"` // for Throughput
}

// VolumeSpec is a number of equal volumes.
type VolumeSpec struct {
	Name  string
	Count int         // 0 means 1
	Like  string      // ebs (the default) or nvme, a local drive
	Size  units.Bytes // 0 means 1 GiB

	IOPS       units.IOPS
	Throughput units.Rate
	// One direction's, besides those of both.
	ReadIOPS        units.IOPS `yaml:"read_iops"`
	WriteIOPS       units.IOPS `yaml:"write_iops"`
	ReadThroughput  units.Rate `yaml:"read_throughput"`
	WriteThroughput units.Rate `yaml:"write_throughput"`

	Burst   *BurstSpec
	Latency LatencySpec
	// Unwritten is what a read of never-written blocks takes; 0 treats them as written ones.
	Unwritten time.Duration
	// Counts is how many bytes of an EBS volume's I/O count as one, and up to which sequential ones
	// are merged first; 256 KiB by default.
	Counts     units.Bytes
	FirstTouch time.Duration `yaml:"first_touch"`
	// SoldAs names the volumes whose limits these are declared to have: those of a slow one, as it
	// was bought.
	SoldAs string `yaml:"sold_as"`
	// Cache is none, the default, or volatile: a cache that a power cut empties; the guest
	// sees which of them it is.
	Cache string
}

// LatencySpec is how long a volume takes over a request, without queueing, as a program in the
// guest sees it.
type LatencySpec struct {
	Read   time.Duration
	Write  time.Duration
	Flush  time.Duration
	Jitter float64 // sigma of the lognormal factor
}

// What a guest runs.
const (
	// SystemSmall is the host's kernel and programs without an init system, started in well under a
	// second.
	SystemSmall = "small"
	// SystemDebian is a whole Debian with systemd, which boots from its own disk, kernel and
	// initramfs.
	SystemDebian = "debian"
)

//go:embed presets/*.yaml
var presets embed.FS

// Presets returns the built-in specs, by name: whole ones first, then broken ones.
func Presets() ([]*Spec, error) {
	entries, err := presets.ReadDir("presets")
	if err != nil {
		return nil, err
	}
	var whole, broken []*Spec
	for _, e := range entries {
		s, err := Preset(strings.TrimSuffix(e.Name(), ".yaml"))
		if err != nil {
			return nil, err
		}
		if s.Shows == "" {
			whole = append(whole, s)
		} else {
			broken = append(broken, s)
		}
	}
	return append(whole, broken...), nil
}

// ErrNoPreset is the error of Preset for an unknown name.
var ErrNoPreset = errors.New("no such preset")

// Preset returns a built-in spec.
func Preset(name string) (*Spec, error) {
	text, err := presets.ReadFile(path.Join("presets", path.Base(name)+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, ErrNoPreset)
	}
	return ParseSpec(name, text)
}

// ParseSpec reads a lab.yaml; name is for messages.
func ParseSpec(name string, text []byte) (*Spec, error) {
	s := &Spec{}
	if err := yamlfile.Decode(text, s); err != nil {
		return nil, yamlfile.Wrong(name, text, err)
	}
	s.Name = name
	where, err := s.check()
	if err == nil {
		return s, nil
	}
	file, broken := yamlfile.Parse(text)
	if broken != nil {
		return nil, yamlfile.Wrong(name, text, broken)
	}
	return nil, yamlfile.Wrong(name, text, yamlfile.At(yamlfile.Find(file, where), err))
}

var volumeName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,11}$`)

// check completes the spec; of an error it returns the path too.
func (s *Spec) check() (where string, err error) {
	s.Scale = cmp.Or(s.Scale, 1)
	if s.Scale <= 0 || s.Scale > 1 {
		return "$.scale", fmt.Errorf("scale %g: want more than 0 and at most 1", s.Scale)
	}
	s.System = cmp.Or(s.System, SystemSmall)
	if s.System != SystemSmall && s.System != SystemDebian {
		return "$.system", fmt.Errorf("system %q: want %s or %s", s.System, SystemSmall, SystemDebian)
	}
	for _, name := range s.Programs {
		if !slices.Contains(programSets, name) || s.System != SystemSmall {
			return "$.programs", fmt.Errorf("programs %q: want %s, and system %s", name,
				strings.Join(programSets, ", "), SystemSmall)
		}
	}
	if s.Instance != nil {
		if err := s.Instance.Burst.check(); err != nil {
			return "$.instance.burst", fmt.Errorf("instance: %w", err)
		}
	}
	count, seen := 0, map[string]bool{"": true}
	for i := range s.Volumes {
		v := &s.Volumes[i]
		v.Count, v.Size = cmp.Or(v.Count, 1), cmp.Or(v.Size, units.GiB)
		v.Like, v.Cache = cmp.Or(v.Like, "ebs"), cmp.Or(v.Cache, "none")
		if v.Like == "ebs" {
			v.Counts = cmp.Or(v.Counts, ebsIO)
		}
		at := fmt.Sprintf("$.volumes[%d]", i)
		if err := v.Burst.check(); err != nil {
			return at + ".burst", fmt.Errorf("volume %s: %w", v.Name, err)
		}
		switch {
		case !volumeName.MatchString(v.Name) || seen[v.Name]:
			return at + ".name", fmt.Errorf(
				"volumes[%d]: name %q: want a name of its own of lower-case letters, digits and _, such as data", i, v.Name,
			)
		case v.Count < 0:
			return at + ".count", fmt.Errorf("volume %s: count %d: want 1 or more", v.Name, v.Count)
		case v.Like != "ebs" && v.Like != "nvme":
			return at + ".like", fmt.Errorf("volume %s: like %q: want ebs or nvme", v.Name, v.Like)
		case v.Cache != "none" && v.Cache != "volatile":
			return at + ".cache", fmt.Errorf("volume %s: cache %q: want none or volatile", v.Name, v.Cache)
		case v.Size%(4*units.KiB) != 0 || v.Size > units.TiB:
			return at + ".size", fmt.Errorf("volume %s: size %s: want a multiple of 4 KiB, at most 1 TiB", v.Name, v.Size)
		case min(v.IOPS, v.ReadIOPS, v.WriteIOPS) < 0 || min(v.Throughput, v.ReadThroughput, v.WriteThroughput) < 0 ||
			v.Latency.Jitter < 0 ||
			min(v.Latency.Read, v.Latency.Write, v.Latency.Flush, v.Unwritten, v.FirstTouch) < 0:
			return at, fmt.Errorf("volume %s: a limit or latency is negative: want 0 or more", v.Name)
		}
		seen[v.Name] = true
		count += v.Count
	}
	most := rootPorts
	if s.System == SystemDebian {
		most-- // its own disk
	}
	if count == 0 || count > most {
		return "$.volumes", fmt.Errorf("%d volumes: want 1 to %d", count, most)
	}
	for i, v := range s.Volumes {
		if !seen[v.SoldAs] {
			return fmt.Sprintf("$.volumes[%d].sold_as", i),
				fmt.Errorf("volume %s: sold_as %q: no volumes have this name", v.Name, v.SoldAs)
		}
	}
	for i, a := range s.Arrays {
		for _, name := range a.Volumes {
			if !seen[name] || name == "" {
				return fmt.Sprintf("$.arrays[%d].volumes", i), fmt.Errorf("arrays[%d]: no volumes are named %q", i, name)
			}
		}
	}
	return "", nil
}

// check refuses a rate of a burst that would never be reached for want of credits.
func (b *BurstSpec) check() error {
	switch {
	case b == nil:
	case b.IOPS > 0 && b.Credits <= 0:
		return errors.New("burst: iops goes with credits, in I/Os, such as 1e6")
	case b.Throughput > 0 && b.Bytes == 0:
		return errors.New("burst: throughput goes with byte_credits, such as 10GiB")
	}
	return nil
}

// group returns the volumes of a name.
func (s *Spec) group(name string) *VolumeSpec {
	for i := range s.Volumes {
		if s.Volumes[i].Name == name {
			return &s.Volumes[i]
		}
	}
	return nil
}

// ebsIO is how EBS's SSD types count: an I/O up to this size once, sequential ones merged up to it
// first.
const ebsIO = 256 * units.KiB

// slack is how much unused allowance volumes save up: see ebs.Limits.
const slack = time.Second

// instanceSlack is less, since an instance's limit is shared by many volumes and rarely idle by
// chance.
const instanceSlack = 20 * time.Millisecond

func limits(iops units.IOPS, throughput units.Rate, b *BurstSpec, slack time.Duration, scale float64) ebs.Limits {
	l := ebs.Limits{IOPS: iops, Throughput: throughput}
	if b != nil {
		l.BurstIOPS, l.BurstThroughput, l.Credits, l.ByteCredits = b.IOPS, b.Throughput, b.Credits, b.Bytes
	}
	l = l.Scaled(scale)
	l.Slack = slack
	return l
}

// behaviour is the volume's with its limits in force; overhead is what the way there takes of the
// latency asked for.
func (v *VolumeSpec) behaviour(scale float64, overhead time.Duration) ebs.Behaviour {
	b := ebs.Behaviour{
		Limits:   limits(v.IOPS, v.Throughput, v.Burst, slack, scale),
		OfReads:  limits(v.ReadIOPS, v.ReadThroughput, nil, slack, scale),
		OfWrites: limits(v.WriteIOPS, v.WriteThroughput, nil, slack, scale),
		Jitter:   v.Latency.Jitter, FirstTouch: v.FirstTouch, Unwritten: v.Unwritten, Volatile: v.Cache == "volatile",
		ReadLatency:  max(0, v.Latency.Read-overhead),
		WriteLatency: max(0, v.Latency.Write-overhead),
		FlushLatency: max(0, v.Latency.Flush-overhead),
	}
	b.IOSize, b.Merge = v.Counts, v.Counts
	return b
}

// unlimited is a behaviour for setting up: what is lost and what is written still counts.
func unlimited(b ebs.Behaviour) ebs.Behaviour {
	return ebs.Behaviour{Volatile: b.Volatile}
}

// serial is 20 characters as NVMe has it: an EBS volume id without its dash, or an instance
// store's.
func (v *VolumeSpec) serial(group, index int) string {
	prefix := "vol"
	if v.Like == "nvme" {
		prefix = "AWS"
	}
	return fmt.Sprintf("%s0%x%02x%013x", prefix, group, index, uint32(0xab00000+group*256+index))
}
