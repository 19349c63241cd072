package report

import (
	"fmt"
	"io"

	"plimsoll/internal/advise"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Meets prints how far results meet a demand, a column a result.
func Meets(w io.Writer, m *advise.Met, o Options) error {
	t := newTerminal(w, o)
	t.para("", plain, fmt.Sprintf("The demand %s over %s", text.Clean(m.Demand.Name, longName), text.Duration(m.Time)))
	row := func(name, wanted string, cell func(*advise.MetSide) string) {
		fmt.Fprintf(t.out, "  %-22s %15s", name, wanted)
		for i := range m.Sides {
			fmt.Fprintf(t.out, " %18s", cell(&m.Sides[i]))
		}
		fmt.Fprintln(t.out)
	}
	fmt.Fprintln(t.out)
	row("", "demand", func(s *advise.MetSide) string { return text.Clean(s.Name, 18) })
	for k := range m.Demand.Streams {
		st := &m.Demand.Streams[k]
		name := st.Name
		if st.Burst != nil {
			name += " (" + text.Duration(st.Burst.For) + ")"
		}
		row(text.Clean(name, 22), st.Rate.String(), func(s *advise.MetSide) string {
			if c := s.Streams[k]; c.Known {
				return fmt.Sprintf("%v %s", c.Measured, text.Percent(c.Share))
			}
			return "not recorded"
		})
	}
	row(
		"moved",
		mebibytes(m.Moved),
		func(s *advise.MetSide) string { return mebibytes(s.Moved) + " " + text.Percent(s.Share) },
	)
	if len(m.Sides) > 0 {
		t.metLimits(m, row)
	}
	row("verdict", "", func(s *advise.MetSide) string {
		if s.Met {
			return "met"
		}
		return "not met"
	})
	fmt.Fprintln(t.out)
	t.para("", bold, m.Decision)
	for _, n := range m.Notes {
		t.para("- ", plain, n)
	}
	return t.out.Flush()
}

func (t *terminal) metLimits(m *advise.Met, row func(string, string, func(*advise.MetSide) string)) {
	for k := range m.Sides[0].Limits {
		l := m.Sides[0].Limits[k]
		name, wanted := l.Text, ""
		if l.Over > 0 {
			name, wanted = "I/Os above "+text.Duration(l.Over), "< "+text.Percent(l.Share)
		}
		row(text.Clean(name, 22), wanted, func(s *advise.MetSide) string {
			if k >= len(s.Limits) || !s.Limits[k].Known {
				return "not recorded"
			}
			if s.Limits[k].Over > 0 {
				return text.Percent(s.Limits[k].Above)
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
