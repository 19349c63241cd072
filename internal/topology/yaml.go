package topology

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"plimsoll/internal/yamlfile"
)

// The keys of plimsoll.yaml (docs/plimsoll-yaml.md): a field's name in lower case where no tag says
// another. Every value is kept as its text and line until it is understood, so that each mistake and
// each figure's origin can name its line.
type fileYAML struct {
	Scale    scalar
	Instance instanceYAML
	Arrays   []arrayYAML
	Policy   DeclaredPolicy
}

type instanceYAML struct {
	Type            scalar
	Baseline, Burst limitsYAML
}

type limitsYAML struct{ IOPS, Throughput, For, Per scalar }

type arrayYAML struct {
	Name, Level, Copies, Layout, Chunk, Using, Partition, Segment scalar

	Role        scalars
	VolumeGroup scalar `yaml:"volume_group"`
	AssumeClean scalar `yaml:"assume_clean"`
	Volumes     volumesYAML
	Filesystem  *filesystemYAML
}

type volumeYAML struct {
	Count, Type, Size, IOPS, Throughput, Merge, Caching, Bursting, Serial, ID, Path, Model scalar

	ReadIOPS        scalar `yaml:"read_iops"`
	WriteIOPS       scalar `yaml:"write_iops"`
	ReadThroughput  scalar `yaml:"read_throughput"`
	WriteThroughput scalar `yaml:"write_throughput"`
	BurstIOPS       scalar `yaml:"burst_iops"`
	BurstThroughput scalar `yaml:"burst_throughput"`
	BurstCredits    scalar `yaml:"burst_credits"`
	BurstBytes      scalar `yaml:"burst_bytes"`
	ReadLatency     scalar `yaml:"read_latency"`
	WriteLatency    scalar `yaml:"write_latency"`

	line string // the volume on one line, instead of all keys above
	at   int
}

type filesystemYAML struct {
	Type, Label, Mount, SU, SW, Owner, Mode, Fstab scalar

	Options scalars
}

// scalar is a single value and its line; line 0 when the key is absent.
type scalar struct {
	text string
	line int
}

// wrong is a mistake on a line, in the value of a key.
func wrong(line int, key, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if key != "" {
		err = fmt.Errorf("%s: %w", key, err)
	}
	return &yamlfile.Place{Line: line, Err: err}
}

// UnmarshalYAML takes a single value.
func (s *scalar) UnmarshalYAML(n ast.Node) error {
	text, at, err := yamlfile.Scalar(n)
	if at != nil {
		*s = scalar{text, at.Position.Line}
	}
	return err
}

// scalars is one value or a list of them.
type scalars []scalar

// UnmarshalYAML takes a value or a list.
func (s *scalars) UnmarshalYAML(n ast.Node) error {
	for _, v := range nodes(n) {
		var one scalar
		if err := one.UnmarshalYAML(v); err != nil {
			return err
		}
		if one.line > 0 {
			*s = append(*s, one)
		}
	}
	return nil
}

// UnmarshalYAML takes a type alone, or a mapping.
// nodes are those of a list, or the one that stands for a list of one.
func nodes(n ast.Node) []ast.Node {
	if list, ok := n.(*ast.SequenceNode); ok {
		return list.Values
	}
	return []ast.Node{n}
}

func (i *instanceYAML) UnmarshalYAML(n ast.Node) error {
	if _, ok := n.(ast.MapNode); !ok {
		return i.Type.UnmarshalYAML(n)
	}
	type plain instanceYAML
	return yamlfile.Node(n, (*plain)(i))
}

type volumesYAML []volumeYAML

// UnmarshalYAML takes volumes on one line, a mapping, or a list of both.
func (v *volumesYAML) UnmarshalYAML(n ast.Node) error {
	for _, n := range nodes(n) {
		one := volumeYAML{}
		if _, ok := n.(ast.MapNode); ok {
			if err := yamlfile.Node(n, &one); err != nil {
				return err
			}
		} else {
			var s scalar
			if err := s.UnmarshalYAML(n); err != nil {
				return err
			}
			one.line = s.text
		}
		one.at = n.GetToken().Position.Line
		*v = append(*v, one)
	}
	return nil
}
