package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Most writes the outcome of a search for the most load.
func Most(w io.Writer, f Format, b *bundle.Bundle, m *compare.Most) error {
	if f == CSV {
		return mostCSV(w, m)
	}
	if f == JSON {
		return WriteJSON(w, "most", m)
	}
	p := mostPage(b, m)
	p.search(m)
	return p.write(w, f)
}

// mostPage is a search as people read it.
func mostPage(b *bundle.Bundle, m *compare.Most) *sweepPage {
	p := &sweepPage{
		Title: "The most of " + text.Clean(m.Scenario, longName) + " with " + text.Clean(m.Threshold, longName),
		Says:  []string{bracketText(m)},
		Notes: runNotes(b),
	}
	if c := m.Check; c != nil {
		p.Says = append(p.Says, fmt.Sprintf("checked at %v IOPS for %s: %s, %s", c.IOPSOf(), text.Duration(m.CheckTime),
			latencyOr(c.Latency), outcomeText(*c)))
	}
	if c := m.Closed; c != nil {
		p.Says = append(p.Says, fmt.Sprintf("with its own depth, without arrivals at a rate: %v IOPS, %s",
			units.IOPS(c.Achieved), latencyOr(c.Latency)))
	}
	if m.Ceiling > 0 && m.Bracket.Low > 0 {
		line := fmt.Sprintf("the lower end is %s of the ceiling of %v IOPS", text.Percent(m.Bracket.Low/m.Ceiling),
			units.IOPS(m.Ceiling))
		if m.Sustained > 0 {
			line += fmt.Sprintf(", a burst: %v IOPS are sustained", units.IOPS(m.Sustained))
		}
		p.Says = append(p.Says, line)
	}
	p.Says = append(p.Says, "fio's latencies begin when an I/O is issued; "+
		"lag is how much later than intended that is")
	p.Rows = table{
		Head: []string{"IOPS asked", "achieved", "latency", "streams", "busy", "lag", "outcome"},
		Text: []int{6},
	}
	add := func(c compare.MostProbe, note string) {
		row := []string{
			none, units.IOPS(c.Achieved).String(), latencyOr(c.Latency), "", "", "", outcomeText(c) + note,
		}
		if c.Asked > 0 {
			row[0], row[3] = units.IOPS(c.Asked).String(), strconv.Itoa(c.Streams)
			row[4], row[5] = text.Percent(c.Busy), units.Latency(c.Lag).String()
		}
		p.Rows.Rows = append(p.Rows.Rows, row)
	}
	if m.Closed != nil {
		add(*m.Closed, ", with its own depth")
	}
	for _, c := range m.Probes {
		add(c, "")
	}
	if m.Check != nil {
		add(*m.Check, ", the check")
	}
	return p
}

// bracketText is "14,300 to 14,800 IOPS (15 probes)".
func bracketText(m *compare.Most) string {
	k, probes := m.Bracket, text.Plural(len(m.Probes), "probe")
	low, high := units.IOPS(k.Low), units.IOPS(k.High)
	switch {
	case m.Closed == nil || len(m.Probes) == 0:
		return "nothing is known: no load was measured"
	case k.Unusable > 0:
		return fmt.Sprintf("no answer: none of the probes at %v IOPS can be trusted (%s)", units.IOPS(k.Unusable), probes)
	case !k.Done && k.Low > 0 && k.High > 0:
		return fmt.Sprintf("between %v and %v IOPS so far; the search is not finished (%s)", low, high, probes)
	case !k.Done:
		return fmt.Sprintf("the search is not finished (%s)", probes)
	case k.Low == 0:
		return fmt.Sprintf("less than %v IOPS: that misses it, and less was not tried (%s)", high, probes)
	case k.High == 0:
		return fmt.Sprintf("%v IOPS or more: the threshold limits nothing up to the storage's own limit (%s)", low, probes)
	}
	return fmt.Sprintf("%v to %v IOPS (%s): the first meets it, the second misses it", low, high, probes)
}

// outcomeText is a probe's outcome with its reason.
func outcomeText(p compare.MostProbe) string {
	switch {
	case p.Outcome == compare.ProbeBehind:
		return "behind: only " + text.Percent(p.Achieved/p.Asked) + " was done"
	case p.Reason != "":
		return p.Outcome + ": " + text.Clean(p.Reason, longSentence)
	}
	return p.Outcome
}

func mostCSV(w io.Writer, m *compare.Most) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{ // errors stay with out, see below
		"id", "kind", "asked_iops", "achieved_iops", "latency_ns", "streams", "busy", "lag_ns", "outcome", "reason",
	})
	write := func(kind string, p *compare.MostProbe) {
		if p == nil {
			return
		}
		_ = out.Write([]string{
			strconv.Itoa(p.ID), kind, decimal(p.Asked, 0), decimal(p.Achieved, 2), decimal(p.Latency, 0),
			strconv.Itoa(p.Streams), decimal(p.Busy, 4), decimal(p.Lag, 0), p.Outcome, cell(p.Reason),
		})
	}
	write("own depth", m.Closed)
	for i := range m.Probes {
		write("probe", &m.Probes[i])
	}
	write("check", m.Check)
	out.Flush()
	return out.Error()
}

// runNotes are what a reader of single figures must know of the run.
func runNotes(b *bundle.Bundle) []string {
	var notes []string
	if b.Run.State != bundle.Finished {
		notes = append(notes, "the run is "+string(b.Run.State))
	}
	if s := b.Run.Topology.Scale; s > 0 && s != 1 {
		notes = append(notes, fmt.Sprintf("rates at %s of the real ones", units.Number(s)))
	}
	return notes
}
