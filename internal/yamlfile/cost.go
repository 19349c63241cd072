package yamlfile

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"plimsoll/internal/text"
)

// What a document may cost. The library's memory grows with the square of the depth, and an alias
// costs as much as what it stands for: the depth and the tokens are counted before anything is
// parsed, the nodes that aliases stand for before anything is decoded. docs/safety.md states them.
// The largest file that plimsoll itself writes, of 256 volumes, has 5,000 tokens.
const (
	mostBytes  = 128 << 10
	mostTokens = 10_000
	mostDepth  = 32
	mostNodes  = 20_000 // with aliases replaced by what they stand for
)

var errMergeKey = errors.New("merge keys (<<) are not read: write the keys out")

// affordable refuses a document that would cost too much to read, at the place where it does.
func affordable(data []byte) error {
	if len(data) > mostBytes {
		return fmt.Errorf("%s bytes: want at most %s; split the file", text.Count(len(data)), text.Count(mostBytes))
	}
	tokens := lexer.Tokenize(string(data))
	if len(tokens) > mostTokens {
		return At(tokens[mostTokens], fmt.Errorf("more than %s words and signs: split the file", text.Count(mostTokens)))
	}
	var d depth
	for i, t := range tokens {
		if t.Type == token.MergeKeyType {
			return At(t, errMergeKey)
		}
		if d.enter(t, i+1 < len(tokens) && tokens[i+1].Type == token.MappingValueType); d.now() > mostDepth {
			return At(t, fmt.Errorf("nested more than %d levels deep: flatten it", mostDepth))
		}
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil //nolint:nilerr // who decodes it meets the error again, with its place
	}
	return expansion(file)
}

// depth follows the levels of a document by its tokens: brackets, and columns that begin an entry.
// Signs that nest within a line (- - -, ? ? ?, &a &b) each begin a column of their own.
type depth struct {
	brackets int
	columns  []int
}

func (d *depth) now() int { return d.brackets + len(d.columns) }

// enter counts a token; key says whether it is a key, which a colon follows.
func (d *depth) enter(t *token.Token, key bool) {
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		d.brackets++
		return
	case token.SequenceEndType, token.MappingEndType:
		d.brackets = max(d.brackets-1, 0)
		return
	case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
	default:
		if !key || d.brackets > 0 { // within brackets only these nest
			return
		}
	}
	if t.Position == nil {
		return
	}
	column := t.Position.Column
	for len(d.columns) > 0 && d.columns[len(d.columns)-1] >= column {
		d.columns = d.columns[:len(d.columns)-1]
	}
	d.columns = append(d.columns, column)
}

// expansion counts the nodes of a document with its aliases replaced.
func expansion(file *ast.File) error {
	for _, doc := range file.Docs {
		e := expander{anchors: map[string]int{}}
		if doc.Body != nil {
			e.size(doc.Body)
		}
		if e.err != nil {
			return e.err
		}
	}
	return nil
}

type expander struct {
	anchors map[string]int // nodes that each stands for; 0 while it is being read
	total   int
	err     error
}

// size is how many nodes a node stands for.
func (e *expander) size(n ast.Node) int {
	before := e.total
	ast.Walk(e, n)
	return e.total - before
}

// Visit is for ast.Walk.
func (e *expander) Visit(n ast.Node) ast.Visitor {
	if e.err != nil {
		return nil
	}
	e.total++
	switch n := n.(type) {
	case *ast.AnchorNode:
		name := n.Name.GetToken().Value
		e.anchors[name] = 0
		if n.Value != nil {
			e.anchors[name] = e.size(n.Value)
		}
		return nil
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		size, known := e.anchors[name]
		if known && size == 0 {
			e.err = At(n.GetToken(), fmt.Errorf("alias %s stands in itself: write out what is meant", text.Quote("*"+name)))
		}
		e.total += size
	}
	if e.total > mostNodes && e.err == nil {
		e.err = At(n.GetToken(), fmt.Errorf(
			"aliases stand for more than %s values: write out what is meant", text.Count(mostNodes)))
	}
	return e
}
