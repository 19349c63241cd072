package report

import (
	"encoding/json"
	"encoding/xml"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/bundle"
)

// figure is a number with its unit, as people read it.
var figure = regexp.MustCompile(`[0-9][0-9,]*(?:\.[0-9]+)? (?:IOPS|[KMG]?i?B/s|[KMG]iB|ns|µs|ms|min)\b`)

var bare = regexp.MustCompile(`"([0-9][0-9,.]*)"`)

// TestAFigureIsPrintedOneWay renders one bundle in every format that people read and compares all
// figures: none may print a value in another way than the view from which all are laid out, and the
// key figures are in each.
func TestAFigureIsPrintedOneWay(t *testing.T) {
	for name, b := range map[string]*bundle.Bundle{"synthetic": synthetic(60), "recorded": recorded(t)} {
		v := newView(b)
		allowed := map[string]bool{}
		collect := func(s string) {
			for _, f := range figure.FindAllString(s, -1) {
				allowed[f] = true
			}
		}
		all, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		collect(strings.ReplaceAll(string(all), `µ`, "µ"))
		for _, m := range bare.FindAllStringSubmatch(string(all), -1) { // cells of a column of IOPS
			allowed[m[1]+" IOPS"] = true
		}
		for _, charts := range chartsOf(b, v) {
			collect(charts)
		}
		for _, format := range []Format{TTY, Markdown, HTML, JUnit} {
			shown := visible(t, format, render(t, format, b, Options{Width: 400}))
			for _, f := range figure.FindAllString(shown, -1) {
				if !allowed[f] {
					t.Errorf("%s: %s prints %q, which the view does not", name, format, f)
				}
			}
			for _, r := range v.Rows {
				for what, value := range map[string]string{"measured": r.Measured, "p50": r.P50, "p99": r.P99, "ceiling": r.Ceiling} {
					if !strings.Contains(shown, value) && (format != JUnit || what == "measured") {
						t.Errorf("%s: %s of %s is %q, which is not in %s", name, what, r.Name, value, format)
					}
				}
			}
		}
	}
}

// chartsOf are the descriptions of the charts, which HTML has besides the view.
func chartsOf(b *bundle.Bundle, v *view) []string {
	var all []string
	for i := range b.Scenarios {
		_, charts := newDrawing(&b.Scenarios[i], v.Rows[i])
		for _, c := range charts {
			all = append(all, c.Description, c.Caption, c.Most)
		}
	}
	return all
}

var (
	tags    = regexp.MustCompile(`(?s)<(?:style|script)[^>]*>.*?</(?:style|script)>|<[^>]*>`)
	escapes = strings.NewReplacer(`\`, "", "&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// visible is what a reader sees of a rendered report, on one line.
func visible(t *testing.T, f Format, s string) string {
	t.Helper()
	switch f { //nolint:exhaustive // the others are seen as they are
	case HTML:
		s = html.UnescapeString(tags.ReplaceAllString(s, " "))
	case Markdown:
		s = escapes.Replace(s)
	case JUnit:
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
	return strings.Join(slices.DeleteFunc(strings.Fields(s), func(w string) bool { return w == "" }), " ")
}
