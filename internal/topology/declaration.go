package topology

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
)

// Declaration is what a person says about the storage: plimsoll.yaml (docs/plimsoll-yaml.md) or the
// flags --volumes, --level, --chunk and --instance. It says what cannot be detected, overrides what
// can, and describes layouts that are yet to be built.
type Declaration struct {
	Name string // of the file, for messages; "" for flags
	// Policy is what the file says of findings: codes that are not to count, with reasons, and what
	// is to fail.
	Policy   DeclaredPolicy
	Scale    float64 // of the rates below, where the machine is simulated: see Topology.Scale
	Instance *DeclaredInstance
	Arrays   []DeclaredArray
}

// DeclaredInstance is the machine's cap on its volumes: by type from the catalogue, or in figures.
type DeclaredInstance struct {
	Type               string
	Baseline, Burst    Limits
	BurstFor, BurstPer time.Duration
	Origin             Origin
}

// DeclaredPolicy is the policy section, as it is written.
type DeclaredPolicy struct {
	Disable map[string]string `yaml:"disable"` // reasons by code
	FailOn  []string          `yaml:"fail_on"`
}

// DeclaredArray is one array. Zero fields are not declared.
type DeclaredArray struct {
	Name  string
	Roles []Role
	Level Level
	// Copies of each block, on RAID1 and RAID10.
	Copies int
	// Layout is how RAID10 places them, as mdadm's --layout says it: n2, far, o3; near where it is
	// empty.
	Layout string
	Chunk  units.Bytes
	// Using is "md" or "lvm", md where it is empty; VolumeGroup is for lvm. Partition says to put a
	// GPT partition, aligned to 1 MiB, on each volume and to use that.
	Using       string
	VolumeGroup string
	Partition   bool
	// Segment is LVM's type for raid0: striped where it is empty, or raid0. AssumeClean says that
	// the members are blank, so that a mirror need not be copied first.
	Segment     string
	AssumeClean bool
	// Volumes are the members, one entry each. With Each there is one entry and it stands for every
	// volume that is found.
	Volumes    []DeclaredVolume
	Each       bool
	Filesystem *DeclaredFilesystem
	// Origin is where the array is declared, Origins where its figures are, by their YAML keys.
	Origin  Origin
	Origins map[string]Origin
}

// DeclaredVolume is one volume: which it is, and what it can do.
type DeclaredVolume struct {
	// Serial, ID (vol-…) and Path (/dev/disk/by-id/…) name one volume; with none of them any unused
	// volume of the Model and Size, as far as they are given, will do.
	Serial, ID, Path, Model string
	Type                    string // gp3, io2, nvme, …
	Size                    units.Bytes
	Limits                  Limits // as provisioned; what is missing comes from the catalogue
	// Burst, where it is higher, lasts until its credits are gone, which refill at Limits: I/Os, or
	// bytes for its throughput.
	Burst        Limits
	BurstIOs     float64
	BurstBytes   units.Bytes
	ReadLatency  time.Duration
	WriteLatency time.Duration
	// Merge says that an I/O up to this size counts once, and that sequential ones are merged up to
	// it first, as EBS does.
	Merge units.Bytes
	// Caching is the host's, on Azure.
	Caching cloud.Caching
	// Tier is the tier by which the type was named, such as P30; OnDemand says that bursting on demand
	// is on.
	Tier     string
	OnDemand bool
	Origin   Origin
}

// DeclaredFilesystem is what is to be, or should be, on an array.
type DeclaredFilesystem struct {
	Type       string // xfs or ext4
	Label      string
	Mount      string // mount point
	Options    []string
	StripeUnit units.Bytes // su; the array's chunk where it is zero
	StripeData int         // sw: data members; the array's where it is zero
	Owner      string      // user or user:group of the mount point
	Mode       string      // octal, such as 0700
	Fstab      string      // what fstab names it by: uuid, where it is empty, or label
	Origin     Origin
}

// Names says which volume is meant, "" for any.
func (v *DeclaredVolume) Names() string { return cmp.Or(v.Serial, v.ID, v.Path) }

var layouts = regexp.MustCompile(`^(n|f|o|near|far|offset)=?([0-9]*)$`)

func (a *DeclaredArray) checkLayout() error {
	if a.Layout == "" {
		return nil
	}
	m := layouts.FindStringSubmatch(a.Layout)
	copies := cmp.Or(a.Copies, 2)
	switch {
	case m == nil:
		return fmt.Errorf("%.40q: want near, far or offset, or as mdadm writes it, such as f2", a.Layout)
	case a.Level != RAID10 || a.Using == LVM:
		return errors.New("only md's raid10 has layouts")
	case m[2] != "" && a.Copies > 0 && m[2] != strconv.Itoa(copies):
		return fmt.Errorf("%s contradicts copies: %d", a.Layout, copies)
	}
	return nil
}

// placed is the geometry of a declared layout, false where none is declared.
func (a *DeclaredArray) placed() (Geometry, bool) {
	m := layouts.FindStringSubmatch(a.Layout)
	if m == nil {
		return Geometry{}, false
	}
	var g Geometry
	g.Mdadm(m[1][:1] + cmp.Or(m[2], strconv.Itoa(cmp.Or(a.Copies, 2))))
	return g, true
}

// origin is where a key of the array is declared.
func (a *DeclaredArray) origin(key string) Origin { return originOf(a.Origins, key, a.Origin) }

// FromFlags is the declaration that --volumes, --level, --chunk and --instance make: one array for
// all roles. It is nil when all are empty.
func FromFlags(volumes, level, chunk, instance string) (*Declaration, error) {
	if volumes == "" && level == "" && chunk == "" && instance == "" {
		return nil, nil //nolint:nilnil // nothing is declared, and that is no mistake
	}
	flag := func(name string) Origin { return Origin{Declared, "--" + name} }
	d := &Declaration{}
	if instance != "" {
		d.Instance = &DeclaredInstance{Type: instance, Origin: flag("instance")}
		if err := d.Instance.check(); err != nil {
			return nil, fmt.Errorf("--instance: %w", err)
		}
	}
	if volumes == "" && level == "" && chunk == "" {
		return d, nil
	}
	a := DeclaredArray{Roles: Roles, Origins: map[string]Origin{}}
	for _, f := range []struct {
		name, value string
		set         func(string, Origin) error
	}{
		{"volumes", volumes, a.setVolumes},
		{"level", level, func(s string, _ Origin) (err error) { a.Level, err = ParseLevel(s); return err }},
		{"chunk", chunk, func(s string, _ Origin) error { return a.Chunk.UnmarshalText([]byte(s)) }},
	} {
		if f.value == "" {
			continue
		}
		a.Origins[f.name] = flag(f.name)
		a.Origin = a.Origins[f.name]
		if err := f.set(f.value, a.Origin); err != nil {
			return nil, fmt.Errorf("--%s: %w", f.name, err)
		}
	}
	if key, err := a.check(); err != nil {
		return nil, fmt.Errorf("--%s: %w", key, err)
	}
	d.Arrays = []DeclaredArray{a}
	return d, nil
}

// setVolumes takes volumes written on one line.
func (a *DeclaredArray) setVolumes(s string, at Origin) error {
	n, v, err := parseVolumes(s)
	if err != nil {
		return err
	}
	v.Origin = at
	a.Each = n == 0
	for range max(n, 1) {
		a.Volumes = append(a.Volumes, v)
	}
	return nil
}

// ParseLevel reads raid10, RAID10, 10, striped (raid0) or single.
func ParseLevel(s string) (Level, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	if long, ok := map[string]string{
		"0": "raid0", "1": "raid1", "10": "raid10", "5": "raid5", "6": "raid6",
		"striped": "raid0", "mirror": "raid1",
	}[word]; ok {
		word = long
	}
	if l := Level(word); l.Known() {
		return l, nil
	}
	if word == "lvm" {
		return NoLevel, errors.New(
			"level lvm: LVM has levels of its own; want raid0 (striped), linear, raid1, raid10, raid5 or " +
				"raid6, whichever lvs -o segtype shows",
		)
	}
	return NoLevel, fmt.Errorf("level %q: want single, raid0, raid1, raid10, raid5, raid6 or linear", s)
}

// check finds what contradicts itself within one array and names the key to blame.
func (a *DeclaredArray) check() (key string, err error) {
	n := len(a.Volumes)
	if a.Chunk > 0 && (a.Chunk%(4*units.KiB) != 0 || a.Chunk > units.GiB) {
		return "chunk", fmt.Errorf("chunk %v: want a multiple of 4 KiB, at most 1 GiB", a.Chunk)
	}
	if a.Chunk > 0 && (a.Level == RAID1 || a.Level == Single || a.Level == Linear) {
		return "chunk", fmt.Errorf("%s has no chunk", a.Level)
	}
	if a.Copies < 0 || a.Copies == 1 || a.Copies > 0 && a.Level != NoLevel && a.Level != RAID1 && a.Level != RAID10 {
		return "copies", fmt.Errorf("copies %d: want 2 or more, with raid1 or raid10", a.Copies)
	}
	if err := a.checkLayout(); err != nil {
		return "layout", err
	}
	for _, v := range a.Volumes {
		if err := v.check(); err != nil {
			return "volumes", err
		}
	}
	if a.Each || n == 0 {
		return "", nil
	}
	if err := a.Level.carries(n); err != nil {
		return "volumes", err
	}
	if a.Copies > n {
		return "copies", fmt.Errorf("%d copies need as many volumes, but there are %d", a.Copies, n)
	}
	return "", nil
}

// carries is nil where an array of a level can have n volumes.
func (l Level) carries(n int) error {
	least := map[Level]int{RAID0: 2, RAID1: 2, RAID10: 2, RAID5: 3, RAID6: 4}[l]
	if n < least {
		return &TooFew{Level: l, Least: least, Have: n}
	}
	if l == Single && n != 1 {
		return fmt.Errorf("level single is one volume, but there are %d", n)
	}
	return nil
}

// TooFew is returned where a level needs more volumes than there are.
type TooFew struct {
	Level       Level
	Least, Have int
}

func (e *TooFew) Error() string {
	return fmt.Sprintf("%s needs at least %d volumes, but there are %d", e.Level, e.Least, e.Have)
}

var (
	countOf = regexp.MustCompile(`^\s*(\d+)\s*[x×*]\s*(.*)$`)
	gap     = regexp.MustCompile(`(^|[\s:,])([0-9.,]+)\s+([A-Za-z])`) // "3000 GiB"
	word    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
)

// maxVolumes is more than any machine attaches.
const maxVolumes = 1024

// parseVolumes reads volumes on one line: "8xgp3", "8x3000iops:125MiB/s", "4 × gp2 3000GiB", "gp3
// 16000iops 1000MiB/s". Without a number in front, count is 0: every volume there is.
func parseVolumes(s string) (count int, v DeclaredVolume, err error) {
	rest := s
	if m := countOf.FindStringSubmatch(s); m != nil {
		count, err = strconv.Atoi(m[1])
		if err != nil || count < 1 || count > maxVolumes {
			return 0, v, fmt.Errorf("volumes %.60q: want from 1 to %d of them", s, maxVolumes)
		}
		rest = m[2]
	}
	rest = gap.ReplaceAllString(rest, "$1$2$3")
	for item := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune(" \t:,", r) }) {
		if err := v.set(item); err != nil {
			return 0, v, fmt.Errorf("volumes %.60q: %w; want a form such as 8xgp3, 8x3000iops:125MiB/s or 4x gp2 3000GiB", s,
				err)
		}
	}
	if v == (DeclaredVolume{}) {
		return 0, v, fmt.Errorf("volumes %.60q: want a form such as 8xgp3, 8x3000iops:125MiB/s or 4x gp2 3000GiB", s)
	}
	return count, v, nil
}

// set takes one word of a volume's description.
func (v *DeclaredVolume) set(item string) error {
	lower := strings.ToLower(item)
	had := false
	switch {
	case strings.HasSuffix(lower, "iops"):
		n, err := units.ParseIOPS(item)
		if err != nil || n <= 0 {
			return fmt.Errorf("%.40q is not a number of IOPS", item)
		}
		had, v.Limits.IOPS = v.Limits.IOPS > 0, n
	case strings.HasSuffix(lower, "/s"), strings.HasSuffix(lower, "bps"):
		r, err := units.ParseRate(item)
		if err != nil || r <= 0 {
			return fmt.Errorf("%.40q is not a throughput", item)
		}
		had, v.Limits.Rate = v.Limits.Rate > 0, r
	case lower == "ondemand":
		had, v.OnDemand = v.OnDemand, true
	case lower == string(cloud.Uncached):
		had, v.Caching = v.Caching != "", cloud.Uncached
	case cloud.Caching(lower).Cached():
		had, v.Caching = v.Caching != "", cloud.Caching(lower)
	case Level(lower).Known():
		return fmt.Errorf("%s is a level, not a type; state it with --level %[1]s, or level: %[1]s in a file", lower)
	case word.MatchString(item):
		had, v.Type = v.Type != "", lower
	default:
		size, err := units.ParseBytes(item)
		if err != nil || size == 0 || strings.Trim(item, "0123456789.") == "" {
			return fmt.Errorf("%.40q is neither a type nor a size with its unit", item)
		}
		had, v.Size = v.Size > 0, size
	}
	if had {
		return fmt.Errorf("%.40q repeats what was already stated", item)
	}
	return nil
}
