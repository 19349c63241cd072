package lab

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/yamlfile"
)

// Of a declared layout that is tried out: how large its volumes are here, and how long an EBS
// volume takes over an I/O, as in the disk benchmark guide's preset.
const (
	declaredSize  = 512 * units.MiB
	declaredRead  = 500 * time.Microsecond
	declaredWrite = 1500 * time.Microsecond
)

// declaredPath is the guest's plimsoll.yaml.
const declaredPath = "/root/plimsoll.yaml"

// FromDeclaration is a machine with the volumes that a plimsoll.yaml declares, for plimsoll array
// apply to build it on: scale is for its rates. Volumes are of 512 MiB whatever they are to be,
// their serial numbers the lab's own, and mount points belong to root, since the owner that is
// declared may be unknown in the guest. name is the file's, for messages.
func FromDeclaration(name string, text []byte, scale float64) (*Spec, error) {
	decl, err := topology.LoadDeclaration(name, text)
	if err != nil {
		return nil, err
	}
	whole, err := topology.FromDeclaration(decl)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(whole.Arrays) == 0 {
		return nil, fmt.Errorf("%s: no volumes are declared: the lab builds the arrays that the file describes", name)
	}
	var file struct {
		Arrays []yamlfile.MapSlice `yaml:"arrays"`
	}
	if err := yamlfile.Ordered(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &Spec{Name: name, Description: "the layout of " + name, Scale: scale, Instance: instanceOf(&whole.Instance)}
	for i := range whole.Arrays {
		a := ArraySpec{Name: whole.Arrays[i].Name}
		for _, v := range whole.Arrays[i].Volumes {
			spec := volumeOf(&v)
			if last := len(s.Volumes) - 1; len(a.Volumes) > 0 && s.Volumes[last].alike(spec) {
				s.Volumes[last].Count++
				continue
			}
			spec.Name, spec.Count = fmt.Sprint("v", len(s.Volumes)), 1
			a.Volumes = append(a.Volumes, spec.Name)
			s.Volumes = append(s.Volumes, spec)
		}
		s.Arrays = append(s.Arrays, a)
		s.layouts = append(s.layouts, without(file.Arrays[i], "volumes"))
		for j, item := range s.layouts[i] {
			if filesystem, ok := item.Value.(yamlfile.MapSlice); ok && item.Key == "filesystem" {
				s.layouts[i][j].Value = without(filesystem, "owner")
			}
		}
	}
	s.Mounts = map[topology.Role]string{}
	for _, target := range whole.Targets {
		if target.Path == "" {
			return nil, fmt.Errorf(
				"%s: array %s has the role %s and no filesystem with a mount point: the lab measures in files", name, target.Array,
				target.Role,
			)
		}
		s.Mounts[target.Role] = target.Path
	}
	if _, err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// alike says whether two volumes differ in name and number only.
func (v VolumeSpec) alike(o VolumeSpec) bool {
	v.Name, v.Count = o.Name, o.Count
	return reflect.DeepEqual(v, o)
}

func volumeOf(v *topology.Volume) VolumeSpec {
	l := v.Sustained
	s := VolumeSpec{
		Like: "nvme", Size: declaredSize, IOPS: l.IOPS, Throughput: l.Rate,
		ReadIOPS: l.ReadIOPS, ReadThroughput: l.ReadRate, WriteIOPS: l.WriteIOPS, WriteThroughput: l.WriteRate,
		Latency: LatencySpec{Read: v.ReadLatency, Write: v.WriteLatency},
	}
	if v.Network || v.Merges {
		s.Like, s.Counts = "ebs", v.CountedIO
		s.Latency.Read, s.Latency.Write = cmp.Or(v.ReadLatency, declaredRead), cmp.Or(v.WriteLatency, declaredWrite)
	}
	if v.Burst.Known() {
		s.Burst = &BurstSpec{IOPS: v.Burst.IOPS, Throughput: v.Burst.Rate, Credits: v.BurstIOs, Bytes: v.BurstBytes}
	}
	return s
}

// instanceOf is nil where nothing is known of the instance. Its burst holds for a time, so
// the credits are what it gives meanwhile.
func instanceOf(i *topology.Instance) *InstanceSpec {
	if !i.Baseline.Known() {
		return nil
	}
	s := &InstanceSpec{IOPS: i.Baseline.IOPS, Throughput: i.Baseline.Rate}
	if i.Burst.Known() && i.BurstFor > 0 {
		seconds := i.BurstFor.Seconds()
		s.Burst = &BurstSpec{
			IOPS:       i.Burst.IOPS,
			Throughput: i.Burst.Rate,
			Credits:    max(0, float64(i.Burst.IOPS-i.Baseline.IOPS)*seconds),
			Bytes:      units.Bytes(max(0, float64(i.Burst.Rate-i.Baseline.Rate)*seconds)),
		}
	}
	return s
}

// Declaration is the plimsoll.yaml that a customer of these volumes would write, at the lab's
// scale: what was paid for, by serial number, and, where a plimsoll.yaml was declared, its arrays
// as they stand there.
func (s *Spec) Declaration() (string, error) {
	var file yamlfile.MapSlice
	add := func(key string, value any) { file = append(file, yamlfile.MapItem{Key: key, Value: value}) }
	if s.Scale != 1 {
		add("scale", s.Scale)
	}
	if in := s.Instance; in != nil {
		limits := yamlfile.MapSlice{{Key: "baseline", Value: s.limit(nil, "", in.IOPS, in.Throughput)}}
		if b := in.Burst; b != nil && b.IOPS > in.IOPS {
			burst := s.limit(nil, "", b.IOPS, b.Throughput)
			lasts := time.Duration(b.Credits / float64(b.IOPS-in.IOPS) * float64(time.Second))
			limits = append(limits,
				yamlfile.MapItem{Key: "burst", Value: append(burst, yamlfile.MapItem{Key: "for", Value: lasts.String()})})
		}
		add("instance", limits)
	}
	var arrays []yamlfile.MapSlice
	for i, a := range s.Arrays {
		array := yamlfile.MapSlice{{Key: "name", Value: a.Name}, {Key: "role", Value: []string(a.Role)}}
		if s.layouts != nil {
			array = slices.Clone(s.layouts[i])
		}
		arrays = append(arrays, append(array, yamlfile.MapItem{Key: "volumes", Value: s.sold(a.Volumes)}))
	}
	if len(arrays) > 0 {
		add("arrays", arrays)
	}
	text, err := yamlfile.Encode(file)
	return fmt.Sprintf("# Written by plimsoll lab from %q, rates at %g of the real ones.\n%s", s.Name, s.Scale, text), err
}

// sold is what the customer writes of the volumes of these names.
func (s *Spec) sold(names []string) []yamlfile.MapSlice {
	var all []yamlfile.MapSlice
	for group := range s.Volumes {
		v := &s.Volumes[group]
		if !slices.Contains(names, v.Name) {
			continue
		}
		as := v
		if v.SoldAs != "" {
			as = s.group(v.SoldAs)
		}
		for i := range v.Count {
			m := yamlfile.MapSlice{{Key: "serial", Value: v.serial(group, i)}}
			m = s.limit(m, "", as.IOPS, as.Throughput)
			m = s.limit(m, "read_", as.ReadIOPS, as.ReadThroughput)
			m = s.limit(m, "write_", as.WriteIOPS, as.WriteThroughput)
			if b := as.Burst; b != nil {
				m = s.limit(m, "burst_", b.IOPS, b.Throughput)
				if b.Credits > 0 {
					m = append(m, yamlfile.MapItem{Key: "burst_credits", Value: int64(math.Round(b.Credits * s.Scale))})
				}
				if b.Bytes > 0 {
					m = append(m, yamlfile.MapItem{Key: "burst_bytes", Value: fmt.Sprintf("%.0f", float64(b.Bytes)*s.Scale)})
				}
			}
			if v.Counts > 0 {
				m = append(m, yamlfile.MapItem{Key: "merge", Value: v.Counts.String()})
			}
			all = append(all, m)
		}
	}
	return all
}

// limit adds a pair of limits as in plimsoll.yaml, scaled; one that is 0 is left out.
func (s *Spec) limit(m yamlfile.MapSlice, prefix string, iops units.IOPS, rate units.Rate) yamlfile.MapSlice {
	if iops > 0 {
		m = append(m, yamlfile.MapItem{Key: prefix + "iops", Value: int64(math.Round(float64(iops) * s.Scale))})
	}
	if rate > 0 {
		m = append(m, yamlfile.MapItem{Key: prefix + "throughput", Value: fmt.Sprintf("%.0fB/s", float64(rate)*s.Scale)})
	}
	return m
}

func without(m yamlfile.MapSlice, key string) yamlfile.MapSlice {
	return slices.DeleteFunc(slices.Clone(m), func(i yamlfile.MapItem) bool { return i.Key == key })
}
