package runs

import (
	"bytes"
	"testing"

	"plimsoll/internal/report/page"
)

// The page of a history draws a chart for each series, complains about nothing and fits on a phone.
func TestBrowserHistory(t *testing.T) {
	ctx := browser(t)
	var history bytes.Buffer
	if err := page.Write(&history, page.HTML, History(someSeries(), nil), page.Options{}); err != nil {
		t.Fatal(err)
	}
	p := openPage(ctx, t, history.String())
	p.drawAll()
	if n := eval[int](p, `document.querySelectorAll('figure .plot[data-drawn]').length`); n != 1 {
		t.Errorf("%d charts, want 1", n)
	}
	p.shoot("history")
	p.phone()
	p.fits()
}
