package runs

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"plimsoll/internal/compare"
	"plimsoll/internal/report/compared"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
)

// History is the document of series of runs, what became of the newest of each first.
func History(all []compare.Series, notes []string) *page.Document {
	data := struct {
		Series []compare.Series
		Notes  []string `json:"notes,omitempty"`
	}{append([]compare.Series{}, all...), notes}
	d := page.New("history", historyAnswer(all), "history", data)
	d.Records = historyRecords(all)
	historySays(&d.Head, all)
	for i, s := range all {
		one := series(i, s)
		if i >= mostSeries {
			one.Level = page.Detail
		}
		d.Add(one)
	}
	d.Add(page.Lead("note", notes...))
	return d
}

// mostSeries is how many series are no details.
const mostSeries = 3

// historyAnswer is "3 series, 24 figures, 2 of them INVALID".
func historyAnswer(all []compare.Series) string {
	if len(all) == 0 {
		return "no runs"
	}
	points, invalid := 0, 0
	for _, s := range all {
		points += len(s.Points)
		for _, p := range s.Points {
			if p.Invalid != "" {
				invalid++
			}
		}
	}
	return words.When(points == len(all), "nothing to compare yet: ") + text.Several(all, "series", "series") + ", " +
		text.Plural(points, "figure") + words.When(invalid > 0, fmt.Sprintf(", %d of them INVALID", invalid))
}

// mostChanges is how many series the head names.
const mostChanges = 3

// historySays names the newest change of the series that have one, first those that hold.
func historySays(h *page.Headline, all []compare.Series) {
	for _, over := range []bool{false, true} {
		for _, s := range all {
			if n := len(s.Changes); n > 0 && s.Changes[n-1].Over == over && len(h.Says) < mostChanges {
				h.Say(seriesTitle(s.Key) + ", " + changeText(s.Changes[n-1]))
			}
		}
	}
}

// changeText is a change with its night.
func changeText(l compare.Lasting) string {
	return l.At.UTC().Format("2006-01-02") + ": " + l.String() + words.When(l.Over, "; ended")
}

// seriesTitle is what a series measures and where.
func seriesTitle(k compare.Key) string {
	return text.Join("; ", k.Suite+", "+k.Scenario, k.Group, k.Layout, k.Size, k.Runtime, k.Scale)
}

func series(i int, s compare.Series) page.Section {
	section := page.Section{
		Anchor: fmt.Sprintf("s%d", i), Of: "more series", Title: seriesTitle(s.Key), About: s.Key.Work,
	}
	rows := page.NewTable("<when, " + s.Figure.Name + ", ±?, rounds??, of ceiling?, <verdict, <trend, <run???")
	most := 0.0
	for _, p := range s.Points {
		if p.Invalid == "" {
			most = max(most, p.Value.Center)
		}
	}
	for _, p := range s.Points {
		rows.Add(historyRow(s, p, most))
	}
	changes := page.Note{Title: "steps and drifts"}
	for _, l := range s.Changes {
		changes.Say("%s", changeText(l))
	}
	section.Add(changes, page.Charts{See: "the table below", Draw: func() page.Drawing {
		return page.Drawing{Data: newTrend(s), Charts: []page.Chart{{
			Kind: "trend", Wide: true, Caption: s.Figure.Name + " by run; dashed lines are the 95 % interval over rounds",
			Says: fmt.Sprintf("%s over %s", s.Figure.Name, text.Several(s.Points, "run")),
		}}}
	}}, rows)
	return section
}

func historyRow(s compare.Series, p compare.Point, most float64) []page.Cell {
	value, bar := words.None, ""
	verdict := page.Toned(p.Verdict)
	if p.Value.Center > 0 {
		value = words.Amount(p.Value.Center, s.Figure.Unit)
		bar = strings.Repeat("▇", max(1, int(math.Round(12*p.Value.Center/most))))
	}
	figure := page.T(value)
	if p.Invalid != "" {
		verdict = page.Cell{Text: "INVALID", Tone: "invalid"}
		if bar = ""; value != words.None {
			figure.Struck, verdict.Text = true, ""
		}
	}
	return page.Cells(p.At.UTC().Format("2006-01-02 15:04"), figure, words.PlusMinus(p.Value, p.Rounds), p.Rounds,
		words.When(p.Share > 0, text.Percent(p.Share)), verdict, bar, p.Run)
}

// historyRecords has a row for each point.
func historyRecords(all []compare.Series) page.Table {
	t := page.NewTable("suite, scenario, group, layout, size, runtime, work, run, time, figure, unit, value, low, " +
		"high, rounds, share_of_ceiling, verdict, invalid, kernel, fio")
	for _, s := range all {
		k := s.Key
		for _, p := range s.Points {
			t.Record(k.Suite, k.Scenario, k.Group, k.Layout, k.Size, k.Runtime, k.Work, p.Run, p.At.UTC().Format(time.RFC3339),
				s.Figure.Name, s.Figure.Unit, p.Value.Center, p.Value.Lo, p.Value.Hi, p.Rounds, p.Share, p.Verdict, p.Invalid,
				p.Facts["kernel"], p.Facts["fio"])
		}
	}
	return t
}

// trend is what the script draws of a series: web/src/charts.js.
type trend struct {
	Unit          string
	T             []string
	At, Low, High []float64
}

func newTrend(s compare.Series) *trend {
	t := &trend{
		Unit: cmp.Or(s.Figure.Name, "IOPS"), T: []string{}, At: []float64{}, Low: []float64{}, High: []float64{},
	}
	scale := compared.Scale(s.Figure)
	for _, p := range s.Points {
		at, low, high := p.Value.Center/scale, math.NaN(), math.NaN()
		if p.Invalid != "" || at <= 0 {
			at = math.NaN()
		} else if p.Rounds > 1 {
			low, high = p.Value.Lo/scale, p.Value.Hi/scale
		}
		t.T = append(t.T, p.At.UTC().Format("2006-01-02 15:04"))
		t.At, t.Low, t.High = append(t.At, at), append(t.Low, low), append(t.High, high)
	}
	return t
}
