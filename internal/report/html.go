package report

import (
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"sync"

	"plimsoll/internal/bundle"
)

//go:embed assets/charts.js
var chartScript string

//go:embed assets/report.css
var style string

//go:embed assets/report.html
var markup string

// The page is parsed when first used: no command but those that write HTML pays for it.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"text": func(t table, column int) bool {
			return slices.Contains(t.Text, column) || column == 0 && len(t.Text) == 0
		},
		"bar":     func(share float64) float64 { return 100 * min(share/fullBar, 1) },
		"hundred": func(share float64) float64 { return 100 * share },
		"code":    func(id, phrase string) code { return code{id, phrase} },
	}).Parse(markup))
})

// fullBar is the share of its ceiling that fills a scenario's bar; the ceiling itself is marked on
// it.
const fullBar = 1.15

// code is a command with the ID by which its button finds it.
type code struct{ ID, Text string }

// htmlPage is what the template sees. The trusted types hold our own files and encoded JSON, never
// text from outside.
type htmlPage struct {
	*view
	Charts  [][]chart // by scenario
	Policy  string
	Style   template.CSS
	Script  template.JS
	Data    template.JS
	Ceiling float64 // where the ceiling stands on a bar, in percent
}

// writeHTML writes one file that needs nothing else. Its policy allows that one script and no
// request to anywhere; styles are inline because ECharts' tooltips set them so.
func writeHTML(out io.Writer, b *bundle.Bundle) error {
	p := htmlPage{
		view:    newView(b),
		Style:   template.CSS(style),
		Script:  template.JS(chartScript),
		Ceiling: 100 / fullBar,
	} //nolint:gosec // our own files
	sum := sha256.Sum256([]byte(chartScript))
	p.Policy = "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
	drawings := make([]drawing, len(b.Scenarios))
	p.Charts = make([][]chart, len(b.Scenarios))
	for i := range b.Scenarios {
		drawings[i], p.Charts[i] = newDrawing(&b.Scenarios[i], p.Rows[i])
		p.Charts[i] = drawings[i].account(b, &b.Scenarios[i], p.Charts[i])
	}
	data, err := chartData(drawings)
	if err != nil {
		return err
	}
	p.Data = template.JS(data)
	return pageTemplate().Execute(out, p)
}
