// Package yamlfile reads YAML that somebody else wrote: plimsoll.yaml, suites, demands, lab files
// and tables. It is the one door to the YAML library, which panics on some input and on some needs
// memory without a bound: what a document may cost is counted first (cost.go).
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

// MapSlice is a mapping in its order.
type MapSlice = yaml.MapSlice

// MapItem is an entry of a MapSlice.
type MapItem = yaml.MapItem

// Decode reads a document into a value and refuses unknown and duplicate keys.
func Decode(data []byte, into any) error {
	return placed(data, into, decode(data, into, yaml.Strict()))
}

// Ordered reads the keys of a document that a value has, and keeps the order of mappings.
func Ordered(data []byte, into any) error { return decode(data, into, yaml.UseOrderedMap()) }

func decode(data []byte, into any, how yaml.DecodeOption) (err error) {
	defer survive(&err)
	if err := affordable(data); err != nil {
		return err
	}
	return yaml.UnmarshalWithOptions(data, into, how)
}

// Encode writes a value as a document.
func Encode(v any) ([]byte, error) { return yaml.Marshal(v) }

// Node reads a part of a document that Decode hands out into a value and refuses unknown and duplicate keys.
func Node(n ast.Node, into any) (err error) {
	defer survive(&err)
	return yaml.NodeToValue(n, into, yaml.Strict())
}

// Parse reads a document's structure, for the places of its keys.
func Parse(data []byte) (file *ast.File, err error) {
	defer survive(&err)
	if err := affordable(data); err != nil {
		return nil, err
	}
	return parser.ParseBytes(data, 0)
}

func survive(err *error) {
	if recover() != nil {
		*err = errUnreadable
	}
}
