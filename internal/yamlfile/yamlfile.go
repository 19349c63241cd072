// Package yamlfile reads YAML that somebody else wrote: plimsoll.yaml, suites, demands, lab files
// and tables. It is the one door to the YAML library, which panics on some input.
package yamlfile

import (
	"errors"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// errUnreadable stands for a panic of the library: goccy/go-yaml 1.19.2 does not survive a tag
// without a value ("streams: !"), found by fuzzing.
var errUnreadable = errors.New("this YAML cannot be read: look for a tag (!) without a value")

// Decode reads a document into a value and refuses unknown and duplicate keys.
func Decode(data []byte, into any, options ...yaml.DecodeOption) (err error) {
	defer survive(&err)
	return yaml.UnmarshalWithOptions(data, into, append([]yaml.DecodeOption{yaml.Strict()}, options...)...)
}

// Node reads a part of a document into a value and refuses unknown and duplicate keys.
func Node(n ast.Node, into any) (err error) {
	defer survive(&err)
	return yaml.NodeToValue(n, into, yaml.Strict())
}

// Parse reads a document's structure, for the places of its keys.
func Parse(data []byte) (file *ast.File, err error) {
	defer survive(&err)
	return parser.ParseBytes(data, 0)
}

func survive(err *error) {
	if recover() != nil {
		*err = errUnreadable
	}
}
