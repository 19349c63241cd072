package plans

import (
	"fmt"
	"strings"

	"plimsoll/internal/advise"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Meets is the document of how far results meet a demand, a column for each result. data is its
// JSON.
func Meets(m *advise.Met, data any) *page.Document {
	d := &page.Document{Kind: "demand met", Data: page.DataOf("demand_met", data)}
	d.Head = page.Headline{
		Word: m.Decision, Tone: "pass", About: fmt.Sprintf("The demand %s over %s",
			text.Clean(m.Demand.Name, words.LongName), text.Duration(m.Time)),
	}
	t := page.NewTable("", "<", "demand")
	for i := range m.Sides {
		t.Columns = append(t.Columns, page.Column{Name: text.Clean(m.Sides[i].Name, 40)})
		if !m.Sides[i].Met {
			d.Head.Tone = "fail"
		}
		if s := &m.Sides[i]; len(s.Invalid) == 0 && (d.Head.Main == nil || s.Share > d.Head.Main.Value) {
			d.Head.Main = &page.Figure{Of: s.Name, Name: "moved", Value: s.Share, Unit: "share"}
		}
	}
	row := func(name, wanted string, cell func(*advise.MetSide) string) {
		cells := []string{name, wanted}
		for i := range m.Sides {
			cells = append(cells, cell(&m.Sides[i]))
		}
		t.Add(cells)
	}
	for k := range m.Demand.Streams {
		st := &m.Demand.Streams[k]
		name := st.Name
		if st.Burst != nil {
			name += " (" + text.Duration(st.Burst.For) + ")"
		}
		row(text.Clean(name, 40), st.Rate.String(), func(s *advise.MetSide) string {
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
	row("verdict", "", func(s *advise.MetSide) string {
		switch {
		case s.Met:
			return "met"
		case len(s.Invalid) > 0:
			return "INVALID"
		case !s.Missed && s.Open:
			return "cannot tell"
		}
		return "not met"
	})
	d.Records = metRecords(m)
	d.Add(t)
	if len(m.Notes) > 0 {
		d.Add(page.Note{Lead: "note", Lines: m.Notes})
	}
	return d
}

// metRecords are the rows of CSV: what each result did of what the demand asks, empty where it is not
// recorded.
func metRecords(m *advise.Met) *page.Table {
	t := page.NewTable("", "result", "verdict", "what", "unit", "wanted", "measured", "percent")
	for i := range m.Sides {
		s := &m.Sides[i]
		verdict := map[bool]string{true: "met", false: "not met"}[s.Met]
		switch {
		case len(s.Invalid) > 0 && !s.Met:
			verdict = "INVALID"
		case !s.Met && !s.Missed && s.Open:
			verdict = "cannot tell"
		}
		row := func(what, unit string, wanted, measured, share float64, known bool) {
			cells := append(page.Cells(s.Name, verdict, what, unit), page.Exact("known", wanted))
			if known {
				cells = append(cells, page.Exact("known", measured), page.Exact("known", 100*share))
			} else {
				cells = append(cells, page.Cell{}, page.Cell{})
			}
			t.Rows = append(t.Rows, cells)
		}
		for _, c := range s.Streams {
			row(c.Name, "bytes/s", float64(c.Wanted), float64(c.Measured), c.Share, c.Known)
		}
		row("moved", "bytes", float64(m.Moved), float64(s.Moved), s.Share, true)
		for _, l := range s.Limits {
			cells := page.Cells(s.Name, verdict, l.Text, "ns", "", "", "")
			if l.Over > 0 {
				cells = page.Cells(s.Name, verdict, "I/Os above "+text.Duration(l.Over), "percent", "", "", "")
				cells[4] = page.Exact("known", 100*l.Share)
			}
			switch {
			case l.Known && l.Over > 0:
				cells[5] = page.Exact("known", 100*l.Above.Least)
			case l.Known:
				cells[5] = page.Exact("known", float64(l.Latency))
			}
			t.Rows = append(t.Rows, cells)
		}
		if s.Sustained > 0 && s.Steady > 0 {
			row("instance sustains", "bytes/s", float64(s.Steady), float64(s.Sustained), float64(s.Sustained/s.Steady), true)
		}
	}
	return &t
}

func metLimits(m *advise.Met, row func(string, string, func(*advise.MetSide) string)) {
	for k := range m.Sides[0].Limits {
		l := m.Sides[0].Limits[k]
		name, wanted, _ := strings.Cut(l.Text, " < ") // of a percentile
		wanted = "< " + wanted
		if l.Over > 0 {
			name, wanted = "I/Os above "+text.Duration(l.Over), "< "+text.Percent(l.Share)
		}
		row(text.Clean(name, 40), wanted, func(s *advise.MetSide) string {
			if k >= len(s.Limits) || !s.Limits[k].Known {
				return "not recorded"
			}
			if s.Limits[k].Over > 0 {
				return s.Limits[k].Above.Print(text.Percent, 1)
			}
			return s.Limits[k].Latency.String()
		})
	}
	known := false
	for _, s := range m.Sides {
		known = known || s.Sustained > 0
	}
	if known {
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
