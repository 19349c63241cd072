package report

import (
	"crypto/sha256"
	_ "embed" // the parts that pages share
	"encoding/base64"
	"html/template"
	"slices"
)

//go:embed assets/parts.html
var partsMarkup string

// scripted parses a page that may use the parts that pages with charts share: "head", from the
// doctype to the stylesheet, "brand", "rows" of a table, and "tail" with data and script.
func scripted(name, markup string) *template.Template {
	t := template.New(name).Funcs(template.FuncMap{
		"text": func(t table, column int) bool { return slices.Contains(t.Text, column) },
	})
	return template.Must(template.Must(t.Parse(partsMarkup)).Parse(markup))
}

// scriptedPage is what the shared parts of a page need.
type scriptedPage struct {
	Policy string
	Style  template.CSS
	Script template.JS
	Data   template.JS
}

// newScripted allows the one script by its hash and no request to anywhere. data is JSON in which
// <, > and & are escaped.
func newScripted(data []byte) scriptedPage {
	sum := sha256.Sum256([]byte(chartScript))
	return scriptedPage{
		Policy: "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
		Style:  template.CSS(style),
		Script: template.JS(chartScript), //nolint:gosec // our own files
		Data:   template.JS(data),        //nolint:gosec // escaped JSON
	}
}
