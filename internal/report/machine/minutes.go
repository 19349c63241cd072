package machine

import (
	"fmt"
	"io"
	"strings"
	"time"

	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
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
	slow := page.NewMetric("counter", "plimsoll_slow_seconds", "", "seconds")
	for _, w := range []live.Whose{live.Theirs, live.Yours, live.Here, live.Unknown} {
		slow.Add(m.slow[w].Seconds(), "path", m.Path, "whose", string(w))
	}
	wait := page.NewMetric("gauge", "plimsoll_io_wait_seconds", "", "seconds")
	wait.Add(float64(one.Wait)/1e9, "path", m.Path)
	first := page.NewMetric("gauge", "plimsoll_first_cause", "", "")
	if one.First != "" {
		first.Add(1, "path", m.Path, "code", string(one.First), "subject", one.Subject)
	}
	used := page.NewMetric("gauge", "plimsoll_limit_used_ratio", "", "ratio")
	if one.Used != nil {
		for _, u := range *one.Used {
			used.Add(u.Share, "path", m.Path, "of", u.Of, "limit", u.Limit)
		}
	}
	return page.Metrics(slow, wait, first, used)
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
		m.err = page.Line(m.Out, struct {
			Schema int `json:"schema_version"`
			live.Minute
		}{page.Schema, one})
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
			Schema int `json:"schema_version"`
			Sum    *live.Sum
		}{page.Schema, &m.Sum})
	}
	_, err := fmt.Fprintln(m.Out, sumLine(&m.Sum))
	return err
}

func minuteLine(m live.Minute) string {
	state := text.Either(m.Slow > 0, "slow "+text.Duration(m.Slow.Round(time.Second)), "ok")
	line := fmt.Sprintf("%s  %-9s  ", m.Start.Format("15:04"), state)
	if m.First != "" {
		line += fmt.Sprintf("%s %s  ", m.First, m.Subject)
	}
	if m.IOPS == 0 && m.Slow == 0 {
		return line + "idle"
	}
	line += fmt.Sprintf("%s, %s waiting, %s IOPS", m.Wait, tenth(m.Waiting), tenth(float64(m.IOPS)))
	switch m.Whose { //nolint:exhaustive // the others are words
	case live.Fine:
		return line
	case live.Unknown:
		return line + "  (cause unknown)"
	}
	return line + "  (" + string(m.Whose) + ")"
}

func sumLine(s *live.Sum) string {
	var parts text.Lines
	add := func(n int, what, why string) {
		if n > 0 {
			parts.Say("%s %s (%s)", text.Count(n), what, why)
		}
	}
	add(s.Theirs, "theirs", theirs(s))
	add(s.Yours, "yours", counts(s.Of(live.Yours)))
	add(s.Here, "of this machine", counts(s.Of(live.Here)))
	add(s.Unknown, "slow for an unknown reason", counts(s.Of(live.Unknown)))
	parts.Say("%s fine", text.Count(s.Fine))
	return text.Plural(s.Minutes, "minute") + ": " + strings.Join(parts, ", ") + "."
}

// theirs says how the storage failed to give what is stated of it.
func theirs(s *live.Sum) string {
	n := s.Theirs - s.Silent
	return text.Join(", ",
		words.When(n > 0, text.Count(n)+" below 90 % of a volume's stated rate while I/Os waited on it"),
		words.When(s.Silent > 0, text.Count(s.Silent)+" without a response"))
}

func counts(all []live.CodeMinutes) string {
	var parts text.Lines
	for _, c := range all {
		parts.Say("%s %s", c.Code, text.Count(c.Minutes))
	}
	return strings.Join(parts, ", ")
}
