package runs

import (
	"fmt"
	"slices"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Most is the document of a search for the most load that meets a threshold: what its own check
// confirmed, then the bracket.
func Most(b *bundle.Bundle, m *compare.Most) *page.Document {
	d := page.New("search", checkedText(m)+bracketText(m), "most", m)
	d.Records, d.Head.About = mostRecords(m), "Highest load of "+m.Scenario+" with "+m.Threshold
	most := m.Bracket.Low
	if c := m.Check; c != nil { // over the whole run time it may miss what short probes met
		most = 0
		if c.Outcome == compare.ProbeMet {
			most = float64(c.IOPSOf())
		}
	}
	if most > 0 {
		d.Head.Main = page.NewFigure(m.Scenario, "iops", most, "per_s")
	}
	d.Head.Tone = text.Either(m.Bracket.Done && (m.Check == nil || most > 0), "pass", "measured")
	say := func(format string, args ...any) { d.Head.Say(fmt.Sprintf(format, args...)) }
	if c := m.Closed; c != nil {
		say("at its own depth, without paced arrivals: %v IOPS, %s", units.IOPS(c.Achieved), words.Latency(c.Latency))
	}
	if m.Ceiling > 0 && m.Bracket.Low > 0 {
		burst := fmt.Sprintf(", a burst: %v IOPS are sustained", units.IOPS(m.Sustained))
		say("the lower end is %s of the ceiling of %v IOPS%s", text.Percent(m.Bracket.Low/m.Ceiling), units.IOPS(m.Ceiling),
			words.When(m.Sustained > 0, burst))
	}
	lag := "fio's latencies start when an I/O is issued; lag is how late that is"
	d.Add(page.Part("Probes", "figures", "", probes(m)),
		page.Part("Chart", "charts", "", page.Charts{See: "the table of probes", Draw: func() page.Drawing {
			return drawSearch(m, "Latency by load. "+d.Head.Word+". "+saysOf(d.Head))
		}}), page.Lead("note", runNotes(b)...), page.Lead("note", lag).Detailed())
	return d
}

// mostProbes are those that are no details.
const mostProbes = 5

// probes has a row for each load that was tried, the last first.
func probes(m *compare.Most) page.Table {
	t := page.NewTable("IOPS asked, achieved, latency, streams??, busy?, lag?, <outcome")
	note := map[string]string{ownDepth: ", at its own depth", checking: ", the check"}
	eachProbe(m, func(kind string, c *compare.MostProbe) {
		achieved, latency, outcome := units.IOPS(c.Achieved), words.Latency(c.Latency), outcomeText(*c)+note[kind]
		if c.Asked > 0 {
			t.Add(units.IOPS(c.Asked), achieved, latency, c.Streams, text.Percent(c.Busy), units.Latency(c.Lag), outcome)
		} else {
			t.Add(words.None, achieved, latency, "", "", "", outcome)
		}
	})
	slices.Reverse(t.Rows)
	t.Most = mostProbes
	return t
}

// Kinds of probes.
const ownDepth, probing, checking = "own depth", "probe", "check"

// eachProbe calls with every load that was tried, in order.
func eachProbe(m *compare.Most, do func(kind string, p *compare.MostProbe)) {
	if m.Closed != nil {
		do(ownDepth, m.Closed)
	}
	for i := range m.Probes {
		do(probing, &m.Probes[i])
	}
	if m.Check != nil {
		do(checking, m.Check)
	}
}

// checkedText is "13,871 IOPS for 60 s: 1.7 ms, met. Short probes: ", empty where there was no check.
func checkedText(m *compare.Most) string {
	c := m.Check
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s%v IOPS for %s: %s, %s. Short probes: ",
		words.When(c.Outcome != compare.ProbeMet, "no answer: "), c.IOPSOf(), text.Duration(m.CheckTime),
		words.Latency(c.Latency), outcomeText(*c))
}

// bracketText is "14,300 to 14,800 IOPS (15 probes)".
func bracketText(m *compare.Most) string {
	k, probes := m.Bracket, text.Several(m.Probes, "probe")
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
		return fmt.Sprintf("less than %v IOPS, which misses the threshold; lower rates were not tried (%s)", high, probes)
	case k.High == 0:
		return fmt.Sprintf("%v IOPS or more: the storage's own limit comes before the threshold (%s)", low, probes)
	}
	return fmt.Sprintf("%v to %v IOPS (%s): the lower rate meets the threshold, the higher one misses it", low, high,
		probes)
}

// outcomeText is a probe's outcome with its reason.
func outcomeText(p compare.MostProbe) string {
	switch {
	case p.Outcome == compare.ProbeBehind:
		return "behind: only " + text.Percent(p.Achieved/p.Asked) + " done"
	case p.Reason != "":
		return p.Outcome + ": " + p.Reason
	}
	return p.Outcome
}

func mostRecords(m *compare.Most) page.Table {
	t := page.NewTable("id, kind, asked_iops, achieved_iops, latency_ns, streams, busy, lag_ns, outcome, reason")
	eachProbe(m, func(kind string, p *compare.MostProbe) {
		t.Record(p.ID, kind, p.Asked, p.Achieved, units.Latency(p.Latency), p.Streams, p.Busy, units.Latency(p.Lag),
			p.Outcome, p.Reason)
	})
	return t
}

// runNotes are what a reader of single figures must know of the run.
func runNotes(b *bundle.Bundle) []string {
	var notes text.Lines
	if b.Run.State != bundle.Finished {
		notes = append(notes, "the run is "+string(b.Run.State))
	}
	if s := b.Run.Topology.Scale; s > 0 && s != 1 {
		notes.Say("rates scaled by %s", units.Number(s))
	}
	return notes
}
