package runs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/stats"
)

// someSweep is a grid of depth and block size on a volume of 20,000 IOPS and 0.5 ms; one point is
// invalid, for a reason that is hostile.
func someSweep() *compare.Swept {
	s := &compare.Swept{Scenario: "rand-read", Axes: []string{"bs", "iodepth"}}
	for _, bs := range []string{"4k", "16k", "64k"} {
		most := map[string]float64{"4k": 20000, "16k": 12000, "64k": 3000}[bs]
		c := compare.SweptCurve{At: map[string]string{"bs": bs}}
		var depths, iops []float64
		for _, depth := range []int{1, 2, 4, 8, 16, 32, 64} {
			n := min(float64(depth)/.0005, most) * (1 + .01*math.Sin(float64(depth)))
			p := compare.SweptPoint{
				At: map[string]string{"bs": bs, "iodepth": fmt.Sprint(depth)}, InFlight: depth, BW: n * 4096, Rounds: 2,
				IOPS: stats.Estimate{Center: n, Lo: .98 * n, Hi: 1.02 * n, N: 2}, P50: 1e9 * float64(depth) / n, P99: 3e9 * float64(depth) / n, Ceiling: 20000,
			}
			if depth == 8 && bs == "64k" {
				p.Invalid = "</script><script>alert(1)</script>"
			}
			depths, iops = append(depths, float64(depth)), append(iops, n)
			s.Points = append(s.Points, p)
		}
		c.Curve, _ = stats.FitCurve(depths, iops)
		last := len(s.Points) - 1
		c.Knee, c.Deepest, c.Predicted = s.Points[last-3], s.Points[last], 10
		s.Curves = append(s.Curves, c)
	}
	return s
}

func someMost() *compare.Most {
	m := &compare.Most{
		Scenario: "rand-read", Threshold: "read.clat.p99 <= 2ms", Limit: 2e6, Bracket: stats.Bracket{Low: 14300, High: 14700, Done: true},
		Closed: &compare.MostProbe{ID: 1, Achieved: 19950, Latency: 8e6, Outcome: compare.ProbeMissed}, Ceiling: 20000, CheckTime: time.Minute,
		Check: &compare.MostProbe{ID: 9, Asked: 13871, Achieved: 13880, Latency: 1.7e6, Streams: 118, Busy: .08, Lag: 4e4, Outcome: compare.ProbeMet},
	}
	for i, load := range []float64{4517, 9600, 15000, 12300, 13650, 14325, 14662, 14300, 14700} {
		rho := load / 20000
		p := compare.MostProbe{ID: i + 2, Asked: load, Achieved: load, Latency: 9e5 * (1 + .6*rho*rho/(1-rho)), Streams: 100, Outcome: compare.ProbeMet}
		if p.Latency > 2e6 {
			p.Outcome = compare.ProbeMissed
		}
		m.Probes = append(m.Probes, p)
	}
	m.Probes[2].Outcome, m.Probes[2].Achieved = compare.ProbeBehind, 12000
	return m
}

func TestSweepIsWrittenInEveryFormat(t *testing.T) {
	finished := &bundle.Bundle{Run: bundle.Run{State: bundle.Finished}}
	for _, f := range page.Formats() {
		var swept, most bytes.Buffer
		if err := page.Write(&swept, f, Swept(someSweep()), page.Options{Details: true, Width: 120}); err != nil {
			t.Fatal(f, err)
		}
		if err := page.Write(&most, f, Most(finished, someMost()), page.Options{Details: true, Width: 120}); err != nil {
			t.Fatal(f, err)
		}
		for name, c := range map[string]struct {
			got  string
			want map[page.Format]string
		}{
			"grid": {swept.String(), map[page.Format]string{
				page.Text: "bs=4k knee at ", page.Markdown: "| 4k | 1 | 2,017 |", page.CSV: "4k,1,1,2,2016.83", page.JSON: `"in_flight": 64`, page.HTML: `data-chart="grid"`,
			}},
			"search": {most.String(), map[page.Format]string{
				page.Text:     "13,871 IOPS for 60 s: 1.7 ms, met. Short probes: 14,300 to 14,700 IOPS (9 probes)",
				page.Markdown: "14,300 to 14,700 IOPS (9 probes): the lower rate meets the threshold",
				page.CSV:      "4,probe,15000,12000,", page.JSON: `"streams": 118`, page.HTML: `data-chart="search"`,
			}},
		} {
			if !strings.Contains(c.got, c.want[f]) {
				t.Errorf("%s as %s has no %q:\n%.3000s", name, f, c.want[f], c.got)
			}
			if f == page.HTML && strings.Contains(c.got, "<script>alert") {
				t.Errorf("%s: a reason became a script", name)
			}
			if f == page.CSV {
				if rows, err := csv.NewReader(strings.NewReader(c.got)).ReadAll(); err != nil || len(rows) < 10 {
					t.Errorf("%s: %d rows, %v", name, len(rows), err)
				}
			}
		}
	}
}

// The answer of a search is what its own check confirmed: where that missed the threshold, there is none.
func TestSearchIsWhatItsCheckConfirmed(t *testing.T) {
	finished := &bundle.Bundle{Run: bundle.Run{State: bundle.Finished}}
	for outcome, c := range map[string]struct {
		word, tone string
		main       float64
	}{
		compare.ProbeMet:    {"13,871 IOPS for 60 s: 1.7 ms, met. ", "pass", 13871},
		compare.ProbeMissed: {"no answer: 13,871 IOPS for 60 s: 1.7 ms, missed. ", "measured", 0},
		"":                  {"14,300 to 14,700 IOPS (9 probes)", "pass", 14300},
	} {
		m := someMost()
		if m.Check.Outcome = outcome; outcome == "" {
			m.Check = nil
		}
		head, main := Most(finished, m).Head, 0.0
		if head.Main != nil {
			main = head.Main.Value
		}
		if !strings.HasPrefix(head.Word, c.word) || head.Tone != c.tone || main != c.main {
			t.Errorf("%q: %q, %s, %v; want %+v", outcome, head.Word, head.Tone, main, c)
		}
	}
}

// Heat maps and curves of a sweep and the points of a search are drawn, in the light and on paper;
// nothing is complained about, and it fits on a phone.
func TestBrowserSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	ctx := browser(t)
	var swept, most bytes.Buffer
	if err := page.Write(&swept, page.HTML, Swept(someSweep()), page.Options{Details: true, Width: 120}); err != nil {
		t.Fatal(err)
	}
	if err := page.Write(&most, page.HTML, Most(&bundle.Bundle{Run: bundle.Run{State: bundle.Finished}}, someMost()), page.Options{Details: true, Width: 120}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		html           string
		charts, shapes int
	}{"sweep": {swept.String(), 4, 60}, "most": {most.String(), 1, 9}} {
		t.Run(name, func(t *testing.T) {
			p := openPage(ctx, t, c.html)
			p.drawAll()
			if n := eval[int](p, `document.querySelectorAll('figure .plot[data-drawn]').length`); n != c.charts {
				t.Errorf("%d charts, want %d", n, c.charts)
			}
			if n := eval[int](p, `document.querySelectorAll('.plot svg path').length`); n < c.shapes {
				t.Errorf("%d shapes are drawn, want %d", n, c.shapes)
			}
			p.shoot(name)
			p.phone()
			p.fits()
		})
	}
}

// Where every point is INVALID the figures are struck out, not hidden, and the head says so.
func TestInvalidSweepShowsWhatItMeasured(t *testing.T) {
	s := someSweep()
	for i := range s.Points {
		p := &s.Points[i]
		p.Invalid, p.Struck, p.IOPS = "PL425: other processes used the CPU", p.IOPS.Center, stats.Estimate{}
	}
	var out, html bytes.Buffer
	if err := errors.Join(page.Write(&out, page.Text, Swept(s), page.Options{Details: true, Width: 120}),
		page.Write(&html, page.HTML, Swept(s), page.Options{Details: true})); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(html.String(), `href="#charts"`) {
		t.Error("there is a section for charts, and nothing to draw")
	}
	if got := out.String(); !strings.Contains(got, "every point is INVALID\n") || !strings.Contains(got, "2,017 INVALID") {
		t.Errorf("%s", got)
	}
}
