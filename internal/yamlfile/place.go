package yamlfile

import (
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

// placed puts an error at the first value of a document that cannot be decoded by itself: of units and other types
// that read their own text the library does not say the place.
func placed(data []byte, into any, err error) error {
	_, byLibrary := errors.AsType[yaml.Error](err)
	_, known := errors.AsType[*Place](err)
	if err == nil || byLibrary || known || len(data) > mostBytes/4 || errors.Is(err, errUnreadable) {
		return err
	}
	file, wrong := Parse(data)
	if wrong != nil || len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return err
	}
	if found := culprit(file.Docs[0].Body, "", reflect.TypeOf(into).Elem(), err); found != nil {
		return found
	}
	return err
}

// culprit looks for the value of an error below a node that stands behind the keys and dashes of ahead; nil for none.
func culprit(n ast.Node, ahead string, into reflect.Type, err error) (found error) {
	if strings.Count(ahead, "\n") > mostDepth {
		return nil
	}
	alone := func(value string) bool {
		again := decode([]byte(ahead+" "+value), reflect.New(into).Interface(), yaml.Strict())
		return again != nil && again.Error() == err.Error()
	}
	single := func() error {
		if strings.Contains(err.Error(), "Unmarshaler") { // "does not implemented"
			err = errors.New("want one value here, and no list or mapping")
		}
		return At(n.GetToken(), err)
	}
	deeper := func(sign string, n ast.Node) error {
		return culprit(n, ahead+"\n"+strings.Repeat(" ", strings.Count(ahead, "\n"))+sign, into, err)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		if alone("{}") {
			return single()
		}
		for _, v := range n.Values {
			if found = deeper(v.Key.String()+":", v.Value); found != nil {
				break
			}
		}
	case *ast.SequenceNode:
		if alone("[]") {
			return single()
		}
		for _, v := range n.Values {
			if found = deeper("-", v); found != nil {
				break
			}
		}
	default:
		if alone(n.String()) {
			return At(n.GetToken(), err)
		}
	}
	return found
}

// Amounts refuses numbers of a document that are no amount of anything: negative, endless, or none. What is
// quoted is no number.
func Amounts(data []byte) error {
	for _, t := range lexer.Tokenize(string(data)) {
		if slices.Contains([]token.Type{token.SingleQuoteType, token.DoubleQuoteType}, t.Type) {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimPrefix(t.Value, "."), 64)
		if err == nil && !(v >= 0 && v <= 1e18) {
			return At(t, errors.New(t.Value+" is no amount: want a number from 0 on"))
		}
	}
	return nil
}
