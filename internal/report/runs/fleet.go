package runs

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/compared"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// Fleet is the document of a fleet run. It looks like a run's: the verdict with its reasons and what
// to do, an overview, the findings, each scenario with its chart, the hosts.
func Fleet(f *bundle.Fleet) *page.Document {
	d := page.New("fleet", "", "fleet", FleetDocument{f.Outcome(), f})
	d.Tool, d.Data.Dense, d.Head = f.Tool, true, fleetHead(f)
	d.Add(page.Part("Overview", "overview", "Overview", fleetOverview(f)))
	found := page.Part("Findings", "findings", "Findings")
	for i, one := range f.Findings {
		p := words.Subject(one, i)
		if slices.Contains(f.Reasons, one.Message) { // the head says it
			p.Level = page.Detail
		}
		found.Add(p)
	}
	d.Add(found)
	for i := range f.Scenarios {
		d.Add(fleetScenario(f, i))
	}
	d.Add(page.Part("Hosts", "hosts", "Hosts", fleetHosts(f)))
	d.Records, d.Tests = fleetRecords(f), fleetTests(f)
	damaged(d, f.Damaged)
	return d
}

// FleetDocument is the report of a fleet run as JSON: fleet.json with units in the names of fields.
type FleetDocument struct {
	Outcome string
	*bundle.Fleet
}

func fleetHead(f *bundle.Fleet) page.Headline {
	ok := 0 // hosts that are done, and neither failed nor INVALID
	for _, h := range f.Hosts {
		if rankOf(h) == 0 {
			ok++
		}
	}
	h := page.Headline{Tone: string(f.Verdict)}
	h.Word = fmt.Sprintf("%s, %d of %s ok", strings.ToUpper(f.Outcome()), ok, text.Several(f.Hosts, "host"))
	if f.State != bundle.Finished {
		h.Tone = ""
	}
	for _, r := range f.Reasons {
		h.Says = append(h.Says, page.Say{Text: r, Next: fleetNext(f, r)})
	}
	h.About = text.Join(", ", text.Several(f.Hosts, "host"), "via "+f.Via, f.Order, moment(f.Created), f.Tool)
	for i, s := range f.Scenarios {
		if s.Total.IOPS > 0 && len(s.Invalid) == 0 && len(h.Tiles) < 5 {
			of := "all hosts together"
			if share, percent := fleetShare(&s); share > 0 {
				of = percent + " of ceiling"
			}
			h.Tiles = append(h.Tiles, page.Tile{
				What: s.Name, Figure: words.Operations(s.Total.IOPS), Of: of, Anchor: fmt.Sprintf("s%d", i+1),
				Main: page.NewFigure(s.Name, "iops", s.Total.IOPS, "per_s"),
			})
		}
	}
	if len(h.Tiles) > 0 {
		h.Main = h.Tiles[0].Main
	}
	return h
}

var ruleCode = regexp.MustCompile(`PL[0-9]{3}`)

// fleetNext is what to do about a reason: the fix of the fleet's own finding, or the report of the
// host whose reason it is, and the rule's page.
func fleetNext(f *bundle.Fleet, reason string) string {
	for _, found := range f.Findings {
		if found.Message == reason {
			return fix(found)
		}
	}
	var next []string
	for _, h := range f.Hosts {
		if at := pageOf(h); at != "" && len(h.Reasons) > 0 && strings.HasSuffix(reason, h.Reasons[0]) {
			next = append(next, "see "+at)
			break
		}
	}
	if code := ruleCode.FindString(reason); code != "" {
		next = append(next, "plimsoll explain "+code)
	}
	return strings.Join(next, "; ")
}

// fleetShare is what was measured of the fleet's ceiling, "" where that is not known.
func fleetShare(s *bundle.FleetScenario) (share float64, percent string) {
	if s.Ceiling == nil || s.Ceiling.IOPS <= 0 {
		return 0, ""
	}
	share = float64(s.Total.IOPS / s.Ceiling.IOPS)
	return share, text.Percent(share)
}

// fleetOverview has a row for each scenario, as a run's has.
func fleetOverview(f *bundle.Fleet) page.Table {
	t := page.NewTable("<scenario, together, ceiling, <%, <ceiling set by?, p50?, p99, <verdict")
	for i, s := range f.Scenarios {
		name := page.Cell{Text: numbered(s.ID, s.Name), Link: fmt.Sprintf("s%d", i+1)}
		total, most, share, from := page.T(words.None), words.Unknown, page.T(words.None), words.None
		if s.Total.IOPS > 0 {
			total = page.Cell{Text: words.Operations(s.Total.IOPS), Also: s.Total.BW.String()}
		}
		if c := s.Ceiling; c != nil && c.IOPS > 0 {
			most, from = words.Operations(c.IOPS), c.Binds
			share.Gauge, share.Text = fleetShare(&s)
		}
		verdict := "measured"
		if len(s.Invalid) > 0 {
			verdict, share.Tone = "invalid", "invalid"
		}
		t.Add(name, total, most, share, from, histAt(s.Total.Hist, 50), histAt(s.Total.Hist, 99), page.Toned(verdict))
	}
	return t
}

// fleetHosts has a row for each host: what became of it, why, and where its own report is.
func fleetHosts(f *bundle.Fleet) page.Table {
	t := page.NewTable("<host, <state, <its own verdict, clock error???, <fio??, <its report?, <")
	t.Most = mostHosts
	hosts := slices.Clone(f.Hosts)
	slices.SortStableFunc(hosts, func(a, b bundle.FleetHost) int { return rankOf(b) - rankOf(a) })
	if len(hosts) > 0 && rankOf(hosts[0]) == 0 {
		t.Level = page.Detail
	}
	for _, h := range hosts {
		verdict := page.Toned(h.Verdict)
		verdict.Text = words.Figure(verdict.Text)
		state, why := page.T(string(h.State)), h.Why
		if len(h.Reasons) > 0 {
			why = text.Join("; ", why, cmp.Or(ruleCode.FindString(h.Reasons[0]), h.Reasons[0])) // the head says what it means
		}
		if h.State != bundle.HostDone {
			state.Tone = "fail"
		}
		at := pageOf(h)
		t.Add(h.Name, state, verdict, words.ClockError(h.Clock.Error), h.Fio, page.Cell{Text: at, File: at}, why)
	}
	return t
}

// pageOf is where a host's page is, "" unless it was written here: one that came with a run that is not whole is
// the host's.
func pageOf(h bundle.FleetHost) string {
	if h.State != bundle.HostDone || h.Dir == "" {
		return ""
	}
	return path.Join(h.Dir, "report.html")
}

// mostHosts is how many hosts a terminal gets, those that are not ok first.
const mostHosts = 8

// numbered names a scenario.
func numbered(id int, name string) string { return fmt.Sprintf("%d %s", id, name) }

// rankOf says how far from ok a host is.
func rankOf(h bundle.FleetHost) int {
	switch {
	case h.State != bundle.HostDone:
		return 2
	case h.Verdict == verdict.Invalid || h.Verdict == verdict.Fail:
		return 1
	}
	return 0
}

func fleetScenario(f *bundle.Fleet, i int) page.Section {
	s := &f.Scenarios[i]
	section := page.Section{
		Of: "scenario", Level: page.Detail, Anchor: fmt.Sprintf("s%d", i+1), Title: numbered(s.ID, s.Name), About: s.Title,
	}
	if len(s.Invalid) > 0 {
		section.Tone = "invalid"
	}
	section.Add(page.Note{Lead: "invalid", Lines: s.Invalid, Tone: "invalid"}, fleetFacts(s))
	rows := page.NewTable("<host, IOPS, <±?, bandwidth?, of its ceiling, <ceiling set by??, alone??, p50?, p99, <")
	for _, h := range s.Hosts {
		of, mark := text.Either(h.Ceiling > 0, text.Percent(h.Of()), words.None), page.Cell{}
		if straggles(s, h.Host) {
			mark = page.Cell{Text: "straggler", Tone: "warn"}
		}
		doubt := words.When(h.Interval.HasInterval(), words.Doubt(h.Interval))
		rows.Add(h.Host, h.IOPS, doubt, h.BW, of, words.Figure(h.Limit), words.Figure(h.Alone), units.LatencyOf(h.P50),
			units.LatencyOf(h.P99), mark)
	}
	section.Add(rows, page.Charts{See: "the table of hosts above", Draw: func() page.Drawing { return hostsChart(s) }})
	return section
}

func straggles(s *bundle.FleetScenario, host string) bool {
	return slices.ContainsFunc(s.Stragglers, func(g bundle.FleetStraggler) bool { return g.Host == host })
}

func fleetFacts(s *bundle.FleetScenario) page.Facts {
	var all page.Facts
	if s.Total.IOPS > 0 {
		total := words.Operations(s.Total.IOPS)
		if e := s.Total.Interval; e.HasInterval() {
			total += fmt.Sprintf(", 95 %% interval %s to %s", units.IOPS(e.Lo), units.IOPS(e.Hi))
		}
		all.Add("together", total+", "+s.Total.BW.String())
	}
	if _, reached := fleetShare(s); reached != "" {
		all.Say("ceiling", "%s IOPS, set by the %s; reached %s", s.Ceiling.IOPS, s.Ceiling.Binds, reached)
	}
	if h := s.Total.Hist; h.Count() > 0 {
		all.Say("latency", "p50 %s, p99 %s, p99.9 %s (merged latency histograms)", histAt(h, 50), histAt(h, 99),
			histAt(h, 99.9))
	}
	if h := s.Total.Sync; h.Count() > 0 {
		all.Say("sync", "p50 %s, p99 %s", histAt(h, 50), histAt(h, 99))
	}
	if s.Common.Length() > 0 {
		all.Say("common window", "%s, %s of what was planned", text.Duration(s.Common.Length()),
			text.Percent(s.Common.Share))
	}
	return all
}

// hostsChart shows each host's IOPS with its interval and its ceiling.
func hostsChart(s *bundle.FleetScenario) page.Drawing {
	plot := &compared.Intervals{Unit: "IOPS", Sides: []compared.Point{}}
	var says []string
	for _, h := range s.Hosts {
		low, high := ends95(h.Interval)
		plot.Sides = append(plot.Sides, compared.Point{
			Name: h.Host, At: compared.KnownOr(h.IOPS), Low: compared.KnownOr(low), High: compared.KnownOr(high),
			Ceiling: compared.KnownOr(h.Ceiling), Sustained: compared.KnownOr(h.Sustained), Struck: len(s.Invalid) > 0,
			Label: h.IOPS.String(),
		})
		says = append(says, h.Host+" "+h.IOPS.String())
	}
	if len(plot.Sides) == 0 {
		return page.Drawing{}
	}
	return page.Drawing{Data: plot, Charts: []page.Chart{{
		Kind: "intervals", Wide: true, Caption: "IOPS of each host; bars are 95 % intervals, the mark its ceiling",
		Says: "IOPS by host: " + strings.Join(says, "; "),
	}}}
}

// fleetRecords has a row for each scenario and host, and one for all hosts together.
func fleetRecords(f *bundle.Fleet) page.Table {
	t := page.NewTable("run, scenario, name, host, iops, iops_low, iops_high, bandwidth_bytes_per_s, p50_ns, p99_ns, " +
		"ceiling_iops, ceiling_from, sustained_iops, sustained_from, alone_iops, straggler, invalid")
	for _, s := range f.Scenarios {
		invalid := strings.Join(s.Invalid, "; ")
		low, high := ends95(s.Total.Interval)
		var bound, from, p50, p99 any
		if c := s.Ceiling; c != nil {
			bound, from = c.IOPS, c.Binds
		}
		if h := s.Total.Hist; h.Count() > 0 {
			p50, p99 = h.Percentile(50), h.Percentile(99)
		}
		t.Record(f.ID, s.ID, s.Name, "", s.Total.IOPS, low, high, s.Total.BW, p50, p99, bound, from, "", "", "", "", invalid)
		for _, h := range s.Hosts {
			low, high := ends95(h.Interval)
			t.Record(f.ID, s.ID, s.Name, h.Host, h.IOPS, low, high, h.BW, h.P50, h.P99, h.Ceiling, h.Limit, h.Sustained,
				h.SustainedBy, h.Alone, straggles(&s, h.Host), invalid)
		}
	}
	return t
}

// ends95 are the ends of an interval, 0 where there is none.
func ends95(e stats.Estimate) (low, high units.IOPS) {
	if !e.HasInterval() {
		return 0, 0
	}
	return units.IOPS(e.Lo), units.IOPS(e.Hi)
}

// fleetTests are a case for each host and each scenario.
func fleetTests(f *bundle.Fleet) []page.Suite {
	hosts, scenarios := page.Suite{Name: "hosts"}, page.Suite{Name: "scenarios"}
	for _, h := range f.Hosts {
		t := page.Test{Name: h.Name, Message: text.Join(": ", string(h.State), string(h.Verdict)), Text: h.Why}
		if t.Outcome = page.OutcomeOf(string(h.Verdict)); h.State != bundle.HostDone {
			t.Outcome = page.Errored
		}
		hosts.Tests = append(hosts.Tests, t)
	}
	for _, s := range f.Scenarios {
		t := page.Test{
			Name: numbered(s.ID, s.Name), Message: words.Operations(s.Total.IOPS), Text: strings.Join(s.Invalid, "\n"),
		}
		if len(s.Invalid) > 0 {
			t.Outcome = page.Errored
		}
		scenarios.Tests = append(scenarios.Tests, t)
	}
	return []page.Suite{hosts, scenarios, page.FindingTests("findings", words.Findings(f.Findings))}
}
