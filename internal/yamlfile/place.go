package yamlfile

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

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
	several := At(n.GetToken(), errors.New("want one value here, and no list or mapping"))
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
			return At(t, errors.New(t.Value+" is no amount: want a number from 0 on"))
		}
	}
	return nil
}
