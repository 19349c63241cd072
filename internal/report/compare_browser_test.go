package report

import (
	"bytes"
	"testing"
)

// The pages of comparisons and histories draw a chart for each work or series, complain about
// nothing and fit on a phone.
func TestBrowserCompare(t *testing.T) {
	ctx := browser(t)
	var compared, history bytes.Buffer
	if err := Compare(&compared, HTML, comparedTable(), Options{}); err != nil {
		t.Fatal(err)
	}
	if err := History(&history, HTML, someSeries(), nil); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		html   string
		charts int
	}{"comparison": {compared.String(), 3}, "history": {history.String(), 1}} {
		t.Run(name, func(t *testing.T) {
			p := openPage(ctx, t, c.html)
			p.drawAll()
			if n := eval[int](p, `document.querySelectorAll('.plot svg path').length`); n < c.charts {
				t.Errorf("%d paths are drawn", n)
			}
			if n := eval[int](p, `document.querySelectorAll('figure .plot[data-drawn]').length`); n != c.charts {
				t.Errorf("%d charts, want %d", n, c.charts)
			}
			p.shoot(name)
			p.phone()
			p.fits()
		})
	}
}
