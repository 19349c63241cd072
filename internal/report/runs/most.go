package runs

import (
	"fmt"
	"strconv"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Most is the document of a search for the most load that meets a threshold: the bracket first.
func Most(b *bundle.Bundle, m *compare.Most) *page.Document {
	d := &page.Document{Kind: "search", Data: page.DataOf("most", m), Records: mostRecords(m)}
	d.Head = page.Headline{
		Word: bracketText(m),
		About: "The most of " + m.Scenario + " with " +
			m.Threshold,
		Tone: "measured",
	}
	if m.Bracket.Done {
		d.Head.Tone = "pass"
	}
	if m.Bracket.Low > 0 {
		d.Head.Main = &page.Figure{Of: m.Scenario, Name: "iops", Value: m.Bracket.Low, Unit: "per_s"}
	}
	say := func(format string, args ...any) {
		d.Head.Says = append(d.Head.Says, page.Say{Text: fmt.Sprintf(format, args...)})
	}
	if c := m.Check; c != nil {
		say("checked at %v IOPS for %s: %s, %s", c.IOPSOf(), text.Duration(m.CheckTime), words.Latency(c.Latency),
			outcomeText(*c))
	}
	if c := m.Closed; c != nil {
		say("with its own depth, without arrivals at a rate: %v IOPS, %s", units.IOPS(c.Achieved), words.Latency(c.Latency))
	}
	if m.Ceiling > 0 && m.Bracket.Low > 0 {
		line := fmt.Sprintf("the lower end is %s of the ceiling of %v IOPS", text.Percent(m.Bracket.Low/m.Ceiling),
			units.IOPS(m.Ceiling))
		if m.Sustained > 0 {
			line += fmt.Sprintf(", a burst: %v IOPS are sustained", units.IOPS(m.Sustained))
		}
		say("%s", line)
	}
	say("fio's latencies begin when an I/O is issued; lag is how much later than intended that is")
	d.Add(page.Section{Anchor: "figures", Nav: "Probes", Blocks: []page.Block{probes(m)}},
		page.Section{Anchor: "charts", Nav: "Chart", Blocks: []page.Block{
			page.Charts{See: "the table of probes", Draw: func() page.Drawing {
				return drawSearch(m, "Latency by load. "+d.Head.Word+". "+saysOf(d.Head))
			}},
		}}, page.Note{Lead: "note", Lines: runNotes(b)})
	return d
}

// probes has a row for each load that was tried.
func probes(m *compare.Most) page.Table {
	t := page.NewTable("", "IOPS asked", "achieved", "latency", "streams??", "busy?", "lag?", "<outcome")
	add := func(c *compare.MostProbe, note string) {
		if c == nil {
			return
		}
		row := []string{
			words.None, units.IOPS(c.Achieved).String(), words.Latency(c.Latency), "", "", "",
			outcomeText(*c) + note,
		}
		if c.Asked > 0 {
			row[0], row[3] = units.IOPS(c.Asked).String(), strconv.Itoa(c.Streams)
			row[4], row[5] = text.Percent(c.Busy), units.Latency(c.Lag).String()
		}
		t.Add(row)
	}
	add(m.Closed, ", with its own depth")
	for i := range m.Probes {
		add(&m.Probes[i], "")
	}
	add(m.Check, ", the check")
	return t
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
		return p.Outcome + ": " + p.Reason
	}
	return p.Outcome
}

func mostRecords(m *compare.Most) *page.Table {
	t := page.NewTable("", "id", "kind", "asked_iops", "achieved_iops", "latency_ns", "streams", "busy", "lag_ns",
		"outcome", "reason")
	add := func(kind string, p *compare.MostProbe) {
		if p == nil {
			return
		}
		t.Record(
			p.ID,
			kind,
			p.Asked,
			p.Achieved,
			units.Latency(p.Latency),
			p.Streams,
			p.Busy,
			units.Latency(p.Lag),
			p.Outcome,
			p.Reason,
		)
	}
	add("own depth", m.Closed)
	for i := range m.Probes {
		add("probe", &m.Probes[i])
	}
	add("check", m.Check)
	return &t
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
