package machine

import (
	"fmt"
	"io"
	"strings"
	"time"

	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
)

// Minutes prints what plimsoll why --watch sees: a line per minute as it ends, and a sum at the end.
// As JSON each is an object on a line of its own.
type Minutes struct {
	Out  io.Writer
	JSON bool
	Sum  live.Sum
	err  error
	// Metrics writes the whole of what a scrape reads, after each minute; nil for nobody.
	Metrics func(text string) error
	Path    string
	slow    map[live.Whose]time.Duration
}

// openMetrics is the last minute as OpenMetrics text, which the node exporter's textfile collector reads, too.
func (m *Minutes) openMetrics(one live.Minute) string {
	if m.slow == nil {
		m.slow = map[live.Whose]time.Duration{}
	}
	m.slow[one.Whose] += one.Slow
	var b strings.Builder
	label := strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n").Replace
	path := label(m.Path)
	b.WriteString("# TYPE plimsoll_slow_seconds counter\n# UNIT plimsoll_slow_seconds seconds\n")
	for _, w := range []live.Whose{live.Theirs, live.Yours, live.Here, live.Unknown} {
		fmt.Fprintf(&b, "plimsoll_slow_seconds_total{path=\"%s\",whose=\"%s\"} %g\n", path, w, m.slow[w].Seconds())
	}
	b.WriteString("# TYPE plimsoll_io_wait_seconds gauge\n# UNIT plimsoll_io_wait_seconds seconds\n")
	fmt.Fprintf(&b, "plimsoll_io_wait_seconds{path=\"%s\"} %g\n", path, float64(one.Wait)/1e9)
	b.WriteString("# TYPE plimsoll_first_cause gauge\n")
	if one.First != "" {
		fmt.Fprintf(&b, "plimsoll_first_cause{path=\"%s\",code=\"%s\",subject=\"%s\"} 1\n", path, one.First,
			label(text.Clean(one.Subject, 80)))
	}
	b.WriteString("# TYPE plimsoll_limit_used_ratio gauge\n# UNIT plimsoll_limit_used_ratio ratio\n")
	if one.Used != nil {
		for _, u := range *one.Used {
			fmt.Fprintf(&b, "plimsoll_limit_used_ratio{path=\"%s\",of=\"%s\",limit=\"%s\"} %g\n", path,
				label(text.Clean(u.Of, 80)), label(u.Limit), u.Share)
		}
	}
	return b.String() + "# EOF\n"
}

// Add prints a minute and counts it.
func (m *Minutes) Add(one live.Minute) {
	m.Sum.Add(one)
	if m.Metrics != nil && m.err == nil {
		m.err = m.Metrics(m.openMetrics(one))
	}
	if m.err != nil {
		return
	}
	if m.JSON {
		m.err = page.Line(m.Out, one)
		return
	}
	_, m.err = fmt.Fprintln(m.Out, minuteLine(one))
}

// End prints the sum. Its error is the first of all writing.
func (m *Minutes) End() error {
	if m.err != nil || m.Sum.Minutes == 0 {
		return m.err
	}
	if m.JSON {
		return page.Line(m.Out, struct {
			Sum *live.Sum `json:"sum"`
		}{&m.Sum})
	}
	_, err := fmt.Fprintln(m.Out, sumLine(&m.Sum))
	return err
}

func minuteLine(m live.Minute) string {
	state := "ok"
	if m.Slow > 0 {
		state = "slow " + text.Duration(m.Slow.Round(time.Second))
	}
	line := fmt.Sprintf("%s  %-9s  ", m.Start.Format("15:04"), state)
	if m.First != "" {
		line += fmt.Sprintf("%s %s  ", m.First, m.Subject)
	}
	if m.IOPS == 0 && m.Slow == 0 {
		return line + "idle"
	}
	line += fmt.Sprintf("%s, %s waiting, %s IOPS", m.Wait, tenth(m.Waiting), tenth(float64(m.IOPS)))
	switch m.Whose {
	case live.Fine:
		return line
	case live.Unknown:
		return line + "  (cause unknown)"
	case live.Theirs, live.Yours, live.Here:
	}
	return line + "  (" + string(m.Whose) + ")"
}

func sumLine(s *live.Sum) string {
	var parts []string
	if s.Theirs > 0 {
		parts = append(parts, fmt.Sprintf("%s theirs (%s)", text.Count(s.Theirs), theirs(s)))
	}
	for _, side := range []struct {
		n    int
		who  live.Whose
		what string
	}{
		{s.Yours, live.Yours, "yours"},
		{s.Here, live.Here, "of this machine"},
		{s.Unknown, live.Unknown, "slow for an unknown cause"},
	} {
		if side.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", text.Count(side.n), side.what, counts(s.Of(side.who))))
		}
	}
	parts = append(parts, text.Count(s.Fine)+" fine")
	return text.Plural(s.Minutes, "minute") + ": " + strings.Join(parts, ", ") + "."
}

// theirs says how the storage failed to give what is stated of it.
func theirs(s *live.Sum) string {
	var how []string
	if below := s.Theirs - s.Silent; below > 0 {
		how = append(how, text.Count(below)+" below 90 % of a volume's stated rate while I/Os waited in it")
	}
	if s.Silent > 0 {
		how = append(how, text.Count(s.Silent)+" without an answer")
	}
	return strings.Join(how, ", ")
}

func counts(all []live.CodeMinutes) string {
	var parts []string
	for _, c := range all {
		parts = append(parts, fmt.Sprintf("%s %s", c.Code, text.Count(c.Minutes)))
	}
	return strings.Join(parts, ", ")
}
