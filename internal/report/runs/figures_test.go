package runs

import (
	"encoding/json"
	"encoding/xml"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
)

// figure is a number with its unit, as people read it.
var figure = regexp.MustCompile(`[0-9][0-9,]*(?:\.[0-9]+)? (?:IOPS|[KMG]?i?B/s|[KMG]iB|ns|µs|ms|min)\b`)

var bare = regexp.MustCompile(`"([0-9][0-9,.]*)"`)

// TestAFigureIsPrintedOneWay renders one bundle in every format that people read and compares all
// figures: none may print a value in another way than the view from which all are laid out, and the
// key figures are in each.
func TestAFigureIsPrintedOneWay(t *testing.T) {
	for name, b := range map[string]*bundle.Bundle{"synthetic": synthetic(60), "recorded": recorded(t)} {
		d := Run(b)
		allowed := map[string]bool{}
		collect := func(s string) {
			for _, f := range figure.FindAllString(s, -1) {
				allowed[f] = true
			}
		}
		all := printed(d)
		collect(all)
		for _, m := range bare.FindAllStringSubmatch(all, -1) { // cells of a column of IOPS
			allowed[m[1]+" IOPS"] = true
		}
		rows := make([]row, len(b.Scenarios))
		for i := range rows {
			rows[i] = newRow(&b.Scenarios[i], i)
		}
		for _, charts := range chartsOf(b, rows) {
			collect(charts)
		}
		for _, format := range []page.Format{page.Text, page.Markdown, page.HTML, page.JUnit} {
			shown := visible(t, format, render(t, format, b, page.Options{Details: true, Width: 400}))
			for _, f := range figure.FindAllString(shown, -1) {
				if !allowed[f] {
					t.Errorf("%s: %s prints %q, which the view does not", name, format, f)
				}
			}
			for _, r := range rows {
				for what, value := range map[string]string{"measured": r.Measured, "p50": r.P50, "p99": r.P99, "ceiling": r.Ceiling} {
					if !strings.Contains(shown, value) && (format != page.JUnit || what == "measured") {
						t.Errorf("%s: %s of %s is %q, which is not in %s", name, what, r.Name, value, format)
					}
				}
			}
		}
	}
}

// printed is every text of a document.
func printed(d *page.Document) string {
	var all strings.Builder
	e := json.NewEncoder(&all)
	e.SetEscapeHTML(false)
	_ = e.Encode(d.Head)
	_ = e.Encode(d.Tests)
	d.Walk(func(b page.Block) {
		switch b := b.(type) {
		case page.Charts:
			_ = e.Encode(b.Table)
		case page.Code:
			_ = e.Encode(b.Args)
		case page.Section:
			_ = e.Encode([]string{b.Title, b.About})
		default:
			_ = e.Encode(b)
		}
	})
	return all.String()
}

// chartsOf are the descriptions of the charts, which HTML has besides the document's text.
func chartsOf(b *bundle.Bundle, rows []row) []string {
	var all []string
	for i := range b.Scenarios {
		_, charts := newDrawing(&b.Scenarios[i], rows[i])
		for _, c := range charts {
			all = append(all, c.Says, c.Caption, c.Most)
		}
	}
	return all
}

var (
	tags    = regexp.MustCompile(`(?s)<(?:style|script)[^>]*>.*?</(?:style|script)>|<[^>]*>`)
	escapes = strings.NewReplacer(`\`, "", "&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// visible is what a reader sees of a rendered report, on one line.
func visible(t *testing.T, f page.Format, s string) string {
	t.Helper()
	switch f { //nolint:exhaustive // the others are seen as they are
	case page.HTML:
		s = html.UnescapeString(tags.ReplaceAllString(s, " "))
	case page.Markdown:
		s = escapes.Replace(s)
	case page.JUnit:
		d := xml.NewDecoder(strings.NewReader(s))
		var all []string
		for {
			token, err := d.Token()
			if err != nil {
				break
			}
			switch token := token.(type) {
			case xml.CharData:
				all = append(all, string(token))
			case xml.StartElement:
				for _, a := range token.Attr {
					all = append(all, a.Value)
				}
			}
		}
		s = strings.Join(all, " ")
	}
	s = regexp.MustCompile(`PL[0-9]{3}`).ReplaceAllString(s, "") // a code before a word is no figure
	return strings.Join(slices.DeleteFunc(strings.Fields(s), func(w string) bool { return w == "" }), " ")
}
