package workload

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"plimsoll/internal/yamlfile"
)

// Mistake is what is wrong in a demand file, and where.
type Mistake struct {
	File         string
	Line, Column int
	Text         string // of the line
	Err          error
}

func (m *Mistake) Error() string {
	if m.Line == 0 {
		return fmt.Sprintf("%s: %v", m.File, m.Err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", m.File, m.Line, m.Column, m.Err)
}

func (m *Mistake) Unwrap() error { return m.Err }

// Excerpt is the line and a caret below the place, for a terminal; empty where no place is known.
func (m *Mistake) Excerpt() string {
	if m.Line == 0 || m.Text == "" {
		return ""
	}
	line := strings.Map(func(r rune) rune { // one column each, so that the caret stays in its place
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, m.Text)
	return fmt.Sprintf("%4d | %s\n     | %s^", m.Line, line, strings.Repeat(" ", max(m.Column-1, 0)))
}

// atToken is an error at a place of the file.
type atToken struct {
	at  *token.Token
	err error
}

func (e *atToken) Error() string { return e.err.Error() }
func (e *atToken) Unwrap() error { return e.err }

func mistake(name string, data []byte, err error) error {
	m := &Mistake{File: name, Err: err}
	var at *token.Token
	if e, ok := errors.AsType[*atToken](err); ok {
		at = e.at
	} else if e, ok := errors.AsType[yaml.Error](err); ok {
		at, m.Err = e.GetToken(), errors.New(strings.Join(strings.Fields(e.GetMessage()), " "))
	}
	if at != nil && at.Position != nil {
		m.Line, m.Column = at.Position.Line, at.Position.Column
		if lines := strings.Split(string(data), "\n"); m.Line >= 1 && m.Line <= len(lines) {
			m.Text = strings.TrimRight(lines[m.Line-1], "\r")
		}
	}
	return m
}

// scalar is a single value and where it stands; at is nil when the key is absent.
type scalar struct {
	text string
	at   *token.Token
}

func (s scalar) given() bool { return s.at != nil }

func (s scalar) wrong(format string, a ...any) error { return &atToken{s.at, fmt.Errorf(format, a...)} }

// UnmarshalYAML takes a single value.
func (s *scalar) UnmarshalYAML(n ast.Node) error {
	if a, ok := n.(*ast.AnchorNode); ok {
		n = a.Value
	}
	switch v := n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		*s = scalar{n.GetToken().Value, n.GetToken()}
	case *ast.LiteralNode:
		*s = scalar{v.Value.Value, n.GetToken()}
	case *ast.NullNode:
	default:
		return &atToken{n.GetToken(), errors.New("want a single value here")}
	}
	return nil
}

// pair is an entry of a mapping whose keys are values, such as {8KiB: 60%}.
type pair struct{ key, value scalar }

// pairs is a mapping whose keys are values. A single value stands alone.
type pairs struct {
	single scalar
	list   []pair
}

// UnmarshalYAML takes a single value or a mapping of single values.
func (p *pairs) UnmarshalYAML(n ast.Node) error {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		if one, isOne := n.(*ast.MappingValueNode); isOne {
			m = &ast.MappingNode{Values: []*ast.MappingValueNode{one}}
		} else {
			return p.single.UnmarshalYAML(n)
		}
	}
	for _, v := range m.Values {
		var e pair
		e.key = scalar{v.Key.GetToken().Value, v.Key.GetToken()}
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

type demandYAML struct {
	Workload   scalar          `yaml:"workload"`
	About      scalar          `yaml:"about"`
	Role       scalar          `yaml:"role"`
	Capacity   scalar          `yaml:"capacity"`
	Durability *durabilityYAML `yaml:"durability"`
	Commits    *commitsYAML    `yaml:"commits"`
	AtLeast    []string        `yaml:"at_least"`
	Streams    []streamYAML    `yaml:"streams"`
}

type durabilityYAML struct {
	AFR      scalar `yaml:"afr"`
	Survives scalar `yaml:"survives"`
}

type commitsYAML struct {
	Rate    scalar `yaml:"rate"`
	Clients scalar `yaml:"clients"`
}

type streamYAML struct {
	Name     scalar     `yaml:"name"`
	Does     scalar     `yaml:"does"`
	Reads    scalar     `yaml:"reads"`
	Block    pairs      `yaml:"block"`
	Threads  scalar     `yaml:"threads"`
	Depth    scalar     `yaml:"depth"`
	Rate     scalar     `yaml:"rate"`
	IOPS     scalar     `yaml:"iops"`
	Arrivals scalar     `yaml:"arrivals"`
	Sync     pairs      `yaml:"sync"`
	Latency  *latency   `yaml:"latency"`
	Burst    *burstYAML `yaml:"burst"`
	Apart    scalar     `yaml:"apart"`

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

type burstYAML struct {
	For   scalar `yaml:"for"`
	Every scalar `yaml:"every"`
	After scalar `yaml:"after"`
}

// latency is a mapping of p99 and the like, and of over:, which is a mapping itself.
type latency struct {
	percentiles []pair
	over        pairs
}

// UnmarshalYAML takes percentiles by their names, and over.
func (l *latency) UnmarshalYAML(n ast.Node) error {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		return &atToken{n.GetToken(), errors.New("latency: want such as {p99: 100ms, over: {1s: 1%}}")}
	}
	for _, v := range values {
		key := scalar{v.Key.GetToken().Value, v.Key.GetToken()}
		if key.text == "over" {
			if err := l.over.UnmarshalYAML(v.Value); err != nil {
				return err
			}
			if l.over.single.given() {
				return l.over.single.wrong("over: want such as {1s: 1%%}")
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
