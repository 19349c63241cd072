package page

import (
	"cmp"
	"reflect"
	"strings"
	"unicode"

	"plimsoll/internal/text"
)

// mostText is the longest sentence that a block may hold, in columns: some quote names from outside.
const mostText = 1200

// mostOf are the longest texts of fields that hold no sentence.
var mostOf = map[string]int{"Code": 12, "Severity": 12, "Tone": 24, "Subject": 80, "What": 80, "Title": 160, "Name": 48}

// clean makes all text of a document fit to print: control characters, bidirectional overrides
// and what is not UTF-8 become a replacement character. Names of hosts, jobs, files and devices come
// from outside and reach every kind of block; so it is done here for all of them, whoever built
// them, and the renderers add what their own syntax needs (escapes of Markdown, of HTML, of CSV).
// What is drawn is behind functions, and cleaned when it is made; what is written as JSON keeps its
// own escapes.
func clean(v reflect.Value, most int) {
	switch v.Kind() { //nolint:exhaustive // the others hold no text
	case reflect.String:
		v.SetString(text.Clean(v.String(), most))
	case reflect.Slice:
		for i := range v.Len() {
			clean(v.Index(i), most)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Data]() { // of programs, and another's value
			return
		}
		if code, ok := reflect.TypeAssert[*Code](v.Addr()); ok {
			code.clean()
			return
		}
		for f, field := range v.Fields() {
			clean(field, cmp.Or(mostOf[f.Name], mostText))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			clean(v.Elem(), most)
		}
	case reflect.Interface: // a block: a copy is cleaned and put in its place
		if v.IsNil() {
			return
		}
		c := reflect.New(v.Elem().Type()).Elem()
		c.Set(v.Elem())
		clean(c, most)
		v.Set(c)
	}
}

// clean keeps the spaces of lines, for they may be a layout.
func (c *Code) clean() {
	c.Title = text.Clean(c.Title, mostText)
	for i := range c.Lines {
		c.Lines[i] = cleanLine(c.Lines[i])
	}
	for i := range c.Args {
		c.Args[i] = cleanLine(c.Args[i])
	}
	if fit := c.Fit; fit != nil {
		c.Fit = func(width int, all bool) []string {
			lines := fit(width, all)
			for i := range lines {
				lines[i] = cleanLine(lines[i])
			}
			return lines
		}
	}
}

func cleanLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		if r == '\t' {
			return ' '
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}
