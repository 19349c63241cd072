package yamlfile

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Mistake is what is wrong in a YAML file, and where. All rooms that read YAML return one.
type Mistake struct {
	File         string
	Line, Column int    // from 1; 0 where no place is known
	Text         string // of the line
	Err          error  // what is wrong and what to do
}

func (m *Mistake) Error() string {
	if m.Line == 0 {
		return fmt.Sprintf("%s: %v", m.File, m.Err)
	}
	return fmt.Sprintf("%s:%d: %v", m.File, m.Line, m.Err)
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

// Place is an error at a line and a column of a file that is not named yet; without a column it is
// about the line.
type Place struct {
	Line, Column int
	Err          error
}

func (p *Place) Error() string { return p.Err.Error() }
func (p *Place) Unwrap() error { return p.Err }

// At puts an error at a token, which may be nil.
func At(t *token.Token, err error) error {
	if t == nil || t.Position == nil {
		return &Place{Err: err}
	}
	return &Place{t.Position.Line, t.Position.Column, err}
}

// Wrong makes an error of this package or of the YAML library a Mistake in a file.
func Wrong(name string, data []byte, err error) error {
	if m, ok := errors.AsType[*Mistake](err); ok {
		return m
	}
	m := &Mistake{File: name, Err: err}
	if p, ok := errors.AsType[*Place](err); ok {
		m.Line, m.Column = p.Line, p.Column
	} else if e, ok := errors.AsType[yaml.Error](err); ok {
		m.Err = errors.New(advice(strings.Join(strings.Fields(e.GetMessage()), " ")))
		if t := e.GetToken(); t != nil && t.Position != nil {
			m.Line, m.Column = t.Position.Line, t.Position.Column
		}
	}
	if lines := strings.Split(string(data), "\n"); m.Line >= 1 && m.Line <= len(lines) {
		m.Text = strings.TrimRight(lines[m.Line-1], "\r")
		if m.Column == 0 {
			m.Column = 1 + len(m.Text) - len(strings.TrimLeft(m.Text, " -"))
		}
	} else {
		m.Line = 0
	}
	return m
}

// advice adds what to do to the library's message where it names only what is wrong.
func advice(message string) string {
	switch {
	case strings.HasPrefix(message, "unknown field"):
		return message + ": correct its name or remove it"
	case strings.HasPrefix(message, "duplicate key"), strings.Contains(message, "already defined"):
		return message + ": keep one of them"
	}
	return message
}

// Find is the place of a path such as $.volumes[2].size, of its parent where the path does not
// exist, nil where nothing does.
func Find(file *ast.File, path string) *token.Token {
	for path != "" {
		if p, err := yaml.PathString(path); err == nil {
			if node, err := p.FilterFile(file); err == nil && node != nil {
				return node.GetToken()
			}
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut <= 0 {
			return nil
		}
		path = path[:cut]
	}
	return nil
}

// placed puts an error without a place at the first value that gives one by itself: of units and
// other types that read their own text the library does not say where they stand.
func placed(data []byte, into any, err error) error {
	if !placeless(err) {
		return err
	}
	file, wrong := Parse(data)
	if wrong != nil || len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return err
	}
	return cmp.Or(culprit(file.Docs[0].Body, func(n ast.Node) error {
		return Node(n, reflect.New(reflect.TypeOf(into).Elem()).Interface())
	}), err)
}

func placeless(err error) bool {
	_, library := errors.AsType[yaml.Error](err)
	_, known := errors.AsType[*Place](err)
	return err != nil && !library && !known && !errors.Is(err, errUnreadable)
}

// culprit looks for that value at and below a node; nil for none. decode reads the document with
// nothing in it but the node that it is given, at this place.
func culprit(n ast.Node, decode func(ast.Node) error) (found error) {
	err := decode(n)
	if err == nil {
		return nil
	}
	several := At(n.GetToken(), errors.New("want one value here, not a list or mapping"))
	switch n := n.(type) {
	case *ast.MappingNode:
		only := *n
		if only.Values = nil; placeless(decode(&only)) {
			return several
		}
		for _, v := range n.Values {
			pair := *v
			only.Values = []*ast.MappingValueNode{&pair}
			if found = culprit(v.Value, func(n ast.Node) error { pair.Value = n; return decode(&only) }); found != nil {
				break
			}
		}
	case *ast.SequenceNode:
		only := *n
		if only.Values = nil; placeless(decode(&only)) {
			return several
		}
		for _, v := range n.Values {
			if found = culprit(v, func(n ast.Node) error { only.Values = []ast.Node{n}; return decode(&only) }); found != nil {
				break
			}
		}
	default:
		if placeless(err) {
			return At(n.GetToken(), err)
		}
	}
	return found
}

// Amounts refuses numbers of a document that are no amount of anything: negative, endless, or none. What is
// quoted is no number, nor is a comment.
func Amounts(data []byte) error {
	for _, t := range lexer.Tokenize(string(data)) {
		if slices.Contains([]token.Type{token.SingleQuoteType, token.DoubleQuoteType, token.CommentType}, t.Type) {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimPrefix(t.Value, "."), 64)
		if err == nil && !(v >= 0 && v <= 1e18) {
			return At(t, errors.New(t.Value+" is not an amount: want a number of 0 or more"))
		}
	}
	return nil
}
