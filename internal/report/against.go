package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"plimsoll/internal/compare"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// AgainstFormats names the formats of judgments against a baseline; the first is for the terminal.
func AgainstFormats() []Format { return []Format{TTY, Markdown, JSON} }

// Against writes how a run stands against a baseline.
func Against(w io.Writer, f Format, a *compare.Against) error {
	switch f { //nolint:exhaustive // AgainstFormats lists them
	case TTY:
		return againstTTY(w, a)
	case Markdown:
		return againstMarkdown(w, a)
	case JSON:
		return WriteJSON(w, "against", a)
	case HTML, CSV, JUnit:
	}
	return unknownFormat(f, AgainstFormats())
}

// againstRow is a judgment as people read it.
func againstRow(j compare.Judgment) []string {
	now, expected, change := none, none, ""
	if j.Now.Center > 0 {
		now = amount(j.Now.Center, j.Figure.Unit)
	}
	if j.Expected.Center > 0 {
		expected = amount(j.Expected.Center, j.Figure.Unit)
		if j.Expected.Lo < j.Expected.Center {
			expected += fmt.Sprintf(
				" [%s, %s]",
				amount(j.Expected.Lo, j.Figure.Unit),
				amount(j.Expected.Hi, j.Figure.Unit),
			)
		}
		if j.Now.Center > 0 {
			change = ratio(1 + j.Change())
		}
	}
	verdict := string(j.Standing)
	switch {
	case j.Standing == compare.Unjudged:
		verdict = j.Why
		if !strings.Contains(verdict, "judge") {
			verdict = "not judged: " + verdict
		}
	case j.LeastSeen > 0 && j.Standing == compare.AsExpected:
		verdict += "; could have seen a loss of about " + text.Share(math.Round(100*j.LeastSeen)/100)
	}
	return []string{
		text.Clean(j.Scenario, longName),
		j.Figure.Name,
		expected,
		now,
		change,
		text.Clean(verdict, longSentence),
	}
}

func againstHead() []string {
	return []string{"scenario", "figure", "expected", "now", "change", "standing"}
}

func againstTTY(w io.Writer, a *compare.Against) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s against %s\n\n", text.Clean(a.Run, longName), text.Clean(a.Baseline, longName))
	rows := [][]string{againstHead()}
	for _, j := range a.Rows {
		rows = append(rows, againstRow(j))
	}
	columns(out, rows, 2, 3, 4)
	for _, j := range a.Rows {
		if len(j.Changed) > 0 {
			fmt.Fprintf(
				out,
				"%s: since the run before, %s\n",
				text.Clean(j.Scenario, longName),
				text.Clean(strings.Join(j.Changed, "; "), longSentence),
			)
		}
	}
	for _, n := range a.Notes {
		fmt.Fprintf(out, "note: %s\n", text.Clean(n, longSentence))
	}
	return out.Flush()
}

func againstMarkdown(w io.Writer, a *compare.Against) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s against %s\n\n", md(text.Clean(a.Run, longName)), md(text.Clean(a.Baseline, longName)))
	fmt.Fprintf(out, "| %s |\n|---|---|--:|--:|--:|---|\n", strings.Join(againstHead(), " | "))
	for _, j := range a.Rows {
		cells := againstRow(j)
		for i := range cells {
			cells[i] = md(cells[i])
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	for i, n := range a.Notes {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "- %s\n", md(text.Clean(n, longSentence)))
	}
	return out.Flush()
}

// columns lays rows out; the numbered columns are aligned to the right, the last is never padded.
func columns(out io.Writer, rows [][]string, right ...int) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for k, c := range row {
			width[k] = max(width[k], len([]rune(c)))
		}
	}
	toRight := map[int]bool{}
	for _, k := range right {
		toRight[k] = true
	}
	for _, row := range rows {
		var line strings.Builder
		for k, c := range row {
			pad := strings.Repeat(" ", width[k]-len([]rune(c)))
			if toRight[k] {
				line.WriteString(pad + c + "  ")
			} else {
				line.WriteString(c + pad + "  ")
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}

// plusMinus is an estimate's half width when it is one over rounds.
func plusMinus(e stats.Estimate, rounds int) string {
	if rounds < 2 {
		return ""
	}
	return doubt(e)
}
