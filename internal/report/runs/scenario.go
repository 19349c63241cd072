package runs

import (
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// scenario is all about one scenario.
func scenario(b *bundle.Bundle, i int, row row, anchors []string) page.Section {
	s := &b.Scenarios[i]
	section := page.Section{
		Of: "scenario", Level: page.Detail, Anchor: row.Anchor, Title: row.label(), Tone: row.Verdict,
		About: text.Join(". ", row.Title, s.Why),
	}
	r := s.Result
	section.Add(page.Note{Lead: "invalid", Lines: distrust(r), Tone: "invalid"}, lead(s, row, b, anchors))
	if r != nil {
		section.Add(tablesOf(b, s, row)...)
	}
	if s.Ceiling != nil {
		section.Add(boundsTable(s))
	}
	section.Add(page.Lead("caveat", doubtsOf(s)...))
	if r != nil && len(r.Command) > 0 {
		command := page.Code{Screen: true}
		for _, arg := range r.Command {
			command.Args = append(command.Args, text.ShellQuote(arg))
		}
		section.Add(command)
	}
	return section
}

// distrust is why a result must not be trusted.
func distrust(r *result.Result) []string {
	switch {
	case r == nil || r.State != result.Invalid && r.State != result.Interrupted:
		return nil
	case len(r.Reasons) > 0:
		return slices.Clone(r.Reasons)
	}
	return []string{string(r.State)}
}

// lead is the scenario's answer: what was measured, of which ceiling, and which findings are on it.
func lead(s *bundle.Scenario, row row, b *bundle.Bundle, anchors []string) page.Facts {
	var all page.Facts
	all.Add("measured", text.Join(", ", words.WithDoubt(row.Measured, row.Doubt), row.Also, row.Sync))
	of := row.Of()
	if row.From != words.Unknown {
		of += " (" + row.From + ")"
	}
	all.Add("comparison", of)
	if row.Sustained != "" {
		all.Add("sustained", row.Sustained+": "+row.Burst)
	}
	all.Add("run limited by", row.Limited)
	var codes []string
	for k, f := range b.Findings {
		if slices.Contains(f.Scenarios, s.ID) && anchors[k] != "" {
			codes = text.Once(codes, string(f.Code))
		}
	}
	all.Add("findings", strings.Join(codes, ", "))
	return all
}

// tablesOf are the figures: charts first.
func tablesOf(b *bundle.Bundle, s *bundle.Scenario, row row) []page.Block {
	r := s.Result
	all := []page.Block{
		page.Charts{
			See: "the tables below", Seconds: ofServer(s) || len(r.Seconds) > 1, Table: overTime(r),
			Draw: func() page.Drawing { return draw(b, s, row) },
		},
		rawTable(r),
	}
	facts := runFacts(r)
	if ofServer(s) {
		all = append(all, postgresTables(s)...)
		facts.Rows = append(facts.Rows, postgresFacts(b, r.Postgres)...)
	}
	return append(all, thresholdsTable(s), depthsOf(r.Depth), page.Sentences(text.Sentence(r.Depth.Note)),
		devicesTable(r), facts)
}

// doubtsOf are assumptions of the ceiling and doubts about the figures.
func doubtsOf(s *bundle.Scenario) []string {
	r := s.Result
	if r == nil { // it was not run: there is nothing to doubt
		return nil
	}
	var all text.Lines
	if s.Ceiling != nil {
		all = append(all, s.Ceiling.Notes...)
	}
	all = append(all, r.Doubts...)
	for _, d := range r.IOPS.Doubts {
		all = append(all, "IOPS: "+d)
	}
	for _, d := range r.BW.Doubts {
		all = append(all, "bandwidth: "+d)
	}
	if n := len(r.Unread); n > 0 {
		all.Say("%s of fio's output could not be parsed; the first is %q", text.Plural(n, "line"),
			r.Unread[0].Text)
	}
	return all
}

// runFacts are what else is known of a scenario's run.
func runFacts(r *result.Result) page.Facts {
	var all page.Facts
	if r.Measured > 0 {
		window := text.Duration(r.Measured)
		if r.Planned > 0 && (r.Measured-r.Planned).Abs() > time.Second {
			window += " (" + text.Duration(r.Planned) + " planned)"
		}
		all.Say("measured for", "%s", window)
	}
	if e := r.IOPS; e.HasInterval() {
		all.Say("IOPS", "%s, 95 %% interval %s to %s (%d batches)", units.IOPS(e.Center), units.IOPS(e.Lo), units.IOPS(e.Hi),
			e.N)
	}
	if e := r.BW; e.HasInterval() {
		all.Say("bandwidth", "%s, 95 %% interval %s to %s", units.Rate(e.Center), units.Rate(e.Lo), units.Rate(e.Hi))
	}
	if c := r.Total.CPU; c.User+c.System > 0 {
		all.Say("fio's CPU", "%s user, %s system of one core per job", text.Percent(c.User), text.Percent(c.System))
	}
	if h := r.Host; h != nil {
		all.Say("machine's CPU", "%s user, %s system, %s waiting for I/O (%s)", text.Percent(h.User), text.Percent(h.System),
			text.Percent(h.IOWait), text.Plural(h.CPUs, "core"))
		if h.IOSome > 0 || h.IOFull > 0 {
			all.Say("I/O pressure", "some %s, full %s of the time", text.Percent(h.IOSome), text.Percent(h.IOFull))
		}
		all.Say("dirty pages", "at most %s, %s in writeback", h.DirtyMax, h.WritebackMax)
		all.Say("monitoring overhead", "%s of a core", text.Percent(h.SamplerCPU))
	}
	if r.Source != "" {
		all.Say("read from", "%s", text.Join(", ", r.Source, r.Fio))
	}
	return all
}
