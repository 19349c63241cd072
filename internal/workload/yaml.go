package workload

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"plimsoll/internal/yamlfile"
)

// scalar is a single value and where it stands; at is nil when the key is absent.
type scalar struct {
	text string
	at   *token.Token
}

func (s scalar) given() bool { return s.at != nil }

func (s scalar) wrong(format string, a ...any) error {
	return yamlfile.At(s.at, fmt.Errorf(format, a...))
}

// UnmarshalYAML takes a single value.
func (s *scalar) UnmarshalYAML(n ast.Node) (err error) {
	s.text, s.at, err = yamlfile.Scalar(n)
	return err
}

// pair is an entry of a mapping whose keys are values, such as {8KiB: 60%}.
type pair struct{ key, value scalar }

// pairs is a mapping whose keys are values. A single value stands alone.
type pairs struct {
	single scalar
	list   []pair
}

// entries are those of a mapping; false for another node.
func entries(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

func keyOf(v *ast.MappingValueNode) scalar { return scalar{v.Key.GetToken().Value, v.Key.GetToken()} }

// UnmarshalYAML takes a single value or a mapping of single values.
func (p *pairs) UnmarshalYAML(n ast.Node) error {
	values, ok := entries(n)
	if !ok {
		return p.single.UnmarshalYAML(n)
	}
	for _, v := range values {
		e := pair{key: keyOf(v)}
		if err := e.value.UnmarshalYAML(v.Value); err != nil {
			return err
		}
		if !e.value.given() {
			return e.key.wrong("%s has no value", e.key.text)
		}
		p.list = append(p.list, e)
	}
	return nil
}

// demandYAML is a demand file. Its keys are the names of fields in lower case, where no tag says another.
type demandYAML struct {
	Workload, About, Role, Capacity scalar

	Durability *durabilityYAML
	Commits    *commitsYAML
	AtLeast    []string `yaml:"at_least"`
	Streams    []streamYAML
}

type (
	durabilityYAML struct{ AFR, Survives scalar }
	commitsYAML    struct{ Rate, Clients scalar }
)

type streamYAML struct {
	Name, Does, Reads, Threads, Depth, Rate, IOPS, Arrivals, Apart scalar

	Block, Sync pairs
	Latency     *latency
	Burst       *struct{ For, Every, After scalar }

	at *token.Token
}

// UnmarshalYAML remembers where the stream begins.
func (s *streamYAML) UnmarshalYAML(n ast.Node) error {
	type plain streamYAML
	s.at = n.GetToken()
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		s.at = m.Values[0].Key.GetToken()
	}
	at := s.at
	err := yamlfile.Node(n, (*plain)(s))
	s.at = at
	return err
}

// latency is a mapping of p99 and the like, and of over:, which is a mapping itself.
type latency struct {
	percentiles []pair
	over        pairs
}

// UnmarshalYAML takes percentiles by their names, and over.
func (l *latency) UnmarshalYAML(n ast.Node) error {
	values, ok := entries(n)
	if !ok {
		return yamlfile.At(n.GetToken(), errors.New("latency: want a form such as {p99: 100ms, over: {1s: 1%}}"))
	}
	for _, v := range values {
		key := keyOf(v)
		if key.text == "over" {
			if err := l.over.UnmarshalYAML(v.Value); err != nil {
				return err
			}
			if l.over.single.given() {
				return l.over.single.wrong("over: want a form such as {1s: 1%%}")
			}
			continue
		}
		e := pair{key: key}
		if err := e.value.UnmarshalYAML(v.Value); err != nil {
			return err
		}
		l.percentiles = append(l.percentiles, e)
	}
	return nil
}
