package report

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/compare"
	"plimsoll/internal/text"
)

// HistoryFormats names the formats of histories; the first is for the terminal.
func HistoryFormats() []Format { return []Format{TTY, CSV, JSON, HTML} }

// History writes series of runs.
func History(w io.Writer, f Format, all []compare.Series, notes []string) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var err error
	switch f {
	case TTY:
		historyTTY(out, all, notes)
	case CSV:
		err = historyCSV(out, all)
	case JSON:
		if all == nil {
			all = []compare.Series{}
		}
		err = WriteJSON(out, "history", struct {
			Series []compare.Series `json:"series"`
			Notes  []string         `json:"notes,omitempty"`
		}{all, notes})
	case HTML:
		err = historyHTML(out, all, notes)
	case Markdown, JUnit:
		fallthrough
	default:
		return unknownFormat(f, HistoryFormats())
	}
	if err != nil {
		return fmt.Errorf("history as %s: %w", f, err)
	}
	return out.Flush()
}

// seriesTitle is what a series measures and where.
func seriesTitle(k compare.Key) string {
	parts := []string{k.Suite + ", " + k.Scenario}
	for _, p := range []string{k.Group, k.Layout, k.Size, k.Runtime, k.Scale} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return text.Clean(strings.Join(parts, "; "), 2*longName)
}

func historyTTY(out io.Writer, all []compare.Series, notes []string) {
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s\n  %s\n", seriesTitle(s.Key), text.Clean(s.Key.Work, 2*longName))
		rows := [][]string{{"  when", s.Figure.Name, "", "rounds", "of ceiling", "verdict", "trend", "run"}}
		most := 0.0
		for _, p := range s.Points {
			most = max(most, p.Value.Center)
		}
		for _, p := range s.Points {
			rows = append(rows, historyRow(s, p, most))
		}
		columns(out, rows, 1, 3, 4)
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "no runs")
	}
	for i, n := range notes {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "note: %s\n", text.Clean(n, longSentence))
	}
}

func historyRow(s compare.Series, p compare.Point, most float64) []string {
	value, bar, verdict := none, "", text.Clean(p.Verdict, 12)
	if p.Value.Center > 0 {
		value = amount(p.Value.Center, s.Figure.Unit)
		bar = strings.Repeat("▇", max(1, int(math.Round(16*p.Value.Center/most))))
	}
	share := ""
	if p.Share > 0 {
		share = text.Percent(p.Share)
	}
	if p.Invalid != "" {
		verdict = "INVALID"
	}
	return []string{
		"  " + p.At.UTC().Format("2006-01-02 15:04"),
		value,
		plusMinus(p.Value, p.Rounds),
		strconv.Itoa(p.Rounds),
		share,
		verdict,
		bar,
		text.Clean(p.Run, longName),
	}
}

// historyCSV writes a row a point.
func historyCSV(out io.Writer, all []compare.Series) error {
	w := csv.NewWriter(out)
	_ = w.Write([]string{ // errors stay with w, see below
		"suite",
		"scenario",
		"group",
		"layout",
		"size",
		"runtime",
		"work",
		"run",
		"time",
		"figure",
		"unit",
		"value",
		"low",
		"high",
		"rounds",
		"share_of_ceiling",
		"verdict",
		"invalid",
		"kernel",
		"fio",
	})
	for _, s := range all {
		k := s.Key
		for _, p := range s.Points {
			_ = w.Write([]string{
				cell(k.Suite),
				cell(k.Scenario),
				cell(k.Group),
				cell(k.Layout),
				k.Size,
				k.Runtime,
				cell(k.Work),
				cell(p.Run),
				p.At.UTC().Format(time.RFC3339),
				s.Figure.Name,
				string(s.Figure.Unit),
				decimal(p.Value.Center, 2),
				decimal(p.Value.Lo, 2),
				decimal(p.Value.Hi, 2),
				strconv.Itoa(p.Rounds),
				decimal(p.Share, 4),
				cell(p.Verdict),
				cell(p.Invalid),
				cell(p.Facts["kernel"]),
				cell(p.Facts["fio"]),
			})
		}
	}
	w.Flush()
	return w.Error()
}

// trend is what the script draws of a series: web/src/charts.js.
type trend struct {
	Unit string   `json:"unit"`
	T    []string `json:"t"`
	At   []number `json:"at"`
	Low  []number `json:"low"`
	High []number `json:"high"`
}

type historySection struct {
	Title, Work, Figure, Says string
	Rows                      table
}

type historyPage struct {
	scriptedPage
	Sections []historySection
	Notes    []string
}

// historyHTML writes one file that needs nothing else, with a trend a series.
func historyHTML(out io.Writer, all []compare.Series, notes []string) error {
	var p historyPage
	drawings := make([]trend, len(all))
	for i, s := range all {
		drawings[i] = newTrend(s)
		section := historySection{
			Title:  seriesTitle(s.Key),
			Work:   text.Clean(s.Key.Work, 2*longName),
			Figure: s.Figure.Name,
		}
		section.Rows = table{
			Caption: "Each run",
			Head:    []string{"when", s.Figure.Name, "±", "rounds", "of ceiling", "verdict", "run"},
			Text:    []int{0, 5, 6},
		}
		for _, point := range slices.Backward(s.Points) {
			cells := historyRow(s, point, 1e300)
			section.Rows.Rows = append(section.Rows.Rows, []string{
				strings.TrimSpace(cells[0]), cells[1], cells[2], cells[3], cells[4], cells[5], cells[7],
			})
		}
		section.Says = fmt.Sprintf("%s over %d runs", s.Figure.Name, len(s.Points))
		p.Sections = append(p.Sections, section)
	}
	for _, n := range notes {
		p.Notes = append(p.Notes, text.Clean(n, longSentence))
	}
	data, err := json.Marshal(drawings) // it escapes <, > and &
	if err != nil {
		return err
	}
	p.scriptedPage = newScripted(data)
	return historyTemplate().Execute(out, p)
}

func newTrend(s compare.Series) trend {
	t := trend{Unit: cmp.Or(s.Figure.Name, "IOPS"), T: []string{}, At: []number{}, Low: []number{}, High: []number{}}
	scale := 1.0
	switch s.Figure.Unit {
	case compare.BytesPerSec:
		scale = 1 << 20
	case compare.PerSecond, compare.Nanoseconds:
	}
	for _, p := range s.Points {
		at, low, high := missing, missing, missing
		if p.Invalid == "" && p.Value.Center > 0 {
			at = number(p.Value.Center / scale)
			if p.Rounds > 1 {
				low, high = number(p.Value.Lo/scale), number(p.Value.Hi/scale)
			}
		}
		t.T = append(t.T, p.At.UTC().Format("2006-01-02 15:04"))
		t.At, t.Low, t.High = append(t.At, at), append(t.Low, low), append(t.High, high)
	}
	return t
}
