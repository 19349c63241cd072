package plans

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/advise"
	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Meets is the document of how far results meet a demand, a column for each result.
func Meets(m *advise.Met) *page.Document {
	d := page.New("demand met", m.Decision, "demand_met", m)
	d.Head.Tone, d.Head.About = "pass", fmt.Sprintf("The demand %s over %s", m.Demand.Name, text.Duration(m.Time))
	t := page.NewTable("<, demand")
	for _, s := range m.Sides {
		t.Columns = append(t.Columns, page.Column{Name: s.Name})
		if !s.Met {
			d.Head.Tone = "fail"
		}
		if len(s.Invalid) == 0 && (d.Head.Main == nil || s.Share > d.Head.Main.Value) {
			d.Head.Main = page.NewFigure(s.Name, "moved", s.Share, "share")
		}
	}
	row := func(name, wanted string, cell func(*advise.MetSide) string) {
		cells := []string{name, wanted}
		for i := range m.Sides {
			cells = append(cells, cell(&m.Sides[i]))
		}
		t.Add(cells)
	}
	for k, st := range m.Demand.Streams {
		name := st.Name
		if st.Burst != nil {
			name += " (" + text.Duration(st.Burst.For) + ")"
		}
		row(name, st.Rate.String(), func(s *advise.MetSide) string {
			if c := s.Streams[k]; c.Known {
				return fmt.Sprintf("%v %s", c.Measured, text.Percent(c.Share))
			}
			return "not recorded"
		})
	}
	row("moved", mebibytes(m.Moved),
		func(s *advise.MetSide) string { return mebibytes(s.Moved) + " " + text.Percent(s.Share) })
	if len(m.Sides) > 0 {
		metLimits(m, row)
	}
	row("verdict", "", metWord)
	d.Records = metRecords(m)
	if len(m.Sides) > mostBeside {
		t = t.Turned(len(m.Demand.Streams) + 1)
	}
	d.Add(t, page.Lead("note", m.Notes...))
	return d
}

// mostBeside is how many results stand beside each other; more stand below each other.
const mostBeside = 2

// metWord says whether a result meets the demand.
func metWord(s *advise.MetSide) string {
	switch {
	case s.Met:
		return "met"
	case len(s.Invalid) > 0:
		return "INVALID"
	case !s.Missed && s.Open:
		return "cannot tell"
	}
	return "not met"
}

// metRecords are the rows of CSV: what each result did of what the demand asks, empty where it is not
// recorded.
func metRecords(m *advise.Met) page.Table {
	t := page.NewTable("result, verdict, what, unit, wanted, measured, percent")
	for _, s := range m.Sides {
		row := func(what, unit string, wanted, measured, share float64, known bool) {
			cells := page.Cells(s.Name, metWord(&s), what, unit, page.Exact("known", wanted))
			if known {
				cells = append(cells, page.Exact("known", measured), page.Exact("known", 100*share))
			}
			t.Add(cells)
		}
		for _, c := range s.Streams {
			row(c.Name, "bytes/s", float64(c.Wanted), float64(c.Measured), c.Share, c.Known)
		}
		row("moved", "bytes", float64(m.Moved), float64(s.Moved), s.Share, true)
		for _, l := range s.Limits {
			what, unit, wanted, measured := l.Text, "ns", page.Cell{}, page.Exact("known", l.Latency)
			if l.Over > 0 {
				what, unit, wanted = "I/Os above "+text.Duration(l.Over), "percent", page.Exact("known", 100*l.Share)
				measured = page.Exact("known", 100*l.Above.Least)
			}
			if !l.Known {
				measured = page.Cell{}
			}
			t.Add(s.Name, metWord(&s), what, unit, wanted, measured)
		}
		if s.Sustained > 0 && s.Steady > 0 {
			row("instance sustains", "bytes/s", float64(s.Steady), float64(s.Sustained), float64(s.Sustained/s.Steady), true)
		}
	}
	return t
}

func metLimits(m *advise.Met, row func(string, string, func(*advise.MetSide) string)) {
	for k := range m.Sides[0].Limits {
		l := m.Sides[0].Limits[k]
		name, wanted, _ := strings.Cut(l.Text, " < ") // of a percentile
		wanted = "< " + wanted
		if l.Over > 0 {
			name, wanted = "I/Os above "+text.Duration(l.Over), "< "+text.Percent(l.Share)
		}
		row(name, wanted, func(s *advise.MetSide) string {
			if k >= len(s.Limits) || !s.Limits[k].Known {
				return "not recorded"
			}
			if s.Limits[k].Over > 0 {
				return s.Limits[k].Above.Print(text.Percent, 1)
			}
			return s.Limits[k].Latency.String()
		})
	}
	if slices.ContainsFunc(m.Sides, func(s advise.MetSide) bool { return s.Sustained > 0 }) {
		row("instance sustains", m.Sides[0].Steady.String(), func(s *advise.MetSide) string {
			if s.Sustained == 0 {
				return "unknown"
			}
			return fmt.Sprintf("%v %s", s.Sustained, text.Percent(min(1, float64(s.Sustained/s.Steady))))
		})
	}
}

// mebibytes keeps amounts of one table in one unit.
func mebibytes(b units.Bytes) string { return text.Count(int64((b+units.MiB/2)/units.MiB)) + " MiB" }
